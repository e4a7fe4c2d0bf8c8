"""From what the guest printed to rows of results."""

from __future__ import annotations

import csv
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .cases import Case
from .machine import Failure

COLUMNS = (
    "case protocol cc paths loss_pct duration_s rep flow goodput_mbps goodput_tail_mbps completion_s retransmits drops "
    "path1_bytes path2_bytes queue_drops_path1 queue_drops_path2 loss_drops_path1 loss_drops_path2 flow_start_s marks "
    "backlog_mean_pkts backlog_median_pkts backlog_p95_pkts srtt_median_ms srtt_p95_ms srtt_mean_ms min_rtt_ms "
    "delivered_ce bottleneck host_qdisc gso ecn tcp_limit_output udp_sent udp_received udp_delay_median_us "
    "udp_delay_p95_us udp_delay_max_us"
).split()
ETHERNET = 14
ECN_OF_OPTIONS = 8  # TCPI_OPT_ECN


@dataclass
class Info:
    """TCP_INFO of a subflow at an instant."""

    srtt_us: int
    min_rtt_us: int
    delivered_ce: int
    options: int


@dataclass
class End:
    """A flow at the end of its run."""

    protocol: str
    start: float
    sent: int
    received: int
    in_tail: int
    done: float


@dataclass
class Output:
    """What the guest printed of a run."""

    ends: list[End] = field(default_factory=list)
    infos: dict[tuple[int, int], list[Info]] = field(default_factory=lambda: defaultdict(list))
    waiting: list[list[int]] = field(default_factory=list)
    delays_us: list[int] = field(default_factory=list)
    qdiscs: dict[tuple[int, str], list[dict[str, int]]] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)
    length: float = 0.0


def _take(output: Output, line: str) -> None:
    """Adds a line of the traffic generator (guest/traffic.c, guest/sample.c) or of tc."""
    kind, *words = line.split(" ")
    if kind == "queue":
        output.waiting.append([int(word) for word in words[1:]])
    elif kind == "info":
        srtt, least, _, marked, options = map(int, words[5:])
        output.infos[int(words[1]), int(words[2])].append(Info(srtt, least, marked, options))
    elif kind == "delay":
        output.delays_us.append(int(words[1]))
    elif kind == "flow":
        start, sent, received, in_tail, done = words[2:]
        output.ends.append(End(words[1], float(start), int(sent), int(received), int(in_tail), float(done)))
    elif kind == "counter":
        output.counters[words[0], words[1]] = int(words[2])
    elif kind == "qdisc":
        output.qdiscs[int(words[0]), words[1]] = json.loads(" ".join(words[2:]))
    elif kind == "end":
        output.length = float(words[0])
    else:
        raise ValueError(line)


def outputs(lines: Iterable[str], cases: Sequence[Case]) -> list[Output]:
    """What was printed of each run. Fails where a run did not end as it should, and names it."""
    found: list[Output] = []
    for line in lines:
        kind = line.split(" ", 1)[0]
        if kind == "begin":
            found.append(Output())
        elif kind not in ("kernel", "end-of", "complete", ""):
            case = cases[len(found) - 1]
            try:
                _take(found[-1], line)
            except (ValueError, IndexError, KeyError) as problem:
                raise Failure(f"{case.name} {case.paths_text}: the guest says {line!r}") from problem
    for case, output in zip(cases, found):
        _check(case, output)
    return found


def _check(case: Case, output: Output) -> None:
    """Whether the run had the flows and switches that were asked for."""
    name = f"{case.name} {case.paths_text}"
    if len(output.ends) != len(case.flows) + case.has_thin_flow:
        raise Failure(f"{name}: {len(output.ends)} flows ended, expected {len(case.flows)}")
    for end in output.ends:
        if case.size and end.protocol != "udp" and end.done < 0:
            raise Failure(f"{name}: a transfer was not complete after {output.length:g} s")
    for infos in output.infos.values():
        if bool(infos[-1].options & ECN_OF_OPTIONS) != case.ecn:
            raise Failure(f"{name}: ECN was negotiated otherwise than asked for")


