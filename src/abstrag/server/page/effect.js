/** What the last edit did to the ranking, for those who look at the map and not at the hits. */

import { order } from "/static/asking.js";
import { h } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { get } from "/static/state.js";
import { short } from "/static/words.js";

/** The segments that moved, or a line saying that none did; nothing before an edit. */
export function effect() {
  const before = get("moved");
  const box = h("section", {
    class: "effect",
    "aria-live": "polite",
    "aria-label": "Effect on the ranking",
  });
  if (!get("ranking")) return box;
  if (!before) return box;
  const now = order().map((entry, at) => ({
    segment: entry.segment,
    rank: at + 1,
    was: before.get(entry.segment) ?? null,
  }));
  const moved = now.filter((one) => one.was !== one.rank);
  const left = [...before.keys()].filter((segment) => !now.some((one) => one.segment === segment));
  if (!moved.length && !left.length) {
    box.append(
      h("p", {
        class: "hint",
        text: `The ranking of “${short(get("query"), 80)}” stays as it is.`,
      }),
    );
    return box;
  }
  box.append(
    h("h3", { text: `What it does to “${short(get("query"), 80)}”` }),
    h(
      "ul",
      {},
      moved.map((one) =>
        item(
          one.segment,
          one.was ? `${one.was} → ${one.rank}` : `new → ${one.rank}`,
          one.was === null || one.was > one.rank,
        ),
      ),
      left.map((segment) => item(segment, `${before.get(segment)} → out`, false)),
    ),
  );
  return box;
}

function item(segment, change, up) {
  const text = get("content")?.byId.get(segment)?.text ?? segment;
  return h(
    "li",
    {},
    h("span", { class: up ? "moved up" : "moved down", text: change }),
    " ",
    h("button", {
      type: "button",
      class: "link",
      text: short(text, 90),
      on: { click: () => goTo(segment) },
    }),
  );
}
