"""Scenarios that several tests run, and the command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import subflow

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
WIFI_LTE = ROOT / "scenarios" / "wifi-lte.toml"


def command() -> Path:
    """The command: that of SUBFLOW_COMMAND, or the newest one that was built here."""
    if "SUBFLOW_COMMAND" in os.environ:
        return Path(os.environ["SUBFLOW_COMMAND"])
    built = [path for kind in ("release", "debug") if (path := ROOT / "target" / kind / "subflow").exists()]
    if not built:
        pytest.fail("the command is not there: cargo build, or set SUBFLOW_COMMAND")
    return max(built, key=lambda path: path.stat().st_mtime)


def two_paths() -> dict[str, Any]:
    """Two lossy paths between two hosts: a small scenario whose results depend on the seed."""
    return {
        "duration": "3 s",
        "hosts": {"client": ["wifi", "lte"], "server": ["one", "two"]},
        "links": {
            "fast": {
                "between": ["client.wifi", "server.one"],
                "rate": "10 Mbit/s",
                "delay": "10 ms",
                "loss": "1 %",
            },
            "slow": {
                "between": ["client.lte", "server.two"],
                "rate": "4 Mbit/s",
                "delay": "30 ms",
                "loss": "1 %",
            },
        },
        "flows": {"file": {"from": "client", "to": "server", "protocol": "mptcp", "send": "1 MB"}},
    }


@pytest.fixture
def scenario() -> subflow.Scenario:
    return subflow.Scenario.from_dict(two_paths(), name="two-paths")


@pytest.fixture(scope="session")
def swept() -> subflow.Results:
    """Two points with three runs each."""
    content = two_paths() | {"sweep": {"flows.file.congestion": ["lia", "olia"]}}
    return subflow.Scenario.from_dict(content, name="two-paths").run(repeat=3)
