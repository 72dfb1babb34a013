/** Refinement as a timeline: the failure, what was tried, kept or refused and why, and the way back. */

import { byId, h, show } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { refusal, teach } from "/static/notices.js";
import { patchWords } from "/static/patch.js";
import { inForce, loadLog, refine, revert } from "/static/refining.js";
import { get, watch } from "/static/state.js";
import { plural, short } from "/static/words.js";

const place = () => byId("view-refine");

/** Start drawing when the view is looked at. */
export function startRefine() {
  watch(["view", "query", "document", "refinement", "log", "logFailure"], draw);
  watch(["view", "document"], () => {
    if (get("view") === "refine" && !get("log")) loadLog();
  });
}

function draw() {
  if (get("view") !== "refine") return;
  show(place(), ask(), result(), history());
}

function ask() {
  if (!get("query") || !get("document")) {
    return teach(
      "Refine",
      "Ask something first. If the evidence is not good enough, a critic says what failed and where, proposes a small patch, and a gate keeps it only if nothing that worked gets worse.",
    );
  }
  const busy = get("refinement")?.busy;
  return h(
    "div",
    { class: "offer" },
    h(
      "p",
      {},
      "Let a critic look at ",
      h("i", { text: `“${short(get("query"), 100)}”` }),
      " and mend what failed.",
    ),
    h("button", {
      type: "button",
      class: "primary",
      disabled: Boolean(busy),
      text: busy ? "Refining…" : "Refine",
      on: { click: refine },
    }),
  );
}

function result() {
  const refinement = get("refinement");
  if (!refinement || refinement.busy) return null;
  if (refinement.error) return refusal(refinement.error, refine);
  const { steps, accepted, reason, before, after, patches } = refinement.made;
  const head = accepted
    ? `${plural(patches?.length ?? 1, "patch", "patches")} kept`
    : "Nothing was changed";
  return h(
    "section",
    { class: "refinement", "aria-label": "Refinement" },
    h("h2", { text: head }),
    h("p", { class: "hint", text: reason }),
    h("ol", { class: "timeline" }, steps.map(cycle)),
    accepted && moves(before.hits, after.hits),
  );
}

function cycle(step) {
  return h(
    "li",
    { class: step.criticism.accepted ? "accepted" : "" },
    h("p", {}, h("b", { text: `Cycle ${step.cycle}. ` }), step.criticism.reason),
    step.failure.diagnosis.reading &&
      h("p", { class: "reading", text: step.failure.diagnosis.reading }),
    h(
      "p",
      { class: "hint" },
      "put down to the stage ",
      h("b", { text: step.localization.stage }),
      `: ${step.localization.reason}`,
    ),
    h(
      "ol",
      { class: "timeline" },
      step.attempts.map((attempt) => tried(attempt, step)),
    ),
    step.controls.length > 0 &&
      h("p", {
        class: "hint",
        text: `${plural(step.controls.length, "solved query", "solved queries")} had to stay solved`,
      }),
  );
}

function tried({ patch, verdict, after, said, effect }, { before }) {
  return h(
    "li",
    { class: verdict.accepted ? "accepted" : "refused" },
    h("p", { class: "outcome", text: verdict.accepted ? "kept" : "refused" }),
    h("div", { class: "diff" }, patch ? patchWords(patch) : said),
    h(
      "p",
      { class: "hint" },
      effect.replaceAll("_", " "),
      patch && ` · ${patch.licence.kind}: ${patch.licence.reference}`,
    ),
    verdict.reasons.length > 0 &&
      h(
        "ul",
        {},
        verdict.reasons.map((text) => h("li", { text })),
      ),
    after.length > 0 &&
      h("details", {}, h("summary", { text: "What it does to the ranking" }), moves(before, after)),
  );
}

/** Two rankings as one list of what moved. */
function moves(before, after) {
  const ranks = new Map(before.map((one, at) => [one.segment, at + 1]));
  const moved = after
    .map((one, at) => ({ ...one, now: at + 1, was: ranks.get(one.segment) }))
    .filter((one) => one.was !== one.now);
  if (!moved.length) return h("p", { class: "hint", text: "The order stays." });
  return h(
    "ul",
    { class: "effect" },
    moved.map(({ segment, now, was, evidence }) =>
      h(
        "li",
        {},
        h("span", {
          class: !was || was > now ? "moved up" : "moved down",
          text: `${was ?? "new"} → ${now}`,
        }),
        h(
          "span",
          {},
          h("button", {
            type: "button",
            class: "link",
            text: short(get("content")?.byId.get(segment)?.text ?? segment, 90),
            on: { click: () => goTo(segment) },
          }),
          evidence === false && h("span", { class: "doubt", text: " no evidence" }),
        ),
      ),
    ),
  );
}

/** Everything ever tried for this document, newest first; what is in force can be taken back. */
function history() {
  if (get("logFailure")) return refusal(get("logFailure"), loadLog);
  const name = get("document");
  const entries = (get("log") ?? []).filter(
    (entry) =>
      entry.payload.action !== "solved" && (!entry.payload.name || entry.payload.name === name),
  );
  if (!entries.length) return null;
  const kept = inForce(get("log"), name);
  return h(
    "section",
    { "aria-label": "History" },
    h("h2", { text: "History" }),
    h(
      "ol",
      { class: "timeline" },
      [...entries]
        .reverse()
        .slice(0, 60)
        .map((entry) => past(entry, kept)),
    ),
  );
}

function past(entry, kept) {
  const { action, id, patch, said, query } = entry.payload;
  const accepted = entry.validation_status === "accepted";
  const back = kept.get(id) === entry;
  const word =
    action === "revert"
      ? "taken back"
      : accepted
        ? back
          ? "kept"
          : "kept, later taken back"
        : "refused";
  const item = h(
    "li",
    { class: accepted ? "accepted" : "refused" },
    h("p", { class: "outcome", text: word }),
    query && h("p", { class: "hint", text: `“${short(query, 110)}”` }),
    (patch || said) &&
      h("div", { class: "diff" }, patch ? patchWords(patch, action === "revert") : said),
    h("p", {
      class: "hint",
      text: `${entry.reason} · ${entry.when.replace("T", " ").replace(/[+Z].*$/, "")}`,
    }),
    back && h("button", { type: "button", text: "Revert", on: { click: take } }),
  );
  async function take({ target }) {
    target.disabled = true;
    await revert(id).catch((error) => {
      target.disabled = false;
      item.append(refusal(error));
    });
  }
  return item;
}
