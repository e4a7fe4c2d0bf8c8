// Pinned keys: a slider or a choice for a value of the text, which changes the text, and a sweep over its values.

import { button, find, make } from "./elements.js";

// The places of a slider, from a tenth of the value at the time of pinning to ten times as much.
const STEPS = 40;
const SWEPT = 6;

/** A number in front of its unit: "50 Mbit/s" is 50 and "Mbit/s". */
export function quantity(value) {
  if (typeof value === "number") return { number: value, unit: null };
  const [, number, unit] = /^\s*([\d.]+)\s*(\D*)$/.exec(value) ?? [];
  return number === undefined || !Number.isFinite(+number) ? null : { number: +number, unit };
}

const rounded = (x) => Number(x.toPrecision(x >= 100 ? 3 : 2));

/** The values of a slider around one: of a percentage at most 100, of a whole number whole ones. */
export function scale({ number, unit }) {
  const middle = number || 1;
  const values = Array.from({ length: STEPS + 1 }, (_, step) => middle * 100 ** (step / STEPS - 0.5));
  const whole = unit === null || /packet/.test(unit) ? Number.isInteger(number) : false;
  const fitting = values.map((value) => whole ? Math.max(1, Math.round(value)) : rounded(value))
    .filter((value) => unit?.trim() !== "%" || value <= 100);
  return [...new Set(number === 0 ? [0, ...fitting] : fitting)];
}

// The most that a link or a file may bring.
const MOST = 50;

const isValue = (of) => ["string", "number", "boolean"].includes(typeof of);

/** The states of pins among what a link or a file contains, of each key the first one. */
export function statesIn(found) {
  const isState = (of) => typeof of?.path === "string" && (isValue(of.around) || (Array.isArray(of.values)
    && of.values.length > 0 && of.values.length <= MOST && of.values.every(isValue)));
  const isFirst = ({ path }, index, all) => all.findIndex((of) => of.path === path) === index;
  return Array.isArray(found) ? found.filter(isState).slice(0, MOST).filter(isFirst)
    .map(({ path, sweep, around, values }) => ({ path, sweep: sweep === true, ...(isValue(around) ? { around } : { values }) })) : [];
}

/** The pins whose sweeps these changes are, which `Pins.assignments` has made. */
export function sweptIn(set) {
  const sweep = set.find((of) => of.startsWith("sweep = {")) ?? "";
  const entries = sweep.matchAll(/("(?:\\.|[^"\\])*") = (\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\])/g);
  return statesIn([...entries].map(([, path, values]) => ({ path: JSON.parse(path), sweep: true, values: JSON.parse(values) })));
}

/** Pins of one text. `change` gets a path and a new value in TOML; `swept` is called when sweeps change. */
export class Pins {
  constructor(change, swept, place = find("pins")) {
    this.change = change;
    this.swept = swept;
    this.pins = [];
    // Those of the text; `null` while they are not known yet.
    this.values = [];
    this.schema = null;
    // Whether keys can be pinned that the text lacks.
    this.canAdd = false;
    this.place = place;
  }

  /** The values of the text as it is now. */
  update(values, schema) {
    this.values = values;
    this.schema = schema;
    this.paint();
  }

  /** What brings the pins back: the key of each, whether it is swept, and the value around which its values are, or these. */
  states() {
    return this.pins.map(({ path, sweep, around, values }) => ({ path, sweep, ...(values ? { values } : { around }) }));
  }

  /** The same with other sweeps. Other pins stay, without a sweep. */
  statesWith(swept) {
    const valuesOf = (pin) => JSON.stringify(this.sweptValues(pin).map((value) => JSON.parse(value)));
    const isPinned = ({ path, values }) => this.pins.some((pin) => pin.path === path && valuesOf(pin) === JSON.stringify(values));
    const isSwept = (path) => swept.some((of) => of.path === path);
    const kept = this.states().filter(({ path }) => !isSwept(path) || isPinned(swept.find((of) => of.path === path)));
    return [...kept.map((of) => ({ ...of, sweep: isSwept(of.path) })),
      ...swept.filter(({ path }) => !kept.some((of) => of.path === path))];
  }

