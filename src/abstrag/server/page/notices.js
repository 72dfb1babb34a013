/** What went wrong, said where it happened; and one line on top while the server is away. */

import * as api from "/static/api.js";
import { byId, h, show } from "/static/dom.js";

/** A refusal as a box: the server's sentence, its hint, and perhaps a way to try again. */
export function refusal(error, retry = null) {
  if (!(error instanceof api.Refusal)) console.error(error);
  return h(
    "div",
    { class: "refusal", role: "alert" },
    h("p", { class: "what", text: error.message }),
    error.hint && h("p", { class: "hint", text: error.hint }),
    retry && h("button", { type: "button", text: "Try again", on: { click: retry } }),
  );
}

/** An empty place that says what belongs there. */
export const teach = (title, ...lines) =>
  h(
    "div",
    { class: "teach" },
    h("h2", { text: title }),
    lines.map((line) => (typeof line === "string" ? h("p", { text: line }) : line)),
  );

let waiting = null;

/** Show the line while the server is away, and look for it until it is back. */
export function watchConnection(onBack) {
  api.whenReached((there) => {
    if (there) {
      clearInterval(waiting);
      if (waiting !== null) onBack();
      waiting = null;
      byId("notice").hidden = true;
      return;
    }
    if (waiting !== null) return;
    show(
      byId("notice"),
      h("b", { text: "The server does not answer." }),
      " Start it again with ",
      h("code", { text: "abstrag serve" }),
      "; the page comes back by itself.",
    );
    byId("notice").hidden = false;
    waiting = setInterval(() => api.health().catch(() => {}), 2000);
  });
}
