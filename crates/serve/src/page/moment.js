// An instant of the run on the picture: how full each queue is, and the window, the data in flight and the round-trip
// time of each subflow.

import { button, draw, find, make } from "./elements.js";
import { Packets } from "./packets.js";
import { resultsFile, series } from "./server.js";

const COLUMNS = [["goodput", "Mbit/s"], ["cwnd", "window"], ["in-flight", "in flight"], ["srtt", "RTT ms"],
  ["blocking", "reader waits %"]];
const STEPS = 500;
// The instant that is shown first. At the very beginning nothing has a value yet.
const FIRST = 100;
const FRAME_MS = 40;
// How long a whole run is shown.
const PLAYED_MS = 8000;

/** The value of a series at a time: that of the last sample until then. */
export function valueAt(points, time) {
  let from = 0, to = points.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle][0] <= time) from = middle + 1; else to = middle;
  }
  return from ? points[from - 1][1] : null;
}

const [GAUGE, THICK] = [84, 6];

// How full the queues of both directions are, as two bars below the words of a link, which fill from their sides.
function gauge(line, sides) {
  let bars = line.querySelector(".gauge");
  if (!bars) {
    const bar = (side) => [draw("rect", { x: -GAUGE / 2, y: side * (THICK + 3), width: GAUGE, height: THICK, class: "room" }),
      draw("rect", { x: -GAUGE / 2, y: side * (THICK + 3), width: 0, height: THICK, class: "fill" })];
    bars = draw("g", { class: "gauge", "aria-hidden": "true" }, ...bar(0), ...bar(1));
    line.append(bars);
  }
  const text = line.querySelector("text");
  const [, x, y] = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(text.getAttribute("transform")) ?? [0, 0, 0];
  bars.setAttribute("transform", `translate(${x} ${+y + 17 * text.childElementCount - 8})`);
  bars.querySelectorAll(".fill").forEach((fill, side) => {
    const share = sides[side]?.most ? sides[side].value / sides[side].most : 0;
    fill.setAttribute("width", GAUGE * Math.min(1, share));
  });
  bars.classList.toggle("unknown", sides.every((side) => side === null));
}

const shown = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(3)).toString());

/** The scrubber. */
export class Moment {
  constructor() {
    this.place = find("moment");
    this.data = null;
    this.number = null;
    // The variant that is in sight, and the run that the reader has chosen, if any.
    this.variant = "";
    this.chosen = null;
    this.isOld = false;
    this.playing = null;
    this.range = make("input", { type: "range", min: 0, max: STEPS, value: FIRST, id: "instant", "aria-label": "Instant" });
    this.range.addEventListener("input", () => { this.stop(); this.paint(); });
    this.play = button("play", () => (this.playing ? this.stop() : this.start()), { id: "play" });
    this.time = make("output", { htmlFor: "instant" });
    this.run = make("select", { id: "instant-run" });
    this.run.addEventListener("change", () => this.choose(+this.run.value));
    this.ofRun = make("div", { className: "row", hidden: true }, make("label", { htmlFor: "instant-run" }, "of the run"), this.run);
    this.table = make("table", {});
    this.rest = make("p", { className: "quiet", hidden: true });
    const around = make("div", { id: "packets" });
    this.packets = new Packets(around);
    const note = make("p", { className: "quiet" }, "Goodput of a subflow counts its data when it is in order in the stream of the "
      + "connection: what waited for the other subflows counts at once then, so it may be above the rate of the link.");
    this.place.append(make("div", { className: "row" }, this.play, this.range, this.time), this.ofRun, this.table, this.rest,
      note, around);
    this.place.hidden = true;
  }

  /**
   * Takes the number of results, and which variant of them is in sight (`""` if they have one only), and loads what they
   * have over time if that is to be seen. `isCurrent` says whether they are of the text.
   */
  load(number, { variant = "", isSeen, isCurrent = true }) {
    this.number = number;
    this.data = null;
    if (variant !== this.variant) this.chosen = null;
    this.variant = variant;
    this.isOld = !isCurrent;
    if (number === null) this.clear();
    if (isSeen) this.show();
  }

  /** Marks the instant as that of an earlier text. */
  outdated() {
    this.isOld = true;
    this.place.classList.add("old");
  }

  // Nothing stays in sight that the results do not have.
  clear() {
    this.stop();
    this.place.hidden = true;
    this.packets.forget();
    for (const of of document.querySelectorAll("#picture .queue, #picture .gauge")) of.remove();
    for (const path of document.querySelectorAll("#picture .line path")) {
      path.style.strokeWidth = "";
      path.setAttribute("class", "link");
    }
  }

