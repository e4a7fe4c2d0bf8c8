"""Events and commands of path managers; users import them from ``subflow.algorithms``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Address:
    """An address of this host or of the peer.

    Attributes
    ----------
    id : int
        Address identifier of MPTCP; that of the initial subflow is 0.
    address : str
        The address.
    port : int or None
        Port, if the peer announced one.
    """

    id: int
    address: str
    port: int | None = None


@dataclass(frozen=True)
class FourTuple:
    """The ends of a subflow.

    Attributes
    ----------
    local, remote : tuple of str and int
        Address and port of this host and of the peer.
    """

    local: tuple[str, int]
    remote: tuple[str, int]


@dataclass(frozen=True)
class Established:
    """The connection is established over its initial subflow.

    Attributes
    ----------
    initial : FourTuple
        The initial subflow.
    client : bool
        Whether this end opened the connection.
    initial_address_closed : bool
        Whether the peer forbids further subflows to its initial address and port.
    """

    initial: FourTuple
    client: bool
    initial_address_closed: bool


@dataclass(frozen=True)
class LocalAddressAdded:
    """This host got an address, for the first time or again."""

    address: Address


@dataclass(frozen=True)
class LocalAddressRemoved:
    """This host lost an address."""

    address: Address


@dataclass(frozen=True)
class RemoteAddressAdded:
    """The peer announced an address (ADD_ADDR)."""

    address: Address


@dataclass(frozen=True)
class RemoteAddressRemoved:
    """The peer withdrew the address with this identifier (REMOVE_ADDR)."""

    id: int


@dataclass(frozen=True)
class SubflowEstablished:
    """A subflow became usable."""

    subflow: FourTuple


@dataclass(frozen=True)
class SubflowClosed:
    """A subflow closed or failed."""

    subflow: FourTuple


@dataclass(frozen=True)
class PathRefused:
    """The peer reset a subflow for good (MP_TCPRST without the T flag): open none on this path again."""

    subflow: FourTuple


Event: TypeAlias = (
    Established
    | LocalAddressAdded
    | LocalAddressRemoved
    | RemoteAddressAdded
    | RemoteAddressRemoved
    | SubflowEstablished
    | SubflowClosed
    | PathRefused
)


@dataclass(frozen=True)
class Open:
    """Open a subflow. The transport chooses the local port.

    Attributes
    ----------
    local, remote : Address
        Its addresses.
    port : int
        The remote port.
    backup : bool
        Whether it is a backup.
    """

    local: Address
    remote: Address
    port: int
    backup: bool = False


@dataclass(frozen=True)
class Announce:
    """Announce a local address (ADD_ADDR)."""

    address: Address


@dataclass(frozen=True)
class Withdraw:
    """Withdraw the local address with this identifier (REMOVE_ADDR)."""

    id: int


@dataclass(frozen=True)
class Close:
    """Close a subflow."""

    subflow: FourTuple


@dataclass(frozen=True)
class SetBackup:
    """Change the priority of a subflow (MP_PRIO)."""

    subflow: FourTuple
    backup: bool


Command: TypeAlias = Open | Announce | Withdraw | Close | SetBackup
