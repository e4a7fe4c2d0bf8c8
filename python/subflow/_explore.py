"""The component of notebooks: results to select points from, and a scenario with sliders.

anywidget is imported only here.
"""

from __future__ import annotations

import json
from typing import Any

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError("explore takes anywidget: pip install 'subflow[explore]'") from error

from subflow._native import Results, Scenario, Table, explore_scripts, explore_style, scenario_schema

# Flows whose goodput the table of points has; more are in `Results.flows`.
MOST_FLOWS = 4

# The scripts import each other by name. In a notebook they have no addresses, so each one gets one of its own.
LOADER = """
const addresses = new Map();
for (const [name, text] of SCRIPTS) {
  const linked = text.replace(/from "\\.\\/([\\w.-]+)"/g, (_, of) => `from ${JSON.stringify(addresses.get(of))}`);
  addresses.set(name, URL.createObjectURL(new Blob([linked], { type: "text/javascript" })));
}
const loaded = import(addresses.get("explore.js"));
export default { async render(context) { (await loaded).render(context); } };
"""


def script() -> str:
    """The script of the component, complete in itself."""
    return f"const SCRIPTS = {json.dumps(explore_scripts())};\n{LOADER}"


class Explorer(anywidget.AnyWidget):
    """Results in a notebook, whose points can be selected; of a scenario, with sliders that run it again.

    Attributes
    ----------
    results : Results
        What is shown.
    selected : Table
        The flows of the selected points, as ``Results.flows`` has them: a row for each flow of each of their runs.
    scenario : Scenario or None
        The scenario as it was run last, if one is explored.
    """

    _esm = script()
    _css = explore_style()

    report = traitlets.Unicode().tag(sync=True)
    points = traitlets.Dict().tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    values: Any = traitlets.List().tag(sync=True)
    schema = traitlets.Dict().tag(sync=True)
    changes = traitlets.Dict().tag(sync=True)

    def __init__(
        self, results: Results, scenario: Scenario | None = None, options: dict[str, Any] | None = None
    ) -> None:
        super().__init__()
        self._options = options or {}
        self._original = self.scenario = scenario
        if scenario is not None:
            self.schema = json.loads(scenario_schema())
            self.values = values_of(scenario)
        self._show(results)

    @property
    def selected(self) -> Table:
        return self.results._flows_at([point for point in self.chosen if isinstance(point, int)])

    def _show(self, results: Results) -> None:
        self.results = results
        self.chosen = []
        self.points = points_of(results)
        self.report = results._frame()

    @traitlets.observe("changes")
    def _run(self, change: dict[str, Any]) -> None:
        if self._original is None:
            return
        try:
            scenario = changed(self._original, change["new"])
            results = scenario.run(**self._options)
        except (ValueError, TypeError, RuntimeError) as error:
            # What is wrong is shown beside the sliders; the results of before stay.
            self.status = str(error)
            return
        self.scenario = scenario
        self.status = f"{len(results)} {'run' if len(results) == 1 else 'runs'}"
        self.values = values_of(scenario)
        self._show(results)


def explore_results(results: Results) -> Explorer:
    """Show results."""
    return Explorer(results)


def explore_scenario(scenario: Scenario, options: dict[str, Any]) -> Explorer:
    """Run a scenario and show it with sliders."""
    return Explorer(scenario.run(**options), scenario, options)


def changed(scenario: Scenario, changes: dict[str, Any]) -> Scenario:
    """The scenario with the values and sweeps of the component."""
    values, sweep = dict(changes.get("values", {})), changes.get("sweep", {})
    for path in sweep:
        values.pop(path, None)
    scenario = scenario.with_overrides(values)
    return scenario.with_overrides(sweep=sweep) if sweep else scenario


def values_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Each value of the scenario with its path."""
    return [{"path": path, "value": json.loads(value)} for path, value in scenario._values()]


def points_of(results: Results) -> dict[str, Any]:
    """The points of the sweep as rows: swept values, runs, and the mean goodput of each flow."""
    flows = results.flows.to_dict()
    swept = list(flows)[list(flows).index("seed") + 1 : list(flows).index("flow")]
    names = list(dict.fromkeys(flows["flow"]))[:MOST_FLOWS]
    rows: dict[int, dict[str, Any]] = {}
    for index, point in enumerate(flows["point"]):
        row = rows.setdefault(point, {"swept": [flows[path][index] for path in swept], "seeds": set(), "goodput": {}})
        row["seeds"].add(flows["seed"][index])
        row["goodput"].setdefault(flows["flow"][index], []).append(flows["goodput_mbps"][index])

    def cells(row: dict[str, Any]) -> list[Any]:
        means = [row["goodput"].get(name) for name in names]
        return [*row["swept"], len(row["seeds"]), *(mean and f"{sum(mean) / len(mean):.4g}" for mean in means)]

    columns = [*swept, "runs", *(f"{name} Mbit/s" for name in names)]
    return {"columns": columns, "rows": [{"point": point, "cells": cells(row)} for point, row in rows.items()]}
