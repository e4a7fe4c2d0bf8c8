// One text, or two: A and B, which are run with the same seeds and compared.

import { button, find, make } from "./elements.js";

/** The texts. `changed` is called when another one is shown, or when there are more or fewer. */
export class Variants {
  constructor(changed) {
    this.changed = changed;
    this.texts = { a: "", b: null };
    this.active = "a";
    this.values = { a: new Map(), b: new Map() };
    this.place = find("variants");
  }

  get text() {
    return this.texts[this.active];
  }

  set text(text) {
    this.texts[this.active] = text;
  }

  get isPair() {
    return this.texts.b !== null;
  }

  /** Replaces all texts. */
  open({ a, b = null }) {
    this.texts = { a, b };
    this.active = "a";
    this.paint();
  }

  show(variant) {
    this.active = variant;
    this.paint();
    this.changed("shown");
  }

  compare() {
    this.texts.b = this.texts.a;
    this.active = "b";
    this.paint();
    this.changed("compared");
  }

  close(kept) {
    this.texts = { a: this.texts[kept], b: null };
    this.active = "a";
    this.paint();
    this.changed("closed");
  }

  /** Takes the values of the active text, to say in which the variants differ. */
  note(values) {
    this.values[this.active] = new Map(values.map(({ path, value }) => [path, JSON.stringify(value)]));
    if (!this.isPair) this.values.b = new Map(this.values.a);
    this.say();
  }

  differences() {
    const { a, b } = this.values;
    return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path))
      .map((path) => `${path}: ${a.get(path) ?? "–"} → ${b.get(path) ?? "–"}`);
  }

  say() {
    const note = this.place.querySelector(".note");
    if (!note) return;
    const found = this.differences();
    note.textContent = found.length ? `${found.length} ${found.length === 1 ? "value differs" : "values differ"}` : "no difference yet";
    note.title = found.join("\n");
  }

  paint() {
    if (!this.isPair) {
      this.place.replaceChildren(button("Compare with B", () => this.compare(),
        { id: "compare", title: "a second variant beside this one, run with the same seeds" }));
      return;
    }
    const tab = (variant) => button(variant.toUpperCase(), () => this.show(variant),
      { id: `variant-${variant}`, "aria-pressed": String(this.active === variant) });
    this.place.replaceChildren(tab("a"), tab("b"),
      button(`keep ${this.active.toUpperCase()} only`, () => this.close(this.active), { id: "close-variant" }),
      make("span", { className: "note" }));
    this.say();
  }
}
