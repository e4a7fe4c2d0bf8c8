"""Configurations, as the rows of a CSV file tell them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

PROTOCOLS = ("tcp", "mptcp", "sctp")
BOTTLENECKS = ("netem", "fifo", "red", "redecn", "codel", "codelecn", "fqcodel", "fqcodelecn", "pie", "pieecn", "host")
HOST_QUEUES = ("", "fq", "tbf", "netem")
OFFLOADS = ("off", "soft", "tso")
UNITS = {"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


class BadCase(Exception):
    """A row that is no configuration."""


@dataclass(frozen=True)
class PathSpec:
    """A path: rate in Mbit/s, one-way delay in ms, queue in packets, loss in percent."""

    rate: float
    delay: float
    queue: int
    loss: float


@dataclass(frozen=True)
class Flow:
    """A flow of a run, and when it starts, in seconds."""

    protocol: str
    congestion: str
    start: float


@dataclass
class Case:
    """A run: its paths, its flows and the switches of its hosts. Names as in the file's columns."""

    name: str
    paths_text: str
    loss_text: str
    paths: list[PathSpec]
    duration: float
    rep: int
    flows: list[Flow] = field(default_factory=list)
    bottleneck: str = "netem"
    host_queue: str = ""
    offload: str = "off"
    ecn: bool = False
    output_limit: int | None = None
    has_thin_flow: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether several flows share the first path."""
        return len(self.flows) > 1

    @property
    def size(self) -> int:
        """The bytes that each flow sends, as the name tells, as in F-100kB; 0 for as many as it can."""
        found = re.search(r"-(\d+)([kMG]?B)(?:-|$)", self.name)
        return int(found[1]) * UNITS[found[2]] if found else 0

    @property
    def message(self) -> int:
        """The bytes of a write: those at the end of the name of a case of SCTP, as in G-sctp-1452, else 64 kB."""
        found = re.search(r"-sctp-(\d+)(k?)$", self.name)
        return int(found[1]) * (1024 if found[2] else 1) if found else 65_536

    @property
    def failure(self) -> tuple[int, bool] | None:
        """The path that fails from 10 s to 20 s, and whether acknowledgments are lost, too."""
        found = re.search(r"-fail-path(\d)-(data|both)$", self.name)
        return (int(found[1]), found[2] == "both") if found else None


def _paths(text: str, losses: str) -> list[PathSpec]:
    loss = losses.split(";")
    paths = []
    for index, path in enumerate(text.split(";")):
        parts = path.split("/")
        if len(parts) != 3:
            raise BadCase(f"paths: found {text!r}, expected R/D/Q (Mbit/s, ms, packets), with ; between paths")
        share = loss[index] if index < len(loss) else loss[0]
        paths.append(PathSpec(float(parts[0]), float(parts[1]), int(parts[2]), float(share or 0)))
    if not 1 <= len(paths) <= 2:
        raise BadCase(f"paths: found {len(paths)} of them, expected one or two")
    return paths


def _one_of(name: str, found: str, known: tuple[str, ...]) -> str:
    if found not in known:
        raise BadCase(f"{name}: found {found!r}, expected one of {', '.join(repr(one) for one in known)}")
    return found


def _case(row: dict[str, str]) -> Case:
    limit = row.get("tcp_limit_output") or "default"
    has_host_queue = row.get("host_qdisc", "") in ("tbf", "netem")
    return Case(
        name=row["case"],
        paths_text=row["paths"],
        loss_text=row.get("loss_pct") or "0",
        paths=_paths(row["paths"], row.get("loss_pct") or "0"),
        duration=float(row["duration_s"]),
        rep=int(row.get("rep") or 1),
        bottleneck=_one_of("bottleneck", row.get("bottleneck") or ("host" if has_host_queue else "netem"), BOTTLENECKS),
        host_queue=_one_of("host_qdisc", row.get("host_qdisc") or "", HOST_QUEUES),
        offload=_one_of("gso", row.get("gso") or "off", OFFLOADS),
        ecn=row.get("ecn") == "1",
        output_limit=None if limit == "default" else int(limit),
    )


def _flow(row: dict[str, str]) -> Flow:
    protocol = _one_of("protocol", row["protocol"], PROTOCOLS)
    congestion = "reno" if row["cc"] in ("", "-") else row["cc"]
    if not re.fullmatch(r"[a-z0-9_]{1,15}", congestion):
        raise BadCase(f"cc: found {congestion!r}, expected the name of a congestion control of the kernel")
    return Flow(protocol, congestion, float(row.get("flow_start_s") or 0))


def read(path: Path) -> list[Case]:
    """The runs of a file: rows that count their flows from 1 are one run; a row of `all` flows repeats it."""
    cases: list[Case] = []
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                if row["flow"] == "all":
                    continue
                if row["flow"] == "1":
                    cases.append(_case(row))
                elif not cases or int(row["flow"]) != len(cases[-1].flows) + 1:
                    raise BadCase(f"flow: found {row['flow']!r}, expected the flows of a run to be counted from 1")
                cases[-1].flows.append(_flow(row))
                cases[-1].has_thin_flow |= bool(row.get("udp_sent"))
            except (BadCase, KeyError, TypeError, ValueError) as problem:
                text = f"there is no column {problem}" if isinstance(problem, KeyError) else str(problem)
                raise BadCase(f"{path}:{number}: {text}") from problem
    for case in cases:
        if case.is_shared and len(case.paths) > 1:
            raise BadCase(f"{path}: {case.name}: several flows share one path, found {case.paths_text}")
        if len(case.flows) > 2:
            raise BadCase(f"{path}: {case.name}: found {len(case.flows)} flows, expected one or two")
        failure = case.failure
        if failure and failure[0] > len(case.paths):
            raise BadCase(f"{path}: {case.name}: path {failure[0]} fails, and there is none")
    return cases


WARM_UP = [
    Case("W", "20/10/50", "0", [PathSpec(20, 10, 50, 0)], 1, 1, [Flow("tcp", congestion, 0)])
    for congestion in ("reno", "cubic")
]
