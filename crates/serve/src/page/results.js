// The results: the report in a frame. The first one is loaded into it, and the frame takes the others in the place of what
// it shows, all at once, so that nothing flickers.

import { find, make } from "./elements.js";
import { report, resultsFile } from "./server.js";

/** The frames in `place`. `pointed` gets the instant, in seconds, that the reader points to in a figure over time. */
export class Results {
  constructor(pointed, place = find("frames")) {
    this.place = place;
    this.theme = "system";
    this.shown = null;
    this.next = null;
    this.asking = null;
    this.isOutdated = false;
    addEventListener("message", ({ source, data }) => {
      const frame = [this.shown, this.next].find((one) => one?.contentWindow === source);
      if (!frame || data?.subflow !== "report") return;
      if (Number.isFinite(data.height)) frame.style.height = `${Math.min(Math.max(data.height, 100), 200_000)}px`;
      if (data.ready) this.ready(frame);
      if (Number.isFinite(data.shown)) this.see(data.shown);
      if (Number.isFinite(data.drawn)) this.place.dataset.drawn = data.drawn;
      if (Number.isFinite(data.time)) pointed(data.time);
      if (data.printed) this.place.dataset.printed = "true";
    });
  }

  /** Shows the report of results; the one before stays until it is there. `isCurrent` says whether they are of the text. */
  async load(number, isCurrent = true) {
    if (isCurrent) this.isOutdated = false;
    this.asking?.abort();
    if (!this.shown || this.next || this.isWritten) {
      this.begin({ src: resultsFile(number, "frame") }, number);
      return;
    }
    const { signal } = this.asking = new AbortController();
    try {
      const content = await report(number, signal);
      if (!signal.aborted) this.shown.contentWindow.postMessage({ ...this.message(), content, number }, "*");
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Shows a report whose text is given. */
  loadText(text, number) {
    this.isOutdated = false;
    this.begin({ srcdoc: text }, number);
  }

  /** Loads a report that a command has written. It does not fit its height to its content, and scrolls by itself. */
  loadWritten(address) {
    this.asking?.abort();
    this.isOutdated = false;
    const frame = this.begin({ src: address }, "written");
    frame.addEventListener("load", () => {
      this.ready(frame);
      frame.className = "shown written";
    });
  }

  begin(content, number) {
    this.next?.remove();
    this.next = make("iframe", { className: "coming", title: "The report of the results", ...content });
    this.next.setAttribute("sandbox", "allow-scripts allow-downloads allow-modals");
    this.place.append(this.next);
    this.next.dataset.number = number;
    return this.next;
  }

  get isWritten() {
    return this.shown?.classList.contains("written");
  }

  /** Opens the browser's dialog to print the report in sight, from which it can be saved as PDF. */
  print() {
    this.shown?.contentWindow?.postMessage({ ...this.message(), print: true }, "*");
  }

  ready(frame) {
    this.tell(frame);
    if (frame !== this.next) return;
    // Where the reader has scrolled to stays in sight, if the new report is as long.
    const { scrollTop } = this.place;
    this.shown?.remove();
    this.shown = frame;
    this.next = null;
    frame.className = "shown";
    this.place.scrollTop = scrollTop;
    this.see(frame.dataset.number);
  }

  // The results with this number are in sight now. The text may have changed since they were asked for.
  see(number) {
    this.mark(this.isOutdated);
    this.place.dataset.shown = number;
  }

  mark(isOld) {
    this.place.classList.toggle("old", isOld);
    this.place.setAttribute("aria-busy", String(isOld));
  }

  /** Marks the report in sight as that of an earlier text. */
  outdated() {
    this.isOutdated = true;
    this.mark(true);
  }

  /** Marks it as that of what is shown beside it. */
  current() {
    this.isOutdated = false;
    this.mark(false);
  }

  setTheme(theme) {
    this.theme = theme;
    for (const frame of [this.shown, this.next]) if (frame) this.tell(frame);
  }

  message() {
    return { subflow: "page", theme: this.theme };
  }

  // The frame has an origin of its own, so no address of a receiver can be named; the message has nothing secret.
  tell(frame) {
    frame.contentWindow?.postMessage(this.message(), "*");
  }
}
