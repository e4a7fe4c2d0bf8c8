"""Scenarios that several tests run, and the command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from recipes import ROOT

import subflow

matplotlib.use("Agg")

WIFI_LTE = ROOT / "scenarios" / "wifi-lte.toml"


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
