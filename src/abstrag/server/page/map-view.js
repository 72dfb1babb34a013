/** The abstraction map: find a term, see it among its neighbours, add an edge or take one away. */

import * as api from "/static/api.js";
import { byId, h, show } from "/static/dom.js";
import { bar } from "/static/edits-view.js";
import { effect } from "/static/effect.js";
import { refusal, teach } from "/static/notices.js";
import { get, watch } from "/static/state.js";
import { choose, termPanel } from "/static/term-view.js";
import { learn, plural, short } from "/static/words.js";

const place = () => byId("view-map");
let turn = 0;
let search = { document: null, box: null };

/** Start drawing the map when it is looked at. */
export function startMap() {
  watch(["view", "term", "content", "edits"], draw);
  watch(["ranking"], () => place().querySelector(".effect")?.replaceWith(effect()));
}

async function draw() {
  if (get("view") !== "map") return;
  const mine = ++turn;
  if (!get("content")) {
    const words = "Open a document to see its terms, what they stand for, and what says so.";
    show(place(), teach("The abstraction map", words));
    return;
  }
  let shown;
  try {
    const { terms } = await api.terms(get("document"), "", 40);
    learn(terms);
    shown = await centre(terms);
  } catch (error) {
    shown = refusal(error, draw);
  }
  if (mine === turn) lay(shown);
}

/** Draw all but the search box anew, which keeps what was typed and the keyboard. */
function lay(shown) {
  if (search.document !== get("document"))
    search = { document: get("document"), box: finder() };
  const { box } = search;
  if (box.parentNode !== place()) show(place(), box);
  [...place().children].filter((child) => child !== box).forEach((child) => child.remove());
  box.before(...[bar()].filter(Boolean));
  box.after(shown);
}

/** The term that was chosen, or else the first the query speaks of, or else the best connected. */
async function centre(terms) {
  if (get("term")) return termPanel(await api.term(get("document"), get("term")));
  const asked =
    get("ranking")?.query.literals.flatMap((literal) => literal.terms.slice(0, 1)) ?? [];
  const known = [...terms].sort((a, b) => b.degree - a.degree).map((term) => term.id);
  for (const id of [...asked, ...known]) {
    try {
      return termPanel(await api.term(get("document"), id));
    } catch (error) {
      if (error.status !== 404) throw error; // a literal may name what the document does not
    }
  }
  return teach("No terms", "Nothing in this document was understood as a term.");
}

/** The search box for terms; what it finds appears under it. */
function finder() {
  const found = h("ul", { class: "terms", id: "found-terms" });
  const field = h("input", {
    type: "search",
    id: "find-term",
    placeholder: "Find a term…",
    autocomplete: "off",
    "aria-controls": "found-terms",
  });
  let timer = null;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => find(field.value.trim(), found), 150);
  });
  return h(
    "div",
    { class: "finder" },
    h("label", { class: "unseen", for: "find-term", text: "Find a term" }),
    field,
    found,
  );
}

async function find(typed, found) {
  if (!typed) return show(found);
  try {
    const { terms } = await api.terms(get("document"), typed, 40);
    learn(terms);
    if (terms.length) return show(found, closest(terms, typed).map(termItem));
    return show(found, h("li", { class: "hint", text: "No term is called so." }));
  } catch (error) {
    return show(found, h("li", {}, refusal(error)));
  }
}

/** The term that was typed, terms that begin with it, then the rest; most edges first. */
function closest(terms, typed) {
  const wanted = typed.toLowerCase();
  const nearness = (term) => {
    const label = term.label.toLowerCase();
    return (label === wanted) + label.startsWith(wanted);
  };
  return [...terms].sort((a, b) => nearness(b) - nearness(a) || b.degree - a.degree).slice(0, 14);
}

function pick(term) {
  show(byId("found-terms"));
  choose(term);
}

const termItem = (term) =>
  h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "term-item", on: { click: () => pick(term.id) } },
      h("span", { class: "kind", text: term.kind }),
      short(term.label, 44),
      h("span", { class: "weight", text: plural(term.degree, "edge") }),
    ),
  );
