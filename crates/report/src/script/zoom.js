// Zoom: changes the view box of a figure, with its ticks and grid. Linked figures zoom together.

// A round number that is contained four to ten times in a length.
function roundStep(length) {
  const rough = length / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) || 10) * power;
}

// Round numbers within the visible part of an axis, with their positions as shares of it.
function ticksOf(axis, from, to) {
  const low = valueAt(axis, from), high = valueAt(axis, to);
  if (axis.log && high > low * 10) return decades(axis, from, to, low, high);
  const step = roundStep(high - low);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n++) {
    const value = n * step;
    if (axis.log && value <= 0) continue;
    ticks.push({ at: (positionOf(axis, value) - from) / (to - from), label: readable(value, step) });
  }
  return ticks;
}

// Powers of ten, with twice and five times these if there are few, as in the drawing of the whole range.
function decades(axis, from, to, low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const factors = Math.log10(high / low) < 2.5 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = first; power <= last; power++) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value < low || value > high) continue;
      ticks.push({ at: (positionOf(axis, value) - from) / (to - from), label: readable(value, value) });
    }
  }
  return ticks;
}

// Every other tick has no place on a phone; that at zero always has.
function label(container, ticks, side) {
  const even = Math.max(0, ticks.findIndex(({ label }) => label === "0")) % 2;
  container.replaceChildren(...ticks.map(({ at, label }, index) => {
    const span = document.createElement("span");
    span.style[side] = at * 100 + "%";
    span.textContent = label;
    if (side === "left" && index % 2 !== even) span.className = "less";
    return span;
  }));
}

// Updates drawing, grid and ticks for the chart's view.
function show(chart) {
  const { left, right, low, high } = chart.view;
  const drawn = (units) => units * chart.scale;
  chart.svg.setAttribute("viewBox", [left, UNITS - high, right - left, high - low].map(drawn).join(" "));
  const [across, up] = [ticksOf(chart.x, left, right), ticksOf(chart.y, low, high)];
  const lines = across.map(({ at }) => `M${drawn(left + at * (right - left))} 0V${drawn(UNITS)}`)
    .concat(up.map(({ at }) => `M0 ${drawn(UNITS - low - at * (high - low))}H${drawn(chart.end)}`));
  chart.grid.setAttribute("d", lines.join(""));
  label(chart.figure.querySelector(".x-ticks"), across, "left");
  label(chart.figure.querySelector(".y-ticks"), up, "bottom");
  placeMoments(chart);
}

// The numbers of events stay at their lines.
function placeMoments({ plot, view: { left, right } }) {
  for (const moment of plot.querySelectorAll(".moment")) {
    const at = +moment.dataset.at;
    moment.hidden = at < left || at > right;
    moment.style.left = ((at - left) / (right - left)) * 100 + "%";
  }
}

// The initial view, which a reset restores.
function remember(chart) {
  const ticks = (side) => [...chart.figure.querySelector(side).childNodes].map((node) => node.cloneNode(true));
  chart.whole = { grid: chart.grid.getAttribute("d"), x: ticks(".x-ticks"), y: ticks(".y-ticks") };
}

function showWhole(chart) {
  if (chart.fitted) {
    chart.view = { ...chart.fitted };
    return show(chart);
  }
  chart.view = { left: 0, right: UNITS, low: 0, high: UNITS };
  chart.svg.setAttribute("viewBox", `0 0 ${UNITS * chart.scale} ${UNITS * chart.scale}`);
  chart.grid.setAttribute("d", chart.whole.grid);
  chart.figure.querySelector(".x-ticks").replaceChildren(...chart.whole.x);
  chart.figure.querySelector(".y-ticks").replaceChildren(...chart.whole.y);
  placeMoments(chart);
}

// The range of y of the visible curves between two positions, with a margin.
function reach(chart, left, right) {
  let low = UNITS, high = 0;
  const include = (xs, lows, highs) => {
    for (let i = 0; i < xs.length; i++) {
      // A line connects to the points before and after the range.
      if ((xs[i + 1] ?? xs[i]) < left || (xs[i - 1] ?? xs[i]) > right) continue;
      low = Math.min(low, lows[i]);
      high = Math.max(high, highs[i]);
    }
  };
  for (const { shown, xs, ys, band } of chart.series) {
    if (!shown) continue;
    include(xs, ys, ys);
    include(band.xs, band.lows, band.highs);
  }
  if (low > high) return { low: 0, high: UNITS };
  const air = Math.max((high - low) * 0.06, UNITS / 200 / chart.scale);
  return { low: Math.max(0, low - air), high: Math.min(UNITS, high + air) };
}

// Zooms the chart and all linked ones to a part of the x axis.
function zoom(chart, left, right) {
  left = Math.max(0, left);
  right = Math.min(chart.end, right);
  const finest = Math.max(...charts.map((other) => other.scale));
  if (right - left < UNITS / 2000 / finest) return;
  const whole = left <= 0 && right >= chart.end;
  const together = charts.filter((other) => other === chart || (chart.linked && other.linked === chart.linked));
  for (const other of together) {
    if (!other.whole) remember(other);
    other.figure.classList.toggle("zoomed", !whole);
    if (whole) {
      showWhole(other);
    } else {
      other.view = { left, right, ...reach(other, left, right) };
      show(other);
    }
    resetButton(other, !whole);
  }
}

function resetButton(chart, wanted) {
  let button = chart.figure.querySelector(".reset");
  if (!wanted) return button?.remove();
  if (button) return;
  button = document.createElement("button");
  button.type = "button";
  button.className = "reset";
  button.textContent = "whole range";
  button.addEventListener("click", () => zoom(chart, 0, chart.end));
  chart.figure.querySelector(".legend").append(button);
}

// Zooms by a factor around a position.
function zoomBy(chart, factor, at) {
  const { left, right } = chart.view;
  const width = Math.min(chart.end, (right - left) * factor);
  const from = Math.min(Math.max(0, at - ((at - left) / (right - left)) * width), chart.end - width);
  zoom(chart, from, from + width);
}
