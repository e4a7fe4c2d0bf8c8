"""The settings of the controller."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

MODES = ("shortest-path", "ecmp-flow", "ecmp-packet", "multiflow", "disjoint")
# The options of modes that place subflows; those of `subflow._native.Placement`.
PLACING = {
    "multiflow": {"initial": "apart", "ties": "first", "disjoint_set": 1, "return_path": "default"},
    "disjoint": {"initial": "included", "ties": "least-loaded", "disjoint_set": 2, "return_path": "forward"},
}
AS_THE_MODE = "as-mode"


def _setting(default: Any, help_: str, **bounds: Any) -> Any:
    return field(default=default, metadata={"help": help_, **bounds})


@dataclass(frozen=True)
class Settings:
    """Each field is a setting with the same name, its default, its meaning and its bounds."""

    mode: str = _setting("disjoint", "how flows are routed", choices=MODES)
    initial: str = _setting(
        AS_THE_MODE,
        "the initial subflow: counted as used, apart, or on the default route",
        choices=(AS_THE_MODE, "included", "apart", "default-route"),
    )
    ties: str = _setting(
        AS_THE_MODE,
        "which of equally short paths: least-loaded counts subflows, least-used adds the ports' counters",
        choices=(AS_THE_MODE, "first", "random", "least-loaded", "least-used"),
    )
    disjoint_set: int = _setting(0, "disjoint paths to search for at once; 0: as the mode", least=0, most=64)
    return_path: str = _setting(
        AS_THE_MODE, "the way back of a subflow", choices=(AS_THE_MODE, "forward", "default")
    )
    reroute: str = _setting(
        AS_THE_MODE,
        "whether routes change when links fail (as-mode: not with multiflow)",
        choices=(AS_THE_MODE, "yes", "no"),
    )
    spanning_tree: int = _setting(
        0, "the switch at the root of the spanning tree that default routes follow; 0: shortest paths", least=0
    )
    single_ways: str = _setting("", "hosts to which default routes take the first of equal links, even with ECMP")
    discovery_interval: float = _setting(1.0, "seconds between LLDP frames", least=0.1, most=60)
    counters_interval: float = _setting(5.0, "seconds between questions for port counters", least=0.5, most=600)
    audit_interval: float = _setting(10.0, "seconds between questions for flow entries", least=1, most=600)
    idle_timeout: int = _setting(60, "seconds after which an unused entry is removed", least=2, most=65535)
    opening_timeout: int = _setting(10, "the same before the SYN/ACK has been seen", least=1, most=65535)
    entries: int = _setting(4000, "most entries for subflows in one switch", least=8)
    subflows: int = _setting(10_000, "most TCP flows in memory", least=1)
    opening_per_port: int = _setting(64, "most flows of one host port without a SYN/ACK", least=1)
    packet_ins_per_port: int = _setting(500, "most packets per second of one host port", least=1)
    bypass: int = _setting(10, "seconds for which a port that exceeds them keeps to default routes", least=1, most=3600)
    hosts: int = _setting(4096, "most hosts in memory", least=2)
    hosts_per_port: int = _setting(64, "most hosts in memory at one port", least=1)
    capacity: int = _setting(0, "Mbit/s of a link, for least-used; 0: as the port says", least=0)
    status: str = _setting("127.0.0.1:8081", "address of the read-only HTTP status; empty: none")
    seed: int = _setting(-1, "seed of random choices; -1: the system's", least=-1)

    def __post_init__(self) -> None:
        for setting in fields(self):
            value, limits = getattr(self, setting.name), setting.metadata
            if "choices" in limits and value not in limits["choices"]:
                raise ValueError(f"{setting.name}: found {value!r}, expected one of {', '.join(limits['choices'])}")
            least, most = limits.get("least"), limits.get("most")
            if least is not None and value < least:
                raise ValueError(f"{setting.name}: found {value}, expected at least {least}")
            if most is not None and value > most:
                raise ValueError(f"{setting.name}: found {value}, expected at most {most}")

    @property
    def places(self) -> bool:
        """Whether subflows get paths of their own."""
        return self.mode in PLACING

    @property
    def balances(self) -> bool:
        """Whether default routes use all equal-cost links."""
        return self.mode.startswith("ecmp")

    @property
    def reroutes(self) -> bool:
        """Whether routes change when links fail."""
        return self.mode != "multiflow" if self.reroute == AS_THE_MODE else self.reroute == "yes"

    @property
    def measures(self) -> bool:
        """Whether the load of other traffic is measured by the ports' counters."""
        return self.ties == "least-used"

    def placement(self) -> dict[str, Any]:
        """The arguments of `subflow._native.Placement`."""
        options = dict(PLACING.get(self.mode, PLACING["disjoint"]))
        for key in ("initial", "ties", "return_path"):
            if getattr(self, key) != AS_THE_MODE:
                options[key] = getattr(self, key)
        if self.disjoint_set:
            options["disjoint_set"] = self.disjoint_set
        if self.measures:
            options["ties"] = "least-loaded"
        return options
