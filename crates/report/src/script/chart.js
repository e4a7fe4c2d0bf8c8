// Reads the data of curves from the paths on the page.

const UNITS = 10000;
const charts = [];

// An axis from its description on the page: "low high scale".
function readAxis(plot, name) {
  const [low, high, scale] = plot.dataset[name].split(" ");
  return { low: +low, high: +high, log: scale === "log", unit: plot.dataset[name + "Unit"] };
}

// The value at a position in units, counted from the low end.
function valueAt(axis, units) {
  const share = units / UNITS;
  return axis.log
    ? axis.low * Math.exp(share * Math.log(axis.high / axis.low))
    : axis.low + share * (axis.high - axis.low);
}

function positionOf(axis, value) {
  return UNITS * (axis.log
    ? Math.log(value / axis.low) / Math.log(axis.high / axis.low)
    : (value - axis.low) / (axis.high - axis.low));
}

// The points of a path of M, l, h and v: positions in units, y upwards. A chart may be drawn `scale` times finer.
function readPath(d, scale) {
  const xs = [], ys = [];
  let x = 0, y = 0;
  for (const [, letter, a, b] of d.matchAll(/([Mlhv])(-?\d+)(?: ?(-?\d+))?/g)) {
    if (letter === "M") { x = +a; y = +b; }
    else if (letter === "l") { x += +a; y += +b; }
    else if (letter === "h") { x += +a; continue; }
    else { y += +a; }
    xs.push(x / scale);
    ys.push(UNITS - y / scale);
  }
  return { xs, ys };
}

// The areas of bands: the ends of their intervals, by position.
function readBand(d, scale) {
  const band = { xs: [], lows: [], highs: [] };
  for (const part of d.split("M").slice(1)) {
    const { xs, ys } = readPath("M" + part, scale);
    const half = xs.length / 2;
    for (let i = 0; i < half; i++) {
      band.xs.push(xs[i]);
      band.highs.push(ys[i]);
      band.lows.push(ys[xs.length - 1 - i]);
    }
  }
  return band;
}

// The points of a curve, and its band if it has one.
function readGroup(group, scale) {
  const path = group.querySelector(".line") || group.querySelector(".points");
  const band = group.querySelector(".band");
  return {
    ...(path ? readPath(path.getAttribute("d"), scale) : { xs: [], ys: [] }),
    band: readBand(band?.getAttribute("d") ?? "", scale),
  };
}

// The same, read when it is asked for first: most figures are looked at and no more.
function readLater(group, scale) {
  let read = null;
  const data = () => read ??= readGroup(group, scale);
  return { get xs() { return data().xs; }, get ys() { return data().ys; }, get band() { return data().band; } };
}

function readChart(figure) {
  const plot = figure.querySelector(".plot");
  const scale = (plot.dataset.units ?? UNITS) / UNITS;
  const series = [...figure.querySelectorAll("g.series")].map((group, index) => Object.assign(readLater(group, scale), {
    group, name: group.dataset.name, shown: true, look: group.getAttribute("class").replace("series", "").trim(),
    key: figure.querySelector(`.key[data-series="${index}"]`),
    panel: figure.querySelector(`.panel[data-series="${index}"]`),
  }));
  return {
    figure, plot, series, scale, svg: plot.querySelector("svg"), grid: plot.querySelector(".grid"),
    x: readAxis(plot, "x"), y: readAxis(plot, "y"), linked: figure.dataset.linked,
    view: { left: 0, right: UNITS, low: 0, high: UNITS },
    // Where the x axis ends.
    end: UNITS,
  };
}

// The index of the element of a sorted list that is nearest to a value; -1 if the list is empty.
function nearest(sorted, value) {
  let from = 0, to = sorted.length - 1;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < value) from = middle; else to = middle;
  }
  return to < 0 || Math.abs(sorted[from] - value) <= Math.abs(sorted[to] - value) ? Math.min(from, to) : to;
}

// A number with the decimals that a step needs and thin spaces between thousands. What rounds to zero has no sign.
function readable(x, step) {
  if (x === 0) return "0";
  const size = Math.max(Math.abs(x), Math.abs(step));
  if (size < 1e-4 || size >= 1e9) return x.toExponential(1).replace("-", "\u2212");
  const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10(Math.max(Math.abs(step), 1e-9) * 1.001))));
  let [whole, fraction] = Math.abs(x).toFixed(decimals).split(".");
  if (whole.length > 4) whole = whole.replace(/\B(?=(\d{3})+$)/g, "\u2009");
  const text = whole + (fraction ? "." + fraction : "");
  return x < 0 && /[1-9]/.test(text) ? "\u2212" + text : text;
}

for (const figure of document.querySelectorAll("figure.curves")) charts.push(readChart(figure));
