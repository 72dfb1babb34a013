/** What a person says of hits and of single steps: a hit is evidence or not, a step is right or not. */

import * as api from "/static/api.js";
import { again } from "/static/asking.js";
import { h, say } from "/static/dom.js";
import { get, set } from "/static/state.js";

/** What was said while the page is open: by query and document, then hit or step. */
const key = (document, what) => `${get("query")}\n${document}\n${what}`;
const said = (document, what) => get("said").get(key(document, what));

function note(document, what, verdict) {
  set({ said: new Map(get("said")).set(key(document, what), verdict) });
}

/** Two buttons on a hit: it is evidence, or it is none. */
export function hitThumbs(document, segment) {
  const was = said(document, segment)?.right;
  return thumbs({
    class: "thumbs",
    label: "Is this evidence?",
    names: ["Evidence", "No evidence"],
    was,
    choose: (right) => sayOfHit(document, segment, right),
  });
}

async function sayOfHit(document, segment, right) {
  const told = { query: get("query"), [right ? "good" : "bad"]: [segment] };
  await sent(async () => {
    await api.feedback(document, told);
    note(document, segment, { right });
    say(right ? "Noted as evidence" : "Noted as no evidence");
  });
}

/** A question about a step, with yes and no: does "visited" count as "meeting"? */
export function stepThumbs(document, { asked, said: word, family }) {
  const what = `${asked}=${word}`;
  const noted = said(document, what);
  return h(
    "span",
    { class: "step-said" },
    h("span", { class: "claim", text: `Does “${word}” count as “${asked}”?` }),
    thumbs({
      class: "thumbs small",
      label: `Does “${word}” count as “${asked}”?`,
      names: ["yes", "no"],
      was: noted?.right,
      choose: (right) => sayOfStep(document, { asked, said: word, family }, what, right),
    }),
    noted?.refused && h("span", { class: "hint", text: noted.refused }),
    noted?.patch &&
      h("button", {
        type: "button",
        class: "link",
        text: "Take it back",
        on: { click: () => takeBack(document, what, noted.patch) },
      }),
  );
}

/** Steps that something was said of and that are gone since: what was said can be taken back. */
export function saidSteps(document, shown) {
  const there = new Set(shown.map(({ asked, said: word }) => `${asked}=${word}`));
  const start = key(document, "");
  return [...get("said")]
    .filter(([at, noted]) => at.startsWith(start) && noted?.step)
    .filter(([at]) => !there.has(at.slice(start.length)))
    .map(([, { step }]) => stepThumbs(document, step));
}

async function sayOfStep(document, step, what, right) {
  const before = said(document, what)?.patch;
  await sent(async () => {
    if (before) await api.revert(before); // what was said last counts
    const told = { query: get("query"), [right ? "right" : "wrong"]: [step] };
    const { patch_ids: ids, refused } = await api.feedback(document, told);
    note(document, what, { right, step, patch: ids[0], refused: refused[0] });
    say(refused[0] ?? (right ? "Noted as right" : "Noted as wrong"));
    await again();
  });
}

async function takeBack(document, what, patch) {
  await sent(async () => {
    await api.revert(patch);
    note(document, what, undefined);
    say("Taken back");
    await again();
  });
}

async function sent(work) {
  try {
    await work();
  } catch (error) {
    set({ failure: error });
  }
}

function thumbs({ class: name, label, names, was, choose }) {
  const button = (right, text) =>
    h("button", {
      type: "button",
      "aria-pressed": String(was === right),
      data: { do: "say" },
      text: `${right ? "✓" : "✗"} ${text}`,
      on: { click: () => was !== right && choose(right) },
    });
  return h(
    "span",
    { class: name, role: "group", "aria-label": label },
    button(true, names[0]),
    button(false, names[1]),
  );
}