def _quantile(values: Sequence[float], share: float) -> float:
    """By linear interpolation between the values around it."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _settings(case: Case) -> dict[str, object]:
    return {
        "case": case.name,
        "paths": case.paths_text,
        "loss_pct": case.loss_text,
        "rep": case.rep,
        "bottleneck": case.bottleneck,
        "host_qdisc": case.host_queue,
        "gso": case.offload,
        "ecn": int(case.ecn),
        "tcp_limit_output": "default" if case.output_limit is None else case.output_limit,
    }


def _of_queues(case: Case, output: Output) -> dict[str, object]:
    """What passed the bottlenecks and waited there."""
    row: dict[str, object] = {}
    drops = marks = 0
    for n in range(1, len(case.paths) + 1):
        disciplines = output.qdiscs[n, "bottleneck"]
        outer, inner = disciplines[0], disciplines[-1]
        row[f"path{n}_bytes"] = outer["bytes"] - ETHERNET * outer["packets"]
        row[f"queue_drops_path{n}"] = inner["drops"]
        row[f"loss_drops_path{n}"] = output.qdiscs[n, "loss"][0]["drops"]
        drops += inner["drops"]
        marks += sum(one.get("marked", 0) + one.get("ecn_mark", 0) for one in disciplines)
    waiting = [sample[0] for sample in output.waiting]
    row |= {"drops": drops, "marks": marks}
    if waiting:
        row["backlog_mean_pkts"] = f"{statistics.fmean(waiting):.2f}"
        row["backlog_median_pkts"] = f"{_quantile(waiting, 0.5):.1f}"
        row["backlog_p95_pkts"] = f"{_quantile(waiting, 0.95):.1f}"
    if case.has_thin_flow:
        thin, delays = output.ends[-1], output.delays_us
        row |= {"udp_sent": thin.sent, "udp_received": thin.received}
        if delays:
            row["udp_delay_median_us"] = f"{_quantile(delays, 0.5):.0f}"
            row["udp_delay_p95_us"] = f"{_quantile(delays, 0.95):.0f}"
            row["udp_delay_max_us"] = max(delays)
    return row


def _retransmissions(output: Output, protocol: str, client: str) -> int:
    names = ("SctpFastRetransmits", "SctpT3Retransmits") if protocol == "sctp" else ("Tcp.RetransSegs",)
    return sum(output.counters.get((client, name), 0) for name in names)


def _of_flow(case: Case, output: Output, n: int) -> dict[str, object]:
    flow, end = case.flows[n - 1], output.ends[n - 1]
    row: dict[str, object] = {
        "protocol": flow.protocol,
        "cc": "-" if flow.protocol == "sctp" else flow.congestion,
        "flow": n,
        "retransmits": _retransmissions(output, flow.protocol, "c" if n == 1 else "d"),
        "flow_start_s": f"{end.start:.4f}",
    }
    if case.size:
        taken = end.done - end.start
        row["completion_s"] = row["duration_s"] = f"{taken:.6f}"
        row["goodput_mbps"] = f"{case.size * 8e-6 / taken:.4f}"
    else:
        row["duration_s"] = f"{case.duration:g}"
        row["goodput_mbps"] = f"{end.received * 8e-6 / (output.length - end.start):.4f}"
        row["goodput_tail_mbps"] = f"{end.in_tail * 8e-6 / (output.length - case.duration / 3):.4f}"
    subflows = [infos for (flow_of, _), infos in sorted(output.infos.items()) if flow_of == n]
    if subflows:
        samples = [info.srtt_us / 1000 for info in subflows[0] if info.srtt_us]
        row["srtt_median_ms"] = f"{_quantile(samples, 0.5):.3f}"
        row["srtt_p95_ms"] = f"{_quantile(samples, 0.95):.3f}"
        row["srtt_mean_ms"] = f"{statistics.fmean(samples):.3f}"
        row["min_rtt_ms"] = ";".join(f"{infos[-1].min_rtt_us / 1000:.3f}" for infos in subflows)
        row["delivered_ce"] = sum(infos[-1].delivered_ce for infos in subflows)
    return row


def rows(case: Case, output: Output) -> list[dict[str, object]]:
    """A row for each flow; with several flows one of all of them, which has what the queue did."""
    settings, queues = _settings(case), _of_queues(case, output)
    flows = [settings | _of_flow(case, output, n) for n in range(1, len(case.flows) + 1)]
    if not case.is_shared:
        return [flows[0] | queues]
    ends = output.ends[: len(case.flows)]
    together = settings | queues | {
        "protocol": "+".join(str(row["protocol"]) for row in flows),
        "cc": "+".join(str(row["cc"]) for row in flows),
        "flow": "all",
        "duration_s": f"{case.duration:g}",
        "retransmits": sum(_retransmissions(output, flow.protocol, client) for flow, client in zip(case.flows, "cd")),
        "goodput_mbps": f"{sum(end.received for end in ends) * 8e-6 / output.length:.4f}",
        "goodput_tail_mbps": f"{sum(end.in_tail for end in ends) * 8e-6 / (output.length - case.duration / 3):.4f}",
    }
    return [*flows, together]


def write(path: Path, found: list[dict[str, object]]) -> None:
    """Writes the rows, in the columns of the cases."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(found)
