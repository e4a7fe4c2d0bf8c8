// The network as a picture: hosts, routers, and links with what they do. Nodes can be moved; the values of a link are
// edited beside it, which changes the text.

import { button, draw, find, make, openDialog, session } from "./elements.js";

const WIDTH = 560;
const ROW = 165;
const KEYS = ["rate", "delay", "queue", "loss", "jitter"];

/** Places for nodes: in rows by their distance from the sender of the first flow. */
export function arrange({ hosts, routers, links, flows }) {
  const names = [...hosts.map(({ name }) => name), ...routers];
  const neighbours = new Map(names.map((name) => [name, []]));
  for (const { ends: [a, b] } of links) {
    neighbours.get(a.node)?.push(b.node);
    neighbours.get(b.node)?.push(a.node);
  }
  const row = new Map();
  for (const first of [flows[0]?.from, ...names]) {
    if (!first || row.has(first)) continue;
    const queue = [first];
    row.set(first, 0);
    for (const name of queue) {
      for (const next of neighbours.get(name) ?? []) {
        if (!row.has(next)) { row.set(next, row.get(name) + 1); queue.push(next); }
      }
    }
  }
  // Hosts that send as the first one does stand beside it; those that receive stand at the end.
  const last = Math.max(0, ...row.values());
  for (const { from, to } of flows) {
    if (neighbours.get(from)?.length) row.set(from, 0);
    if (row.get(to) > 0) row.set(to, last);
  }
  const rows = Array.from({ length: last + 1 }, (_, index) => names.filter((name) => row.get(name) === index));
  const places = new Map();
  rows.forEach((of, y) => of.forEach((name, x) => places.set(name, {
    x: ((x + 0.5) * WIDTH) / of.length, y: 45 + y * ROW,
  })));
  return { places, height: 90 + last * ROW };
}

/**
 * The picture. `edit` gets the path of a key and its new value in TOML, or `null` for none, and returns whether the text
 * was changed.
 */
export class NetworkPicture {
  constructor(container, edit, pin) {
    this.container = container;
    this.edit = edit;
    this.pin = pin;
    this.moved = session.read("places") ?? {};
    this.values = new Map();
  }

  update(picture, values) {
    this.picture = picture;
    this.values = new Map(values.map(({ path, value }) => [path, value]));
    this.paint();
  }

  paint() {
    const { hosts, links, counts } = this.picture;
    if (!hosts.length) {
      const [of, routers, all] = counts;
      this.container.replaceChildren(make("p", {}, `${of} hosts, ${routers} routers and ${all} links: too many for a picture.`));
      return;
    }
    const { places, height } = arrange(this.picture);
    for (const [name, place] of Object.entries(this.moved)) if (places.has(name)) places.set(name, place);
    this.places = places;
    this.height = height;
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": "Network" });
    // Links between the same nodes are bent, so that each can be seen.
    const together = new Map();
    this.lines = links.map((link) => {
      const pair = link.ends.map(({ node }) => node).sort().join("\n");
      const number = together.get(pair) ?? 0;
      together.set(pair, number + 1);
      return { link, number, pair };
    });
    for (const line of this.lines) {
      line.bend = line.number - (together.get(line.pair) - 1) / 2;
      svg.append(this.line(line));
    }
    const kinds = [...hosts.map(({ name }) => [name, "host"]), ...this.picture.routers.map((name) => [name, "router"])];
    for (const [name, kind] of kinds) svg.append(this.node(name, kind, svg));
    this.container.replaceChildren(svg, this.table());
    this.place();
  }

