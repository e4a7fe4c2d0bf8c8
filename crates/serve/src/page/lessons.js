// The lessons: a small scenario each, a key to change, a question, and answers that are judged by what was measured.

import { button, find, make, session } from "./elements.js";
import { measured } from "./server.js";
import { placeOfValue } from "./toml.js";

// The most values whose figures are kept.
const MOST_ROWS = 60;

const rounded = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(3)).toString());

/** The ratio of each figure after a change to that before it. */
export const ratios = (before, after) => after.map((value, index) => value / before[index]);

/** Whether an answer holds: each ratio is in its range. One that is not a number is in none. */
export const holds = (answer, found) =>
  answer.ratios.every(([least, most], index) => found[index] >= least && found[index] <= most);

// A text whose parts in backticks are written as in a scenario.
const marked = (text) => make("p", {}, ...text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part)));

/** What an experiment with a text has in common with others of the same lesson: the text without the value of a key. */
const withoutValue = (text, key) => {
  const span = placeOfValue(text, key);
  return span && text.slice(0, span[0]) + text.slice(span[1]);
};

/** The panel. `begin` gets a lesson whose scenario is to be opened. */
export class Lessons {
  constructor(begin) {
    this.begin = begin;
    this.place = find("lesson");
    this.lessons = [];
    this.solved = new Set(session.read("solved") ?? []);
    this.lesson = null;
    this.rows = new Map();
  }

  /** Takes all lessons. If the page goes on where it was, so does the lesson, which is returned. */
  load(lessons, goesOn) {
    this.lessons = lessons;
    const before = goesOn && session.read("lesson");
    if (before && this.lessons.some(({ name }) => name === before)) this.show(before);
    return this.lesson;
  }

  /** Opens a lesson: the first that is not solved unless it has a name. */
  open(name = (this.lessons.find((one) => !this.solved.has(one.name)) ?? this.lessons[0]).name) {
    this.show(name);
    this.begin(this.lesson);
  }

  show(name) {
    this.lesson = this.lessons.find((one) => one.name === name);
    this.rows = new Map();
    this.rest = withoutValue(this.lesson.scenario, this.lesson.key);
    this.chosen = null;
    session.write("lesson", name);
    this.place.hidden = false;
    this.paint();
    this.place.scrollTop = 0;
  }

  close() {
    this.lesson = null;
    this.rows = new Map();
    this.place.hidden = true;
    session.write("lesson", null);
  }

  /** Takes the number of results, and the text that they are of. */
  async note(number, text) {
    const { lesson } = this;
    if (!lesson) return;
    const rest = withoutValue(text, lesson.key);
    const rows = await measured(number, lesson.name).catch(() => []);
    if (lesson !== this.lesson) return;
    // Figures of a scenario that has changed otherwise are not compared with those before.
    if (rest !== this.rest) this.rows.clear();
    this.rest = rest;
    for (const { value, figures } of rows) {
      this.rows.delete(value);
      this.rows.set(value, figures);
    }
    const { before, after } = lesson;
    const others = [...this.rows.keys()].filter((value) => value !== before && value !== after);
    for (const value of others.slice(0, Math.max(0, this.rows.size - MOST_ROWS))) this.rows.delete(value);
    this.paintRows();
  }

  paint() {
    const { lesson } = this;
    const steps = this.lessons.map((one, index) => make("li", {}, button(String(index + 1), () => this.open(one.name), {
      className: this.solved.has(one.name) ? "solved" : "", title: one.title,
      "aria-current": one === lesson ? "step" : false,
      "aria-label": `Lesson ${index + 1}: ${one.title}${this.solved.has(one.name) ? ", solved" : ""}`,
    })));
    const number = this.lessons.indexOf(lesson);
    const answers = lesson.answers.map(({ text }, index) => make("label", {},
      make("input", {
        type: "radio", name: "answer", value: index,
        onchange: () => { this.chosen = index; this.verdict.hidden = true; },
      }),
      make("span", {}, text)));
    this.table = make("table", { id: "measured" });
    this.verdict = make("div", { className: "verdict", role: "status", id: "verdict", hidden: true });
    this.place.replaceChildren(
      make("div", { className: "row" }, make("ol", { className: "steps", "aria-label": "Lessons" }, ...steps),
        make("span", { className: "spring" }),
        button("begin again", () => this.open(lesson.name), { id: "begin-lesson" }),
        button("close", () => { this.close(); find("open-lessons").focus(); },
          { id: "close-lesson", "aria-label": "Close the lesson" })),
      make("h2", {}, `${number + 1}. ${lesson.title}`), make("p", {}, lesson.text),
      make("p", {}, "Change ", make("code", {}, lesson.key),
        ` from ${lesson.before} to ${lesson.after}, in the text or with the control below it. Try other values, too.`),
      this.table, make("fieldset", {}, make("legend", {}, lesson.question), ...answers),
      make("div", { className: "row" },
        button("Check the answer", () => this.judge(), { id: "judge", className: "primary" })),
      this.verdict);
    this.paintRows();
  }

  // What was measured, in the order of the lesson's values, then others.
  paintRows() {
    if (!this.lesson || !this.table) return;
    const { key, values, figures, before, after } = this.lesson;
    const others = [...this.rows.keys()].filter((value) => !values.includes(value));
    const order = [...values.filter((value) => this.rows.has(value)), ...others];
    const head = make("tr", {}, make("th", { scope: "col" }, key),
      ...figures.map(({ label, unit }) => make("th", { scope: "col" }, unit ? `${label} (${unit})` : label)));
    const row = (value) => make("tr", { className: value === before || value === after ? "asked" : "" },
      make("th", { scope: "row" }, value),
      ...this.rows.get(value).map((figure) => make("td", { className: "n" }, rounded(figure))));
    this.table.replaceChildren(make("caption", {}, order.length ? "measured until now" : "nothing was measured yet"),
      make("thead", {}, head), make("tbody", {}, ...order.map(row)));
  }

  say(kind, ...parts) {
    this.verdict.className = `verdict ${kind}`;
    this.verdict.hidden = false;
    this.verdict.replaceChildren(...parts.map((part) => (typeof part === "string" ? make("p", {}, part) : part)));
    this.verdict.scrollIntoView({ block: "nearest" });
  }

  judge() {
    const { lesson, chosen } = this;
    if (chosen === null) return this.say("", "Choose an answer first.");
    const [before, after] = [lesson.before, lesson.after].map((value) => this.rows.get(value));
    const missing = !before ? lesson.before : !after ? lesson.after : null;
    if (missing) return this.say("", `It is not measured yet: set ${lesson.key} to ${missing}.`);
    if ([...before, ...after].includes(null)) {
      return this.say("", "This scenario lacks a figure of the lesson: begin again.");
    }
    const found = ratios(before, after);
    const seen = lesson.figures.map(({ label, unit }, index) => make("li", {},
      `${label}: ${rounded(before[index])} → ${rounded(after[index])} ${unit}, ${rounded(found[index])} times as much`));
    const list = make("ul", {}, ...seen);
    if (!holds(lesson.answers[chosen], found)) return this.say("fails", "The figures say otherwise:", list);
    this.solved.add(lesson.name);
    session.write("solved", [...this.solved]);
    const next = this.lessons[this.lessons.indexOf(lesson) + 1];
    this.place.querySelector("[aria-current=step]").className = "solved";
    return this.say("holds", "The figures agree:", list, lesson.because, marked(lesson.further),
      next ? button(`Next: ${next.title}`, () => this.open(next.name), { id: "next-lesson" })
        : make("p", {}, "This was the last lesson. The examples have more questions."));
  }
}
