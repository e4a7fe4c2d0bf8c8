"""Base classes of algorithms in Python, and the events and commands of path managers.

A scenario takes such classes by name: :meth:`subflow.Scenario.with_algorithms`.

>>> import subflow
>>> class LowestRtt(subflow.Scheduler):
...     def next(self, subflows, queue):
...         eligible = [index for index, view in enumerate(subflows) if view.eligible]
...         return min(eligible, key=lambda index: subflows[index].srtt or 0.0, default=None)
>>> scenario = subflow.Scenario.from_toml('''
... duration = "1 s"
... [hosts]
... client = ["eth"]
... server = ["eth"]
... [links.wire]
... between = ["client.eth", "server.eth"]
... rate = "8 Mbit/s"
... [flows.file]
... from = "client"
... to = "server"
... protocol = "mptcp"
... scheduler = "lowest-rtt"
... send = "100 kB"
... ''')
>>> results = scenario.with_algorithms(schedulers={"lowest-rtt": LowestRtt}).run()
>>> results.flows["bytes_delivered"]
[100000]
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable

from subflow._native import Ack, Assignment, Path, QueueView, SubflowView
from subflow._path_management import (
    Address,
    Announce,
    Close,
    Command,
    Established,
    Event,
    FourTuple,
    LocalAddressAdded,
    LocalAddressRemoved,
    Open,
    PathRefused,
    RemoteAddressAdded,
    RemoteAddressRemoved,
    SetBackup,
    SubflowClosed,
    SubflowEstablished,
    Withdraw,
)

__all__ = [
    "Address",
    "Announce",
    "Close",
    "Command",
    "CongestionControl",
    "Established",
    "Event",
    "FourTuple",
    "LocalAddressAdded",
    "LocalAddressRemoved",
    "Open",
    "PathManager",
    "PathRefused",
    "RemoteAddressAdded",
    "RemoteAddressRemoved",
    "Scheduler",
    "SetBackup",
    "SubflowClosed",
    "SubflowEstablished",
    "Withdraw",
]


class _Algorithm(ABC):
    """What all algorithms have.

    Attributes
    ----------
    random : random.Random
        A source of random numbers that depends on the seed of the run, the flow and its end.
    """

    random: random.Random

    def seed(self, seed: int) -> None:
        """Set what random decisions depend on. Called once, right after ``__init__``.

        Parameters
        ----------
        seed : int
            A function of the run's seed, the flow, and the end of the flow.
        """
        self.random = random.Random(seed)


class Scheduler(_Algorithm):
    """Packet scheduler of one connection.

    Derive a class from it and define ``next``.

    Attributes
    ----------
    queues_ahead : bool
        Whether new data may be assigned to a subflow whose window is full. It waits in that subflow's queue. ``next``
        is then called whenever there is something to send, not only while a subflow has window space.
    repeats : bool
        Whether ``next`` returns copies of outstanding data on its own initiative. It is then also called if there is
        neither new data nor a reinjection, and ``queue.outstanding`` is filled.
    """

    queues_ahead: bool = False
    repeats: bool = False

    @abstractmethod
    def next(self, subflows: tuple[SubflowView, ...], queue: QueueView) -> int | Assignment | None:
        """Decide what is sent next. Called until it returns None or nothing more can be sent.

        Parameters
        ----------
        subflows : tuple of SubflowView
            The subflows. A closed one keeps its index.
        queue : QueueView
            What is to be sent.

        Returns
        -------
        int, Assignment or None
            The index of the subflow that carries what is next: the reinjection if the subflow is eligible for one, else
            a segment of new data. An ``Assignment`` says more. None: nothing is sent now.
        """

    def on_replaced(self, subflow: int, last: SubflowView) -> None:
        """Forget a closed subflow: another one takes its index.

        Parameters
        ----------
        subflow : int
            The index.
        last : SubflowView
            The last view of the closed one.
        """


class CongestionControl(_Algorithm):
    """Congestion control of one connection, with all its paths.

    Derive a class from it and define ``on_ack`` and ``ssthresh_after_loss``. The transport detects losses and recovers
    from them; the algorithm grows the window and says how far it falls.
    """

    @abstractmethod
    def on_ack(self, paths: tuple[Path, ...], path: int, ack: Ack) -> None:
        """Grow the window of ``paths[path]``. Called only while the window is the limit and no loss is repaired.

        Parameters
        ----------
        paths : tuple of Path
            The paths. The windows, thresholds and credits in them may be changed.
        path : int
            The one on which the acknowledgment arrived.
        ack : Ack
            The acknowledgment.
        """

    @abstractmethod
    def ssthresh_after_loss(self, paths: tuple[Path, ...], path: int, now: float) -> int:
        """Return the new slow-start threshold of ``paths[path]`` after a loss, at least one ``quantum``.

        The transport sets the window: to the threshold after a fast retransmit, to one segment after a timeout.
        """

    def on_path_added(self, paths: tuple[Path, ...], path: int) -> None:
        """Take notice of a new path: the next one, or one in the place of a closed one."""

    def on_sample(self, paths: tuple[Path, ...], path: int, ack: Ack) -> None:
        """Take notice of an acknowledgment, in every state and before ``on_ack``. It may change ``paths``."""

    def on_state(self, paths: tuple[Path, ...], path: int, state: str) -> None:
        """Take notice that the recovery state of a path becomes ``state``."""

    def on_transmit_after_idle(self, paths: tuple[Path, ...], path: int, now: float, idle: float) -> None:
        """Take notice that a path sends after ``idle`` seconds with nothing in flight."""

    def on_window_restart(self, paths: tuple[Path, ...], path: int) -> None:
        """Take notice that the window of a path restarts after an idle time longer than the RTO."""


class PathManager(_Algorithm):
    """Path manager of one connection.

    Derive a class from it and define ``on_event``.
    """

    @abstractmethod
    def on_event(self, event: Event) -> Iterable[Command] | None:
        """Say what is to be done after an event.

        Parameters
        ----------
        event : Event
            What happened. ``Established`` is the first; the other addresses of this host follow.

        Returns
        -------
        iterable of Command, or None
            Commands to the transport. One that cannot be done is answered with ``SubflowClosed``.
        """
