// All other controls: legend, panels, theme, copying, sorting; and preparation for printing.

function setShown(series, shown) {
  series.shown = shown;
  series.group.classList.toggle("hidden", !shown);
  series.panel?.classList.toggle("hidden", !shown);
  series.key.setAttribute("aria-pressed", shown);
}

function listenToKey(chart, series) {
  const { key } = series;
  if (!key) return;
  key.title = "click: show or hide; double click: only this one";
  key.addEventListener("click", () => setShown(series, !series.shown));
  key.addEventListener("dblclick", () => {
    const alone = chart.series.every((other) => other === series || !other.shown);
    for (const other of chart.series) setShown(other, alone || other === series);
  });
  const faint = (on) => {
    for (const other of chart.series) other.group.classList.toggle("faint", on && other !== series);
  };
  key.addEventListener("pointerenter", () => faint(series.shown));
  key.addEventListener("pointerleave", () => faint(false));
}

for (const chart of charts) {
  for (const series of chart.series) listenToKey(chart, series);
  const choice = chart.figure.querySelector("[data-switch]");
  choice?.addEventListener("click", () => {
    const apart = choice.getAttribute("aria-pressed") !== "true";
    choice.setAttribute("aria-pressed", apart);
    chart.figure.classList.toggle("alone", apart);
    chart.figure.querySelector(".apart").hidden = !apart;
    chart.figure.querySelector(".together").hidden = apart;
  });
}

// The theme: that of the system, or a chosen one. A page opened from a file may not be allowed to store it.
const THEMES = ["system", "light", "dark"];
const themeButton = document.getElementById("theme");
function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeButton.textContent = "theme: " + theme;
  try { localStorage.setItem("subflow-theme", theme); } catch { /* the theme is not stored */ }
}
let remembered = null;
try { remembered = localStorage.getItem("subflow-theme"); } catch { /* as above */ }
setTheme(THEMES.includes(remembered) ? remembered : "system");
themeButton.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "system";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("pre"));
      button.textContent = "selected";
    }
  });
  block.append(button);
}

// Long tables can be sorted by any column.
function sortBy(table, column, heading) {
  const body = table.tBodies[0];
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  const rows = [...body.rows];
  const value = (row) => row.cells[column].dataset.value;
  const text = (row) => row.cells[column].textContent;
  const compare = (a, b) => (value(a) ?? value(b)) === undefined
    ? text(a).localeCompare(text(b), undefined, { numeric: true })
    : Number(value(a) ?? -Infinity) - Number(value(b) ?? -Infinity);
  rows.sort((a, b) => (ascending ? 1 : -1) * compare(a, b));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  body.append(...rows);
}
for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 4 || table.closest(".heat")) continue;
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sortBy(table, column, heading));
  });
}

// All details are open when printed, but those with the rows of a data file. A later report in the same frame takes the
// place of these listeners.
let closed = [];
onbeforeprint = () => {
  closed = [...document.querySelectorAll("details:not([open], .data)")];
  for (const one of closed) one.open = true;
};
onafterprint = () => { for (const one of closed) one.open = false; };
