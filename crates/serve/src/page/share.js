// From the page to elsewhere: a line that contains the scenario, which is also the fragment of a link; files; and the
// lines that give the same results on the command line and in Python.

import { button, copied, find, make, openDialog, save } from "./elements.js";
import { fromFile } from "./opened.js";
import { statesIn } from "./pins.js";
import { resultsFile } from "./server.js";

// A longer fragment is refused when it is opened.
const MOST_TEXT = 1_000_000;
const PREFIX = "#s=";
const NAME = /^[\w-]{1,64}$/;

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream))
  .arrayBuffer());

/** The fragment of a link with texts and settings. */
export async function toFragment(shared) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return PREFIX + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What a fragment contains; `null` if it is none of ours. Only texts and pinned values come out of it. */
export async function fromFragment(fragment) {
  const at = fragment.indexOf(PREFIX);
  if (at < 0) return null;
  try {
    const letters = atob(fragment.slice(at + PREFIX.length).trim().replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))
      .pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      // A few bytes may stand for gigabytes.
      if (text.length > MOST_TEXT) { await reader.cancel(); return null; }
    }
    const { a, b = null, repeat = null, name = null, pins } = JSON.parse(text);
    const isText = (of) => typeof of === "string";
    if (!isText(a) || (b !== null && !isText(b))) return null;
    return { a, b, repeat: Number.isInteger(repeat) && repeat > 0 ? repeat : null, pins: statesIn(pins),
      name: isText(name) && NAME.test(name) ? name : null };
  } catch {
    return null;
  }
}

/** Whether a fragment is meant to contain a scenario. */
export const isMeant = (fragment) => fragment.includes(PREFIX);

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The commands that give the same results as the page. */
export function commands(name, assignments, isPair) {
  const set = assignments.map((assignment) => ` \\\n    --set ${quoted(assignment)}`).join("");
  if (!isPair) return `subflow run ${name}.toml${set}`;
  return ["a", "b"].map((variant) => `subflow run ${name}-${variant}.toml${set} --out results/${variant}`).join("\n")
    + "\nsubflow compare results/a results/b";
}

/** The lines of Python that give the same results. */
export function python(name, assignments, isPair) {
  const pairs = assignments.map((assignment) => {
    const at = assignment.indexOf("=");
    return `${JSON.stringify(assignment.slice(0, at).trim())}: ${JSON.stringify(assignment.slice(at + 1).trim())}`;
  });
  const changes = pairs.length ? `, {${pairs.join(", ")}}` : "";
  const read = (file) => `subflow.Scenario.read("${file}.toml"${changes}).run()`;
  return isPair ? `import subflow\na = ${read(`${name}-a`)}\nb = ${read(`${name}-b`)}`
    : `import subflow\nresults = ${read(name)}\nresults.plot()`;
}

/** Opens the dialog. `changed` gets a text with the changes of the page; `opened` gets what a pasted link contains. */
export async function openShare({ shown, assignments, changed, number, parquet, print }, opened) {
  const fragment = await toFragment(shown);
  const { name } = shown, isPair = shown.b !== null;
  const failure = make("p", { className: "wrong", role: "alert", hidden: true });
  // The file gives the runs of the page by itself: swept pins and the number of seeds are in it.
  const saveText = async (as, text) => {
    try {
      save(as, assignments.length ? await changed(text) : text);
      failure.hidden = true;
    } catch (error) {
      failure.textContent = `${as} was not saved: ${error.message}`;
      failure.hidden = false;
    }
  };
  const scenario = (as, text, id) => button(as, () => saveText(as, text), { id });
  const scenarios = isPair ? ["a", "b"].map((variant) => scenario(`${name}-${variant}.toml`, shown[variant], `save-toml-${variant}`))
    : [scenario(`${name}.toml`, shown.a, "save-toml")];
  const file = (label, of) => make("a", { className: "button", href: resultsFile(number, of), download: `${name}-${of}`,
    id: `save-${of.replace(".", "-")}` }, label);
  const files = number ? [
    file(isPair ? "A and B in one file (HTML)" : "everything in one file (HTML)", "report.html"), file("table (CSV)", "results.csv"), file("all results (JSON)", "results.json"),
  ] : [];
  const tables = number ? parquet.map((table) => file(table, `${table}.parquet`)) : [];
  const pick = make("input", { type: "file", accept: ".html,.toml", "aria-label": "File to open", id: "picked" });
  pick.addEventListener("change", async () => {
    const found = pick.files.length ? await fromFile(pick.files[0]) : null;
    if (!found) { pick.setCustomValidity("there is no scenario in it"); pick.reportValidity(); return; }
    find("share").close();
    opened(found);
  });
  const printed = button("print, or save as PDF", () => { find("share").close(); print(); }, { id: "print" });
  const pasted = make("input", { placeholder: "paste such a command, or its #s=… alone", "aria-label": "Scenario to open", id: "pasted" });
  const openLink = async () => {
    const found = await fromFragment(pasted.value);
    if (!found) { pasted.setCustomValidity("there is no #s=… in it"); pasted.reportValidity(); return; }
    find("share").close();
    opened(found);
  };
  pasted.addEventListener("input", () => pasted.setCustomValidity(""));
  openDialog("share", "Share",
    make("h3", {}, "A command that contains the scenario"), copied(`subflow serve '${fragment}'`, "the command"),
    make("p", {}, "Anyone who has subflow opens the same page with it. The part from “#” on also works after the address of "
      + "this page; the address itself is for you alone."),
    make("div", { className: "row" }, pasted, button("open", openLink, { id: "open-link" })),
    make("h3", {}, "Files"), make("div", { className: "row" }, ...scenarios, ...files), failure,
    make("p", {}, "The HTML file has the figures, the tables, the scenarios and all results. Each figure has buttons for SVG, "
      + "PNG and CSV below it, and for its numbers as a table."),
    tables.length > 0 && make("div", { className: "row" }, make("span", { className: "quiet" }, "Parquet:"), ...tables),
    number && make("div", { className: "row" }, printed,
      make("small", {}, "opens the print dialog of the browser with all figures and tables; its destination “Save as PDF” makes the file")),
    make("h3", {}, "Open a file"), make("div", { className: "row" }, pick,
      make("small", {}, "such an HTML file, or a scenario (TOML)")),
    make("h3", {}, "The same on the command line"), copied(commands(name, assignments, isPair), "the commands"),
    make("h3", {}, "The same in Python"), copied(python(name, assignments, isPair), "the lines of Python"));
}
