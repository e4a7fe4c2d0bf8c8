// What was before: undo for each change of the text, and the runs of this session with their names.

import { button, find, make, openDialog, session } from "./elements.js";
import * as server from "./server.js";

// How often the runs that go on are asked for.
const LOOK_MS = 700;
const MOST_STEPS = 300;
const MOST_RUNS = 50;
// The most letters in all steps, and in the texts of all runs: scenarios may be large.
const MOST_LETTERS = 10_000_000;
// Changes of a kind within this time are one step.
const TOGETHER_MS = 600;

// The first entries that together have no more letters than they may, but at least one.
function fitting(entries, lettersOf) {
  let letters = 0;
  return entries.filter((entry, index) => (letters += lettersOf(entry)) <= MOST_LETTERS || index === 0);
}

/** The texts before and after each step. `show` gets the text to go back to. */
export class Undo {
  constructor(show) {
    this.show = show;
    this.steps = [];
    this.at = -1;
    this.last = { kind: "", time: 0 };
  }

  /** Begins with a text. */
  begin(text) {
    this.steps = [text];
    this.at = 0;
    this.last = { kind: "", time: 0 };
    this.update();
  }

  /** Notes the text after a change. */
  note(text, kind) {
    const time = performance.now();
    const joins = kind === this.last.kind && time - this.last.time < TOGETHER_MS && this.at > 0;
    this.last = { kind, time };
    this.steps.length = this.at + (joins ? 0 : 1);
    this.steps.push(text);
    this.steps = fitting(this.steps.slice(-MOST_STEPS).reverse(), (of) => of.length).reverse();
    this.at = this.steps.length - 1;
    this.update();
  }

  /** Goes a step back (-1) or forward (1). */
  go(step) {
    const to = this.at + step;
    if (to < 0 || to >= this.steps.length) return;
    this.at = to;
    this.last = { kind: "", time: 0 };
    this.update();
    this.show(this.steps[to]);
  }

  update() {
    find("undo").disabled = this.at <= 0;
    find("redo").disabled = this.at >= this.steps.length - 1;
  }
}

/** The lines that differ between two texts: `{ sign, line }`, with `-`, `+` and two lines around them. */
export function differences(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  // The longest common subsequence of what is between; of very long parts, all lines count as changed.
  const cells = x.length * y.length < 4e6 ? x.map(() => new Uint16Array(y.length + 1)) : null;
  const rows = cells ? [...cells, new Uint16Array(y.length + 1)] : [];
  for (let i = x.length - 1; cells && i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      rows[i][j] = x[i] === y[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
    }
  }
  const lines = a.slice(Math.max(0, head - 2), head).map((line) => ({ sign: " ", line }));
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    if (cells && i < x.length && j < y.length && x[i] === y[j]) { lines.push({ sign: " ", line: x[i] }); i++; j++; }
    else if (j >= y.length || (i < x.length && (!cells || rows[i + 1][j] >= rows[i][j + 1]))) {
      lines.push({ sign: "-", line: x[i++] });
    } else lines.push({ sign: "+", line: y[j++] });
  }
  const rest = a.slice(a.length - tail, a.length - tail + 2).map((line) => ({ sign: " ", line }));
  return x.length || y.length ? [...lines, ...rest] : [];
}

// The parts of an entry that are compared: a title, and the text of it before and now.
function parts(before, now) {
  const set = (of) => of.set.join("\n");
  return [[before.b === null && now.b === null ? "the scenario" : "A", before.a, now.a],
    ["B", before.b, now.b], ["seeds and sweeps of the page", set(before), set(now)]];
}

/** What has changed between two requests: `{ title, lines }` for each part that differs. */
export function changesBetween(before, now) {
  return parts(before, now).filter(([, a, b]) => a !== b).map(([title, a, b]) => {
    if (a === null) return { title: "B was added", lines: [] };
    if (b === null) return { title: "B was removed", lines: [] };
    return { title, lines: a && b ? differences(a, b)
      : (a || b).split("\n").map((line) => ({ sign: a ? "-" : "+", line })) };
  });
}

/** The runs of this session, the last one first. `restore` gets the texts and the changes of one. */
export class Runs {
  constructor(restore) {
    this.restore = restore;
    this.entries = (session.read("runs") ?? []).filter(({ request }) => request);
  }

  /** Notes finished runs: texts and changes, and the headline of their results. */
  note(request, headline) {
    const last = this.entries[0];
    const time = new Date().toLocaleTimeString();
    if (last && JSON.stringify(last.request) === JSON.stringify(request)) Object.assign(last, { headline, time });
    else this.entries.unshift({ request, headline, time, name: "" });
    const few = this.entries.filter(({ name }, index) => name || index < MOST_RUNS).slice(0, 2 * MOST_RUNS);
    this.entries = fitting(few, ({ request: { a, b } }) => a.length + (b?.length ?? 0));
    session.write("runs", this.entries);
  }

  // The runs of this server that go on, of any page, each with a way to end it.
  async goingOn(place) {
    const jobs = await server.goingOn().catch(() => []);
    place.replaceChildren(...jobs.map(({ number, title, done, total }) => make("div", { className: "row", "data-job": number },
      make("b", {}, title || "waits for its turn"), total && make("progress", { max: total, value: done, "aria-label": "Runs" }),
      make("span", {}, total ? `${done} of ${total} runs` : ""), make("span", { className: "spring" }),
      button("cancel", () => server.cancel(number).then(() => this.goingOn(place))))));
    if (find("history").open && place.isConnected) setTimeout(() => this.goingOn(place), LOOK_MS);
  }

  open(now) {
    const place = make("div", { id: "going-on", role: "group", "aria-label": "Runs that go on" });
    const list = this.entries.map((entry) => {
      const { request, headline, time } = entry;
      const changes = changesBetween(request, now);
      const name = make("input", { value: entry.name, placeholder: "name", "aria-label": "Name of this run" });
      name.addEventListener("change", () => { entry.name = name.value; session.write("runs", this.entries); });
      const line = ({ sign, line: text }) => make("div", { className: { "+": "added", "-": "removed" }[sign] ?? "" }, `${sign} ${text}`);
      return make("li", {},
        make("div", { className: "row" }, name, make("span", {}, time), make("b", {}, headline),
          make("span", { className: "spring" }),
          button("go back to it", () => { find("history").close(); this.restore(request); })),
        changes.length
          ? make("details", {}, make("summary", {}, `what has changed since: ${changes.map(({ title }) => title).join(", ")}`),
            ...changes.filter(({ lines }) => lines.length).map(({ title, lines }) =>
              [make("small", {}, title), make("pre", {}, ...lines.map(line))]).flat())
          : make("small", {}, "the same as now"));
    });
    openDialog("history", "History", place, list.length
      ? make("ol", { className: "runs" }, ...list) : make("p", {}, "Nothing was run yet."));
    this.goingOn(place);
  }
}
