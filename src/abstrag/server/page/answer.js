/** The answer: sentences as they come, each with citations that lead to the quote. */

import * as api from "/static/api.js";
import { ranked } from "/static/asking.js";
import { byId, h, say, show } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { refusal, teach } from "/static/notices.js";
import { get, watch } from "/static/state.js";
import { percent, place as whereabouts, under } from "/static/words.js";

const place = () => byId("view-answer");
let current = null;
let answered = null; // document, question and judge of what is shown

/** Start answering when the view is looked at, and again when the query changes. */
export function startAnswer() {
  watch(["view", "ranking", "document"], () => {
    if (get("view") !== "answer") return;
    if (!get("query") || !get("ranking"))
      show(
        place(),
        teach(
          "Answer",
          "Ask something above. The answer quotes the document, and every quotation is checked before you see it.",
        ),
      );
    else if (answered !== key()) ask();
  });
}

const key = () => `${get("document")}\n${get("query")}\n${get("judge")}`;

/** Ask the document and show what comes, piece by piece. */
export async function ask() {
  answered = key();
  current?.abort();
  const mine = (current = new AbortController());
  const text = h("p", { class: "answer-text" });
  const verdict = h("div");
  const sources = h("ol", { class: "sources", "aria-label": "Quotes" });
  const note = h("p", { class: "note", text: "Reading…" });
  show(
    place(),
    h(
      "article",
      { class: "answer", "aria-live": "polite", "aria-busy": "true" },
      verdict,
      text,
      sources,
      note,
    ),
  );
  const tell = {
    verdict: (event) => show(verdict, judged(event.verdict), differing(event.differences)),
    citation: (event) => sources.append(source(event.citation)),
    text: (event) => text.append(...sentence(event)),
    error: (event) =>
      place().append(refusal(new api.Refusal(event.error?.error ? event.error : event), ask)),
    done: ({ answer }) => {
      if (!answer) return;
      if (!answer.verdict) show(verdict, differing(answer.differences));
      finish(answer, note);
    },
  };
  try {
    const asked = { question: get("query"), ...ranked() };
    for await (const event of api.ask(get("document"), asked, mine.signal)) {
      if (mine.signal.aborted) return;
      tell[event.type]?.(event);
    }
    if (note.textContent === "Reading…") note.remove();
  } catch (error) {
    if (error.name === "AbortError") return;
    answered = null;
    note.remove();
    place().append(refusal(error, ask));
  }
  place().firstChild?.setAttribute("aria-busy", "false");
}

function sentence({ text, citations, doubt }) {
  const numbers = (citations ?? []).map((number) =>
    h("button", {
      type: "button",
      class: "cite",
      text: number,
      "aria-label": `Quote ${number}`,
      on: { click: () => place().querySelector(`[data-number="${number}"] button`)?.click() },
    }),
  );
  return [
    h(
      "span",
      { class: doubt ? "sentence doubted" : "sentence", title: doubt },
      text,
      doubt && h("span", { class: "doubt", text: ` (${doubt})` }),
    ),
    ...numbers,
    " ",
  ];
}

function source({ number, text, page, section, segment, headers }) {
  const where = [under(headers), whereabouts({ page, section })].filter(Boolean).join(" · ");
  return h(
    "li",
    { data: { number } },
    h("span", { class: "number", text: number }),
    h("button", {
      type: "button",
      class: "link quote",
      text: `“${text}”`,
      on: { click: () => goTo(segment) },
    }),
    h("span", { class: "place", text: ` ${where}` }),
  );
}

function judged({ label, by, confidence, grounded }) {
  const sure =
    confidence === null || confidence === undefined ? "" : `, ${percent(confidence)} sure`;
  return h(
    "p",
    { class: `verdict ${label.toLowerCase().replaceAll(" ", "-")}` },
    h("b", { text: label.toLowerCase() }),
    ` says ${by}${sure}`,
    !grounded && h("span", { class: "doubt", text: "; none of its quotations could be verified" }),
  );
}

/** What the evidence says instead of what the claim says. */
function differing(differences) {
  if (!differences?.length) return null;
  return h(
    "ul",
    { class: "differences", "aria-label": "What differs" },
    differences.map(({ text, certain }) =>
      h("li", { text: `The evidence says: ${text}${certain ? "" : " (perhaps of something else)"}` }),
    ),
  );
}

function finish({ found, missing, note: told, evidence, usage }, note) {
  note.textContent = told;
  say(found ? "Answered" : told);
  if (!found && missing.length)
    note.after(h("p", { class: "hint", text: `Missing: ${missing.join(", ")}` }));
  if (!found && evidence.length) {
    note.after(
      h("h3", { text: "Not an answer yet: the closest passages" }),
      h(
        "ol",
        { class: "sources" },
        evidence.map((one) => source({ ...one, number: one.number })),
      ),
    );
  }
  if (usage?.calls)
    note.append(` · ${usage.calls} model calls, ${usage.tokens_in + usage.tokens_out} tokens`);
}
