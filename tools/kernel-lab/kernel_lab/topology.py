"""From a configuration to what the guest does: commands that build the network, the plan of the traffic, statistics.

    client c -- router a1 -- router b1 -- server s      path 1; path 2 by a2 and b2
    second client d -- a1                               where two flows share a path

The bottleneck is the device `rr` of a1, which sends towards b1; delays are those of `rs` (data) and `rc` (acknowledgments).
"""

from __future__ import annotations

from typing import NamedTuple

from .cases import Case, PathSpec

SYSCTLS = """\
cd /proc/sys/net/ipv4
echo 1 > ip_forward; echo 0 > conf/all/rp_filter; echo 0 > conf/default/rp_filter
echo 1 > tcp_no_metrics_save
echo "4096 131072 16777216" > tcp_rmem; echo "4096 16384 16777216" > tcp_wmem
echo 1 > ../ipv6/conf/all/disable_ipv6; echo 1 > ../ipv6/conf/default/disable_ipv6
"""
# With their paths, since the shell of the guest has applets of the same names.
IP, TC = "/tools/ip", "/tools/tc"
# The thin flow: its start in seconds, and the microseconds between its datagrams.
THIN_START, THIN_INTERVAL = 2, 20_000
FAILS, RECOVERS = 10, 20


def _tbf_rate(path: PathSpec) -> str:
    """tbf counts the 14 bytes of the Ethernet header: with this rate a packet of 1500 bytes takes 1500 · 8 / R."""
    return f"{path.rate * 1e6 * 1514 / 1500:.0f}bit"


def _queue(case: Case, path: PathSpec, device: str) -> list[str]:
    """The commands of tc for the bottleneck at `device`, of which netem holds no other queue discipline."""
    kind = case.host_queue if case.bottleneck == "host" else case.bottleneck
    if kind == "netem":
        return [f"qdisc add dev {device} root handle 1: netem limit {path.queue} rate {path.rate:g}mbit -14"]
    ecn = "ecn" if kind.endswith("ecn") else "noecn"
    red_ecn = " ecn" if ecn == "ecn" else ""
    child = {
        "fifo": f"pfifo limit {path.queue}",
        "tbf": f"pfifo limit {path.queue}",
        "red": "red limit 605600 min 30000 max 90000 avpkt 1500 burst 25 "
        f"bandwidth {path.rate:g}mbit probability 0.1{red_ecn}",
        "codel": f"codel limit 1000 target 5ms interval 100ms {ecn}",
        "fqcodel": f"fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms {ecn}",
        "pie": f"pie limit 1000 target 15ms tupdate 15ms {ecn}",
    }[kind.removesuffix("ecn")]
    return [
        f"qdisc add dev {device} root handle 1: tbf rate {_tbf_rate(path)} burst 2000 limit 10000000",
        f"qdisc add dev {device} parent 1:1 handle 2: {child}",
    ]


class End(NamedTuple):
    """One end of a link."""

    namespace: str
    device: str
    address: str


