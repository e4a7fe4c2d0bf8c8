"""The examples of the manual run as they stand there, and so do those of the docstrings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from conftest import ROOT

import subflow

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "src" / "python.md").read_text(), re.DOTALL)


def test_the_worked_example_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    names: dict[str, object] = {}
    assert len(EXAMPLES) >= 3
    for example in EXAMPLES:
        exec(compile(example, "python.md", "exec"), names)
    assert (tmp_path / "goodput.pdf").stat().st_size > 1000


def test_doctests() -> None:
    failed, tried = doctest.testmod(subflow)
    assert failed == 0 and tried > 0


def test_everything_public_has_a_docstring() -> None:
    for name in subflow.__all__:
        thing = getattr(subflow, name)
        if isinstance(thing, str):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items():
            # Attributes of plain records are described in the docstring of the class.
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"
