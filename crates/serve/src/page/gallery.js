// The examples and publications as cards, each with a picture of its network, a question and what to change.

import { draw, find, make, openDialog } from "./elements.js";
import { arrange } from "./picture.js";
import { pictures } from "./server.js";

const titleOf = (text) => /^\s*title\s*=\s*"([^"]*)"/m.exec(text)?.[1] ?? "";
// Half the size of a node, how far parallel links are apart, and the height of a drawing in that of the network's width.
const NODE = 16;
const APART = 70;
const FLAT = 0.45;

// A small drawing of the network, from the left to the right. Links between the same nodes are bent.
function sketch(picture) {
  const { places, height } = arrange(picture);
  const at = (name) => ({ x: places.get(name).y, y: places.get(name).x * FLAT });
  const most = Math.max(...[...places.values()].map(({ x }) => x));
  const svg = draw("svg", { viewBox: `0 0 ${height} ${Math.max(180, most * FLAT + 2 * NODE)}` });
  const pairs = picture.links.map(({ ends }) => ends.map(({ node }) => node).sort().join("\n"));
  picture.links.forEach((link, index) => {
    const [a, b] = pairs[index].split("\n").map(at);
    const same = pairs.filter((pair) => pair === pairs[index]).length;
    const number = pairs.slice(0, index).filter((pair) => pair === pairs[index]).length;
    const bend = (number - (same - 1) / 2) * APART;
    const middle = `${(a.x + b.x) / 2} ${(a.y + b.y) / 2 + bend}`;
    svg.append(draw("path", { d: `M${a.x} ${a.y}Q${middle} ${b.x} ${b.y}`, class: "link" }));
  });
  for (const { name } of picture.hosts) {
    const { x, y } = at(name);
    svg.append(draw("rect", { x: x - NODE, y: y - NODE, width: 2 * NODE, height: 2 * NODE, rx: 5 }));
  }
  for (const name of picture.routers) svg.append(draw("circle", { cx: at(name).x, cy: at(name).y, r: NODE * 0.7 }));
  return svg;
}

/** Opens the gallery. `chosen` gets the card. */
export function openGallery(cards, chosen) {
  const places = new Map(cards.map(({ name }) => [name, make("div", { className: "sketch", "aria-hidden": "true" })]));
  openDialog("gallery", "Examples", make("div", { className: "cards" }, ...cards.map((card) => {
    const open = () => { find("gallery").close(); chosen(card); };
    return make("button", { type: "button", className: "card", onclick: open, "data-name": card.name },
      places.get(card.name), make("strong", {}, card.question), make("span", {}, titleOf(card.text)),
      make("small", {}, `Change ${card.hint}${card.hint.endsWith("?") ? "" : "."}`));
  })));
  // The cards can be read without their pictures.
  pictures().then((of) => {
    for (const [name, place] of places) if (of[name]?.hosts.length) place.replaceChildren(sketch(of[name]));
  }, () => {});
}
