"""Simulation of multipath transport: scenarios, runs, and results as Arrow tables.

>>> import subflow
>>> scenario = subflow.Scenario.from_toml('''
... duration = "1 s"
... [hosts]
... client = ["eth"]
... server = ["eth"]
... [links.wire]
... between = ["client.eth", "server.eth"]
... rate = "8 Mbit/s"
... delay = "10 ms"
... [flows.file]
... from = "client"
... to = "server"
... protocol = "tcp"
... send = "100 kB"
... ''')
>>> results = scenario.run()
>>> results.flows["bytes_delivered"]
[100000]
"""

from subflow._native import (
    Ack,
    Assignment,
    Captures,
    Check,
    Comparison,
    Path,
    Problem,
    QueueView,
    Results,
    RunError,
    Scenario,
    ScenarioError,
    SentRange,
    StoreError,
    SubflowView,
    Table,
    Watched,
    __version__,
    analyze,
    compare,
    stored_runs,
    watch,
)
from subflow._network import Network, NetworkHost, NetworkLink
from subflow._sweep import sweep
from subflow.algorithms import CongestionControl, PathManager, Scheduler

__all__ = [
    "Ack",
    "Assignment",
    "Captures",
    "Check",
    "Comparison",
    "CongestionControl",
    "Network",
    "NetworkHost",
    "NetworkLink",
    "Path",
    "PathManager",
    "Problem",
    "QueueView",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "SentRange",
    "StoreError",
    "SubflowView",
    "Table",
    "Watched",
    "__version__",
    "analyze",
    "compare",
    "stored_runs",
    "sweep",
    "watch",
]
