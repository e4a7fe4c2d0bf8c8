// What may be written at a place: a list under the caret, from the schema and from the names of the scenario.

import { make } from "./elements.js";
import { contextAt, scan } from "./toml.js";

const MOST_SHOWN = 200;
// Keys whose values are names of the network.
const OF_HOSTS = ["from", "to", "between", "host", "interface"];

/** The proposals at a place: `{ label, text, insert, from, end }` each. */
export function proposals(schema, text, offset, names) {
  const context = contextAt(text, offset);
  if (!context) return [];
  const { role, path, typed, from, end } = context;
  const fits = (label) => label.toLowerCase().includes(typed.toLowerCase().replace(/\s+$/, ""));
  const offer = (label, note, insert) => ({ label, text: note, insert, from, end });
  let offers = [];
  if (role === "header") {
    offers = schema.keys([]).filter(({ isTable }) => isTable).map(({ name, text: note }) => {
      const isNamed = ["hosts", "links", "flows", "routers"].includes(name);
      return offer(name, note, name === "timeline" ? "[[timeline]]" : isNamed ? `[${name}.` : `[${name}]`);
    });
  } else if (role === "key") {
    const taken = new Set(scan(text).words.filter(({ kind, path: of }) =>
      kind === "key" && of.length === path.length + 1 && path.every((key, index) => key === of[index]))
      .map(({ path: of }) => of.at(-1)));
    offers = schema.keys(path).filter(({ name }) => !taken.has(name) || name === typed)
      .map(({ name, text: note }) => offer(name, note, `${name} = `));
  } else {
    const values = OF_HOSTS.includes(path.at(-1)) ? names : schema.values(path);
    offers = values.map((value) => offer(String(value), "", JSON.stringify(value)));
  }
  return offers.filter(({ label }) => fits(label)).slice(0, MOST_SHOWN);
}

/** The list under the caret of a text area. `accept` gets the proposal that is chosen. */
export class CompletionList {
  constructor(container, area, accept) {
    this.area = area;
    this.list = make("div", { className: "completion", role: "listbox", id: "completion", hidden: true,
      "aria-label": "Completion" });
    this.accept = accept;
    container.append(this.list);
    this.offers = [];
    this.at = 0;
  }

  get isOpen() {
    return !this.list.hidden;
  }

  show(offers, left, top) {
    this.offers = offers;
    this.at = 0;
    if (!offers.length) return this.hide();
    this.list.replaceChildren(...offers.map((offer, index) => {
      const option = make("div", { role: "option", id: `completion-${index}` },
        make("b", {}, offer.label), make("span", {}, offer.text.split(". ")[0]));
      option.addEventListener("pointerdown", (event) => { event.preventDefault(); this.choose(index); });
      return option;
    }));
    Object.assign(this.list.style, { left: `${left}px`, top: `${top}px` });
    this.list.hidden = false;
    this.mark();
    return undefined;
  }

  hide() {
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  mark() {
    [...this.list.children].forEach((option, index) => option.setAttribute("aria-selected", index === this.at));
    this.area.setAttribute("aria-activedescendant", `completion-${this.at}`);
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  choose(index) {
    this.hide();
    this.accept(this.offers[index]);
  }

  /** Whether a key was meant for the list. */
  takes(key) {
    if (!this.isOpen) return false;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
    if (step) {
      this.at = Math.min(this.offers.length - 1, Math.max(0, this.at + step));
      this.mark();
    } else if (key === "Enter" || key === "Tab") {
      this.choose(this.at);
    } else if (key === "Escape") {
      this.hide();
    } else {
      return false;
    }
    return true;
  }
}
