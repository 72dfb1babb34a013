/** How a search over all documents looks: the choice of documents, and hits by document. */

import { again, search, whenFound } from "/static/asking.js";
import { everywhere, filters, setEverywhere } from "/static/collection.js";
import { byId, h, show } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { card } from "/static/hit.js";
import { open } from "/static/library.js";
import { get, set, watch } from "/static/state.js";
import { plural } from "/static/words.js";

const FIELDS = [
  ["title", "Title has", "annual report"],
  ["source", "File", "*.pdf"],
  ["folder", "Folder", "filings"],
  ["since", "From", "2023-01"],
  ["until", "Until", "2024"],
];
const GENRES = [
  ["scientific", "paper"],
  ["abstract_only", "abstract"],
  ["engineering", "engineering"],
  ["legal", "contract or law"],
  ["report", "report or filing"],
  ["news", "news"],
  ["transcript", "transcript"],
  ["page_local", "encyclopedia"],
  ["plain", "other"],
];

/** Start the choice of documents; it is there as soon as there is more than one. */
export function startCollection() {
  watch(["documents", "document", "everywhere", "total", "health"], drawScope);
  whenFound(async ({ hits }) => {
    if (hits.length) await goToHit(hits[0].hit); // the best one is shown in its document
  });
  drawScope();
}

function drawScope() {
  const many = get("total") > 1 && get("health")?.collection !== false;
  if (!many) return show(byId("scope"));
  const all = everywhere();
  const was = byId("scope").querySelector("details")?.open;
  const choice = (on, label) =>
    h("button", {
      type: "button",
      "aria-pressed": String(all === on),
      disabled: !on && !get("document"),
      text: label,
      on: { click: () => all !== on && setEverywhere(on, again) },
    });
  const fields = FIELDS.map(([name, label, hint]) => field(name, label, hint));
  return show(
    byId("scope"),
    h(
      "div",
      { class: "choice", role: "group", "aria-label": "Where to look" },
      choice(false, "This document"),
      choice(true, `All ${get("total")} documents`),
    ),
    all &&
      h(
        "details",
        { class: "filters", open: was || Object.keys(filters()).length > 0 },
        h("summary", { text: "Only some of them" }),
        h(
          "div",
          { class: "fields" },
          fields,
          h(
            "label",
            {},
            "Genre",
            h(
              "select",
              { on: { change: ({ target }) => setFilter("genre", target.value) } },
              [["", "any"], ...GENRES].map(([name, label]) =>
                h("option", {
                  value: name,
                  selected: (get("filters").genre ?? "") === name,
                  text: label,
                }),
              ),
            ),
          ),
        ),
      ),
  );
}

function field(name, label, hint) {
  return h(
    "label",
    {},
    label,
    h("input", {
      type: "text",
      name,
      value: get("filters")[name] ?? "",
      placeholder: hint,
      autocomplete: "off",
      on: { change: ({ target }) => setFilter(name, target.value.trim()) },
    }),
  );
}

function setFilter(name, value) {
  set({ filters: { ...get("filters"), [name]: value } });
  if (get("query")) search(get("query"));
}

/** The hits of all documents, one heading for each document. */
export function grouped(found) {
  const opened = plural(found.documents.length, "document");
  const passed =
    found.passed === found.collection
      ? plural(found.collection, "document")
      : `${found.passed} of ${plural(found.collection, "document")}`;
  return [
    h("p", {
      class: "summary",
      text: `${plural(found.hits.length, "hit")} from ${passed}; ${opened} read closely · ${Math.round(found.ms)} ms`,
    }),
    found.groups.map((group) => section(group, found)),
  ];
}

function section(group, found) {
  const facts = [group.file, group.date, plural(group.ranks.length, "hit")].filter(Boolean);
  const id = `group-${group.ranks[0]}`;
  return h(
    "section",
    { class: "group", "aria-labelledby": id, data: { document: group.document } },
    h(
      "header",
      {},
      h(
        "h3",
        { id },
        h("button", {
          type: "button",
          class: "link",
          text: group.title || group.document,
          on: { click: () => alone(group.document) },
        }),
      ),
      h("p", { class: "place", text: facts.join(" · ") }),
    ),
    h(
      "ol",
      { class: "hits", "aria-label": `Evidence in ${group.title || group.document}` },
      group.ranks.map((rank) => among(found, rank, group.title || group.document)),
    ),
  );
}

/** A hit among those of all: the same card, which knows its document. */
function among(found, rank, title) {
  const { hit, score } = found.hits[rank - 1];
  return card({
    entry: { ...hit, reachable: hit.trace.reachable },
    full: hit,
    rank,
    title,
    document: hit.document,
    among: { score },
    weighing: found.weighing,
    tau: found.tau,
    choose: () => goToHit(hit),
    go: () => goToHit(hit, true),
  });
}

/** Ask one document alone, by its heading. */
async function alone(document) {
  set({ everywhere: false, found: null });
  await open(document);
}

/** Show a hit in its document, beside the hits of all. */
export async function goToHit(hit, there = false) {
  if (get("document") !== hit.document) await open(hit.document, { among: true });
  if (get("document") !== hit.document) return; // another one was wanted meanwhile
  set({ active: hit.segment });
  if (there) goTo(hit.segment);
}
