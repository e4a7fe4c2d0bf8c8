// The folder that the command was given: results that commands have written, and sweeps, also while they are being done.

import { button, find, make } from "./elements.js";
import * as server from "./server.js";

// How often the folder is looked at while a sweep grows, and otherwise.
const GROWING_MS = 2000;
const RESTING_MS = 10_000;
// A report is made anew when this share of the runs was added.
const ADDED = 0.05;

const keyOf = ({ path, plan, what }) => `${path} ${plan ?? what}`;
const nameOf = ({ path }) => (path === "." ? "this folder" : path);
const canShow = ({ problem, plan, files, remade }) => !problem && (plan !== null || remade || files.includes("report.html"));

/** How far a sweep is, in words. */
export function progressOf({ finished, failed, total, user }) {
  const failures = failed ? `, ${failed} failed` : "";
  const state = user === null ? (finished + failed < total ? ", not going on" : "")
    : ` so far, being done${user ? ` by process ${user}` : ""}`;
  return `${finished} of ${total} runs${failures}${state}`;
}

const asked = (process) => make("span", { id: "folder-stop", role: "status" },
  `process ${process} was asked to end: it does when one of its runs has ended`);

// What of results is not there any more, and what can be shown all the same.
function lossOf({ missing, remade, files }) {
  const some = missing.slice(0, 5).join(", ") + (missing.length > 5 ? ` and ${missing.length - 5} more` : "");
  const are = missing.length === 1 ? "is" : "are";
  if (!missing.includes("report.html")) return `${some} ${are} not there any more.`;
  if (remade) return `${some} ${are} not there any more. The report is made anew of results.json, without figures over time.`;
  return `${some} ${are} not there any more, so there is no report to show. ${files.length ? "What is left can be saved:" : "No file is left."}`;
}

/** The list. `events.shown` is told what is shown of it, `events.open` gets the text of a scenario for the editor. */
export class FolderView {
  constructor(place, results, events) {
    Object.assign(this, { place, results, events });
    this.note = find("folder-note");
    this.entries = [];
    this.shown = null;
    this.known = "";
  }

  /** Begins to look at the folder; with `isFirst` the first of what is there is shown, and its scenario is edited. */
  async begin(path, isFirst) {
    this.path = path;
    await this.look();
    const first = this.entries.find(canShow);
    if (isFirst && first) await this.show(first).then(() => this.edit(first, this.events.edit));
    if (isFirst && !first) this.events.shown({ title: "", status: "nothing to show yet" });
  }

  async look() {
    clearTimeout(this.timer);
    let entries = this.entries;
    try {
      entries = await server.folder();
    } catch {
      // The next look may find the server again.
    }
    const known = JSON.stringify(entries);
    this.entries = entries;
    if (known !== this.known || this.place.childElementCount === 0) {
      this.known = known;
      this.paint();
      await this.renew();
    }
    const isGrowing = entries.some(({ user, finished, total }) => user !== null || finished < total);
    this.timer = setTimeout(() => this.look(), isGrowing ? GROWING_MS : RESTING_MS);
  }

  // Makes the report in sight anew when there is more to show, and goes from a sweep to its results when it ends.
  async renew() {
    if (!this.shown) return;
    const { entry, finished } = this.shown;
    const now = this.entries.find((one) => keyOf(one) === keyOf(entry));
    if (!now) {
      const results = this.entries.find(({ path, plan }) => plan === null && `${path}.runs` === entry.path);
      if (results) await this.show(results);
    } else if (now.plan !== null) {
      const added = now.finished - finished;
      if (added > 0 && (added >= ADDED * now.total || now.finished + now.failed === now.total)) await this.show(now);
      else this.say(now);
    }
  }

  async show(entry) {
    try {
      this.shown = { entry, finished: entry.finished };
      if (entry.plan === null && !entry.remade) {
        this.results.loadWritten(server.folderFile(entry.path, "report.html"));
        this.events.shown({ title: nameOf(entry), status: entry.what });
      } else {
        const { number, flows, share } = await server.openSweep(entry);
        if (this.shown?.entry !== entry) return;
        this.shown.finished = share?.finished;
        if (share?.finished !== 0) await this.results.load(number);
        this.events.shown({ title: entry.what, number, flows, status: "" });
      }
      this.say(entry);
    } catch (error) {
      this.note.replaceChildren(make("span", { className: "wrong", role: "alert" }, error.message));
      this.note.hidden = false;
    }
    this.mark();
  }

