// The page: what is typed is checked and run in the background, and the figures renew.

import { button, delayed, find, make, session, startTheme } from "./elements.js";
import { assigned } from "./edits.js";
import { Editor } from "./editor.js";
import { FolderView } from "./folder.js";
import { openGallery } from "./gallery.js";
import { Runs, Undo } from "./history.js";
import { Lessons } from "./lessons.js";
import { LiveView } from "./live.js";
import { Moment } from "./moment.js";
import { NetworkPicture } from "./picture.js";
import { Pins, sweptIn } from "./pins.js";
import { Results } from "./results.js";
import { Running } from "./running.js";
import { Schema } from "./schema.js";
import * as server from "./server.js";
import { repeatIn } from "./opened.js";
import { fromFragment, isMeant, openShare } from "./share.js";
import { Variants } from "./variants.js";

// How long a pause in typing is.
const TYPING_MS = 60;
// How soon figures follow a slider, and for how long they go on to those of a value that it has left.
const SLIDING_MS = 15;
const PATIENCE_MS = 400;
const REPEATS = [["as in the text", ""], ["1", 1], ["5", 5], ["10", 10], ["20", 20], ["50", 50]];

const TABS = ["text", "picture", "folder"];

const page = { checking: null, name: "scenario", number: null, cards: [], parquet: [], asked: 0, isFresh: true, isSliding: false, notice: "" };
const variants = new Variants(variantChanged);
const undo = new Undo((text) => { variants.text = text; editor.show(text); renew(TYPING_MS); });
const editor = new Editor(find("view-text"), undo, (kind) => {
  variants.text = editor.text;
  if (kind === "replaced") follow(); else renew(TYPING_MS);
});
const pins = new Pins(changeValue, () => renew(0));
pins.canAdd = true;
const moment = new Moment();
const picture = new NetworkPicture(find("picture"), changeValue, (path) => { showTab("text"); pins.pin(path); });
const results = new Results((time) => moment.goTo(time));
const runs = new Runs(({ set, ...texts }) => open({ ...texts, repeat: repeatIn(set), pins: pins.statesWith(sweptIn(set)) }));
const lessons = new Lessons(({ name, scenario, key, values }) => {
  open({ a: scenario, name, pins: [{ path: key, values }] });
});
const running = new Running(runningChanged, heard);
const folder = new FolderView(find("view-folder"), results, { shown: folderShown, open, edit: showInEditor });
const live = new LiveView(find("live-view"));
const later = delayed(checkAndRun);

function renew(wait) {
  changed(false);
  later.request(wait);
}

// A slider moves: runs that will soon be done are not given up for each of its values.
function follow() {
  changed(true);
  later.within(SLIDING_MS);
}

function changed(isSliding) {
  page.isSliding = isSliding;
  page.notice = "";
  remember();
  results.outdated();
  moment.outdated();
}

/** What the page needs to show the same elsewhere, or after a reload: texts, name, pins and the number of seeds. */
const shown = () => ({ ...variants.texts, name: page.name, pins: pins.states(), repeat: +find("repeat").value || null });

function remember() {
  session.write("texts", shown());
}

/** Gives a key another value in TOML, or none with `null`. Returns whether the text could be changed. */
function changeValue(path, notation) {
  const change = assigned(editor.text, path, notation);
  if (change) editor.replace([change]);
  return change !== null;
}

function assignments() {
  const repeat = find("repeat").value;
  return [...pins.assignments(), ...(repeat ? [`repeat=${repeat}`] : [])];
}

function variantChanged(how) {
  editor.show(variants.text);
  undo.begin(variants.text);
  if (how !== "shown") return renew(0);
  moment.load(page.number, { variant: variants.active, isSeen: isPictureSeen(), isCurrent: !results.isOutdated });
  return later.request(0);
}

const draft = (text) => ({ text, set: assignments(), name: page.name });

function requested() {
  const { a, b } = variants.texts;
  return { a: draft(a), ...(b === null ? {} : { b: draft(b) }) };
}

/** Shows other texts with their pins, and runs them. Without pins those of the page stay, but sweep over nothing. */
function open({ repeat, pins: states = pins.statesWith([]), ...texts }) {
  if (repeat !== undefined) setRepeat(repeat);
  pins.restore(states);
  showInEditor(texts);
  renew(0);
}

