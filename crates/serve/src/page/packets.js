// The packets of a subflow around an instant, and why the reader waits then.

import { draw, make } from "./elements.js";
import { packets } from "./server.js";

const [WIDTH, HEIGHT] = [560, 190];
// The part of the whole run that is shown, and where the instant is in it.
const SHARE = 0.06;
const BEFORE = 0.7;
const MARKS = { sent: 2.2, retransmitted: 4, copied: 4, lost: 4 };
const WORDS = { sent: "sent", retransmitted: "sent again", copied: "sent here in addition", lost: "taken for lost" };

// The position of the first point after a time.
function after(points, time) {
  let from = 0, to = points.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle][0] <= time) from = middle + 1; else to = middle;
  }
  return from;
}

const amount = (bytes) => (bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(2)} MB`);

// The most packets with the missing data that are named.
const NAMED = 3;

/** Why the reader of a flow has no more at a time. `nameOf` names a subflow. */
export function waitsFor(all, flow, time, nameOf) {
  const { every, least_s: least, waits } = all.find((of) => of.flow === flow) ?? { every: 1, least_s: 0, waits: [] };
  const wait = waits.findLast(({ since_s: since }) => since <= time);
  const seconds = (at) => `${at.toFixed(3)} s`;
  if (!wait) return waits.length ? `The reader has nothing yet, and gets the first data at ${seconds(waits[0].since_s)}.` : "";
  const { since_s: since, until_s: until, end, sent } = wait;
  if (until === null) return `The reader has all ${amount(end)}${every > 1 ? " or a little more" : ""}, since ${seconds(since)}.`;
  if (until <= time) return `The reader gets more all the time: it waits for ${(1000 * least).toPrecision(2)} ms at most.`;
  const had = `The reader has ${amount(end)}, since ${seconds(since)}, and gets more at ${seconds(until)}.`;
  if (every > 1) return `${had} What it waits for is not known: of such a long run one of ${every} packets was kept.`;
  const known = sent.filter(({ at_s: at }) => at <= time);
  if (!known.length) return `${had} The next data has not been sent yet.`;
  const others = known.length > NAMED ? `, in all ${known.length} times` : "";
  const words = known.slice(-NAMED).map(({ of, kind, at_s: at }) => `${nameOf(of)} has ${WORDS[kind]} at ${seconds(at)}`);
  return `${had} It waits for the data from byte ${end} on, which ${words.join(", and ")}${others}.`;
}

/** The figure, of the subflow that was chosen. */
export class Packets {
  constructor(place) {
    this.place = place;
    this.sequences = null;
    this.waits = [];
    this.chosen = null;
  }

  forget() {
    this.sequences = null;
    this.place.replaceChildren();
  }

  /** Loads the packets of a run. Returns whether there are some. */
  async load(number, run) {
    const found = await packets(number, run).catch(() => null);
    this.sequences = found?.sequences ?? null;
    this.waits = found?.waits ?? [];
    return Boolean(this.sequences?.length);
  }

  /** Shows them around a time; `colours` has the classes of subflows with the colours that they have in the report. */
  paint(time, end, names, colours) {
    if (!this.sequences?.length) return;
    const known = Object.keys(names);
    if (!known.includes(this.chosen)) this.chosen = known[0] ?? null;
    if (!this.chosen) return;
    const nameOf = (of) => names[of] ?? of;
    const flow = this.chosen.split("/")[0];
    const from = Math.max(0, time - SHARE * BEFORE * end), to = from + SHARE * end;
    const near = (points) => points.slice(after(points, from), after(points, to));
    const mine = this.sequences.filter(({ of, kind }) => of === this.chosen && kind in MARKS)
      .map(({ kind, every, points }) => ({ kind, every, points: near(points) }));
    const readable = this.sequences.find(({ of, kind }) => of === flow && kind === "readable")?.points ?? [];
    const first = after(readable, from), line = readable.slice(Math.max(0, first - 1), after(readable, to) + 1);
    const offsets = [...mine.flatMap(({ points }) => points), ...line].map(([, offset]) => offset);
    const low = Math.min(...offsets), span = Math.max(1, Math.max(...offsets) - low);
    const x = (at) => ((at - from) / (to - from)) * WIDTH;
    const y = (offset) => HEIGHT - 6 - ((offset - low) / span) * (HEIGHT - 12);
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: `packets ${colours[this.chosen] ?? ""}`,
      "aria-label": `Packets of ${nameOf(this.chosen)} around ${time.toFixed(2)} s` });
    const steps = line.flatMap(([at, offset], index) => {
      const before = line[index - 1]?.[1] ?? offset;
      return [`${x(Math.max(at, from))},${y(before)}`, `${x(Math.max(at, from))},${y(offset)}`];
    });
    svg.append(draw("polyline", { points: steps.join(" "), class: "readable" }),
      draw("line", { x1: x(time), x2: x(time), y1: 0, y2: HEIGHT, class: "now" }));
    for (const { kind, points } of mine) {
      for (const [at, offset] of points) svg.append(draw("circle", { cx: x(at), cy: y(offset), r: MARKS[kind], class: kind }));
    }
    const counts = mine.filter(({ points }) => points.length).map(({ kind, every, points }) =>
      `${points.length * every} ${WORDS[kind]}`);
    this.place.replaceChildren(
      make("p", { className: "waits", role: "status" }, waitsFor(this.waits, flow, time, nameOf)),
      make("p", { className: "quiet" }, `Packets of ${nameOf(this.chosen)} from ${from.toFixed(2)} to ${to.toFixed(2)} s, by `
        + `position in the stream: ${counts.join(", ") || "none"}; the line is what can be read.`), svg);
  }
}