  /** Pins what `states` has told, of a text whose values are not known yet. */
  restore(states) {
    this.pins = states.map((state) => this.made(state)).filter(Boolean);
    this.values = null;
    this.paint(true);
  }

  find(path) {
    return this.values?.find((value) => value.path === path);
  }

  /** Pins a key, with the values around its own or those that the schema has. */
  pin(path) {
    const found = this.find(path);
    if (!found || this.pins.some((pin) => pin.path === path)) return;
    const pin = this.made({ path, around: found.value });
    if (!pin) return;
    this.pins.push(pin);
    this.paint(true);
  }

  // A pin; `null` of what has neither a number nor a choice.
  made({ path, sweep = false, around, values }) {
    const sample = around ?? values[0], number = quantity(sample);
    const choices = values ?? this.schema?.values(path.split(".")).filter((value) => typeof value === typeof sample) ?? [];
    const isNumber = number !== null && (values ?? []).every((value) => quantity(value));
    if (!isNumber && choices.length < 2) return null;
    const steps = isNumber ? values?.map((value) => quantity(value).number) ?? scale(number) : [];
    return { path, kind: isNumber ? "slider" : "choice", choices, scale: steps, unit: number?.unit, sweep, around, values };
  }

  /** Whether a value can be pinned. */
  canPin({ path, value }) {
    return !path.startsWith("sweep.") && (typeof value === "boolean" || quantity(value) !== null
      || (typeof value === "string" && (this.schema?.values(path.split(".")).length ?? 0) > 1));
  }

  /** The changes that sweep over pinned keys, as `subflow run --set` takes them. */
  assignments() {
    const swept = this.pins.filter(({ path, sweep }) => sweep && (this.values === null || this.find(path)));
    if (!swept.length) return [];
    const entries = swept.map((pin) => `${JSON.stringify(pin.path)} = [${this.sweptValues(pin).join(", ")}]`);
    return [`sweep = { ${entries.join(", ")} }`];
  }

  sweptValues({ kind, choices, scale: values, unit }) {
    if (kind === "choice") return choices.map((value) => JSON.stringify(value));
    const few = Array.from({ length: SWEPT }, (_, step) => values[Math.round((step * (values.length - 1)) / (SWEPT - 1))]);
    return [...new Set(few)].map((number) => this.notation(number, unit));
  }

  notation(number, unit) {
    return unit === null || unit === undefined ? String(number) : JSON.stringify(`${number} ${unit}`.trim());
  }

  // The controls; while one is used, only its text changes.
  paint(isNew = false) {
    const shown = this.pins.filter(({ path }) => this.find(path));
    const state = JSON.stringify(shown.map(({ path, sweep }) => [path, sweep, this.values?.length]));
    if (!isNew && state === this.painted && this.place.contains(document.activeElement)) return this.refresh(shown);
    this.painted = state;
    const free = (this.values ?? []).filter((value) => this.canPin(value) && !this.pins.some(({ path }) => path === value.path));
    const more = make("select", { id: "pin", "aria-label": "Pin a key" }, new Option("pin a key …", ""),
      ...free.map(({ path, value }) => new Option(`${path} = ${value}`, path)));
    more.addEventListener("change", () => this.pin(more.value));
    const others = this.canAdd && this.values?.length ? this.another() : [];
    this.place.replaceChildren(...shown.map((pin) => this.control(pin)),
      make("div", { className: "more" }, more, ...others));
    return this.refresh(shown);
  }

  // The tables of the text; the first one is the scenario itself.
  tables() {
    const tables = new Set([""]);
    for (const { path } of this.values) {
      const keys = path.split(".");
      if (!["sweep", "timeline", "axes", "programs"].includes(keys[0]) && !path.includes('"')) {
        for (let length = 1; length < keys.length; length++) tables.add(keys.slice(0, length).join("."));
      }
    }
    return [...tables];
  }

