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
    Check,
    Problem,
    Results,
    RunError,
    Scenario,
    ScenarioError,
    Table,
    __version__,
)

__all__ = [
    "Check",
    "Problem",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Table",
    "__version__",
]
