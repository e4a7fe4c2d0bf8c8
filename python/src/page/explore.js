// The component of notebooks: the report in its frame, points of the sweep to choose from, and for a scenario the pins
// of the page, which run it with other values in the kernel.

import { button, delayed, make } from "./elements.js";
import { Pins } from "./pins.js";
import { Results } from "./results.js";
import { Schema } from "./schema.js";

// A slider is followed after this pause.
const SLIDING_MS = 60;

const parsed = (notation) => JSON.parse(notation);

/** The values that pins have changed, and those that they sweep over, as the kernel takes them. */
export function changesOf(pins, values) {
  const swept = pins.pins.filter(({ path, sweep }) => sweep && pins.find(path));
  return {
    values: Object.fromEntries(values),
    sweep: Object.fromEntries(swept.map((pin) => [pin.path, pins.sweptValues(pin).map(parsed)])),
  };
}

/** The table of points, each with a box that chooses it. */
function pointsTable(model) {
  const table = make("table", { className: "points" });
  const choose = (point, isChosen) => {
    const chosen = new Set(model.get("chosen"));
    if (isChosen) chosen.add(point); else chosen.delete(point);
    model.set("chosen", [...chosen].sort((a, b) => a - b));
    model.save_changes();
  };
  const paint = () => {
    const { columns, rows } = model.get("points");
    const chosen = model.get("chosen");
    const head = make("tr", {}, ...["select", ...columns].map((name) => make("th", { scope: "col" }, name)));
    const row = ({ point, cells }) => {
      const label = `Select point ${point}`;
      const box = make("input", { type: "checkbox", checked: chosen.includes(point), "aria-label": label });
      box.addEventListener("change", () => choose(point, box.checked));
      return make("tr", { "data-point": point }, make("td", {}, box),
        ...cells.map((cell) => make("td", {}, String(cell ?? "–"))));
    };
    table.replaceChildren(make("caption", {}, "points of the sweep; those selected are the rows of .selected"),
      make("thead", {}, head), make("tbody", {}, ...rows.map(row)));
  };
  const boxes = () => {
    const chosen = model.get("chosen");
    for (const row of table.querySelectorAll("[data-point]")) {
      row.querySelector("input").checked = chosen.includes(+row.dataset.point);
    }
  };
  paint();
  model.on("change:points", paint);
  // The boxes stay what they are, so that the one that was just used keeps the focus.
  model.on("change:chosen", boxes);
  return table;
}

/** Sliders and choices for the values of a scenario; the kernel runs it with what they say. */
function controls(model) {
  const place = make("div", { className: "pins" });
  const values = new Map();
  const later = delayed(() => {
    model.set("changes", changesOf(pins, values));
    model.save_changes();
  });
  const renew = () => later.request(SLIDING_MS);
  const pins = new Pins((path, notation) => { values.set(path, parsed(notation)); renew(); }, renew, place);
  const schema = new Schema(model.get("schema"));
  const update = () => pins.update(model.get("values"), schema);
  update();
  model.on("change:values", update);
  const reset = button("as in the scenario", () => { values.clear(); pins.pins = []; pins.paint(true); renew(); });
  return make("div", { className: "controls" }, place, reset);
}

/** Shows a model of the kernel in an element. */
export function render({ model, el }) {
  const frames = make("div", { className: "frames" });
  const status = make("p", { className: "status", role: "status" });
  const report = new Results(() => {}, frames);
  let number = 0;
  const show = () => { number += 1; report.loadText(model.get("report"), number); };
  const say = () => { status.textContent = model.get("status"); };
  el.classList.add("subflow-explore");
  el.append(...[model.get("values").length && controls(model), status, pointsTable(model), frames].filter(Boolean));
  say();
  show();
  model.on("change:report", show);
  model.on("change:status", say);
}
