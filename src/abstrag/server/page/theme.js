/** Light, dark, or as the system has it; the choice is kept on this machine. */

import { byId } from "/static/dom.js";

const CHOICES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "○", dark: "●" };
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

/** Start the switch. */
export function startTheme() {
  apply(CHOICES.includes(localStorage.theme) ? localStorage.theme : "auto");
  byId("theme").addEventListener("click", () => {
    const next =
      CHOICES[(CHOICES.indexOf(document.documentElement.dataset.theme) + 1) % CHOICES.length];
    localStorage.theme = next;
    apply(next);
  });
}

function apply(choice) {
  document.documentElement.dataset.theme = choice;
  byId("theme").textContent = SIGNS[choice];
  byId("theme").setAttribute("aria-label", `Colours: ${WORDS[choice]}`);
  byId("theme").title = `Colours: ${WORDS[choice]}`;
}
