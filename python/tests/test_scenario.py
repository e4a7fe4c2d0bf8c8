"""Reading, overrides, checks, and what is said about mistakes."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import WIFI_LTE, two_paths
from cost_per_call import LowestRtt

import subflow


def test_a_file_is_read_and_checked() -> None:
    check = subflow.Scenario.read(WIFI_LTE).check()
    assert (check.name, check.hosts, check.links, check.flows, check.runs) == ("wifi-lte", 2, 3, 1, 1)


def test_a_dictionary_gives_the_same_scenario_as_its_toml(scenario: subflow.Scenario) -> None:
    again = subflow.Scenario.from_toml(scenario.text, name="two-paths")
    assert again.run(seed=5).flows.to_dict() == scenario.run(seed=5).flows.to_dict()


def test_overrides_replace_values_and_leave_the_scenario_as_it_was(scenario: subflow.Scenario) -> None:
    other = scenario.with_overrides({"flows.file.congestion": "cubic", "links.slow.loss": "0 %"}, duration="2 s")
    assert other.run().flows["congestion"] == ["cubic"]
    assert 'duration = "2 s"' in other.text
    assert scenario.run().flows["congestion"] == ["lia"]
    assert subflow.Scenario.read(WIFI_LTE, {"flows.file.send": "1 kB"}, repeat=4).check().runs == 4


def test_keys_without_effect_are_warnings() -> None:
    assert subflow.Scenario.read(WIFI_LTE).check().warnings == []
    scenario = subflow.Scenario.read(WIFI_LTE, {"flows.file.protocol": "tcp", "flows.file.scheduler": "rr"})
    assert scenario.check().warnings == ["flows.file.scheduler has no effect: the flow's protocol is tcp"]


def test_a_problem_has_its_file_line_and_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "slip.toml"
    path.write_text(WIFI_LTE.read_text().replace('"lia"', '"lya"', 1))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if '"lya"' in text)
    with pytest.raises(subflow.ScenarioError) as caught:
        subflow.Scenario.read(path).check()
    problem = caught.value.problems[0]
    assert (problem.file, problem.line, caught.value.count) == (str(path), line, 1)
    assert "expected the name of a congestion-control algorithm" in problem.message
    assert problem.label == 'did you mean "lia"?'
    assert f"slip.toml:{line}:" in str(caught.value)


def test_the_name_of_an_argument_is_told_once(scenario: subflow.Scenario) -> None:
    with pytest.raises(subflow.ScenarioError, match="^repeat: found 0, expected a whole number"):
        scenario.run(repeat=0)


def test_all_problems_are_told_at_once(scenario: subflow.Scenario) -> None:
    wrong = scenario.with_overrides({"links.fast.rate": 10, "links.slow.delay": "-1 s"})
    with pytest.raises(subflow.ScenarioError) as caught:
        wrong.run()
    assert caught.value.count == 2
    assert {problem.file for problem in caught.value.problems} == {"overrides"}
    assert {problem.line for problem in caught.value.problems} == {None}
    assert "has no unit" in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"colour": "red"}, 'unknown key "colour"'),
        ({"links.wlan.loss": 0}, "links.wlan.loss"),
        ({"flows.file.congestion": "lya"}, 'did you mean "lia"?'),
        ({"no path at all": 1}, "expected a path"),
    ],
)
def test_a_wrong_override_is_named(scenario: subflow.Scenario, overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(subflow.ScenarioError) as caught:
        scenario.with_overrides(overrides).check()
    assert words in str(caught.value)


def test_values_that_toml_does_not_have_are_refused(scenario: subflow.Scenario) -> None:
    with pytest.raises(TypeError, match="duration: found NoneType, expected str"):
        subflow.Scenario.from_dict(two_paths() | {"duration": None})
    with pytest.raises(TypeError, match="links: found the key 5, expected a str"):
        subflow.Scenario.from_dict({"links": {5: {}}})
    with pytest.raises(ValueError, match="expected an integer of 64 bits"):
        scenario.with_overrides(seed=2**70)
    endless: dict[str, Any] = {}
    endless["hosts"] = endless
    with pytest.raises(ValueError, match="levels deep"):
        subflow.Scenario.from_dict(endless)


def test_a_missing_file_and_text_that_is_not_toml_are_refused() -> None:
    with pytest.raises(subflow.ScenarioError, match="cannot read the scenario"):
        subflow.Scenario.read("missing.toml")
    with pytest.raises(subflow.ScenarioError, match="<toml>:2:"):
        subflow.Scenario.from_toml("duration = '1 s'\nlinks = ?\n")


def test_equal_scenarios_are_equal_and_survive_pickling_and_copying(scenario: subflow.Scenario) -> None:
    own = scenario.with_algorithms(schedulers={"own": LowestRtt})
    for one in (scenario, own):
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert other == one and hash(other) == hash(one)
            assert other.run().flows.to_dict() == one.run().flows.to_dict()
    assert own != scenario and scenario != scenario.with_overrides(duration="4 s")
    assert pickle.loads(pickle.dumps(own)).with_overrides({"flows.file.scheduler": "own"}).check().runs == 1
