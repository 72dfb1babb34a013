/** The shelf of documents, dropping files on the page, and the lines of progress. */

import { byId, h, show } from "/static/dom.js";
import { add, drop, forget, open } from "/static/library.js";
import { refusal } from "/static/notices.js";
import { get, watch } from "/static/state.js";
import { plural } from "/static/words.js";

/** Start the shelf: its button, the file button, and the whole page as a place to drop on. */
export function startShelf() {
  watch(["documents", "document"], draw);
  watch(["jobs"], () => show(byId("jobs"), get("jobs").map(progress)));
  byId("shelf-button").addEventListener("click", () => {
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
    info?.title ?? (get("documents").length ? "Choose a document" : "No document yet");
  document.title = info ? `${info.title} · AbstRAG` : "AbstRAG Studio";
  if (byId("shelf").open) drawShelf();
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
    list.length
      ? h("ul", { class: "shelf" }, list.map(row))
      : h("p", {
          text: "Nothing here yet. Drop a file anywhere on the page, or press “Add a file”.",
        }),
  );
}

function row(info) {
  const facts = [
    info.date,
    info.pages && plural(info.pages, "page"),
    plural(info.segments, "segment"),
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
      text: "Remove",
      "aria-label": `Remove ${info.title}`,
      on: { click: remove },
    }),
  );
  async function remove({ target }) {
    if (target.dataset.sure !== "yes") {
      target.dataset.sure = "yes";
      target.textContent = "Really remove?";
      return;
    }
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
