// Files of a figure: its numbers as CSV; what is seen as SVG with text and paths, and as PNG made of that.

// The namespace of SVG, as the browser knows it: the page contains no address.
const SVG = new DOMParser().parseFromString("<svg>", "text/html").body.firstChild.namespaceURI;
const INKED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity"];

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// A copy of a drawing with the style of its marks as attributes, at its place in the figure.
function drawing(svg, origin) {
  const box = svg.getBoundingClientRect(), copy = svg.cloneNode(true);
  const originals = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((mark, index) => {
    const style = getComputedStyle(originals[index]);
    if (style.display === "none") return mark.setAttribute("display", "none");
    mark.removeAttribute("class");
    mark.removeAttribute("id");
    if (mark.tagName === "g") return;
    for (const key of INKED) mark.setAttribute(key, style.getPropertyValue(key));
    mark.setAttribute("vector-effect", "non-scaling-stroke");
  });
  const place = { x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height };
  for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
  copy.removeAttribute("style");
  copy.setAttribute("overflow", getComputedStyle(svg).overflow === "visible" ? "visible" : "hidden");
  return copy;
}

// The ground and the lower and left borders of an element, such as a cell or the frame of a plot.
function frame(of, origin) {
  const style = getComputedStyle(of), box = of.getBoundingClientRect();
  const [x, y] = [box.left - origin.left, box.top - origin.top], marks = [];
  if (style.backgroundColor !== "rgba(0, 0, 0, 0)") {
    marks.push(element("rect", { x, y, width: box.width, height: box.height, fill: style.backgroundColor }));
  }
  const line = (side, x1, y1, x2, y2) => {
    const width = parseFloat(style[`border${side}Width`]);
    if (!width || style[`border${side}Style`] === "none") return;
    const dash = { dashed: "4 3", dotted: "2 3" }[style[`border${side}Style`]] ?? "none";
    marks.push(element("line", {
      x1, y1, x2, y2, stroke: style[`border${side}Color`], "stroke-width": width, "stroke-dasharray": dash,
    }));
  };
  line("Top", x, y, x + box.width, y);
  line("Left", x, y, x, y + box.height);
  line("Bottom", x, y + box.height, x + box.width, y + box.height);
  return marks;
}

// The lines of a text as the browser broke it.
function words(node, origin) {
  const style = getComputedStyle(node.parentElement), range = document.createRange();
  const upwards = style.writingMode.startsWith("vertical"), lines = [];
  const text = node.textContent;
  for (let i = 0; i < text.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getBoundingClientRect(), last = lines.at(-1);
    if (!box.width && !box.height) continue;
    if (last && (upwards || Math.abs(last.top - box.top) < 2)) {
      last.text += text[i];
      last.left = Math.min(last.left, box.left);
      last.bottom = Math.max(last.bottom, box.bottom);
    } else lines.push({ text: text[i], left: box.left, top: box.top, bottom: box.bottom, right: box.right });
  }
  return lines.filter((line) => line.text.trim()).map((line) => {
    const size = parseFloat(style.fontSize), middle = (line.left + line.right) / 2 - origin.left;
    const [x, y] = upwards
      ? [middle + size * 0.35, line.bottom - origin.top]
      : [line.left - origin.left, (line.top + line.bottom) / 2 - origin.top + size * 0.35];
    const made = element("text", {
      x, y, fill: style.color, "font-size": size, "font-weight": style.fontWeight, "font-family": style.fontFamily,
      ...(upwards ? { transform: `rotate(-90 ${x} ${y})` } : {}),
    });
    made.textContent = line.text;
    return made;
  });
}

function svgOf(figure) {
  const origin = figure.getBoundingClientRect();
  const { width, height } = origin;
  const root = element("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
  const ground = getComputedStyle(document.body).backgroundColor;
  root.append(element("rect", { width, height, fill: ground }));
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return root.append(...words(node, origin));
    if (node.nodeType !== Node.ELEMENT_NODE || node.hidden) return;
    if (node.matches(".export, .numbers, .switch, .reset, .cursor, .picked, .targets, template")) return;
    if (getComputedStyle(node).display === "none") return;
    if (node.tagName === "svg") return root.append(drawing(node, origin));
    if (node !== figure && !node.matches("button.key")) root.append(...frame(node, origin));
    node.childNodes.forEach(visit);
  };
  visit(figure);
  return new XMLSerializer().serializeToString(root);
}

