// The cursor in a figure: a tip shows the values of all curves, dragging selects a range to zoom to. Keys do the same.

const tip = document.getElementById("tip");
const MOST_LINES = 14;

function placeTip(x, y) {
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const beside = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  tip.style.left = Math.max(4, Math.min(beside, innerWidth - width - 4)) + "px";
  tip.style.top = Math.max(4, Math.min(y - height - 10, innerHeight - height - 4)) + "px";
}

function tipLine(look, name, value) {
  const line = document.createElement("div");
  line.className = look;
  const [mark, text, number] = ["i", "span", "b"].map((tag) => document.createElement(tag));
  text.textContent = name;
  number.textContent = value;
  line.append(mark, text, number);
  return line;
}

// Three significant digits, and as many more as the axis needs.
function bare(axis, value) {
  const step = Math.min((axis.log ? value : axis.high - axis.low) / 1000, Math.max(Math.abs(value) / 100, 1e-9));
  return readable(value, step);
}

function digits(axis, value) {
  return `${bare(axis, value)} ${axis.unit}`.trim();
}

function linkedWith(chart) {
  return charts.filter((other) => other === chart || (chart.linked && other.linked === chart.linked));
}

// Moves the cursor to a position in units and shows the values there.
function point(chart, at, clientX, clientY) {
  chart.at = at;
  const { left, right } = chart.view;
  for (const other of linkedWith(chart)) {
    if (!other.cursor) {
      other.cursor = document.createElement("div");
      other.cursor.className = "cursor";
      other.plot.append(other.cursor);
    }
    other.cursor.hidden = false;
    other.cursor.style.left = ((at - left) / (right - left)) * 100 + "%";
  }
  const values = [];
  for (const { shown, xs, ys, band, name, look } of chart.series) {
    const index = shown ? nearest(xs, at) : -1;
    // A curve that has ended, or not begun, has no value here.
    if (index < 0 || at < xs[0] - UNITS / 50 || at > xs[xs.length - 1] + UNITS / 50) continue;
    const [y, within] = [valueAt(chart.y, ys[index]), nearest(band.xs, xs[index])];
    const has = within >= 0 && band.xs[within] === xs[index];
    const ends = has ? [band.lows, band.highs].map((of) => valueAt(chart.y, of[within])) : [];
    values.push({ look, name, height: ys[index], value: y, ends });
  }
  values.sort((a, b) => b.height - a.height);
  const head = document.createElement("strong");
  head.textContent = digits(chart.x, valueAt(chart.x, at));
  const range = (ends) => ends.length ? ` (${ends.map((end) => bare(chart.y, end)).join(" \u2013 ")})` : "";
  const line = ({ look, name, value, ends }) => tipLine(look, name, digits(chart.y, value) + range(ends));
  const lines = values.slice(0, MOST_LINES).map(line);
  if (values.length > MOST_LINES) lines.push(tipLine("", `and ${values.length - MOST_LINES} more`, ""));
  tip.replaceChildren(head, ...lines);
  placeTip(clientX, clientY);
}

function leave(chart) {
  tip.hidden = true;
  for (const other of linkedWith(chart)) if (other.cursor) other.cursor.hidden = true;
}

function unitsAt(chart, clientX) {
  const { left: x, width } = chart.plot.getBoundingClientRect();
  const { left, right } = chart.view;
  return left + Math.min(1, Math.max(0, (clientX - x) / width)) * (right - left);
}

function listen(chart) {
  const { plot } = chart;
  let from = null, picked = null;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = { units: unitsAt(chart, event.clientX), x: event.clientX };
    plot.setPointerCapture(event.pointerId);
    point(chart, from.units, event.clientX, event.clientY);
  });
  plot.addEventListener("pointermove", (event) => {
    point(chart, unitsAt(chart, event.clientX), event.clientX, event.clientY);
    if (!from) return;
    if (!picked) {
      picked = document.createElement("div");
      picked.className = "picked";
      plot.append(picked);
    }
    const { left, width } = plot.getBoundingClientRect();
    const [a, b] = [from.x, Math.min(left + width, Math.max(left, event.clientX))].sort((one, other) => one - other);
    picked.style.left = a - left + "px";
    picked.style.width = b - a + "px";
  });
  const end = (event) => {
    const begin = from;
    from = null;
    picked?.remove();
    picked = null;
    if (!begin || event.type === "pointercancel" || Math.abs(event.clientX - begin.x) < 6) return;
    const [left, right] = [begin.units, unitsAt(chart, event.clientX)].sort((a, b) => a - b);
    zoom(chart, left, right);
  };
  plot.addEventListener("pointerup", end);
  plot.addEventListener("pointercancel", end);
  plot.addEventListener("pointerleave", () => leave(chart));
  plot.addEventListener("blur", () => leave(chart));
  plot.addEventListener("dblclick", () => zoom(chart, 0, chart.end));
  plot.addEventListener("keydown", (event) => {
    const { left, right } = chart.view;
    const at = Math.min(right, Math.max(left, chart.at ?? (left + right) / 2));
    const step = ((right - left) / 50) * (event.shiftKey ? 5 : 1);
    const move = (to) => {
      const units = Math.min(chart.view.right, Math.max(chart.view.left, to));
      const box = plot.getBoundingClientRect();
      const share = (units - chart.view.left) / (chart.view.right - chart.view.left);
      point(chart, units, box.left + share * box.width, box.top + box.height / 2);
    };
    const act = {
      ArrowLeft: () => move(at - step), ArrowRight: () => move(at + step),
      Home: () => move(left), End: () => move(right),
      "+": () => { zoomBy(chart, 0.5, at); move(at); }, "=": () => { zoomBy(chart, 0.5, at); move(at); },
      "-": () => { zoomBy(chart, 2, at); move(at); }, "0": () => zoom(chart, 0, chart.end),
      Escape: () => { zoom(chart, 0, chart.end); leave(chart); },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

for (const chart of charts) listen(chart);