class Topology:
    """The commands for the namespaces of one run."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.namespaces = ["c", "s"]
        self.devices: list[str] = []
        self.addresses: dict[str, list[str]] = {"c": [], "s": []}
        self.queues: dict[str, list[str]] = {}
        self.further: list[str] = []
        for number, path in enumerate(case.paths, start=1):
            self._path(number, path)
        if case.is_shared:
            self._second_client(case.paths[0])
        if case.flows[0].protocol == "mptcp":
            self._second_subflow()

    def _link(self, first: End, second: End, number: str) -> None:
        """A veth pair with permanent neighbours, so that no packet of ARP is on the links."""
        macs = [f"02:00:00:00:{number}:{end:02}" for end in (1, 2)]
        ends = [f"{end.device} netns {end.namespace} address {mac}" for end, mac in zip((first, second), macs)]
        self.devices.append(f"{IP} link add {ends[0]} type veth peer name {ends[1]}")
        self._end(first, second.address, macs[1])
        self._end(second, first.address, macs[0])

    def _end(self, end: End, peer: str, peer_mac: str) -> None:
        offload = self.case.offload if end.namespace in ("c", "d") else "off"
        tso, gso = {"off": ("off", "off"), "soft": ("off", "on"), "tso": ("on", "on")}[offload]
        self.devices.append(
            f"{IP} netns exec {end.namespace} ethtool -K {end.device} tso {tso} gso {gso} gro off > /dev/null"
        )
        commands = self.addresses.setdefault(end.namespace, [])
        commands.append(f"address add {end.address}/24 dev {end.device}")
        if offload == "off":
            commands.append(f"link set {end.device} gso_max_segs 1")
        commands.append(f"link set {end.device} up")
        commands.append(f"neighbour add {peer} lladdr {peer_mac} dev {end.device} nud permanent")

    def _path(self, n: int, path: PathSpec) -> None:
        case, a, b = self.case, f"a{n}", f"b{n}"
        self.namespaces += [a, b]
        self._link(End("c", f"c{n}", f"10.{n}.1.2"), End(a, "rc", f"10.{n}.1.1"), f"{n}1")
        self._link(End(a, "rr", f"10.{n}.2.1"), End(b, "rl", f"10.{n}.2.2"), f"{n}2")
        self._link(End(b, "rs", f"10.{n}.3.1"), End("s", f"s{n}", f"10.{n}.3.2"), f"{n}3")
        self.addresses[a].append(f"route add default via 10.{n}.2.2")
        self.addresses[b] += [f"route add {net} via 10.{n}.2.1" for net in (f"10.{n}.1.0/24", "10.9.1.0/24")]
        if n > 1:
            self.addresses[b].append(f"route add 10.1.3.0/24 via 10.{n}.3.2")
        self.addresses["s"].append(f"route add 10.{n}.1.0/24 via 10.{n}.3.1")
        self.addresses["c"] += [
            f"route add 10.{n}.3.0/24 via 10.{n}.1.1 src 10.{n}.1.2",
            f"route add default via 10.{n}.1.1 dev c{n} table 10{n}",
            f"rule add from 10.{n}.1.0/24 table 10{n}",
        ]
        at_host = case.bottleneck == "host"
        if case.host_queue == "fq":
            self.queues.setdefault("c", []).append(f"qdisc add dev c{n} root handle 1: fq")
        place, device = ("c", f"c{n}") if at_host else (a, "rr")
        self.queues.setdefault(place, []).extend(_queue(case, path, device))
        delay = f"root handle 1: netem limit 100000 delay {path.delay:g}ms"
        self.queues.setdefault(a, []).append(f"qdisc add dev rc {delay}")
        loss = f" loss {path.loss:g}%" if path.loss else ""
        self.queues.setdefault(b, []).append(f"qdisc add dev rs {delay}{loss}")

    def _second_client(self, path: PathSpec) -> None:
        self.namespaces.append("d")
        self._link(End("d", "d1", "10.9.1.2"), End("a1", "rd", "10.9.1.1"), "91")
        self.addresses["d"].append("route add default via 10.9.1.1")
        self.addresses["s"].append("route add 10.9.1.0/24 via 10.1.3.1")
        self.queues["a1"].append(f"qdisc add dev rd root handle 1: netem limit 100000 delay {path.delay:g}ms")

    def _second_subflow(self) -> None:
        """One more subflow, over the second path, or from a second address where a path is shared."""
        limits = [f"{IP} -n {name} mptcp limits set subflow 2" for name in ("c", "s")]
        if len(self.case.paths) > 1:
            self.further = [*limits, f"{IP} -n c mptcp endpoint add 10.2.1.2 dev c2 subflow"]
        elif self.case.is_shared:
            self.addresses["c"].append("address add 10.1.1.3/24 dev c1")
            self.addresses["a1"].append("neighbour add 10.1.1.3 lladdr 02:00:00:00:11:01 dev rc nud permanent")
            self.further = [*limits, f"{IP} -n c mptcp endpoint add 10.1.1.3 dev c1 subflow"]

    @property
    def bottlenecks(self) -> list[tuple[str, str]]:
        """Namespace and device of the bottleneck of each path."""
        at_host = self.case.bottleneck == "host"
        return [("c", f"c{n}") if at_host else (f"a{n}", "rr") for n in range(1, len(self.case.paths) + 1)]

    def build(self) -> str:
        """A script that builds the network."""
        lines = ["set -e"]
        switches = [f"echo {int(self.case.ecn)} > tcp_ecn"]
        if self.case.output_limit is not None:
            switches.append(f"echo {self.case.output_limit} > tcp_limit_output_bytes")
        sysctls = SYSCTLS + "\n".join(switches)
        lines.append(f"cat > /tmp/sysctls <<'END'\n{sysctls}\nEND")
        for name in self.namespaces:
            lines += [f"{IP} netns add {name}", f"{IP} netns exec {name} sh /tmp/sysctls", f"{IP} -n {name} link set lo up"]
        lines += self.devices
        for tool, batches in ((IP, self.addresses), (TC, self.queues)):
            for name, commands in batches.items():
                batch = "\n".join(commands)
                lines.append(f"{tool} -n {name} -batch - <<'END'\n{batch}\nEND")
        lines += [*self.further, "sleep 0.3"]
        return "\n".join(lines) + "\n"

    def plan(self) -> str:
        """What the traffic generator reads."""
        case = self.case
        # A transfer ends the run.
        lines = [f"duration {60 if case.size else case.duration:g}"]
        lines += [f"queue {namespace} {device}" for namespace, device in self.bottlenecks]
        for n, flow in enumerate(case.flows, start=1):
            client = "c" if n == 1 else "d"
            lines.append(
                f"flow {flow.protocol} {client} 10.1.3.2 {5000 + n} {flow.start:g} {case.size} "
                f"{flow.congestion} {case.message}"
            )
        if case.has_thin_flow:
            lines.append(f"thin {'d' if case.is_shared else 'c'} 10.1.3.2 5100 {THIN_START} {THIN_INTERVAL}")
        if failure := case.failure:
            n, both = failure
            for time, loss in ((FAILS, 100.0), (RECOVERS, case.paths[n - 1].loss)):
                change = f"netem limit 100000 delay {case.paths[n - 1].delay:g}ms loss {loss:g}%"
                places = [f"{TC} -n b{n} qdisc change dev rs root handle 1: {change}"]
                if both:
                    places.append(f"{TC} -n a{n} qdisc change dev rc root handle 1: {change}")
                lines.append(f"at {time} {'; '.join(places)}")
        return "\n".join(lines) + "\n"

    def statistics(self) -> str:
        """A script that prints the statistics of queue disciplines, each as a line `qdisc PATH PLACE JSON`."""
        lines = []
        for n, (namespace, device) in enumerate(self.bottlenecks, start=1):
            for place, where in (("bottleneck", f"-n {namespace} -s -j qdisc show dev {device}"),
                                 ("loss", f"-n b{n} -s -j qdisc show dev rs")):
                lines.append(f"echo \"qdisc {n} {place} $({TC} {where} | tr -d '\\n')\"")
        return "\n".join(lines) + "\n"

    def remove(self) -> str:
        """A script that removes the network."""
        return "\n".join([*(f"{IP} netns del {name}" for name in self.namespaces), "sleep 0.3"]) + "\n"