  async show() {
    const { number } = this;
    if (this.data || number === null) return;
    const data = await this.ask();
    if (number !== this.number) return;
    if (!data?.series.length) { this.clear(); return; }
    this.data = data;
    this.place.hidden = false;
    this.place.classList.toggle("old", this.isOld);
    this.offer(data);
    this.packets.forget();
    this.paint();
    if (await this.packets.load(number, data.run) && number === this.number && data === this.data) this.paint();
  }

  // The series of the run that was chosen, if the results have it, or else of the first one of the variant in sight.
  async ask() {
    const of = (which) => series(resultsFile(this.number, `series${which && `-${which}`}.json`)).catch(() => null);
    const { chosen } = this;
    const found = chosen && await of(String(chosen.run));
    // Its number may be that of another one now.
    this.chosen = found?.runs.find(({ name }) => name === chosen.name) ?? null;
    if (this.chosen) return this.chosen.run === found.run ? found : of(String(this.chosen.run));
    return of(this.variant);
  }

  choose(run) {
    this.chosen = this.data.runs.find((one) => one.run === run) ?? null;
    this.data = null;
    this.show();
  }

  // The runs that can be shown, where there are several, and what is not shown of this one.
  offer({ run, runs, left_out: leftOut }) {
    this.ofRun.hidden = runs.length < 2;
    this.run.replaceChildren(...runs.map(({ run: number, name }) => new Option(name, number)));
    this.run.value = run;
    this.rest.hidden = !leftOut;
    this.rest.textContent = `${leftOut} further flows and subflows are in the report.`;
  }

  /** Shows an instant, in seconds. */
  goTo(time) {
    if (!this.data || this.place.closest("[hidden]")) return;
    this.range.value = Math.round((time / this.data.end_s) * STEPS);
    this.paint();
  }

  start() {
    if (+this.range.value >= STEPS) this.range.value = 0;
    this.play.textContent = "pause";
    this.playing = setInterval(() => {
      this.range.value = +this.range.value + (STEPS * FRAME_MS) / PLAYED_MS;
      this.paint();
      if (+this.range.value >= STEPS) this.stop();
    }, FRAME_MS);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "play";
  }

  paint() {
    if (!this.data) return;
    const time = (this.range.value / STEPS) * this.data.end_s;
    this.time.textContent = `${time.toFixed(3)} s`;
    const at = (of, metric) => {
      const found = this.data.series.find((one) => one.of === of && one.metric === metric);
      return found ? { value: valueAt(found.points, time), most: found.most } : null;
    };
    for (const line of document.querySelectorAll("#picture .line")) {
      const sides = ["up", "down"].map((side) => at(`${line.dataset.link}.${side}`, "queue"));
      const share = Math.max(0, ...sides.map((side) => (side?.most ? side.value / side.most : 0)));
      const path = line.querySelector("path");
      path.style.strokeWidth = 3.5 + 9 * share;
      path.setAttribute("class", `link ${this.data.colours.links[line.dataset.link] ?? ""}`);
      let note = line.querySelector(".queue");
      if (!note) {
        note = line.querySelector("tspan").cloneNode();
        note.setAttribute("class", "queue");
        note.setAttribute("dy", "1.25em");
        line.querySelector("text").append(note);
      }
      gauge(line, sides);
      note.textContent = sides[0] ? `queue ${shown(sides[0].value)} ↑ ${shown(sides[1]?.value ?? null)} ↓` : "";
    }
    const choose = (of, name) => button(name, () => { this.packets.chosen = of; this.paint(); },
      { className: "plain", "aria-pressed": String(this.packets.chosen === of), "data-of": of });
    const colours = this.data.colours.series;
    this.packets.paint(time, this.data.end_s, this.data.names, colours);
    const row = ([of, name]) => make("tr", {}, make("td", {}, make("i", { className: `dot ${colours[of] ?? ""}` }), choose(of, name)),
      ...COLUMNS.map(([metric]) => make("td", { className: "n" }, shown(at(of, metric)?.value))));
    const names = Object.entries(this.data.names);
    this.table.replaceChildren(make("thead", {}, make("tr", {}, make("th", {}, names.some(([of]) => of.includes("/")) ? "subflow" : "flow"),
      ...COLUMNS.map(([, title]) => make("th", {}, title)))), make("tbody", {}, ...names.map(row)));
  }
}
