"""The component of notebooks: what the kernel sends, what comes back, and what a browser makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import subflow
from subflow._explore import Explorer, script


def test_results_have_a_row_for_each_point(swept: subflow.Results) -> None:
    explorer = swept.explore()
    assert explorer.points["columns"] == ["flows.file.congestion", "runs", "file Mbit/s"]
    rows = explorer.points["rows"]
    assert [(row["point"], row["cells"][:2]) for row in rows] == [(0, ["lia", 3]), (1, ["olia", 3])]
    goodput = pyarrow.table(swept.flows).to_pandas().groupby("point")["goodput_mbps"].mean()
    assert [float(row["cells"][2]) for row in rows] == pytest.approx(list(goodput), rel=1e-3)
    assert "<figure" in explorer.report and 'class="in-frame"' in explorer.report
    json.dumps([explorer.points, explorer.values, explorer.schema])


def test_selected_points_come_back_as_a_table(swept: subflow.Results) -> None:
    explorer = swept.explore()
    assert list(explorer.selected) == []
    explorer.chosen = [1]
    flows = explorer.selected.to_dict()
    assert flows["point"] == [1, 1, 1] and set(flows["flows.file.congestion"]) == {"olia"}
    explorer.chosen = [0, 1]
    assert explorer.selected.to_dict() == swept.flows.to_dict()
    explorer.chosen = [99]
    assert list(explorer.selected) == []


def test_a_scenario_runs_with_the_values_of_the_component(scenario: subflow.Scenario) -> None:
    explorer = scenario.explore(repeat=2)
    assert {"path": "links.fast.rate", "value": "10 Mbit/s"} in explorer.values
    before = explorer.results.flows["goodput_mbps"]
    explorer.chosen = [0]
    explorer.changes = {"values": {"links.fast.rate": "2 Mbit/s"}, "sweep": {}}
    assert explorer.status == "2 runs" and explorer.chosen == []
    assert max(explorer.results.flows["goodput_mbps"]) < min(before)
    assert explorer.scenario is not None and '"2 Mbit/s"' in explorer.scenario.text
    explorer.changes = {"values": {}, "sweep": {"flows.file.congestion": ["lia", "olia", "balia"]}}
    assert [row["cells"][0] for row in explorer.points["rows"]] == ["lia", "olia", "balia"]
    assert explorer.results.flows["goodput_mbps"][:2] == before, "the rate is that of the scenario again"


def test_what_is_not_valid_is_said_and_the_results_stay(scenario: subflow.Scenario) -> None:
    explorer = scenario.explore()
    report = explorer.report
    explorer.changes = {"values": {"flows.file.congestion": "lya"}, "sweep": {}}
    assert "lya" in explorer.status and explorer.report == report
    explorer.changes = {"values": {"no.such.path": 1}, "sweep": {}}
    assert "no" in explorer.status and explorer.report == report


def test_without_anywidget_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['anywidget'] = None; import subflow; print('here'); import subflow._explore"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout == "here\n", "the package does not take it"
    assert "pip install 'subflow[explore]'" in shown.stderr


def test_a_script_comes_after_those_that_it_imports() -> None:
    known: list[str] = []
    for name, text in subflow._native.explore_scripts():
        for imported in re.findall(r'from "\./([\w.-]+)"', text):
            assert imported in known, f"{name} imports {imported}"
        known.append(name)
    assert known[-1] == "explore.js"


# A model as that of a notebook, and a reader who pins a key, moves its slider, sweeps over another one and selects a
# point.
PAGE = """<!doctype html><meta charset="utf-8"><style>STYLE</style><div id="cell"></div>
<script type="module">
MODULE
const state = STATE, heard = {}, sent = [];
const model = {
  get: (name) => state[name],
  set: (name, value) => {
    state[name] = value;
    sent.push([name, value]);
    for (const of of heard[`change:${name}`] ?? []) of();
  },
  on: (name, of) => { (heard[name] ??= []).push(of); },
  save_changes: () => {},
};
const el = document.getElementById("cell");
await widget.render({ model, el });
const pinned = (path) => {
  const keys = el.querySelector("#pin");
  keys.value = path;
  keys.dispatchEvent(new Event("change"));
  return el.querySelector(`[data-path="${path}"]`);
};
const slider = pinned("links.fast.rate").querySelector("input");
slider.value = 0;
slider.dispatchEvent(new Event("input"));
pinned("flows.file.scheduler").querySelector("button").click();
el.querySelector("[data-point='0'] input").click();
for (let wait = 0; wait < 100 && !el.querySelector("iframe.shown"); wait++) {
  await new Promise((done) => setTimeout(done, 100));
}
document.body.append(Object.assign(document.createElement("pre"), { id: "sent", textContent: JSON.stringify(sent) }));
document.body.append(Object.assign(document.createElement("pre"), { id: "shown",
  textContent: JSON.stringify([...el.querySelectorAll("iframe.shown")].map((of) => parseFloat(of.style.height))) }));
</script>
"""


def in_browser(page: str, folder: Path) -> str:
    """The document as a browser has it after some seconds."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("SKIPPED: there is no Chromium")
    file = folder / "cell.html"
    file.write_text(page)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000"]
    # Virtual time passes in the page's own process only.
    options.append("--disable-features=IsolateSandboxedIframes")
    command = [browser, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_in_a_browser_sliders_and_boxes_reach_the_model(scenario: subflow.Scenario, tmp_path: Path) -> None:
    explorer: Explorer = scenario.with_overrides({"flows.file.scheduler": "min-rtt"}).explore()
    names = ("report", "points", "chosen", "status", "values", "schema", "changes")
    state: dict[str, Any] = {name: getattr(explorer, name) for name in names}
    text = json.dumps(state).replace("</", "<\\/")
    module = script().replace("</", "<\\/").replace("export default", "const widget =")
    page = PAGE.replace("STYLE", subflow._native.explore_style(), 1).replace("MODULE", module).replace("STATE", text)
    shown = in_browser(page, tmp_path)
    sent = re.search(r'<pre id="sent">(.*?)</pre>', shown)
    assert sent is not None, shown[-3000:]
    changes = [value for name, value in json.loads(sent[1]) if name == "changes"]
    assert [change["values"] for change in changes] == [{"links.fast.rate": "1 Mbit/s"}]
    schedulers = changes[0]["sweep"]["flows.file.scheduler"]
    assert {"ll", "rr", "blest"} <= set(schedulers), schedulers
    assert {"min-rtt", "default", "round-robin"}.isdisjoint(schedulers), "each of them runs once"
    assert [value for name, value in json.loads(sent[1]) if name == "chosen"] == [[0]]
    height = re.search(r'<pre id="shown">\[(.*?)\]</pre>', shown)
    assert height is not None and float(height[1]) > 500, "the report is in its frame, as high as it is"
