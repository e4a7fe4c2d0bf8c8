// Elements of the page, and what several modules need of the browser.

/** An element with properties, attributes (`aria-…`, `role`), listeners (`onclick`) and children. Text is text. */
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list" && key !== "width" && key !== "height") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of SVG with attributes and children. */
export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const find = (id) => document.getElementById(id);

/** A button. */
export function button(text, onclick, properties = {}) {
  return make("button", { type: "button", onclick, ...properties }, text);
}

/**
 * Calls `act` at once at a request after a rest, and while requests come, `wait` milliseconds after the last one.
 * `within` calls it after `wait` milliseconds at the latest, however many requests come; `now` at once, `stop` not at all.
 */
export function delayed(act) {
  const REST_MS = 250;
  let timer = null, isDue = false, last = -Infinity;
  const run = () => { timer = null; isDue = false; act(); };
  return {
    request(wait) {
      const now = performance.now(), isFirst = timer === null && now - last > REST_MS;
      last = now;
      clearTimeout(timer);
      isDue = isFirst;
      // A timer would let the browser draw the changed text before it asks for figures.
      if (isFirst) queueMicrotask(() => { if (isDue) run(); });
      else timer = setTimeout(run, wait);
    },
    within(wait) { timer ??= setTimeout(run, wait); },
    now() { clearTimeout(timer); run(); },
    stop() { clearTimeout(timer); timer = null; isDue = false; },
  };
}

/** Saves a text as a file. */
export function save(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A block of text with a button that copies it. */
export function copied(text, label) {
  const pre = make("pre", { tabIndex: 0 }, text);
  const copy = button("copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(pre);
      copy.textContent = "selected";
    }
  }, { "aria-label": `Copy ${label}` });
  return make("div", { className: "code" }, pre, copy);
}

/** Fills a dialog and opens it. It closes with Escape, its button, or a click beside it. */
export function openDialog(id, title, ...children) {
  const dialog = find(id);
  const close = button("close", () => dialog.close());
  dialog.replaceChildren(make("div", { className: "row" }, make("h2", {}, title), make("span", { className: "spring" }),
    close), ...children);
  dialog.onclick = ({ target }) => { if (target === dialog) dialog.close(); };
  if (!dialog.open) dialog.showModal();
  return dialog;
}

/** What the browser keeps for this tab; nothing where it does not permit that. */
export const session = {
  read(key) {
    try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
  },
  write(key, value) {
    try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* it is not kept */ }
  },
};

const THEMES = ["system", "light", "dark"];

/** The chosen theme, and the button that changes it. */
export function startTheme(changed) {
  const control = find("theme");
  let theme = "system";
  try { theme = localStorage.getItem("subflow-theme") ?? theme; } catch { /* the theme is not stored */ }
  if (!THEMES.includes(theme)) theme = "system";
  const set = (chosen) => {
    theme = chosen;
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    control.textContent = `theme: ${theme}`;
    try { localStorage.setItem("subflow-theme", theme); } catch { /* as above */ }
    changed(theme);
  };
  control.addEventListener("click", () => set(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]));
  set(theme);
  return () => theme;
}