function setRepeat(repeat) {
  const choice = find("repeat"), value = String(repeat ?? "");
  if (![...choice.options].some((of) => of.value === value)) choice.append(new Option(value, value));
  choice.value = value;
}

function showInEditor({ a, b = null, name = null }) {
  page.name = name ?? page.name;
  variants.open({ a, b });
  editor.show(a);
  undo.begin(a);
}

async function checkAndRun(isAsked = false) {
  if (page.isSliding && running.isOn && running.age < PATIENCE_MS) return later.within(SLIDING_MS);
  page.checking?.abort();
  const checking = page.checking = new AbortController();
  const asked = ++page.asked;
  running.cancel();
  try {
    if (find("live").checked || isAsked) return await run();
    const checked = await server.check(draft(variants.text), checking.signal);
    if (asked !== page.asked) return;
    show(checked);
    if (!checked.problems.length) say("changed; Ctrl+Enter runs it", "");
  } catch (error) {
    if (error.name !== "AbortError") fail(`the server does not answer: ${error.message}. Start subflow serve again, and open `
      + "its new address; “Share” has a command that contains this text.");
  }
}

const isPictureSeen = () => !find("view-picture").hidden;

function show(checked) {
  if (checked.problems.length) say("not run: the scenario has problems", "");
  const names = checked.picture?.hosts.flatMap(({ name, interfaces }) =>
    [name, ...interfaces.map((of) => `${name}.${of}`)]).concat(checked.picture.routers);
  editor.mark(checked.problems, checked.warnings, names);
  if (checked.values.length) {
    pins.update(checked.values, editor.schema);
    variants.note(checked.values);
  }
  if (checked.picture) {
    picture.update(checked.picture, checked.values);
    moment.paint();
    find("title").textContent = checked.title;
    document.title = `${checked.title} – subflow`;
  }
  const item = (of, kind) => make("li", { className: kind },
    of.span ? button(of.place, () => { showTab("text"); editor.goTo(of.span); }, { className: "plain" }) : make("b", {}, of.place),
    ` ${of.message}`, of.label && make("em", {}, ` ${of.label}`), of.help && make("small", {}, of.help));
  find("problems").replaceChildren(make("ul", {}, ...checked.problems.map((of) => item(of, "problem")),
    checked.more > 0 && make("li", {}, `and ${checked.more} more`), ...checked.warnings.map((of) => item(of, "warning"))));
}

async function run() {
  const request = requested(), { isFresh } = page;
  page.isFresh = false;
  if (!isFresh || !await running.resume(request)) await running.start(request, variants.active);
}

function runningChanged() {
  find("run").textContent = running.isOn ? "Cancel" : "Run";
  if (running.isOn) say("running", ""); else find("progress").hidden = true;
}

function heard(line, request, ms) {
  const { a, b } = request;
  // What was found in a text that has changed since has other places.
  const isCurrent = JSON.stringify(request) === JSON.stringify(requested());
  if (line.checked && isCurrent) show(line.checked);
  if (line.progress?.total > 1) showProgress(line.progress);
  if (line.error) fail(line.error);
  if (line.refused) {
    const { message } = line.refused.checked.problems[0];
    fail(b ? `variant ${line.refused.variant.toUpperCase()}: ${message}` : message);
  }
  if (line.result) done(line.result, { a: a.text, b: b?.text ?? null, name: a.name, set: a.set }, ms, isCurrent);
}

/** The runs of a folder that are shown now. */
function folderShown({ title, number, flows, status }) {
  find("title").textContent = title;
  running.cancel();
  later.stop();
  page.number = number ?? null;
  moment.load(page.number, { isSeen: isPictureSeen() });
  say(status, flows ? headlineOf(flows) : "");
  results.current();
}

function done({ number, runs: count, flows }, texts, ms, isCurrent) {
  page.number = number;
  folder.leave();
  results.load(number, isCurrent).catch((error) => fail(error.message));
  moment.load(number, { variant: texts.b === null ? "" : variants.active, isSeen: isPictureSeen(), isCurrent });
  lessons.note(number, texts.a);
  const headline = headlineOf(flows);
  say(`${count} ${count === 1 ? "run" : "runs"} in ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`,
    headline);
  runs.note(texts, headline);
}

