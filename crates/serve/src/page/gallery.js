// The examples as cards, each with a question and what to change.

import { find, make, openDialog } from "./elements.js";

const titleOf = (text) => /^\s*title\s*=\s*"([^"]*)"/m.exec(text)?.[1] ?? "";

// A small drawing of what an example is about: its links, by rate and delay as far as the text has them.
function sketch(text) {
  const rates = [...text.matchAll(/^\s*rate\s*=.*?([\d.]+)\s*([kMG])bit\/s/gm)].slice(0, 5);
  const scale = { k: 1e-3, M: 1, G: 1e3 };
  const mbps = rates.map(([, number, unit]) => Number(number) * scale[unit]);
  const most = Math.max(1, ...mbps);
  return make("div", { className: "sketch", "aria-hidden": "true" }, ...mbps.map((rate, index) => {
    const bar = make("i", { className: `c${index}` });
    bar.style.width = `${20 + 80 * Math.sqrt(rate / most)}%`;
    return bar;
  }));
}

/** Opens the gallery. `chosen` gets the card. */
export function openGallery(cards, chosen) {
  openDialog("gallery", "Examples", make("div", { className: "cards" }, ...cards.map((card) => {
    const open = () => { find("gallery").close(); chosen(card); };
    return make("button", { type: "button", className: "card", onclick: open, "data-name": card.name },
      sketch(card.text), make("strong", {}, card.question), make("span", {}, titleOf(card.text)),
      make("small", {}, `Change ${card.hint}${card.hint.endsWith("?") ? "" : "."}`));
  })));
}