  // Two choices for a key that the text lacks: its table, and the key with the value that it begins with.
  another() {
    const keysOf = (table) => this.schema.keysWithValues(table ? table.split(".") : [])
      .filter(({ path }) => !this.values.some((of) => of.path === path.join(".") || of.path.startsWith(`${path.join(".")}.`)));
    const where = make("select", { id: "pin-table", "aria-label": "The table of another key to pin" }, new Option("another key of …", "?"),
      ...this.tables().map((table) => new Option(table || "the scenario", table)));
    const which = make("select", { id: "pin-key", "aria-label": "Another key to pin", hidden: true });
    where.addEventListener("change", () => {
      const found = where.value === "?" ? [] : keysOf(where.value);
      const from = where.value ? where.value.length + 1 : 0;
      which.replaceChildren(new Option(found.length ? "which one …" : "it has all keys", ""), ...found.map(({ path, value, standard }, index) =>
        new Option(`${path.join(".").slice(from)} ${standard ? "=" : "begins with"} ${value}`, index)));
      which.hidden = where.value === "?";
    });
    which.addEventListener("change", () => {
      const { path, value } = keysOf(where.value)[+which.value];
      this.add(path.join("."), value);
    });
    return [where, which];
  }

  /** Gives the text a key that it lacks, and pins it. */
  add(path, value) {
    const pin = this.made({ path, around: value });
    if (!pin) return;
    this.pins = [...this.pins.filter((of) => of.path !== path), pin];
    if (this.change(path, JSON.stringify(value)) === false) this.pins = this.pins.filter((of) => of !== pin);
  }

  control(pin) {
    const id = `pin-${pin.path}`;
    let input;
    if (pin.kind === "slider") {
      input = make("input", { type: "range", id, min: 0, max: pin.scale.length - 1, step: 1 });
      input.addEventListener("input", () => this.set(pin, this.notation(pin.scale[+input.value], pin.unit)));
    } else {
      input = make("select", { id }, ...pin.choices.map((choice) => new Option(String(choice), JSON.stringify(choice))));
      input.addEventListener("change", () => this.set(pin, input.value));
    }
    const sweep = button("sweep", () => { pin.sweep = !pin.sweep; this.paint(true); this.swept(); },
      { "aria-pressed": String(pin.sweep), title: "run with each of its values" });
    const remove = button("×", () => {
      this.pins = this.pins.filter((other) => other !== pin);
      this.paint(true);
      if (pin.sweep) this.swept();
    }, { "aria-label": `Unpin ${pin.path}` });
    return make("div", { className: "pin", "data-path": pin.path }, make("label", { htmlFor: id }, pin.path), input,
      make("output", {}), sweep, remove);
  }

  set(pin, notation) {
    this.place.querySelector(`[data-path=${JSON.stringify(pin.path)}] output`).textContent = pin.kind === "choice" ? "" : JSON.parse(notation);
    if (this.change(pin.path, notation) !== false) return;
    this.place.querySelector(`[data-path=${JSON.stringify(pin.path)}] output`).textContent = "no place in the text";
  }

  refresh(shown) {
    for (const pin of shown) {
      const control = this.place.querySelector(`[data-path=${JSON.stringify(pin.path)}]`);
      const { value } = this.find(pin.path);
      control.querySelector("output").textContent = pin.sweep ? `${this.sweptValues(pin).length} values` : pin.kind === "choice" ? "" : value;
      const input = control.querySelector("input, select");
      input.disabled = pin.sweep;
      if (pin.kind === "choice") input.value = JSON.stringify(this.schema?.nameOf(pin.path.split("."), value) ?? value);
      else if (input !== document.activeElement) {
        const { number } = quantity(value) ?? { number: 0 };
        const nearest = pin.scale.reduce((best, one, index) =>
          Math.abs(one - number) < Math.abs(pin.scale[best] - number) ? index : best, 0);
        input.value = nearest;
      }
      input.setAttribute("aria-valuetext", String(value));
    }
  }
}
