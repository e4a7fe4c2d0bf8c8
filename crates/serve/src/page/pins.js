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

/** Pins of one text. `change` gets a path and a new value in TOML; `swept` is called when sweeps change. */
export class Pins {
  constructor(change, swept, place = find("pins")) {
    this.change = change;
    this.swept = swept;
    this.pins = [];
    this.values = [];
    this.schema = null;
    this.asked = null;
    this.place = place;
  }

  /** The values of the text as it is now. */
  update(values, schema) {
    this.values = values;
    this.schema = schema;
    this.paint();
    if (this.asked) this.pin(this.asked.path, this.asked.values);
  }

  /** Pins nothing but one key, with these values, as soon as the text has it. */
  only(path, values) {
    this.pins = [];
    this.asked = { path, values };
    this.paint(true);
  }

  find(path) {
    return this.values.find((value) => value.path === path);
  }

  /** Pins a key, with these values, or with those around its own or that the schema has. */
  pin(path, values = null) {
    const found = this.find(path);
    if (!found) return;
    this.asked = null;
    if (this.pins.some((pin) => pin.path === path)) return;
    const number = quantity(found.value);
    const choices = values ?? this.schema.values(path.split(".")).filter((value) => typeof value === typeof found.value);
    const kind = choices.length > 1 && !(number && typeof found.value !== "boolean") ? "choice" : number ? "slider" : null;
    if (!kind) return;
    const steps = () => values?.map((value) => quantity(value).number) ?? scale(number);
    this.pins.push({ path, kind, choices, scale: kind === "slider" ? steps() : [], unit: number?.unit, sweep: false });
    this.paint(true);
  }

  /** Whether a value can be pinned. */
  canPin({ path, value }) {
    return !path.startsWith("sweep.") && (typeof value === "boolean" || quantity(value) !== null
      || (typeof value === "string" && (this.schema?.values(path.split(".")).length ?? 0) > 1));
  }

  /** The changes that sweep over pinned keys, as `subflow run --set` takes them. */
  assignments() {
    const swept = this.pins.filter(({ path, sweep }) => sweep && this.find(path));
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
    const state = JSON.stringify(shown.map(({ path, sweep }) => [path, sweep, this.values.length]));
    if (!isNew && state === this.painted && this.place.contains(document.activeElement)) return this.refresh(shown);
    this.painted = state;
    const free = this.values.filter((value) => this.canPin(value) && !this.pins.some(({ path }) => path === value.path));
    const more = make("select", { id: "pin", "aria-label": "Pin a key" }, new Option("pin a key …", ""),
      ...free.map(({ path, value }) => new Option(`${path} = ${value}`, path)));
    more.addEventListener("change", () => this.pin(more.value));
    this.place.replaceChildren(...shown.map((pin) => this.control(pin)), more);
    return this.refresh(shown);
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
      if (pin.kind === "choice") input.value = JSON.stringify(value);
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
