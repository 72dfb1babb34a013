/** Why a passage is not among the hits: the first cause, and the least change, ready to apply. */

import { setTau, whyNot } from "/static/asking.js";
import { byId, h, say, show } from "/static/dom.js";
import { addEdge } from "/static/editing.js";
import { factors } from "/static/factors.js";
import { refusal } from "/static/notices.js";
import { get, set, watch } from "/static/state.js";
import { steps } from "/static/trace.js";
import { budget } from "/static/words.js";

/** Start drawing the answer whenever there is one. */
export function startWhyNot() {
  watch(["whyNot"], draw);
}

/** Put the answer away. */
export const closeWhyNot = () => set({ whyNot: null });

function draw() {
  const asked = get("whyNot");
  if (!asked) return show(byId("why-not"));
  const close = h("button", {
    type: "button",
    class: "quiet close",
    "aria-label": "Close",
    text: "×",
    on: { click: closeWhyNot },
  });
  show(
    byId("why-not"),
    h(
      "section",
      { class: "why-not", "aria-label": "Why not this?" },
      close,
      h("h2", { text: asked.higher ? "Why not higher?" : "Why not this?" }),
      body(asked),
    ),
  );
  if (!asked.busy) byId("why-not").scrollIntoView({ block: "nearest" });
  return undefined;
}

function body(asked) {
  if (asked.busy) return h("p", { class: "loading", text: "Looking…" });
  if (asked.unasked)
    return h("p", {
      text: "Not for which question? Ask one first, then select the passage again.",
    });
  if (asked.error) return refusal(asked.error, () => whyNot(asked.target));
  if (asked.among) return among(asked.among);
  const { passage, cause, detail, rank, counterfactual, hit } = asked.answer;
  say(`${cause}: ${detail}`);
  return [
    h("blockquote", { class: "quote", text: hit?.text || passage }),
    h("p", { class: "cause" }, h("b", { text: capital(cause) }), rank ? ` · rank ${rank} now` : ""),
    h("p", { text: `${capital(detail)}.` }),
    counterfactual
      ? offer(counterfactual)
      : cause !== "found" &&
        h("p", { class: "hint", text: "No single edge and no budget would lift it." }),
    hit &&
      h(
        "details",
        {},
        h("summary", { text: "Its steps" }),
        factors(hit, get("ranking")?.weighing),
        steps(hit, get("tau")),
      ),
  ];
}

/** Where a passage gets lost among all documents. */
function among({ passage, lost, detail, rank, title, within }) {
  say(`${lost}: ${detail}`);
  return [
    h("blockquote", { class: "quote", text: within?.hit?.text || passage }),
    title && h("p", { class: "place", text: title }),
    h("p", { class: "cause" }, h("b", { text: capital(lost) }), rank ? ` · rank ${rank} of all` : ""),
    h("p", { text: `${capital(detail)}.` }),
    within?.hit &&
      h("details", {}, h("summary", { text: "Its steps" }), steps(within.hit, get("tau"))),
  ];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function offer({ description, rank_before: before, rank_after: after, edge, tau }) {
  const button = h("button", {
    type: "button",
    class: "primary",
    text: edge ? "Add that edge" : `Set τ to ${budget(up(tau))}`,
  });
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      set({ active: get("whyNot").answer.segment });
      if (edge) await addEdge(edge);
      else {
        setTau(up(tau));
        await whyNot(get("whyNot").target);
      }
    } catch (error) {
      button.disabled = false;
      button.after(refusal(error));
    }
  });
  return h(
    "div",
    { class: "offer" },
    h(
      "p",
      {},
      `With ${description} it would be `,
      h("b", { text: `rank ${after}` }),
      before ? ` instead of ${before}.` : "; now it is not ranked.",
    ),
    button,
  );
}

/** The slider has steps of a tenth, so a budget is rounded up to one. */
const up = (tau) => Math.min(4, Math.ceil(tau * 10 - 1e-9) / 10);
