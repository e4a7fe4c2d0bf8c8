// The text of a scenario: a text area over a copy of the text that has the colours of its words and marks at problems.

import { find, make } from "./elements.js";
import { CompletionList, proposals } from "./completion.js";
import { scan, wordAt } from "./toml.js";

// A longer text is shown without colours: they would take longer than a keystroke may.
const MOST_COLOURED = 200_000;

const isWithin = (at, [from, to]) => at >= from && at < Math.max(to, from + 1);

/** The editor. `changed` is called after each change of the text by its user. */
export class Editor {
  constructor(container, undo, changed) {
    this.undo = undo;
    this.changed = changed;
    this.spans = [];
    this.names = [];
    this.schema = null;
    this.area = make("textarea", {
      id: "text", autocomplete: "off", autocapitalize: "off", wrap: "off",
      "aria-label": "Scenario in TOML", "aria-describedby": "problems", "aria-autocomplete": "list",
      "aria-controls": "completion",
    });
    this.area.spellcheck = false;
    this.copy = make("pre", { "aria-hidden": "true" });
    this.gutter = make("div", { className: "gutter", "aria-hidden": "true" });
    this.help = make("p", { className: "key-help" });
    const code = make("div", { className: "code-area" }, this.copy, this.area);
    container.append(make("div", { className: "editor" }, this.gutter, code), this.help);
    this.completion = new CompletionList(code, this.area, (offer) => this.accept(offer));
    this.listen();
  }

  get text() {
    return this.area.value;
  }

  /** Shows another text, which is not a change by the user. */
  show(text) {
    this.area.value = text;
    this.spans = [];
    this.completion.hide();
    this.paint();
  }

  /** Replaces a part of the text, or several that do not overlap, as one change. */
  replace(changes) {
    let text = this.text;
    for (const { span: [from, to], by } of [...changes].sort((a, b) => b.span[0] - a.span[0])) {
      text = text.slice(0, from) + by + text.slice(to);
    }
    const at = this.area.selectionStart;
    this.area.value = text;
    this.area.setSelectionRange(at, at);
    this.edited("replaced");
  }

  /** Marks the problems at their places, and takes the names that may be completed. */
  mark(problems, warnings, names) {
    const of = (kind) => ({ span, message, label }) => ({ span, kind, message: label ? `${message} — ${label}` : message });
    this.spans = [...problems.map(of("problem")), ...warnings.map(of("warning"))].filter(({ span }) => span);
    if (names) this.names = names;
    this.paint();
  }

