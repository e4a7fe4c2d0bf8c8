// The results: the report in a frame, which is replaced when the next one is complete, so that nothing flickers.

import { find, make } from "./elements.js";
import { resultsFile } from "./server.js";

/** The frames in `place`. `pointed` gets the instant, in seconds, that the reader points to in a figure over time. */
export class Results {
  constructor(pointed, place = find("frames")) {
    this.place = place;
    this.theme = "system";
    this.shown = null;
    this.next = null;
    addEventListener("message", ({ source, data }) => {
      const frame = [this.shown, this.next].find((one) => one?.contentWindow === source);
      if (!frame || data?.subflow !== "report") return;
      if (Number.isFinite(data.height)) frame.style.height = `${Math.min(Math.max(data.height, 100), 200_000)}px`;
      if (data.ready) this.ready(frame);
      if (Number.isFinite(data.time)) pointed(data.time);
      if (data.printed) this.place.dataset.printed = "true";
    });
  }

  /** Loads the report of results, from the server unless it is given; the one before stays until it is there. */
  load(number, content = { src: resultsFile(number, "frame") }) {
    this.begin(content, number);
  }

  /** Loads a report that a command has written. It does not fit its height to its content, and scrolls by itself. */
  loadWritten(address) {
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
    this.place.dataset.number = number;
    return this.next;
  }

  /** Opens the browser's dialog to print the report in sight, from which it can be saved as PDF. */
  print() {
    this.shown?.contentWindow?.postMessage({ subflow: "page", theme: this.theme, print: true }, "*");
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
    this.place.classList.remove("old");
    this.place.dataset.shown = this.place.dataset.number;
  }

  /** Marks the report in sight as that of an earlier text. */
  outdated() {
    this.place.classList.add("old");
  }

  /** Marks it as that of what is shown beside it. */
  current() {
    this.place.classList.remove("old");
  }

  setTheme(theme) {
    this.theme = theme;
    for (const frame of [this.shown, this.next]) if (frame) this.tell(frame);
  }

  // The frame has an origin of its own, so no address of a receiver can be named; the message has nothing secret.
  tell(frame) {
    frame.contentWindow?.postMessage({ subflow: "page", theme: this.theme }, "*");
  }
}
