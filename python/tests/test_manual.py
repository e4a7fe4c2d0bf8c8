"""The examples of the manual run as they stand there, and so do those of the docstrings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from recipes import BOOK, ROOT, blocks

import subflow
from subflow.gym import CongestionEnv, SchedulerEnv


def run_examples(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the examples of a page leave behind, run one after the other as a reader would."""
    monkeypatch.chdir(folder)
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    examples = [content for language, content in blocks((BOOK / page).read_text()) if language == "python"]
    names: dict[str, Any] = {"__name__": page}
    assert examples
    for example in examples:
        exec(compile(example, page, "exec"), names)
    return names


def test_the_worked_example_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run_examples("python.md", tmp_path, monkeypatch)
    assert (tmp_path / "goodput.pdf").stat().st_size > 1000


def test_the_algorithms_of_the_manual_do_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = run_examples("python-algorithms.md", tmp_path, monkeypatch)
    source = (BOOK / "python-algorithms.md").read_text()
    body = source[source.index("class Patient") : source.index("two_paths =")]
    assert len(body.strip().splitlines()) <= 20
    flows = names["compared"].run().flows
    mean = {name: 0.0 for name in flows["scheduler"]}
    for name, exchange in zip(flows["scheduler"], flows["exchange_mean_ms"], strict=True):
        mean[name] += exchange / 5
    assert mean["patient"] < 0.8 * mean["ll"], mean
    assert set(names["shared"].run().flows["congestion"]) == {"lia", "shared"}
    sent = dict(zip(names["learned"].subflows["subflow"], names["learned"].subflows["packets_sent"], strict=True))
    assert sent["phone.wifi-server.eth"] > 2 * sent["phone.lte-server.eth"], "it learned which path is the faster"
    managed = dict(zip(names["subflows"]["subflow"], names["subflows"]["packets_sent"], strict=True))
    assert managed["phone.wifi-server.eth"] > 1000 > 10 > managed["phone.lte-server.eth"], "the backup carries nothing"


def test_the_examples_of_the_environments_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run_examples("gymnasium.md", tmp_path, monkeypatch)["total"] < 0


def test_documented_rows_are_the_entries_of_observations() -> None:
    scenario = subflow.Scenario.read(ROOT / "scenarios" / "wifi-lte.toml")
    for env in (SchedulerEnv(scenario), CongestionEnv(scenario)):
        rows = re.findall(r"``([a-z_]+)(\[i\])?`` {3,}", type(env).__doc__ or "")
        documented = [f"{name}[{index}]" for index in range(2) for name, of in rows if of]
        assert env.names == documented + [name for name, of in rows if not of]


@pytest.mark.parametrize("module", [subflow, subflow.algorithms, subflow.gym])
def test_doctests(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert failed == 0 and tried > 0


def test_everything_public_has_a_docstring() -> None:
    modules = (subflow, subflow.algorithms, subflow.gym)
    for module, name in ((module, name) for module in modules for name in module.__all__):
        thing = getattr(module, name)
        if not isinstance(thing, type):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items():
            # Attributes of plain records are described in the docstring of the class.
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"
