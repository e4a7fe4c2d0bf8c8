// Tooltips of bars, boxes and cells: under the pointer, and with the arrow keys.

function showTip(target, x, y) {
  tip.replaceChildren(target.dataset.tip);
  placeTip(x, y);
}

for (const target of document.querySelectorAll("[data-tip]")) {
  target.addEventListener("pointermove", (event) => showTip(target, event.clientX, event.clientY));
  target.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// Goes through the marks of a figure with the arrow keys: up and down by rows of the heat map, or by bars.
function listenToSteps(place) {
  const targets = [...place.querySelectorAll("[data-tip]")];
  const across = place.querySelector("tr") ? place.querySelector("tbody tr").querySelectorAll("td").length : 1;
  let at = -1;
  const leave = () => {
    targets[at]?.classList.remove("at");
    tip.hidden = true;
  };
  place.addEventListener("blur", leave);
  place.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    if (event.key === "Escape") leave();
    if (!step || !targets.length) return;
    event.preventDefault();
    leave();
    at = at < 0 ? 0 : Math.min(targets.length - 1, Math.max(0, at + step));
    targets[at].classList.add("at");
    targets[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    const { left, top, width } = targets[at].getBoundingClientRect();
    showTip(targets[at], left + width / 2, top);
  });
}

for (const place of document.querySelectorAll(".heat, .rows .plot")) listenToSteps(place);
