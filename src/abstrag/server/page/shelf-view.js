/** The shelf of documents, dropping files on the page, and the lines of progress. */

import * as api from "/static/api.js";
import { byId, h, show } from "/static/dom.js";
import { add, drop, forget, open } from "/static/library.js";
import { refusal } from "/static/notices.js";
import { get, set, watch } from "/static/state.js";
import { plural, size } from "/static/words.js";

/** Start the shelf: its button, the file button, and the whole page as a place to drop on. */
export function startShelf() {
  watch(["documents", "document"], draw);
  watch(["jobs"], () => show(byId("jobs"), get("jobs").map(progress)));
  byId("shelf-button").addEventListener("click", () => {
    doubted = null;
    drawShelf();
    byId("shelf").showModal();
  });
  byId("file").addEventListener("change", ({ target }) => {
    add([...target.files]);
    target.value = "";
  });
  takeDrops();
  draw();
}

function draw() {
  const info = get("documents").find((one) => one.id === get("document"));
  byId("shelf-title").textContent =
    info?.title ??
    get("content")?.title ??
    (get("total") > 1 ? `All ${get("total")} documents` : "No document yet");
  document.title = info ? `${info.title} · AbstRAG` : "AbstRAG Studio";
  if (byId("shelf").open) drawShelf();
}

const SURE = "Really remove?";
const SORTS = [
  ["title", "title"],
  ["file", "file name"],
  ["date", "date, newest first"],
  ["size", "size, largest first"],
  ["indexed", "indexed, latest first"],
];
let asked = { sort: "title" };
let drawn = { list: null, key: "" };
let doubted = null; // the document whose removal waits for a second click

/** The list as it is filtered and sorted now; the server does both, for a store may be large. */
async function listed() {
  const said = Object.fromEntries(Object.entries(asked).filter(([, value]) => value));
  const list = byId("shelf").querySelector(".shelf");
  const before = asked;
  try {
    const found = await api.documents(said);
    if (before !== asked || !list.isConnected) return; // a later answer is the one to show
    fill(list, found.list);
    byId("shelf").querySelector(".count").textContent =
      found.total > found.list.length
        ? `the first ${found.list.length} of ${found.total}`
        : plural(found.total, "document");
  } catch (error) {
    show(list, h("li", {}, refusal(error)));
  }
}

/** Draw the rows unless they stand there already: a redrawn button loses the focus. */
function fill(list, infos) {
  const key = JSON.stringify(infos);
  if (drawn.list !== list || drawn.key !== key) show(list, infos.map(row));
  drawn = { list, key };
  return list;
}

function tools() {
  const change = (name) => (event) => {
    asked = { ...asked, [name]: event.target.value.trim() };
    listed();
  };
  const text = (name, label, hint) =>
    h(
      "label",
      {},
      label,
      h("input", { value: asked[name] ?? "", placeholder: hint, on: { input: change(name) } }),
    );
  return h(
    "div",
    { class: "shelf-tools" },
    text("title", "Title has", "words"),
    text("source", "File", "*.pdf"),
    h(
      "label",
      {},
      "Sort by",
      h(
        "select",
        { on: { change: change("sort") } },
        SORTS.map(([value, label]) =>
          h("option", { value, selected: value === asked.sort, text: label }),
        ),
      ),
    ),
  );
}

function everything() {
  return h("button", {
    type: "button",
    class: "link",
    text: `Ask all ${get("total")} documents`,
    on: {
      click: () => {
        byId("shelf").close();
        set({ everywhere: true });
        byId("query").focus();
      },
    },
  });
}

function drawShelf() {
  const list = get("documents");
  show(
    byId("shelf"),
    h(
      "form",
      { method: "dialog" },
      h("button", { class: "quiet close", "aria-label": "Close", text: "×" }),
    ),
    h("h2", { id: "shelf-head", text: "Documents" }),
    list.length > 0 && tools(),
    list.length > 1 && get("health")?.collection !== false && h("p", {}, everything()),
    list.length
      ? [h("p", { class: "place count" }), fill(h("ul", { class: "shelf" }), list)]
      : h("p", {
          text: "Nothing here yet. Drop a file anywhere on the page, or press “Add a file”.",
        }),
  );
  if (list.length) listed();
}

function row(info) {
  const facts = [
    info.file,
    info.folder && `in ${info.folder}`,
    size(info.bytes),
    info.date,
    info.pages ? plural(info.pages, "page") : plural(info.segments, "passage"),
  ]
    .filter(Boolean)
    .join(" · ");
  const item = h(
    "li",
    { "aria-current": info.id === get("document") ? "true" : null },
    h(
      "button",
      {
        type: "button",
        class: "book",
        on: {
          click: () => {
            byId("shelf").close();
            open(info.id);
          },
        },
      },
      h("span", { text: info.title }),
      h("small", { text: facts }),
    ),
    h("button", {
      type: "button",
      class: "link",
      text: info.id === doubted ? SURE : "Remove",
      "aria-label": `Remove ${info.title}`,
      on: { click: remove },
    }),
  );
  async function remove({ target }) {
    if (doubted !== info.id) {
      doubted = info.id;
      target.textContent = SURE;
      return;
    }
    doubted = null;
    await forget(info.id).catch((error) => item.append(refusal(error)));
  }
  return item;
}

function progress({ key, name, step, done, total, error }) {
  const close = h("button", {
    type: "button",
    class: "quiet",
    text: "×",
    "aria-label": `Dismiss ${name}`,
    on: { click: () => drop(key) },
  });
  if (error)
    return h("div", { class: "job failed" }, h("b", { text: name }), refusal(error), close);
  return h(
    "div",
    { class: "job" },
    h("b", { text: name }),
    h("progress", {
      max: total || null,
      value: total ? done : null,
      "aria-label": `Progress of ${name}`,
    }),
    h("span", { text: step }),
  );
}

function takeDrops() {
  let inside = 0;
  const files = (event) => event.dataTransfer?.types.includes("Files");
  const hint = (on) => {
    byId("drop").hidden = !on;
  };
  addEventListener("dragenter", (event) => {
    if (files(event)) {
      inside += 1;
      hint(true);
    }
  });
  addEventListener("dragleave", (event) => {
    if (files(event)) {
      inside -= 1;
      hint(inside > 0);
    }
  });
  addEventListener("dragover", (event) => {
    if (files(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    inside = 0;
    hint(false);
    add([...event.dataTransfer.files]);
  });
}
