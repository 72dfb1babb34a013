/** The popup beside a selected passage or segment: why is this not among the hits? */

import { whyNot } from "/static/asking.js";
import { byId, h, show } from "/static/dom.js";
import { get } from "/static/state.js";

/** Watch for a passage being selected, a segment being clicked or the key w. */
export function startSelection() {
  const place = byId("document");
  place.addEventListener("pointerup", () => setTimeout(selected));
  place.addEventListener("keyup", (event) => {
    if (event.shiftKey) selected();
  });
  place.addEventListener("pick", ({ detail }) =>
    offer({ segment: detail.segment }, detail.x, detail.y),
  );
  place.addEventListener("click", ({ target, clientX, clientY }) => {
    const segment = target.closest(".text .segment");
    if (segment && getSelection().isCollapsed)
      offer({ segment: segment.dataset.segment }, clientX, clientY);
  });
  place.addEventListener("keydown", ({ key, target }) => {
    const segment = target.closest?.(".segment")?.dataset.segment;
    if (segment && (key === "w" || key === "Enter")) whyNot({ segment });
  });
  place.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("pointerdown", ({ target }) => {
    if (!target.closest("#popup")) hide();
  });
}

export const hide = () => {
  byId("popup").hidden = true;
};

function selected() {
  const selection = getSelection();
  const passage = selection.toString().trim();
  if (!passage || !byId("document").contains(selection.anchorNode)) return;
  const { left, width, bottom } = selection.getRangeAt(0).getBoundingClientRect();
  offer({ passage }, left + width / 2, bottom);
}

function offer(target, x, y) {
  if (!get("document")) return;
  const popup = byId("popup");
  const ask = () => {
    hide();
    document.body.dataset.pane = "evidence";
    whyNot(target);
  };
  show(popup, h("button", { type: "button", text: "Why not this?", on: { click: ask } }));
  popup.hidden = false;
  const room = innerWidth - popup.offsetWidth - 8;
  popup.style.left = `${Math.max(8, Math.min(x - popup.offsetWidth / 2, room))}px`;
  popup.style.top = `${Math.min(y + 8, innerHeight - popup.offsetHeight - 8)}px`;
}
