/** The tabs on the right, and on narrow screens the switch between document and evidence. */

import { byId } from "/static/dom.js";
import { get, set, watch } from "/static/state.js";

const tabs = () => [...document.querySelectorAll("[role=tab]")];
const name = (tab) => tab.id.replace("tab-", "");

/** Start the tabs; arrow keys go between them. */
export function startViews() {
  for (const tab of tabs()) tab.addEventListener("click", () => set({ view: name(tab) }));
  document.querySelector("[role=tablist]").addEventListener("keydown", ({ key }) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!by) return;
    const all = tabs();
    const to =
      all[(all.findIndex((tab) => name(tab) === get("view")) + by + all.length) % all.length];
    set({ view: name(to) });
    to.focus();
  });
  watch(["view"], draw);
  draw();
  startPanes();
}

function draw() {
  for (const tab of tabs()) {
    const on = name(tab) === get("view");
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !on;
  }
}

function startPanes() {
  const buttons = [...document.querySelectorAll("[data-show]")];
  const press = () =>
    buttons.forEach((one) =>
      one.setAttribute("aria-pressed", String(one.dataset.show === document.body.dataset.pane)),
    );
  for (const one of buttons)
    one.addEventListener("click", () => {
      document.body.dataset.pane = one.dataset.show;
    });
  new MutationObserver(press).observe(document.body, { attributeFilter: ["data-pane"] });
  press();
}
