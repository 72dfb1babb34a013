/** The budget: a slider, and under it what every budget reaches and where segments come in. */

import { order, setTau } from "/static/asking.js";
import { byId, h, show, svg } from "/static/dom.js";
import { get, set, watch } from "/static/state.js";
import { budget, plural, short } from "/static/words.js";

const MOST = 4;
const HIGH = 30;

/** Start the slider; it is there as soon as there is a ranking. */
export function startTau() {
  const slider = h("input", {
    type: "range",
    id: "tau-slider",
    min: 0,
    max: MOST,
    step: 0.1,
    value: get("tau"),
    on: { input: () => setTau(Number(slider.value)) },
  });
  const value = h("output", { for: "tau-slider" });
  const chart = h("div", { class: "chart" });
  const note = h("p", { class: "note" });
  show(
    byId("tau"),
    h(
      "div",
      { class: "line" },
      h(
        "label",
        { for: "tau-slider", title: "How much reading between the lines is allowed" },
        "Budget τ ",
        value,
      ),
      slider,
    ),
    chart,
    note,
  );
  const draw = () => {
    byId("tau").hidden = !get("ranking");
    slider.value = get("tau");
    slider.setAttribute("aria-valuetext", `${budget(get("tau"))}, ${describe()}`);
    value.textContent = budget(get("tau"));
    note.textContent = describe();
    show(chart, get("curve") && curve());
  };
  watch(["tau", "curve", "ranking"], draw);
  draw();
}

/** Which entry comes next tells more than a count. */
function describe() {
  const entries = [...(get("curve")?.entries ?? [])].sort((a, b) => a.tau - b.tau);
  if (!get("curve")) return "";
  const inside = entries.filter((entry) => entry.tau <= get("tau")).length;
  const next = entries.find((entry) => entry.tau > get("tau"));
  const now = inside
    ? `${plural(inside, "passage meets", "passages meet")} the whole question`
    : "no passage meets the whole question";
  return next
    ? `${now}; the next enters at ${budget(next.tau)}`
    : `${now}; a larger budget adds none`;
}

/** Steps of how many segments meet all, a dot where each enters, a line at the budget in force. */
function curve() {
  const { entries, steps } = get("curve");
  const x = (tau) => (100 * Math.min(tau, MOST)) / MOST;
  const top = Math.max(1, ...steps.map((step) => step.reachable));
  const y = (count) => HIGH - 4 - ((HIGH - 8) * count) / top;
  const path = steps.reduce(
    (drawn, step) => `${drawn} H ${x(step.tau)} V ${y(step.reachable)}`,
    `M 0 ${y(0)}`,
  );
  const ranked = new Map(order().map((entry, at) => [entry.segment, at + 1]));
  return [
    svg(
      "svg",
      { viewBox: `0 0 100 ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("path", { d: `${path} H 100`, class: "reach" }),
      svg("line", { x1: x(get("tau")), x2: x(get("tau")), y1: 0, y2: HIGH, class: "now" }),
    ),
    entries.slice(0, 40).map((entry) => dot(entry, x(entry.tau), ranked.get(entry.segment))),
  ];
}

function dot(entry, left, rank) {
  const text = short(get("content")?.byId.get(entry.segment)?.text ?? entry.segment, 90);
  const pick = () => {
    setTau(Math.min(MOST, Math.ceil(entry.tau * 10 - 1e-9) / 10));
    set({ active: entry.segment });
  };
  return h(
    "button",
    {
      type: "button",
      class: entry.tau <= get("tau") ? "dot in" : "dot",
      style: { left: `${left}%` },
      title: `enters at τ ${budget(entry.tau)}: ${text}`,
      "aria-label": `Set the budget to where this enters, ${budget(entry.tau)}: ${text}`,
      on: { click: pick },
    },
    rank ? String(rank) : "",
  );
}
