// The choice of a baseline: draws bars and heat maps again with values, or with changes to the baseline.

// A number with three digits; a difference has a sign also above zero.
function threeDigits(x, signed) {
  if (x === null || !Number.isFinite(x)) return "\u2013";
  const text = x === 0 ? "0" : readable(x, 10 ** (Math.floor(Math.log10(Math.abs(x))) - 2));
  return signed && x > 0 ? "+" + text : text;
}

// The same without decimals that do not count beside a number as large as `largest`, as in src/rows.rs.
function beside(x, largest, signed) {
  if (!x || !Number.isFinite(x) || !(largest > 0)) return threeDigits(x, signed);
  const power = (of) => 10 ** Math.floor(Math.log10(Math.abs(of)));
  const text = readable(x, Math.max(power(x) * 1e-2, power(largest) * 1e-3));
  if (!/[1-9]/.test(text)) return "0";
  return signed && x > 0 ? "+" + text : text;
}

function tipText(name, [value, low, high], unit, signed) {
  const ends = low === null ? "" : ` (${threeDigits(low, signed)} to ${threeDigits(high, signed)})`;
  return `${name}: ${threeDigits(value, signed)}${ends} ${unit}`.trimEnd();
}

// The axis of all values with their intervals, from zero on, with its ends at ticks.
function axisOf(all, signed, unit) {
  let low = 0, high = 0;
  for (const [value, from, to] of all) {
    if (value === null) continue;
    low = Math.min(low, value, signed && from !== null ? from : value);
    high = Math.max(high, value, to ?? value);
  }
  if (low === high) high = 1;
  for (let again = 0; again < 2; again++) {
    const step = roundStep(high - low);
    [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  }
  return { low, high, log: false, unit };
}

// What is shown: the numbers of each entry, and how they are called.
function viewOf(block) {
  const { menu, as, choices, numbers } = block;
  const { label, unit } = choices.dataset;
  if (menu.value === "") {
    return { all: numbers.values, signed: false, unit, label, caption: choices.dataset.values };
  }
  const option = menu.selectedOptions[0], inPercent = as.value === "percent";
  const name = `${option.parentNode.label} ${option.textContent}`;
  const none = [null, null, null];
  const changes = numbers.changes[menu.value].map((of) => of === 0 ? none : of.slice(inPercent ? 0 : 3).slice(0, 3));
  return {
    all: changes, signed: true, lowerIsBetter: choices.dataset.better === "lower", unit: inPercent ? "%" : unit,
    label: `${inPercent ? "change" : "difference"} of ${label}`,
    caption: (inPercent ? choices.dataset.percent : choices.dataset.difference).replace("{}", name),
  };
}

// The scale of a heat map, as in src/figure/heat_map.rs: logarithmic for values of different sizes; for differences
// equally far to both sides, without the few that are much larger than all others.
function coloursOf(view) {
  const values = view.all.map(([value]) => value).filter((value) => value !== null);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (!view.signed) return { low, high, log: low > 0 && high >= 5 * low };
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  const most = sizes.at(-1), place = 0.9 * (sizes.length - 1), below = Math.floor(place);
  const usual = sizes[below] + (place - below) * ((sizes[below + 1] ?? most) - sizes[below]);
  const end = usual > 0 && most > 2 * usual ? usual : most;
  return { low: -end, high: end, log: false };
}

function drawCell(cell, view, { low, high, log }) {
  const one = view.all[cell.dataset.number], [value] = one;
  let share = (value - low) / (high - low);
  if (log) share = Math.log(value / low) / Math.log(high / low);
  if (view.signed) share = Math.abs(value) / high;
  share = Number.isNaN(share) ? (view.signed ? 0 : 0.5) : Math.min(share, 1);
  const worse = view.signed && (view.lowerIsBetter ? value > 0 : value < 0);
  const depth = share > (worse ? 0.77 : 0.7) ? " deep" : share > 0.5 ? " middle" : "";
  cell.className = value === null ? "" : `shade${depth}${worse ? " worse" : ""}`;
  cell.style.setProperty("--at", `${(100 * share).toFixed(1)}%`);
  cell.textContent = beside(value, Math.max(Math.abs(low), Math.abs(high)), view.signed);
  cell.dataset.tip = tipText(cell.dataset.name, one, view.unit, view.signed);
}

function titleOf({ label, unit }) {
  return unit ? `${label} in ${unit}` : label;
}

function drawMap(figure, view) {
  const colours = coloursOf(view);
  const cells = [...figure.querySelectorAll("td[data-number]")];
  for (const cell of cells) drawCell(cell, view, colours);
  const isBeyond = view.signed && cells.some(({ dataset }) => Math.abs(view.all[dataset.number][0]) > colours.high);
  const scale = figure.querySelector(".scale"), [from, to] = scale.querySelectorAll("b");
  scale.classList.toggle("signed", view.signed);
  scale.classList.toggle("lower", view.signed && view.lowerIsBetter);
  const [least, most] = isBeyond ? ["\u2264\u2009", "\u2265\u2009"] : ["", ""];
  from.textContent = least + threeDigits(colours.low, view.signed);
  to.textContent = most + threeDigits(colours.high, view.signed);
  scale.querySelector(".x-title").textContent = titleOf(view) + (colours.log ? ", logarithmic" : "");
}

function drawBar(group, axis, [value, low, high]) {
  const [top, middle, bottom, half] = group.dataset.heights.split(" ").map(Number);
  const at = (x) => Math.round(positionOf(axis, Math.max(x, axis.low)));
  const marks = [];
  const mark = (name, attributes) => {
    const element = document.createElementNS(group.namespaceURI, name);
    for (const [key, text] of Object.entries(attributes)) element.setAttribute(key, text);
    marks.push(element);
  };
  if (value !== null) {
    const [from, to] = [at(0), at(value)].sort((a, b) => a - b);
    const look = `bar ${group.dataset.look}`;
    mark("rect", { class: look, x: from, width: to - from, y: top, height: bottom - top });
  }
  if (value !== null && low !== null) {
    const [from, to] = [at(low), at(high)], end = (x) => `M${x} ${middle - half}V${middle + half}`;
    const line = from === to ? `V${middle}` : `H${to}`;
    mark("path", { class: "interval", d: `M${from} ${middle}${line}${end(from)}${end(to)}` });
  }
  group.replaceChildren(...marks);
}

// The line at zero, which only bars that go below it have.
function drawZero(figure, line) {
  let zero = figure.querySelector(".zero");
  if (!zero) {
    const grid = figure.querySelector(".grid");
    zero = document.createElementNS(grid.namespaceURI, "path");
    zero.setAttribute("class", "zero");
    grid.after(zero);
  }
  zero.setAttribute("d", line);
}

function drawBars(figure, view, axis) {
  for (const group of figure.querySelectorAll("g[data-number]")) drawBar(group, axis, view.all[group.dataset.number]);
  for (const target of figure.querySelectorAll(".targets [data-number]")) {
    target.dataset.tip = tipText(target.dataset.name, view.all[target.dataset.number], view.unit, view.signed);
  }
  for (const text of figure.querySelectorAll(".values [data-number]")) {
    text.textContent = threeDigits(view.all[text.dataset.number][0], view.signed);
  }
  const ticks = ticksOf(axis, 0, UNITS), height = figure.querySelector("svg").viewBox.baseVal.height;
  const line = ({ at }) => `M${Math.round(at * UNITS)} 0V${height}`;
  figure.querySelector(".grid").setAttribute("d", ticks.map(line).join(""));
  drawZero(figure, view.signed && axis.low < 0 ? line({ at: positionOf(axis, 0) / UNITS }) : "");
  label(figure.querySelector(".x-ticks"), ticks, "left");
  figure.querySelector(".x-title").textContent = titleOf(view);
}

function drawChoice(block) {
  const view = viewOf(block), axis = axisOf(view.all, view.signed, view.unit);
  block.as.disabled = block.menu.value === "";
  for (const figure of block.root.querySelectorAll("figure")) {
    if (figure.classList.contains("map")) drawMap(figure, view); else drawBars(figure, view, axis);
    figure.querySelector("figcaption p").textContent = view.caption;
  }
}

for (const root of document.querySelectorAll(".compared")) {
  const choices = root.querySelector(".choices");
  if (!choices) continue;
  const numbers = JSON.parse(root.querySelector("template").content.textContent);
  const block = {
    root, choices, numbers, menu: root.querySelector("[data-baseline]"), as: root.querySelector("[data-as]"),
  };
  for (const menu of [block.menu, block.as]) menu.addEventListener("change", () => drawChoice(block));
  block.as.disabled = block.menu.value === "";
  choices.hidden = false;
}
