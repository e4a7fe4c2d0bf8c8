// Points of a sweep in the same figures: draws the curves of the points that are picked.

const LOOKS = 16;

// The curves of a figure by point, from its template.
function readOverlay(chart, template) {
  const groups = [...template.content.querySelectorAll("g")];
  chart.store = new Map(groups.map((group) => [+group.dataset.point, { group }]));
  chart.figure.querySelector(".apart")?.remove();
  chart.figure.querySelector("[data-switch]")?.remove();
}

function keyOf(name, look) {
  const key = document.createElement("button");
  key.type = "button";
  key.className = "key " + look;
  key.setAttribute("aria-pressed", true);
  key.append(document.createElement("i"), name);
  return key;
}

// The curve of a point, in the look of its place among those that are picked.
function overlayCurve(chart, { point, name, look }) {
  const stored = chart.store.get(point);
  if (!stored.drawn) {
    stored.drawn = document.importNode(stored.group, true);
    stored.data = readGroup(stored.drawn, chart.scale);
  }
  stored.drawn.setAttribute("class", "series " + look);
  return { ...stored.data, group: stored.drawn, name, look, shown: true, key: keyOf(name, look) };
}

// Draws the picked points, and fits both axes to them: the x axis ends with the last of them, the y axis begins at zero.
function drawOverlay(chart, picked) {
  const whole = chart.view.left <= 0 && chart.view.right >= chart.end;
  chart.end = positionOf(chart.x, Math.max(...picked.map(({ end }) => end)));
  if (!(chart.end > 0)) chart.end = UNITS;
  for (const { group, key } of chart.series) { group.remove(); key?.remove(); }
  chart.series = picked.filter(({ point }) => chart.store.has(point)).map((one) => overlayCurve(chart, one));
  chart.svg.append(...chart.series.map(({ group }) => group));
  chart.figure.querySelector(".legend").prepend(...chart.series.map(({ key }) => key));
  for (const series of chart.series) listenToKey(chart, series);
  const { left, right } = chart.view;
  chart.fitted = { left: 0, right: chart.end, low: 0, high: reach(chart, 0, chart.end).high };
  const zoomed = !whole && right <= chart.end;
  chart.view = zoomed ? { left, right, ...reach(chart, left, right) } : chart.fitted;
  chart.figure.classList.toggle("zoomed", zoomed);
  resetButton(chart, zoomed);
  chart.figure.classList.add("fitted");
  show(chart);
}

// Menus for the values of columns, which hide the rows of all others.
function addFilters(table, picker) {
  const rows = [...table.tBodies[0].rows];
  const row = document.createElement("div");
  row.className = "choices";
  const wanted = [], headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    // With one path the list is as good.
    if (column === 0 || headings.length < 3) return;
    const values = [...new Set(rows.map(({ cells }) => cells[column].textContent))];
    const label = document.createElement("label"), menu = document.createElement("select");
    menu.append(new Option("any", ""), ...values.map((value) => new Option(value, "=" + value)));
    label.append(heading.textContent + " ", menu);
    row.append(label);
    wanted.push(({ cells }) => !menu.value || "=" + cells[column].textContent === menu.value);
    menu.addEventListener("change", () => {
      for (const one of rows) one.hidden = !wanted.every((fits) => fits(one));
    });
  });
  picker.insertBefore(row, picker.querySelector(".table"));
  return row;
}

function startPicker(block) {
  const picker = block.querySelector(".picker");
  const boxes = [...block.querySelectorAll("[data-point]")].filter((box) => box.tagName === "INPUT");
  const mine = charts.filter(({ figure }) => block.contains(figure));
  for (const chart of mine) readOverlay(chart, block.querySelector(`template[data-of="${chart.figure.id}"]`));
  // The place of each picked point among the looks: the lowest that is free, so that those of others do not change.
  const slots = new Map(), looks = new Map();
  const update = () => {
    for (const box of boxes) {
      const point = +box.dataset.point;
      if (!box.checked) slots.delete(point);
      else if (!slots.has(point)) {
        const taken = new Set(slots.values());
        let slot = 0;
        while (taken.has(slot)) slot++;
        slots.set(point, slot);
      }
      const slot = slots.get(point) % LOOKS;
      looks.set(point, `c${slot % 8}${slot < 8 ? "" : " dashed"}`);
      box.parentNode.className = box.checked ? `key ${looks.get(point)}` : "key";
    }
    const picked = boxes.filter(({ checked }) => checked).map((box) => {
      const point = +box.dataset.point;
      return { point, end: +box.dataset.end, name: box.getAttribute("aria-label"), look: looks.get(point) };
    });
    for (const chart of mine) if (!chart.figure.parentNode.hidden) drawOverlay(chart, picked);
  };
  const row = addFilters(block.querySelector("#points"), picker);
  const all = (text, checked) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => {
      for (const box of boxes) if (!checked || !box.closest("tr").hidden) box.checked = checked;
      update();
    });
    row.append(button);
  };
  all("pick all listed", true);
  all("pick none", false);
  for (const box of boxes) box.addEventListener("change", update);
  for (const button of picker.querySelectorAll("button[data-metric]")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", on);
      block.querySelector(`.figures[data-metric="${button.dataset.metric}"]`).hidden = !on;
      update();
    });
  }
  picker.hidden = false;
  update();
}

for (const block of document.querySelectorAll("#points-together")) startPicker(block);
