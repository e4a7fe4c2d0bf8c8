// What a page must be so that everyone can use it, and what is not so: names of controls, references between elements,
// their order, heads of tables, and the contrast of text (WCAG 2.2, criteria 1.3.1, 1.4.3, 2.4.3 and 4.1.2).
(() => {
  const found = [];
  const tell = (rule, of) => found.push(`${rule}: ${of.outerHTML.slice(0, 160)}`);
  const isSeen = (of) => of.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && of.getClientRects().length > 0;
  const byId = (ids) => ids.split(" ").map((id) => document.getElementById(id));

  const nameOf = (of) => [of.getAttribute("aria-label"), ...byId(of.getAttribute("aria-labelledby") ?? "")
    .map((label) => label?.textContent), ...[...(of.labels ?? [])].map((label) => label.textContent),
  of.tagName === "SELECT" ? "" : of.textContent, of.title, of.placeholder].join("").trim();
  const named = "a[href], button, input, select, textarea, iframe, summary, dialog[open], [tabindex], [role=img], [role=button]";
  for (const of of [...document.querySelectorAll(named)].filter(isSeen)) {
    if (!nameOf(of)) tell("has no name", of);
    if (of.tabIndex > 0) tell("has an order of its own", of);
  }

  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids.filter((one, index) => ids.indexOf(one) !== index))) found.push(`two elements have the ID ${id}`);
  for (const key of ["aria-controls", "aria-labelledby", "aria-describedby", "aria-activedescendant", "for"]) {
    for (const of of document.querySelectorAll(`[${key}]`)) if (byId(of.getAttribute(key)).includes(null)) tell("refers to nothing", of);
  }
  for (const of of document.querySelectorAll("div[aria-label], span[aria-label], p[aria-label]")) {
    if (!of.hasAttribute("role")) tell("has a name that is not read without a role", of);
  }
  for (const of of document.querySelectorAll("table")) {
    if (isSeen(of) && of.rows.length && !of.querySelector("th")) tell("has no heads", of);
  }
  if (document.querySelectorAll("h1").length !== 1) found.push("the page has not one heading");
  // What scrolls is reached by the keyboard: itself, or something in it.
  for (const of of [...document.querySelectorAll("*")].filter(isSeen)) {
    const scrolls = /auto|scroll/.test(getComputedStyle(of).overflowY) && of.scrollHeight > of.clientHeight + 2;
    if (scrolls && of.tabIndex < 0 && !of.querySelector("a[href], button, input, select, textarea, [tabindex]")) tell("scrolls without a key", of);
  }

  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const channels = (colour) => {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
      known.set(colour, { rgb: [red, green, blue], alpha: alpha / 255 });
    }
    return known.get(colour);
  };
  const over = ({ rgb, alpha }, ground) => rgb.map((value, index) => alpha * value + (1 - alpha) * ground[index]);
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => value / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const parents = (of) => (of ? [...parents(of.parentElement), of] : []);
  const contrast = (of) => {
    const style = getComputedStyle(of);
    let [ground, opacity] = [[255, 255, 255], 1];
    for (const one of parents(of)) {
      ground = over(channels(getComputedStyle(one).backgroundColor), ground);
      opacity *= +getComputedStyle(one).opacity;
    }
    const ink = channels(of instanceof SVGElement ? style.fill : style.color);
    const [dark, light] = [luminance(ground), luminance(over({ ...ink, alpha: ink.alpha * opacity }, ground))].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (texts.nextNode()) {
    const of = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || told.has(of) || !isSeen(of) || of.closest(":disabled, option, script, template")) continue;
    told.add(of);
    const { fontSize, fontWeight } = getComputedStyle(of);
    const isLarge = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24);
    const ratio = contrast(of);
    if (ratio < (isLarge ? 3 : 4.5)) tell(`a contrast of ${ratio.toFixed(2)}`, of);
  }
  return found.slice(0, 20);
})()