  line(line) {
    const { link } = line;
    // Which path it is of, and so its colour, is known when there are results.
    line.path = draw("path", { class: "link" });
    line.text = draw("text", { class: "of-link" });
    const rows = [link.name, ...this.words(link)];
    line.text.append(...rows.map((row, index) => {
      const part = draw("tspan", { x: 0, dy: index ? "1.25em" : "0", class: index ? "quiet" : "" });
      part.textContent = row;
      return part;
    }));
    // Under the words the line is hidden by their own ground: a full queue makes it as thick as they are high.
    line.ground = draw("rect", { class: "ground", rx: 4 });
    line.group = draw("g", { class: "line", "data-link": link.name, tabindex: 0, role: "button",
      "aria-label": `Edit link ${rows.join(", ")}` }, line.path, line.ground, line.text);
    const open = () => this.open(link);
    line.group.addEventListener("click", open);
    line.group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); }
    });
    return line.group;
  }

  words({ name, up, down }) {
    const one = (a, b) => (a === b ? a : `${a} ↑ ${b} ↓`);
    const further = ["queue", "loss"].map((key) => this.values.get(`links.${name}.${key}`)).filter((of) => of !== undefined);
    return [`${one(up.rate, down.rate)} · ${one(up.delay, down.delay)}`, further.join(" · ")].filter(Boolean);
  }

  node(name, kind, svg) {
    const shape = kind === "host"
      ? draw("rect", { x: -48, y: -20, width: 96, height: 40, rx: 6 })
      : draw("rect", { x: -48, y: -18, width: 96, height: 36, rx: 18 });
    const text = draw("text", { dy: "0.35em" });
    text.textContent = name.length > 12 ? `${name.slice(0, 11)}…` : name;
    const group = draw("g", { class: `node ${kind}`, tabindex: 0, role: "img", "aria-label": `${kind} ${name}`,
      "aria-description": "arrow keys move it", "data-name": name }, shape, text);
    const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    group.addEventListener("pointerdown", (event) => group.setPointerCapture(event.pointerId));
    group.addEventListener("pointermove", (event) => {
      if (group.hasPointerCapture(event.pointerId)) this.move(name, at(event));
    });
    group.addEventListener("pointerup", () => session.write("places", this.moved));
    group.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[event.key];
      if (!step) return;
      event.preventDefault();
      const place = this.places.get(name);
      this.move(name, { x: place.x + step[0], y: place.y + step[1] });
      session.write("places", this.moved);
    });
    return group;
  }

  move(name, { x, y }) {
    const place = { x: Math.min(WIDTH - 50, Math.max(50, x)), y: Math.min(this.height - 25, Math.max(25, y)) };
    this.moved[name] = place;
    this.places.set(name, place);
    this.place();
  }

  // Puts nodes, links and their words where they belong.
  place() {
    for (const group of this.container.querySelectorAll(".node")) {
      const { x, y } = this.places.get(group.dataset.name);
      group.setAttribute("transform", `translate(${x} ${y})`);
    }
    for (const { link, bend, path, ground, text } of this.lines) {
      const [a, b] = link.ends.map(({ node }) => this.places.get(node));
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const side = { x: -(b.y - a.y) / length, y: (b.x - a.x) / length };
      // The same side for both directions of writing a link down.
      const turn = link.ends[0].node < link.ends[1].node ? 1 : -1;
      const off = turn * bend * 440;
      const middle = { x: (a.x + b.x) / 2 + side.x * off, y: (a.y + b.y) / 2 + side.y * off };
      path.setAttribute("d", `M${a.x} ${a.y}Q${middle.x} ${middle.y} ${b.x} ${b.y}`);
      const at = { x: (a.x + b.x) / 4 + middle.x / 2, y: (a.y + b.y) / 4 + middle.y / 2 };
      text.setAttribute("transform", `translate(${at.x} ${at.y - 12})`);
      const rows = [...text.children].map((row) => row.textContent.length);
      // As wide as the longest row in letters of usual width, and as high as all rows with that of the queue.
      const width = 7 * Math.max(...rows) + 8, height = 18 * (text.querySelectorAll("tspan:not(.queue)").length + 1) + 4;
      for (const [name, value] of Object.entries({ x: at.x - width / 2, y: at.y - 27, width, height })) ground.setAttribute(name, value);
    }
  }

  // The same in a table, for screen readers and phones.
  table() {
    const rows = this.picture.links.map((link) => make("tr", {},
      make("td", {}, button(link.name, () => this.open(link), { className: "plain" })),
      make("td", {}, link.ends.map(({ node, interface: of }) => (of ? `${node}.${of}` : node)).join(" – ")),
      make("td", {}, this.words(link).join(" · "))));
    return make("details", {}, make("summary", {}, "as a table"), make("table", {}, make("tbody", {}, ...rows)));
  }

  open(link) {
    const message = make("p", { className: "wrong", role: "alert", hidden: true });
    const say = (text) => { message.textContent = text; message.hidden = !text; };
    const has = (path) => [...this.values.keys()].some((of) => of.startsWith(`${path}.`));
    const base = `links.${link.name}`;
    const fields = KEYS.flatMap((key) => {
      const path = `${base}.${key}`;
      const sides = ["up", "down"].filter((side) => this.values.has(`${path}.${side}`));
      return sides.length ? sides.map((side) => ({ label: `${key} ${side}`, path: `${path}.${side}` })) : [{ label: key, path }];
    });
    // A table or a list has several values, which one field cannot show.
    const isOne = ({ path }) => !has(path) && typeof this.values.get(path) !== "object";
    const inputs = fields.map((field) => {
      const { label, path } = field, id = `link-${label.replace(" ", "-")}`;
      if (!isOne(field)) {
        return make("div", { className: "field", id }, make("label", {}, label), make("small", {}, "several values: edit them in the text"));
      }
      const input = make("input", { value: this.values.get(path) ?? "", placeholder: "the default", id });
      input.addEventListener("change", () => {
        const value = input.value.trim(), known = this.values.get(path);
        if (value === String(known ?? "")) return say("");
        // The values are those of the text when it was last without errors.
        const notation = value ? JSON.stringify(value) : null;
        if (this.edit(path, notation)) {
          say("");
          if (value) this.values.set(path, value); else this.values.delete(path);
        } else {
          say(`${path} cannot be changed here: the text has no place for it that the picture can find. Edit it in the text.`);
          input.value = known ?? "";
        }
        return undefined;
      });
      return make("div", { className: "field" }, make("label", { htmlFor: id }, label), input,
        this.values.has(path) && button("pin", () => { this.pin(path); find("link").close(); }));
    });
    const isWritten = has(base);
    openDialog("link", `Link ${link.name}`, ...(isWritten ? inputs : []), message, make("p", {}, isWritten
      ? "Values as in the text: 50 Mbit/s, 10 ms, 100 packets, 1 %. Without a value the default holds."
      : `The text does not name this link: [topology] or an imported network makes it, and has its values.`));
  }
}
