/** The left side: the open document, as pages where there are pages and as text always. */

import { byId, h, reveal, show } from "/static/dom.js";
import { refusal, teach } from "/static/notices.js";
import { order } from "/static/asking.js";
import { hitsOf } from "/static/collection.js";
import { open } from "/static/library.js";
import { PagesView } from "/static/pages-view.js";
import { get, set, watch } from "/static/state.js";
import { TextView } from "/static/text-view.js";
import { plural } from "/static/words.js";

let view = null;

/** Start drawing the document whenever it changes. */
export function startDocument() {
  watch(["content", "contentFailure", "document", "layout", "documents", "total"], draw);
  watch(["ranking", "found", "sweep", "tau", "active"], mark);
  draw();
}

function draw() {
  const content = get("content");
  view?.leave?.();
  view = null;
  if (get("contentFailure"))
    return show(
      byId("document"),
      refusal(get("contentFailure"), () => open(get("document"))),
    );
  if (!get("document")) return show(byId("document"), welcome());
  if (!content) return show(byId("document"), h("p", { class: "loading", text: "Opening…" }));
  const info = get("documents").find((one) => one.id === get("document")) ?? content.info;
  const pages = info.has_pdf && get("layout") !== "text";
  view = pages ? new PagesView(info, content) : new TextView(content);
  show(byId("document"), head(info, content, pages), view.element);
  mark();
}

function head(info, content, pages) {
  const facts = [
    info.date,
    info.pages && plural(info.pages, "page"),
    plural(content.segments.length, "passage"),
    info.file,
  ];
  const choice = (name, label, on) =>
    h("button", {
      type: "button",
      "aria-pressed": String(on),
      text: label,
      on: { click: () => set({ layout: name }) },
    });
  return h(
    "header",
    { class: "document-head" },
    h("h2", { text: content.title || info.title }),
    h("p", { class: "facts", text: facts.filter(Boolean).join(" · ") }),
    info.has_pdf &&
      h(
        "div",
        { class: "choice", role: "group", "aria-label": "Show as" },
        choice("pages", "Pages", pages),
        choice("text", "Text", !pages),
      ),
  );
}

/** Where the words of the hit in focus stand, as elements; empty until they are drawn. */
export const wordsShown = () => view?.words?.() ?? new Map();

/** Mark what is found, and bring the hit in focus into view. */
function mark() {
  view?.mark(order(), get("active"), hitOf(get("active")));
}

/** The complete hit of a segment of the open document, where there is one. */
export const hitOf = (segment) => {
  const hits = get("found") ? hitsOf(get("document")) : (get("ranking")?.hits ?? []);
  return hits.find((hit) => hit.segment === segment) ?? null;
};

/** Show the place of a segment. */
export function goTo(segment) {
  set({ active: segment });
  document.body.dataset.pane = "document";
  view?.goTo(segment);
}

/** Show any span of the source, such as the words that license an edge. */
export function goToSpan(span) {
  const holder = get("content")?.segments.find(
    (one) => one.span.start <= span.start && span.end <= one.span.end,
  );
  if (holder) return goTo(holder.id);
  const block = get("content")?.blocks.findIndex(
    (one) => one.span.start <= span.start && span.end <= one.span.end,
  );
  document.body.dataset.pane = "document";
  reveal(byId("document").querySelector(`[data-block="${block}"]`));
}

function welcome() {
  if (get("total") > 0) return desk();
  return teach(
    "Drop a document anywhere on this page",
    "PDF, Word, HTML, Markdown, LaTeX or plain text. It is read on this machine and goes nowhere else.",
    h(
      "ol",
      { class: "steps" },
      h("li", {
        text: "Ask a question, or state a claim. Each hit is an exact quote with its page and section.",
      }),
      h("li", {
        text: "Read why it counts: the words that match outright, and every step of reading between, with its price.",
      }),
      h("li", { text: "Move the budget τ to allow more reading between the lines, or less." }),
      h("li", { text: "Select a passage you expected and ask why it is not there." }),
    ),
  );
}

/** No document is open and there are some: the latest, to open one, and all can be asked. */
function desk() {
  const row = (info) =>
    h(
      "li",
      {},
      h("button", {
        type: "button",
        class: "link",
        text: info.title,
        on: { click: () => open(info.id) },
      }),
      h("span", { class: "place", text: ` ${[info.file, info.date].filter(Boolean).join(" · ")}` }),
    );
  const latest = [...get("documents")]
    .sort((a, b) => b.indexed_at.localeCompare(a.indexed_at))
    .slice(0, 12);
  return teach(
    `${plural(get("total"), "document")} to ask`,
    "A question goes to all of them until you open one; a hit opens its document here, at its place.",
    h("ul", { class: "latest", "aria-label": "Documents indexed last" }, latest.map(row)),
  );
}
