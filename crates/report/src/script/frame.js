// A report in a frame of another page: tells it its height and the instant under the pointer, and takes its theme. The
// frame has no other access to the page around it.

const tell = (message) => parent.postMessage({ subflow: "report", ...message }, "*");

new ResizeObserver(() => tell({ height: document.documentElement.offsetHeight })).observe(document.documentElement);
tell({ height: document.documentElement.offsetHeight, ready: true });

for (const chart of charts.filter(({ linked }) => linked)) {
  chart.plot.addEventListener("pointermove", () => {
    if (Number.isFinite(chart.at)) tell({ time: valueAt(chart.x, chart.at) });
  });
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.subflow !== "page") return;
  if (THEMES.includes(data.theme)) setTheme(data.theme);
  if (data.print) {
    tell({ printed: true });
    print();
  }
});