  /** The page shows results of its own. */
  leave() {
    if (!this.shown) return;
    this.shown = null;
    this.note.hidden = true;
    this.mark();
  }

  // The line above the report: what it is of, and what can be done with it.
  say(entry) {
    const share = entry.plan === null ? [] : [
      make("progress", { max: entry.total, value: entry.finished, "aria-label": "Runs that are done" }),
      make("span", { id: "folder-progress" }, progressOf(entry)),
    ];
    const edit = button("open in the editor", () => this.edit(entry), { id: "folder-edit" });
    const isAsked = entry.user && entry.user === this.asked;
    const stop = isAsked ? asked(entry.user) : entry.user && button(`end process ${entry.user}`, () => this.stop(entry), {
      id: "folder-stop", title: "It ends when one of its runs has ended, and keeps what is done: the same command with --resume goes on.",
    });
    const canEdit = entry.plan !== null || entry.files.includes("scenario.toml");
    this.note.replaceChildren(make("b", {}, nameOf(entry)), ...share, make("span", { className: "spring" }),
      ...[stop, canEdit && edit].filter(Boolean));
    this.note.hidden = false;
  }

  // Asks the process that does a sweep to end.
  async stop(entry) {
    try {
      const { process } = await server.stopSweep(entry);
      this.asked = process;
      find("folder-stop")?.replaceWith(asked(process));
    } catch (error) {
      this.note.append(make("span", { className: "wrong", role: "alert" }, error.message));
    }
  }

  // Gives the scenario that made the results to the editor.
  async edit(entry, to = this.events.open) {
    if (entry.plan === null && !entry.files.includes("scenario.toml")) return;
    try {
      const [text, name] = entry.plan === null
        ? [await server.folderText(entry.path, "scenario.toml"), entry.path.split("/").at(-1)]
        : await server.openSweep(entry).then(({ text: of, name: called }) => [of, called]);
      to({ a: text, name: /^[\w-]{1,64}$/.test(name) ? name : "scenario" });
      if (to === this.events.open) find("tab-text").click();
    } catch (error) {
      this.note.append(make("span", { className: "wrong", role: "alert" }, error.message));
    }
  }

  paint() {
    const focused = document.activeElement?.dataset?.key;
    this.place.replaceChildren(
      make("p", { className: "quiet folder-path", title: this.path }, `\u200e${this.path}`),
      this.entries.length
        ? make("ul", { className: "entries" }, ...this.entries.map((entry) => this.item(entry)))
        : make("p", {}, "No command has written results here. Start one with --out in this folder, and they appear."));
    if (focused) [...this.place.querySelectorAll("button")].find(({ dataset }) => dataset.key === focused)?.focus();
    this.mark();
  }

  item(entry) {
    const name = canShow(entry)
      ? button(nameOf(entry), () => this.show(entry), { className: "plain", "data-key": keyOf(entry) })
      : make("b", {}, nameOf(entry));
    const files = entry.files.filter((file) => file !== "report.html");
    const link = (file) => make("a", {
      className: "button", href: server.folderFile(entry.path, file), download: file.split("/").at(-1),
    }, file);
    return make("li", { "data-key": keyOf(entry) },
      make("div", { className: "entry" }, name, entry.user !== null && make("span", { className: "badge" }, "running")),
      make("small", {}, entry.what),
      entry.plan !== null && make("div", { className: "entry" },
        make("progress", { max: entry.total, value: entry.finished, "aria-label": `Runs of ${nameOf(entry)}` }),
        make("small", {}, progressOf(entry))),
      entry.missing.length > 0 && make("small", { className: "wrong" }, lossOf(entry)),
      entry.problem && make("small", { className: "wrong" }, entry.problem),
      files.length > 0 && make("details", {}, make("summary", {}, `${files.length} files`),
        make("div", { className: "files" }, ...files.map(link))));
  }

  mark() {
    for (const item of this.place.querySelectorAll("li")) {
      const isShown = this.shown !== null && item.dataset.key === keyOf(this.shown.entry);
      if (isShown) item.setAttribute("aria-current", "true"); else item.removeAttribute("aria-current");
    }
  }
}
