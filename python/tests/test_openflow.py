"""The OpenFlow controller's logic, on a network in memory."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
from openflow_network import (
    ACK,
    CAPABLE,
    DIAMOND_CABLES,
    SYN,
    FakeNetwork,
    capable_reply,
    disjoint_paths,
    join,
    random_cables,
    segment,
)

from subflow._openflow.frames import Arp, Probes
from subflow._openflow.settings import MODES, Settings
from subflow._openflow.status import status
from subflow._openflow.topology import Place

A, B = "10.0.0.1", "10.0.0.2"

# As the scenario's topology: the shortest path blocks both of the two disjoint ones.
TRAP = [(1, 2), (2, 3), (3, 6), (1, 4), (4, 7), (7, 3), (2, 5), (5, 8), (8, 6)]


def token_of(key: int) -> int:
    """RFC 8684, section 3.2."""
    return int.from_bytes(hashlib.sha256(key.to_bytes(8, "big")).digest()[:4], "big")


def network(cables: Any = None, hosts: Any = None, **settings: Any) -> FakeNetwork:
    """A network with its controller, ready."""
    made = FakeNetwork(cables or DIAMOND_CABLES, hosts or {A: 1, B: 4}, **settings)
    made.start()
    return made


def handshake(net: FakeNetwork, port: int, syn: bytes, reply: bytes = b"") -> None:
    """A SYN and its SYN/ACK arrive."""
    for sender, frame in (
        (A, segment(A, port, B, 80, SYN, syn)),
        (B, segment(B, 80, A, port, SYN | ACK, reply)),
    ):
        before = len(net.arrived)
        net.send(sender, frame)
        assert [to for to, _ in net.arrived[before:]] == [B if sender == A else A], "it arrives once"


def connection(net: FakeNetwork, port: int, key: int, joins: int = 1) -> None:
    """A connection from `port`, with joins from the next ports."""
    handshake(net, port, CAPABLE, capable_reply(key))
    for number in range(1, joins + 1):
        handshake(net, port + number, join(token_of(key)))


def ways(net: FakeNetwork, port: int) -> tuple[list[Place], list[Place]]:
    """The switches and ports that packets of a flow leave, forward and back."""
    back = net.send(B, segment(B, 80, A, port, ACK))
    return net.send(A, segment(A, port, B, 80, ACK)), back


def cables_of(net: FakeNetwork, way: list[Place]) -> set[frozenset[Place]]:
    """The cables of a way; the last port leads to a host."""
    return {frozenset((place, net.wires[place])) for place in way[:-1]}


@pytest.mark.parametrize("cables", [DIAMOND_CABLES, TRAP], ids=["diamond", "trap"])
def test_subflows_take_disjoint_paths_and_return_on_them(cables: list[tuple[int, int]]) -> None:
    net = network(cables, {A: 1, B: 6 if cables is TRAP else 4})
    connection(net, 1000, 7)
    (first, first_back), (second, second_back) = ways(net, 1000), ways(net, 1001)
    assert first and second and not cables_of(net, first) & cables_of(net, second)
    for way, back in ((first, first_back), (second, second_back)):
        assert cables_of(net, way) == cables_of(net, back)


def test_a_flow_that_begins_before_the_controller_is_ready_does_not_pass_it_by() -> None:
    net = FakeNetwork(DIAMOND_CABLES, {A: 1, B: 4})
    for dpid in sorted(net.switches):
        net.connect(dpid)
    # Between two ticks: the ports have just proved to lead to hosts, and the first hosts show themselves.
    net.wait(1.75)
    net.now += 0.26
    net.show_hosts()
    assert len(status(net.controller, net.now)["hosts"]) == 2 and not status(net.controller, net.now)["ready"]
    syn = segment(A, 1000, B, 80, SYN, CAPABLE)
    assert net.send(A, syn) == [], "the default route does not take it: its sender repeats it"
    net.wait(1)
    assert status(net.controller, net.now)["ready"]
    connection(net, 1000, 7)
    (first, _), (second, _) = ways(net, 1000), ways(net, 1001)
    assert first and second and not cables_of(net, first) & cables_of(net, second)


def test_as_published_a_join_shares_the_path_of_the_initial_subflow() -> None:
    net = network(mode="multiflow")
    connection(net, 1000, 7, joins=2)
    paths = [ways(net, port)[0] for port in (1000, 1001, 1002)]
    assert paths[0] == paths[1] != paths[2]


@pytest.mark.parametrize("seed", range(60))
def test_on_random_networks_there_are_as_many_disjoint_paths_as_the_maximum_flow(seed: int) -> None:
    count, cables = random_cables(seed)
    start, end = random.Random(seed).sample(range(1, count + 1), 2)
    most = disjoint_paths(cables, start, end)
    net = network(cables, {A: start, B: end}, disjoint_set=16, ties=["random", "least-loaded"][seed % 2])
    connection(net, 1000, seed, joins=most - 1)
    used: set[frozenset[Place]] = set()
    for port in range(1000, 1000 + most):
        way, back = ways(net, port)
        # Packets of one subflow never take two paths.
        assert [ways(net, port) for _ in range(3)] == [(way, back)] * 3
        cables_here = cables_of(net, way)
        assert way[-1] == net.hosts[B] and not used & cables_here
        assert cables_of(net, back) == cables_here
        used |= cables_here
    # Nothing of this takes packets to the controller.
    before = net.controller.counters["packet_ins"]
    ways(net, 1000)
    assert net.controller.counters["packet_ins"] == before


@pytest.mark.parametrize("seed", range(60, 80))
def test_so_many_subflows_get_as_many_disjoint_paths_as_there_are(seed: int) -> None:
    count, cables = random_cables(seed)
    start, end = random.Random(seed).sample(range(1, count + 1), 2)
    most = disjoint_paths(cables, start, end)
    for number in range(1, most + 2):
        # Of `disjoint` as it is, pairs are promised.
        net = network(cables, {A: start, B: end}, disjoint_set=2 if number == 2 else 16)
        connection(net, 1000, seed, joins=number - 1)
        used = [cables_of(net, ways(net, port)[0]) for port in range(1000, 1000 + number)]
        apart = sum(not a & b for at, a in enumerate(used) for b in used[:at])
        assert apart == number * (number - 1) // 2 if number <= most else apart < number * (number - 1) // 2


def test_the_first_packet_is_released_when_all_switches_have_the_entries() -> None:
    net = network()
    messages = net.controller.packet_in(net.now, *net.hosts[A], segment(A, 1, B, 80, SYN, CAPABLE))
    kinds = [type(message).__name__ for message in messages]
    assert "PacketOut" not in kinds and kinds.count("Barrier") == 3
    barriers = [message for message in messages if type(message).__name__ == "Barrier"]
    for number, barrier in enumerate(barriers):
        released = net.controller.barrier_reply(barrier.dpid, barrier.ticket)  # type: ignore[union-attr]
        assert [type(message).__name__ for message in released] == ["PacketOut"] * (number == 2)


def test_plain_tcp_and_unknown_answers_keep_to_default_routes() -> None:
    net = network()
    handshake(net, 1000, b"")
    assert ways(net, 1000)[0] == [(1, 1), (2, 2), (4, 3)]
    assert [net.entries(dpid) for dpid in (1, 2, 3, 4)] == [1, 0, 0, 1], "one entry for each direction"


def test_a_flow_is_forgotten_when_its_entries_expire() -> None:
    net = network(idle_timeout=20, opening_timeout=5)
    connection(net, 1000, 7)
    assert len(net.controller.subflows) == 2 and net.controller.placement.connections() == (1, 0)
    net.send(A, segment(A, 3000, B, 80, SYN, CAPABLE))
    net.wait(6)
    assert len(net.controller.subflows) == 2, "a SYN without an answer is forgotten earlier"
    net.wait(30)
    assert len(net.controller.subflows) == 0 and net.controller.placement.connections() == (0, 0)
    assert [net.entries(dpid) for dpid in (1, 2, 3, 4)] == [0] * 4
    connection(net, 1000, 8)
    assert not cables_of(net, ways(net, 1000)[0]) & cables_of(net, ways(net, 1001)[0])


@pytest.mark.parametrize("noticed", [True, False], ids=["port-status", "lldp"])
def test_when_a_link_fails_its_subflow_moves(noticed: bool) -> None:
    net = network()
    connection(net, 1000, 7)
    broken = ways(net, 1000)[0][0]
    net.set_cable(broken, up=False, noticed=noticed)
    net.wait(0.5 if noticed else 5)
    for port in (1000, 1001):
        way, back = ways(net, port)
        assert way[-1] == net.hosts[B] and back[-1] == net.hosts[A] and broken not in way
    assert net.controller.counters["silent_links"] == (0 if noticed else 1)
    net.set_cable(broken, up=True, noticed=noticed)
    net.wait(5)
    connection(net, 2000, 8)
    assert not cables_of(net, ways(net, 2000)[0]) & cables_of(net, ways(net, 2001)[0])


def test_a_controller_that_was_stopped_for_a_while_believes_in_its_links() -> None:
    net = network()
    connection(net, 1000, 7)
    before = [ways(net, port) for port in (1000, 1001)]
    net.now += 15
    net.wait(5)
    assert [ways(net, port) for port in (1000, 1001)] == before
    assert net.controller.counters["silent_links"] == net.controller.counters["moved_flows"] == 0


def test_without_rerouting_nothing_moves() -> None:
    net = network(mode="multiflow")
    connection(net, 1000, 7)
    before = ways(net, 1000)[0]
    net.set_cable(before[0], up=False)
    assert ways(net, 1000)[0] == before[:1], "its packets are lost where they were"


def test_a_restarted_controller_knows_hosts_and_connections() -> None:
    net = network()
    connection(net, 1000, 7)
    before = [ways(net, port) for port in (1000, 1001)]
    net.restart_controller()
    assert [ways(net, port) for port in (1000, 1001)] == before
    controller = net.controller
    assert len(controller.subflows) == 2 and controller.counters["adopted_flows"] == 2
    assert {host.address for host in controller.hosts} == {A, B}
    net.set_cable(before[0][0][0], up=False)
    assert [ways(net, port)[0][-1] for port in (1000, 1001)] == [net.hosts[B]] * 2
    net.wait(200)
    assert len(controller.subflows) == 0


def test_a_restarted_controller_takes_over_when_the_last_switch_has_come() -> None:
    net = network()
    connection(net, 1000, 7)
    net.silent = {4}
    net.restart_controller(seconds=1, dpids=[1, 2, 3])
    net.connect(4)
    net.wait(4)
    assert net.controller.counters["adopted_flows"] == 2


def test_after_a_restart_a_join_avoids_the_path_of_the_initial_subflow() -> None:
    net = network()
    connection(net, 1000, 7, joins=0)
    net.restart_controller()
    handshake(net, 1001, join(token_of(7)))
    assert not cables_of(net, ways(net, 1000)[0]) & cables_of(net, ways(net, 1001)[0])


def test_a_switch_that_comes_back_empty_gets_its_entries_again() -> None:
    net = network()
    connection(net, 1000, 7)
    before = ways(net, 1000)
    net.disconnect(2)
    assert ways(net, 1000) == before, "it goes on without the controller"
    connection(net, 2000, 8)
    assert all(place[0] != 2 for place in ways(net, 2000)[0]), "new subflows avoid it"
    net.switches[2].tables = {0: {}, 1: {}}
    net.connect(2)
    assert ways(net, 1000) == before


def test_forged_joins_are_bounded_and_end() -> None:
    net = network(opening_timeout=5)
    connection(net, 1000, 7)
    before = [ways(net, port) for port in (1000, 1001)]
    for number in range(50):
        net.send(A, segment(A, 2000 + number, B, 80, SYN, join(0xBAD0_0000 + number)))
    assert [ways(net, port) for port in (1000, 1001)] == before
    net.wait(10)
    assert net.controller.placement.connections() == (1, 0) and len(net.controller.subflows) == 2


def test_a_flood_of_syns_leaves_existing_flows_alone_and_is_bounded() -> None:
    net = network(opening_per_port=32, entries=100)
    connection(net, 1000, 7)
    before = [ways(net, port) for port in (1000, 1001)]
    rng = random.Random(3)
    for number in range(10_000):
        source = f"10.{rng.randint(1, 200)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}" if number % 2 else A
        net.send(A, segment(source, 1024 + number % 60_000, B, 80, SYN, CAPABLE if number % 3 else join(number)))
        assert max(net.entries(dpid) for dpid in net.switches) <= 100
        assert len(net.controller.subflows) <= 2 + 32 + 32
    controller = net.controller
    assert controller.counters["packet_ins"] < 1000, "the switch was told to keep them"
    assert len(controller.hosts) <= 2 + net.settings.hosts_per_port
    assert [ways(net, port) for port in (1000, 1001)] == before
    net.wait(30)
    handshake(net, 5000, CAPABLE, capable_reply(9))
    handshake(net, 5001, join(token_of(9)))
    assert not cables_of(net, ways(net, 5000)[0]) & cables_of(net, ways(net, 5001)[0])


def test_a_flood_straight_to_the_controller_is_bounded() -> None:
    net = network()
    for number in range(10_000):
        frame = segment(A, 1024 + number, B, 80, SYN, CAPABLE)
        messages = net.controller.packet_in(net.now, *net.hosts[A], frame)
        net.controller.packet_in(net.now, *net.hosts[A], Arp(True, frame[6:12], A, bytes(6), B).frame())
        assert len(messages) < 20
    assert len(net.controller.subflows) <= net.settings.opening_per_port
    assert net.controller.counters["packet_ins_over_rate"] > 15_000


def test_a_thousand_connections_a_minute() -> None:
    net = network(idle_timeout=10)
    most = 0
    for number in range(1000):
        connection(net, 1024 + 4 * number, number)
        if number % 4 == 0:
            net.wait(0.25)
        most = max(most, net.entries(1))
    assert net.controller.counters["flows_join"] == 1000 and net.controller.counters["refused_flows"] == 0
    assert most <= 4 * (10 + 1) * 17 * 4
    net.wait(40)
    assert net.entries(1) == 0 and len(net.controller.subflows) == 0


def test_full_tables_leave_new_flows_on_default_routes() -> None:
    net = network(entries=8)
    net.arrived.clear()
    for number in range(6):
        net.send(A, segment(A, 1000 + number, B, 80, SYN, CAPABLE))
    assert all(net.entries(dpid) <= 8 for dpid in net.switches)
    assert len(net.arrived) == 6 and net.controller.counters["refused_entries"] > 0


@pytest.mark.parametrize("mode", ["shortest-path", "ecmp-flow"])
def test_tables_alone_serve_the_other_modes(mode: str) -> None:
    net = network(mode=mode)
    ports = {way[0] for port in range(1000, 1040) if (way := net.send(A, segment(A, port, B, 80, SYN, CAPABLE)))}
    assert len(ports) == (2 if mode == "ecmp-flow" else 1)
    assert len(net.controller.subflows) == 0


def test_open_vswitch_is_told_apart_where_it_cannot_choose_by_packet() -> None:
    net = FakeNetwork(DIAMOND_CABLES, {A: 1, B: 4}, mode="ecmp-packet")
    net.controller.switch_up(net.now, 9, {}, 254, "Nicira, Inc. Open vSwitch 3.1.0")
    assert "by flow" in status(net.controller, net.now)["switches"][0]["objection"]


def test_arp_is_answered_for_known_hosts_and_passed_on_for_others() -> None:
    net = network(hosts={A: 1, B: 4, "10.0.0.3": 3})
    known = net.controller.packet_in(net.now, *net.hosts[A], Arp(True, b"\2" * 6, A, bytes(6), B).frame())
    assert len(known) == 1 and known[0].dpid == 1
    unknown = Arp(True, b"\2" * 6, A, bytes(6), "10.0.0.9").frame()
    assert {m.dpid for m in net.controller.packet_in(net.now, *net.hosts[A], unknown)} == {3, 4}


def test_frames_that_are_not_ours_make_no_links() -> None:
    net = network()
    links = len(net.controller.topology.links)
    forged = Probes(b"another key").frame(2, 1)
    assert net.controller.packet_in(net.now, *net.hosts[A], forged) == []
    for length in range(120):
        rng = random.Random(length)
        for kind in (b"\x88\xcc", b"\x08\x06", b"\x08\0", b"\x86\xdd"):
            net.controller.packet_in(net.now, *net.hosts[A], (bytes(12) + kind + rng.randbytes(120))[:length])
    assert len(net.controller.topology.links) == links


def test_a_host_cannot_take_over_the_address_of_another_by_tcp() -> None:
    net = network(hosts={A: 1, B: 4, "10.0.0.3": 3})
    net.send("10.0.0.3", segment(A, 1, B, 80, SYN, CAPABLE))
    host = net.controller.hosts.get(A)
    assert host is not None and host.place == net.hosts[A] and net.controller.counters["foreign_sources"] == 1


def test_least_used_avoids_a_port_that_others_use() -> None:
    net = network(ties="least-used", capacity=10)
    for number in range(1, 4):
        net.now += 1
        busy = {1: (0, number * 1_250_000), 2: (0, 0), 3: (0, 0)}
        net.controller.port_report(net.now, 1, busy)
    for number in range(6):
        handshake(net, 1000 + number, CAPABLE, capable_reply(number))
        assert ways(net, 1000 + number)[0][0] == (1, 2)


def test_the_status_shows_connections_with_their_paths() -> None:
    net = network()
    connection(net, 1000, 7)
    shown = status(net.controller, net.now)
    assert [len(connection["subflows"]) for connection in shown["connections"]] == [2]
    assert shown["connections"][0]["token"] == f"{token_of(7):08x}"
    paths = sorted(subflow["path"] for subflow in shown["connections"][0]["subflows"])
    assert paths == [["1", "2", "4"], ["1", "3", "4"]]


@pytest.mark.parametrize(
    ("setting", "value"), [("mode", "fastest"), ("entries", 1), ("disjoint_set", 65), ("idle_timeout", 0)]
)
def test_a_wrong_setting_is_named(setting: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{setting}: found"):
        Settings(**{setting: value})


def test_every_mode_has_settings() -> None:
    for mode in MODES:
        assert Settings(mode=mode).places == (mode in ("multiflow", "disjoint"))