// The flows of a point, with the point before the first of them; the points of A and B follow each other.
const headlineOf = (flows) => flows.map(({ at, flow, goodput_mbps: mbps, completion_s: s }, index) =>
  `${at && at !== flows[index - 1]?.at ? `${at}: ` : ""}${flow} ${mbps.toPrecision(4)} Mbit/s`
  + `${s === null ? "" : `, done after ${s.toPrecision(4)} s`}`).join("; ");

function say(status, headline) {
  find("status").textContent = status;
  find("headline").textContent = headline;
  find("headline").title = headline;
  find("message").textContent = page.notice;
  find("message").hidden = !page.notice;
}

// A link without a scenario is no reason to show another one as if it were that of the link.
function noticeDamage() {
  if (!isMeant(location.hash)) return;
  page.notice = "This link has no scenario that can be read: it was cut or changed, or is too long. The page shows another one.";
  find("message").textContent = page.notice;
  find("message").hidden = false;
}

function fail(message) {
  say("", "");
  find("message").textContent = message;
  find("message").hidden = false;
}

function showProgress({ done: count, total }) {
  const progress = find("progress");
  progress.hidden = false;
  progress.value = count / total;
  find("status").textContent = `${count} of ${total} runs`;
}

function showTab(chosen) {
  for (const name of TABS) {
    find(`tab-${name}`).setAttribute("aria-selected", name === chosen);
    find(`view-${name}`).hidden = name !== chosen;
  }
  if (chosen === "picture") moment.show();
}

function listen() {
  find("run").addEventListener("click", () => {
    if (!running.isOn) return checkAndRun(true);
    running.cancel();
    say("cancelled", "");
  });
  find("live").addEventListener("change", () => { if (find("live").checked) later.now(); });
  find("repeat").replaceChildren(...REPEATS.map(([text, value]) => new Option(text, value)));
  find("repeat").addEventListener("change", () => renew(0));
  find("undo").addEventListener("click", () => undo.go(-1));
  find("redo").addEventListener("click", () => undo.go(1));
  for (const name of TABS) {
    find(`tab-${name}`).addEventListener("click", () => showTab(name));
    find(`tab-${name}`).addEventListener("keydown", ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (!step) return;
      const there = TABS.filter((of) => !find(`tab-${of}`).hidden);
      const next = there[(there.indexOf(name) + step + there.length) % there.length];
      showTab(next);
      find(`tab-${next}`).focus();
    });
  }
  find("open-lessons").addEventListener("click", () => lessons.open());
  find("open-gallery").addEventListener("click", () => openGallery(page.cards, ({ name, text }) => {
    lessons.close();
    open({ a: text, name });
  }));
  find("open-history").addEventListener("click", () => runs.open({ ...variants.texts, name: page.name, set: assignments() }));
  find("open-share").addEventListener("click", () => openShare({
    shown: shown(), assignments: assignments(), changed: (text) => server.changed(draft(text)), number: page.number, parquet: page.parquet, print: () => results.print(),
  }, open));
  find("open-live").addEventListener("click", () => live.toggle());
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "Enter") return;
    event.preventDefault();
    checkAndRun(true);
  });
  addEventListener("pagehide", remember);
  addEventListener("hashchange", async () => {
    const shared = await fromFragment(location.hash);
    if (shared) open(shared); else noticeDamage();
  });
}

async function begin() {
  startTheme((theme) => results.setTheme(theme));
  listen();
  const [begun, schema, shared] = await Promise.all([server.start(), server.schema(), fromFragment(location.hash)]);
  page.cards = begun.cards;
  page.parquet = begun.parquet;
  editor.schema = pins.schema = new Schema(schema);
  // After a reload the page goes on where it was, unless the link has a scenario.
  const before = session.read("path") === begun.path ? session.read("texts") : null;
  session.write("path", begun.path);
  page.name = begun.name;
  lessons.load(begun.lessons, !shared && before !== null);
  open(shared ?? before ?? { a: begun.text });
  if (!shared) noticeDamage();
  if (begun.folder === null) return;
  find("tab-folder").hidden = false;
  if (shared || before) return folder.begin(begun.folder, false);
  // Nothing is run before the reader has seen what there is.
  later.stop();
  showTab("folder");
  await folder.begin(begun.folder, true);
}

begin().catch((error) => fail(`the page cannot begin: ${error.message}`));
