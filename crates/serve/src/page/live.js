// The MPTCP connections of this machine, path by path, as the server sees them twice a second.

import { button, draw, find, make } from "./elements.js";

// How many reports the small figures show: a minute.
const KEPT = 120;
const [WIDTH, HEIGHT] = [110, 32];
const COLOURS = 8;

const number = (value, digits = 3) => (value === null || value === undefined ? "–" : Number(value.toPrecision(digits)).toString());

/** The verdict of a detector in words; empty while it knows nothing. */
export function verdict({ detector, threshold, pairs }) {
  const known = pairs.filter(({ shared }) => shared !== null);
  if (!known.length) return `${detector}: not known yet`;
  const said = known.map(({ subflows: [a, b], degree, shared }) =>
    `paths ${a} and ${b} ${shared ? "share a bottleneck" : "do not share one"} (${number(degree, 2)}, from ${number(threshold, 2)} on)`);
  return `${detector}: ${said.join("; ")}`;
}

/** The view. It listens while it is shown. */
export class LiveView {
  constructor(place) {
    this.place = place;
    this.source = null;
    this.rates = new Map();
    this.missed = 0;
  }

  toggle() {
    if (this.source) this.close(); else this.open();
  }

  open() {
    this.rates.clear();
    this.missed = 0;
    this.show("listening to this machine …");
    this.source = new EventSource("live");
    this.source.addEventListener("report", ({ data }) => this.take(JSON.parse(data)));
    this.source.addEventListener("refused", ({ data }) => {
      this.source?.close();
      this.show(make("p", { className: "wrong", role: "alert" }, `Connections cannot be shown: ${JSON.parse(data)}.`),
        make("p", {}, "The rest of the page does not need this. “subflow watch” has the same rules."));
    });
    this.source.addEventListener("error", () => this.show("The server does not answer; the page asks again."));
    this.set(true);
  }

  close() {
    this.source?.close();
    this.source = null;
    this.set(false);
  }

  set(isOpen) {
    document.body.classList.toggle("live", isOpen);
    this.place.hidden = !isOpen;
    find("open-live").setAttribute("aria-pressed", String(isOpen));
  }

  show(...what) {
    this.place.replaceChildren(make("div", { className: "row" }, make("h2", {}, "Connections of this machine"),
      make("span", { className: "spring" }), button("close", () => this.close())), ...what.filter(Boolean));
  }

  take({ missed, report }) {
    this.missed += missed;
    for (const { token, subflows } of report.connections) {
      for (const { number: of, sent_mbps: sent, received_mbps: received } of subflows) {
        const key = `${token}/${of}`;
        const rates = this.rates.get(key) ?? [];
        rates.push([sent, received]);
        if (rates.length > KEPT) rates.shift();
        this.rates.set(key, rates);
      }
    }
    const there = new Set(report.connections.flatMap(({ token, subflows }) => subflows.map(({ number: of }) => `${token}/${of}`)));
    for (const key of this.rates.keys()) if (!there.has(key)) this.rates.delete(key);
    this.paint(report);
  }

  paint({ time_s: time, connections, events, events_unread: unread }) {
    const count = `${connections.length} MPTCP ${connections.length === 1 ? "connection" : "connections"}`;
    const missed = this.missed ? `; this browser was too slow for ${this.missed} reports` : "";
    this.show(make("p", { className: "quiet" }, `${count}, watched for ${time.toFixed(1)} s${missed}`),
      ...connections.map((connection) => this.connection(connection)),
      connections.length === 0 && make("p", {}, "No application of this machine has an MPTCP connection now. One that opens "
        + "some appears here."),
      events.length > 0 && make("p", {}, `${events.length} events since the last report: `,
        events.map(({ event }) => event).join(", ")),
      unread && make("p", { className: "quiet" }, `Events are not read: ${unread}.`));
  }

  connection({ token, local, remote, client, subflows, reinjected_bytes: reinjected, shared_bottlenecks: detections }) {
    const columns = ["path", "last minute", "sent Mbit/s", "received Mbit/s", "RTT (least) ms", "window (threshold)", "in flight", "sent again (timeouts)"];
    const row = (of) => {
      const cell = (text) => make("td", { className: "n" }, text);
      return make("tr", {},
        make("th", { scope: "row" }, make("i", { className: `dot c${of.number % COLOURS}` }), `${of.number} `,
          make("span", {}, `${of.local} – ${of.remote}`),
          make("small", {}, [of.state !== "established" && of.state, of.backup && "backup"].filter(Boolean).join(", "))),
        make("td", {}, this.spark(token, of.number)),
        cell(number(of.sent_mbps)), cell(number(of.received_mbps)),
        cell(of.srtt_ms > 0 ? `${number(of.srtt_ms)} (${number(of.min_rtt_ms)})` : "–"),
        cell(of.ssthresh === null ? of.cwnd : `${of.cwnd} (${of.ssthresh})`), cell(of.in_flight),
        cell(`${of.retransmissions} (${of.timeouts})`));
    };
    return make("article", { className: "connection", "data-token": token },
      make("h3", {}, `${local} ${client ? "to" : "from"} ${remote}`, make("small", {}, ` ${token}`)),
      make("div", { className: "scroll" }, make("table", {},
        make("thead", {}, make("tr", {}, ...columns.map((title) => make("th", { scope: "col" }, title)))),
        make("tbody", {}, ...subflows.map(row)))),
      make("ul", { className: "verdicts" }, ...detections.map((of) => make("li", {
        className: of.pairs.some(({ shared }) => shared) ? "shared" : "" }, verdict(of))),
      reinjected > 0 && make("li", {}, `${reinjected} bytes were sent again on another path`)));
  }

  // The rates of a path: sent in its colour, received in grey.
  spark(token, of) {
    const rates = this.rates.get(`${token}/${of}`) ?? [];
    const most = Math.max(0.1, ...rates.flat());
    const line = (side, name) => {
      const points = rates.map((pair, index) =>
        `${((KEPT - rates.length + index) / (KEPT - 1)) * WIDTH},${HEIGHT - 1 - (pair[side] / most) * (HEIGHT - 3)}`);
      return draw("polyline", { points: points.join(" "), class: name });
    };
    return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", class: `spark c${of % COLOURS}`,
      "aria-label": `sent and received, at most ${number(most)} Mbit/s` }, line(1, "received"), line(0, "sent"));
  }
}