  /** Puts the caret at a place and shows it. */
  goTo([from, to]) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    const line = this.text.slice(0, from).split("\n").length;
    this.area.scrollTop = Math.max(0, (line - 4) * this.metrics().height);
  }

  edited(kind) {
    this.spans = [];
    this.paint();
    this.undo.note(this.text, kind);
    this.changed(kind);
  }

  paint() {
    const { text } = this;
    const lines = text.split("\n");
    const wrong = new Map();
    for (const { span: [from], kind } of this.spans) {
      wrong.set(text.slice(0, from).split("\n").length, kind);
    }
    this.gutter.replaceChildren(...lines.map((_, index) =>
      make("span", { className: wrong.get(index + 1) ?? "" }, String(index + 1))));
    this.copy.replaceChildren(...this.coloured(text), "\n");
    this.follow();
  }

  // The words with their colours, divided where marks begin and end.
  coloured(text) {
    if (text.length > MOST_COLOURED) return [text];
    const { words } = scan(text);
    const cuts = new Set([0, text.length, ...words.flatMap(({ start, end }) => [start, end]),
      ...this.spans.flatMap(({ span: [from, to] }) => [from, Math.max(to, from + 1)])]);
    const places = [...cuts].filter((at) => at <= text.length).sort((a, b) => a - b);
    let word = 0;
    return places.slice(0, -1).map((at, index) => {
      while (word < words.length && words[word].end <= at) word++;
      const kind = words[word]?.start <= at ? words[word].kind : "";
      const mark = this.spans.find(({ span }) => isWithin(at, span))?.kind ?? "";
      const part = text.slice(at, places[index + 1]);
      return kind || mark ? make("span", { className: `${kind} ${mark}` }, part) : part;
    });
  }

  follow() {
    this.copy.style.transform = `translate(${-this.area.scrollLeft}px, ${-this.area.scrollTop}px)`;
    this.gutter.scrollTop = this.area.scrollTop;
  }

  // The size of a letter: all have the same width.
  metrics() {
    if (!this.probe) {
      this.probe = make("span", { className: "probe" }, "0".repeat(100));
      this.copy.parentNode.append(this.probe);
    }
    const { width, height } = this.probe.getBoundingClientRect();
    const style = getComputedStyle(this.area);
    return { width: width / 100, height, left: parseFloat(style.paddingLeft), top: parseFloat(style.paddingTop) };
  }

  offsetAt({ clientX, clientY }) {
    const box = this.area.getBoundingClientRect(), { width, height, left, top } = this.metrics();
    const line = Math.floor((clientY - box.top - top + this.area.scrollTop) / height);
    const column = Math.floor((clientX - box.left - left + this.area.scrollLeft) / width);
    const lines = this.text.split("\n");
    if (line < 0 || column < 0 || column >= (lines[line]?.length ?? 0)) return null;
    return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + column;
  }

  /** Opens the list of what may be written at the caret. */
  propose(isAsked) {
    const at = this.area.selectionStart;
    if (!this.schema || at !== this.area.selectionEnd) return;
    const offers = proposals(this.schema, this.text, at, this.names);
    const typed = offers.length ? at - offers[0].from : 0;
    const isDone = offers.length === 1 && offers[0].insert.trim() === this.text.slice(offers[0].from, at);
    if (!offers.length || isDone || (!isAsked && typed === 0)) return this.completion.hide();
    const before = this.text.slice(0, at).split("\n"), { width, height, left, top } = this.metrics();
    const wanted = left + (before.at(-1).length - typed) * width - this.area.scrollLeft;
    const room = this.area.clientWidth - 260;
    this.completion.show(offers, Math.max(0, Math.min(wanted, room)), top + before.length * height - this.area.scrollTop);
  }

  accept({ insert, from, end }) {
    const { text } = this;
    // What is left of a word that the caret is in, and the quotation mark after it, are replaced, too.
    const rest = /^[\w-]*"?/.exec(text.slice(end))[0];
    const after = insert.endsWith(" = ") ? end : end + (insert.startsWith('"') ? rest.length : 0);
    this.area.value = text.slice(0, from) + insert + text.slice(after);
    this.area.setSelectionRange(from + insert.length, from + insert.length);
    this.edited("completed");
    if (insert.endsWith(" = ")) this.propose(true);
  }

  explain(offset) {
    const word = wordAt(scan(this.text).words, offset);
    const found = word && ["key", "header", "string", "scalar"].includes(word.kind) && this.schema?.describe(word.path);
    return found || null;
  }

  // The meaning of the key at the caret, below the text.
  explainCaret() {
    const line = this.text.slice(0, this.area.selectionStart).lastIndexOf("\n") + 1;
    const found = this.explain(this.area.selectionStart) ?? this.explain(line + this.text.slice(line).search(/\S|$/));
    this.help.replaceChildren(...found
      ? [make("b", {}, found.path), ` ${found.text}`, found.standard ? ` Default: ${found.standard}.` : ""]
      : ["Ctrl+Space completes, Ctrl+Enter runs, Ctrl+Z undoes."]);
  }

  listen() {
    const { area } = this;
    area.addEventListener("input", ({ inputType }) => {
      this.edited(inputType ?? "typed");
      if (inputType !== "deleteContentBackward" || this.completion.isOpen) this.propose(false);
    });
    area.addEventListener("scroll", () => {
      this.follow();
      // The list stays at the caret.
      if (this.completion.isOpen) this.propose(true);
    });
    area.addEventListener("blur", () => this.completion.hide());
    for (const kind of ["keyup", "click"]) area.addEventListener(kind, () => this.explainCaret());
    area.addEventListener("beforeinput", (event) => {
      if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return;
      event.preventDefault();
      this.undo.go(event.inputType === "historyUndo" ? -1 : 1);
    });
    area.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey } = event;
      if (this.completion.takes(key)) return event.preventDefault();
      if (!(ctrlKey || metaKey)) return undefined;
      if (key === " ") { event.preventDefault(); this.propose(true); }
      if (key.toLowerCase() === "z") { event.preventDefault(); this.undo.go(event.shiftKey ? 1 : -1); }
      return undefined;
    });
    area.addEventListener("pointermove", (event) => this.hover(event));
    area.addEventListener("pointerleave", () => { find("hover").hidden = true; });
    this.explainCaret();
  }

  hover(event) {
    const tip = find("hover"), offset = this.offsetAt(event);
    const mark = offset === null ? null : this.spans.find(({ span }) => isWithin(offset, span));
    const found = offset === null || mark ? null : this.explain(offset);
    tip.hidden = !mark && !found;
    if (tip.hidden) return;
    tip.replaceChildren(...mark ? [mark.message]
      : [make("b", {}, found.path), make("p", {}, found.text), found.standard ? `Default: ${found.standard}` : ""]);
    const width = Math.min(420, innerWidth - 16);
    tip.style.left = `${Math.max(8, Math.min(event.clientX, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18}px`;
  }
}
