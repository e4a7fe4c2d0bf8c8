"""Comparisons: the figures of the command, from Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import two_paths
from recipes import command

import subflow

SLOWER = {"links.fast.rate": "3 Mbit/s"}


def printed(*arguments: str | Path) -> Any:
    done = subprocess.run([command(), *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_two_results_are_compared_as_the_command_compares_them(scenario: subflow.Scenario, tmp_path: Path) -> None:
    before, after = scenario.run(repeat=6), scenario.with_overrides(SLOWER).run(repeat=6)
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for file, results in zip(files, (before, after), strict=True):
        file.write_text(results.to_json())
    shown = printed("compare", *files, "--format", "json")["differences"]
    made = subflow.compare(before, after).differences
    read = subflow.compare(*files).differences
    assert made.to_dict() == read.to_dict()
    for column in ("metric", "flow"):
        assert made[column] == [row[column] for row in shown], column
    for column in ("mean", "change_percent", "change_percent_ci95_low", "p_value_holm"):
        assert made[column] == pytest.approx([row[column] for row in shown], rel=1e-5), column
    assert made["paired"] == [True] * len(shown)


def test_what_is_worse_than_its_bound_is_told(scenario: subflow.Scenario) -> None:
    before, after = scenario.run(repeat=3), scenario.with_overrides(SLOWER).run(repeat=3)
    compared = subflow.compare(before, after, metrics=["completion"], bounds=["completion 10 %", "goodput 100 %"])
    assert len(compared.regressions) == 1 and compared.regressions[0].startswith("completion_s of file is ")
    assert set(compared.differences["metric"]) == {"completion_s", "goodput_mbps"}
    assert any("not the same" in note for note in compared.notes)
    assert "WORSE: completion_s of file" in str(compared)
    assert subflow.compare(after, before, bounds=["completion 10 %"]).regressions == []


def test_points_are_compared_with_those_of_a_chosen_value(swept: subflow.Results) -> None:
    differences = swept.differences_to("congestion=lia", metrics=["goodput"])
    assert differences["flows.file.congestion"] == ["olia"]
    flows = list(zip(swept.flows["flows.file.congestion"], swept.flows["goodput_mbps"], strict=True))
    lia, olia = (sum(goodput for at, goodput in flows if at == name) / 3 for name in ("lia", "olia"))
    assert differences["difference"] == pytest.approx([olia - lia], abs=1e-5)


def test_what_cannot_be_compared_says_why(swept: subflow.Results, scenario: subflow.Scenario, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no point in common[\s\S]*help"):
        subflow.compare(swept, scenario.run())
    with pytest.raises(ValueError, match="cannot read results"):
        subflow.compare(tmp_path / "none", swept)
    with pytest.raises(ValueError, match='metrics: found "speed"'):
        subflow.compare(swept, swept, metrics=["speed"])
    with pytest.raises(ValueError, match="which is no value of"):
        swept.differences_to("congestion=cubic")
    with pytest.raises(TypeError):
        subflow.compare(1, swept)  # type: ignore[arg-type]


def test_a_sweep_goes_on_until_its_intervals_are_narrow(scenario: subflow.Scenario, tmp_path: Path) -> None:
    over = {"flows.file.congestion": ["lia", "olia"]}
    results = subflow.sweep(scenario, over, until="goodput ± 8 %", store=tmp_path)
    percent, point, flow = results.widest_interval()
    assert percent <= 8 and point in (0, 1) and flow == "file"
    assert len(results) >= 20, "ten runs of each point at least"
    same = subflow.sweep(scenario, over, repeat=len(results) // 2)
    assert results.statistics.to_dict() == same.statistics.to_dict()


def test_the_most_runs_end_a_sweep_with_a_warning(scenario: subflow.Scenario) -> None:
    with pytest.warns(RuntimeWarning, match="after 12 runs of each point"):
        assert len(subflow.sweep(scenario, until="goodput +- 0.001 %", max_repeat=12)) == 12
    with pytest.raises(ValueError, match="expected at least 10"):
        subflow.sweep(scenario, until="goodput ± 2 %", max_repeat=9)
    with pytest.raises(ValueError, match='until: found "2'):
        subflow.sweep(scenario, until="2 %")
    with pytest.raises(ValueError, match="sweeps over `repeat`"):
        subflow.sweep(scenario, {"repeat": [1, 2]}, until="goodput ± 2 %")


def test_a_design_draws_the_points(scenario: subflow.Scenario) -> None:
    over = {"links.slow.delay": "10.0 ms .. 60 ms", "flows.file.congestion": ["lia", "olia"]}
    design = {"name": "latin-hypercube", "points": 6}
    results = subflow.sweep(scenario, over, design=design)
    delays = [float(delay.split()[0]) for delay in results.flows["links.slow.delay"]]
    assert delays == sorted(delays)
    # 501 values from 10.0 to 60.0, in six parts.
    places = [round((delay - 10.0) * 10) for delay in delays]
    assert [sum(part * 501 // 6 <= place for part in range(1, 6)) for place in places] == list(range(6))
    assert sorted(results.flows["flows.file.congestion"]) == ["lia"] * 3 + ["olia"] * 3
    content = two_paths() | {"sweep": over | {"design": design}}
    in_file = subflow.Scenario.from_dict(content, name="two-paths").run()
    assert in_file.flows.to_dict() == results.flows.to_dict()
