"""Messages to switches, independent of a library for OpenFlow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# Table 0 decides about flows, table 1 has the default route to each host.
FLOWS, ROUTES = 0, 1

# The upper 16 bits of the cookies of all entries, and the kinds of entries in the next 16 bits. The lower 32 bits of a
# subflow's cookie are its token.
COOKIE = 0x5F10 << 48
COOKIE_MASK = 0xFFFF << 48
STATIC, DEFAULT_ROUTE, TRANSIT, INGRESS = (kind << 32 for kind in range(4))
KIND_MASK = 0xFFFF << 32


@dataclass(frozen=True)
class Output:
    """Send to a port."""

    port: int


@dataclass(frozen=True)
class ToGroup:
    """Send to one of the ports of a group."""

    group: int


@dataclass(frozen=True)
class ToController:
    """Send to the controller, whole."""


@dataclass(frozen=True)
class ToRoutes:
    """Go on in the table of default routes."""


@dataclass(frozen=True)
class Drop:
    """Drop."""


Action: TypeAlias = Output | ToGroup | ToController | ToRoutes | Drop
# Names of OpenFlow 1.3's match fields with their values, sorted.
Match: TypeAlias = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class Entry:
    """An entry of a flow table. Timeouts are in seconds; 0 means none."""

    table: int
    priority: int
    match: Match
    action: Action
    cookie: int = COOKIE
    idle_timeout: int = 0
    hard_timeout: int = 0
    notify: bool = False


@dataclass(frozen=True)
class Add:
    """Add an entry, or replace the one with the same match and priority."""

    dpid: int
    entry: Entry


@dataclass(frozen=True)
class Delete:
    """Delete the entry with this match and priority, if it exists."""

    dpid: int
    table: int
    priority: int
    match: Match


@dataclass(frozen=True)
class AddGroup:
    """Add a group of type select with these ports. If it exists, nothing changes: its number is made of its ports."""

    dpid: int
    group: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class PacketOut:
    """Send a frame. `action` ``None`` means: through the switch's tables, as if it had come in at `in_port`."""

    dpid: int
    data: bytes
    action: Action | None
    in_port: int | None = None


@dataclass(frozen=True)
class Barrier:
    """Report when all messages before this one are processed."""

    dpid: int
    ticket: int


@dataclass(frozen=True)
class AskFlows:
    """Ask for the entries with our cookie."""

    dpid: int


@dataclass(frozen=True)
class AskPorts:
    """Ask for the counters of all ports."""

    dpid: int


Message: TypeAlias = Add | Delete | AddGroup | PacketOut | Barrier | AskFlows | AskPorts


@dataclass(frozen=True)
class FoundEntry:
    """An entry that a switch reports."""

    table: int
    match: Match
    cookie: int
    out_port: int | None
    bytes: int