// A field of CSV. A leading sign of a formula would be run by a spreadsheet.
function field(value) {
  const text = typeof value === "string" && /^[=+@\t]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The numbers of a figure: a head, and a row for each point that is shown.
function rowsOf(figure) {
  const chart = charts.find((of) => of.figure === figure);
  const number = (axis, units) => Number(valueAt(axis, units).toPrecision(6));
  const title = (selector) => figure.querySelector(selector)?.textContent ?? "value";
  let rows;
  if (chart) {
    rows = [["curve", title(".x-title"), title(".y-title"), "interval from", "to"]];
    for (const { name, shown, xs, ys, band } of chart.series.filter((of) => of.shown)) {
      xs.forEach((x, i) => {
        const at = band.xs.indexOf(x);
        const ends = at < 0 ? ["", ""] : [band.lows[at], band.highs[at]].map((end) => number(chart.y, end));
        rows.push([name, number(chart.x, x), number(chart.y, ys[i]), ...ends]);
      });
    }
  } else {
    rows = [["name", title(".x-title")]];
    for (const { dataset } of figure.querySelectorAll("[data-tip]")) {
      rows.push([dataset.name, dataset.tip.slice(dataset.name.length + 2)]);
    }
  }
  return rows;
}

function csvOf(figure) {
  return rowsOf(figure).map((row) => row.map(field).join(",")).join("\n") + "\n";
}

// The numbers as a table below the figure, for those who cannot see the figure. Of very many points the first are there.
const MOST_ROWS = 500;
function tableOf(figure) {
  const [head, ...rows] = rowsOf(figure);
  const isUsed = head.map((_, column) => column < 2 || rows.some((row) => row[column] !== ""));
  const line = (row, name) => {
    const made = document.createElement("tr");
    made.append(...row.filter((_, column) => isUsed[column]).map((value, column) => {
      const cell = document.createElement(name);
      if (name === "th") cell.scope = "col"; else if (column > 0) cell.className = "n";
      cell.textContent = value ?? "";
      return cell;
    }));
    return made;
  };
  const table = document.createElement("table"), block = document.createElement("div");
  const more = rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} of ${rows.length} points; the CSV file has all` : "";
  table.createCaption().textContent = figure.querySelector("h4").textContent + more;
  table.createTHead().append(line(head, "th"));
  table.createTBody().append(...rows.slice(0, MOST_ROWS).map((row) => line(row, "td")));
  block.className = "table long numbers";
  block.tabIndex = 0;
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", `Numbers of ${figure.id}`);
  block.append(table);
  return block;
}

function showTable(figure, button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", on);
  figure.querySelector(".numbers")?.remove();
  if (on) figure.querySelector(".chart").append(tableOf(figure));
}

function save(name, url) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function asUrl(type, text) {
  return `data:${type};charset=utf-8,${encodeURIComponent(text)}`;
}

// Twice as fine as the screen, so that text is sharp in print.
async function png(figure) {
  const image = new Image(), { width, height } = figure.getBoundingClientRect();
  image.src = asUrl("image/svg+xml", svgOf(figure));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(2 * width), Math.ceil(2 * height)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

// The title, the titles of axes with their units, and names become text that the reader may change before an export.
function edit(figure, on) {
  for (const of of figure.querySelectorAll("h4, figcaption p, .x-title, .y-title")) {
    if (on) of.setAttribute("contenteditable", "plaintext-only"); else of.removeAttribute("contenteditable");
  }
}

for (const figure of document.querySelectorAll("figure[id]")) {
  const bar = document.createElement("div");
  bar.className = "export";
  const offer = (text, label, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => act(button));
    bar.append(button);
  };
  const name = figure.id;
  offer("table", `Show the numbers of ${name} as a table`, (button) => showTable(figure, button));
  offer("edit titles", `Edit the titles of ${name}`, (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    edit(figure, on);
  });
  offer("SVG", `Save ${name} as SVG`, () => save(`${name}.svg`, asUrl("image/svg+xml", svgOf(figure))));
  offer("PNG", `Save ${name} as PNG`, async () => save(`${name}.png`, await png(figure)));
  offer("CSV", `Save the numbers of ${name} as CSV`, () => save(`${name}.csv`, asUrl("text/csv", csvOf(figure))));
  figure.querySelector(".chart").append(bar);
}
