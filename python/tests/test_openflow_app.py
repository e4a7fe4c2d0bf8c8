"""The controller on os-ken: messages as bytes, options, and the status over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import fields

import pytest
from openflow_network import DIAMOND_CABLES, FakeNetwork
from os_ken import cfg
from os_ken.ofproto import ofproto_parser, ofproto_v1_3_parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from subflow import openflow
from subflow._openflow import messages
from subflow._openflow.settings import Settings
from subflow._openflow.status import StatusServer, status
from subflow._openflow.subflows import flow_of, match_of

MATCH = (
    ("eth_type", 0x0800),
    ("ip_proto", 6),
    ("ipv4_dst", "10.0.0.2"),
    ("ipv4_src", "10.0.0.1"),
    ("tcp_dst", 80),
    ("tcp_src", 1000),
)


ACTIONS = (messages.Output(3), messages.ToGroup(4), messages.ToController(), messages.Drop())


@pytest.mark.parametrize(
    "message",
    [
        *(messages.Add(1, messages.Entry(0, 5, MATCH, action, messages.COOKIE | 7, 60)) for action in ACTIONS),
        messages.Add(1, messages.Entry(0, 5, (), messages.ToRoutes(), notify=True)),
        messages.Delete(1, 0, 5, MATCH),
        messages.AddGroup(1, 9, (1, 2)),
        messages.PacketOut(1, b"frame", None, 3),
        messages.PacketOut(1, b"frame", messages.Output(2)),
        messages.Barrier(1, 1),
        messages.AskFlows(1),
        messages.AskPorts(1),
    ],
)
def test_every_message_is_one_of_openflow_1_3(message: messages.Message) -> None:
    switch = ProtocolDesc(version=4)
    made = openflow._translate(switch, message)
    made.set_xid(1)
    made.serialize()
    version, _, length, _ = ofproto_parser.header(made.buf)
    assert version == 4 and length == len(made.buf)


def test_a_match_comes_back_as_it_was() -> None:
    match = ofproto_v1_3_parser.OFPMatch(**dict(MATCH))
    assert openflow._match(match) == MATCH
    flow = flow_of(MATCH)
    assert flow is not None and match_of(flow) == MATCH


def test_every_setting_is_an_option_with_its_default() -> None:
    group = cfg.CONF[openflow.GROUP]
    assert Settings(**{setting.name: group[setting.name] for setting in fields(Settings)}) == Settings()


def test_the_status_is_read_only() -> None:
    net = FakeNetwork(DIAMOND_CABLES, {"10.0.0.1": 1, "10.0.0.2": 4})
    net.start()
    server = StatusServer("127.0.0.1:0", lambda: status(net.controller, net.now))
    try:
        with urllib.request.urlopen(f"http://{server.address}/") as answer:
            shown = json.load(answer)
        assert [len(shown[key]) for key in ("switches", "links", "hosts")] == [4, 4, 2]
        for request in (
            urllib.request.Request(f"http://{server.address}/", data=b"{}", method="POST"),
            urllib.request.Request(f"http://{server.address}/nothing"),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            refused.value.close()
    finally:
        server.close()


@pytest.mark.parametrize("address", ["8081", "127.0.0.1:x", "127.0.0.1:99999"])
def test_a_wrong_address_is_named(address: str) -> None:
    with pytest.raises(ValueError, match="expected ADDRESS:PORT"):
        StatusServer(address, dict)
