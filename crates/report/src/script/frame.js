// A report in a frame of another page: tells it its height and the instant under the pointer, takes its theme, and shows
// other reports in the place of its own, with what the reader has chosen. The frame has no other access to the page
// around it.

const tell = (message) => parent.postMessage({ subflow: "report", ...message }, "*");
const height = () => document.documentElement.offsetHeight;

let theme = "system";
let report = null;

function begin() {
  report = start();
  report.setTheme(theme);
  for (const chart of report.charts.filter(({ linked }) => linked)) {
    chart.plot.addEventListener("pointermove", () => {
      if (Number.isFinite(chart.at)) tell({ time: report.valueAt(chart.x, chart.at) });
    });
  }
}

const titleOf = (details) => details.querySelector("summary").textContent;

// Which curves are hidden, which panels are shown, and which part of the x axis; and which details and tables are open.
function choices() {
  const figures = report.charts.map(({ figure, series, view, x, end }) => [figure.id, {
    hidden: new Set(series.filter(({ shown }) => !shown).map(({ name }) => name)),
    isApart: figure.classList.contains("alone"),
    range: view.left > 0 || view.right < end ? [view.left, view.right].map((at) => report.valueAt(x, at)) : null,
  }]);
  const details = [...document.querySelectorAll("details")].map((one) => [titleOf(one), one.open]);
  const tables = [...document.querySelectorAll(".numbers")].map((table) => table.closest("figure").id);
  return { figures: new Map(figures), details: new Map(details), tables };
}

function choose({ figures, details, tables }) {
  for (const one of document.querySelectorAll("details")) one.open = details.get(titleOf(one)) ?? one.open;
  for (const chart of report.charts) {
    const before = figures.get(chart.figure.id);
    if (!before) continue;
    for (const series of chart.series) if (series.key && before.hidden.has(series.name)) report.setShown(series, false);
    if (before.isApart) chart.figure.querySelector("[data-switch]")?.click();
    if (before.range) report.zoom(chart, ...before.range.map((value) => report.positionOf(chart.x, value)));
  }
  for (const id of tables) document.getElementById(id)?.querySelector(".export button")?.click();
}

// Shows the report with this content. Its figures are in the document at once, and drawn with the next frame.
function show(content, number) {
  const before = choices();
  document.body.innerHTML = content;
  begin();
  choose(before);
  tell({ height: height(), shown: number });
  requestAnimationFrame(() => setTimeout(() => tell({ drawn: number })));
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.subflow !== "page") return;
  if (report.THEMES.includes(data.theme)) report.setTheme(theme = data.theme);
  if (typeof data.content === "string") show(data.content, data.number);
  if (data.print) {
    tell({ printed: true });
    print();
  }
});

begin();
new ResizeObserver(() => tell({ height: height() })).observe(document.documentElement);
tell({ height: height(), ready: true });
