"""MultiFlow for switches: an OpenFlow 1.3 controller that places the subflows of MPTCP connections on disjoint paths.

Run it with ``subflow-openflow --config-file controller.conf``, or as an application of os-ken. It needs
``subflow[openflow]``. The algorithm is the simulator's.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from dataclasses import fields
from typing import Any

from os_ken import cfg, log
from os_ken.base.app_manager import AppManager, OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    HANDSHAKE_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_cls,
)
from os_ken.lib import hub
from os_ken.ofproto import ofproto_v1_3 as protocol
from os_ken.ofproto import ofproto_v1_3_parser as parser

from subflow import __version__
from subflow._openflow import messages
from subflow._openflow.controller import Controller
from subflow._openflow.identity import Identities
from subflow._openflow.settings import Settings
from subflow._openflow.status import StatusServer, status
from subflow._openflow.topology import Port

__all__ = ["MultiFlow", "main"]

LOG = logging.getLogger("subflow.openflow")
GROUP = "subflow"
TICK = 0.25
# Seconds in which a connection answers an echo request, or another one with its datapath id takes its place.
ECHO_PATIENCE = 5.0
VERSIONS = {1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3", 5: "1.4", 6: "1.5"}


def _options() -> list[Any]:
    """The settings as options of os-ken's configuration, in the section ``[subflow]``."""
    options = []
    for setting in fields(Settings):
        data, default = setting.metadata, setting.default
        more: dict[str, Any] = {"help": data["help"], "default": default}
        if isinstance(default, str):
            options.append(cfg.StrOpt(setting.name, choices=data.get("choices"), **more))
        else:
            kind = cfg.FloatOpt if isinstance(default, float) else cfg.IntOpt
            options.append(kind(setting.name, min=data.get("least"), max=data.get("most"), **more))
    return options


cfg.CONF.register_cli_opts(_options(), group=GROUP)


class MultiFlow(OSKenApp):  # type: ignore[misc]
    """The application: events of os-ken go to the controller, its messages go to the switches."""

    OFP_VERSIONS = [protocol.OFP_VERSION]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        settings = Settings(**{setting.name: self.CONF[GROUP][setting.name] for setting in fields(Settings)})
        self.controller = Controller(settings)
        self._identities: Identities[Any] = Identities()
        self._tickets: dict[tuple[int, int], int] = {}
        self._partial: dict[int, list[messages.FoundEntry]] = {}
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._status = StatusServer(settings.status, self.snapshot) if settings.status else None

    def start(self) -> Any:
        """Begins to handle events."""
        hub.spawn(self._tick)
        return super().start()

    def stop(self) -> None:
        """Ends the status server and the clock."""
        self._over.set()
        if self._status is not None:
            self._status.close()
        super().stop()

    def snapshot(self) -> dict[str, Any]:
        """What the status shows."""
        with self._lock:
            return status(self.controller, time.monotonic(), self._identities.refusals.values())

    def _tick(self) -> None:
        while not self._over.is_set():
            hub.sleep(TICK)
            try:
                with self._lock:
                    self._send(self.controller.tick(time.monotonic()))
            except Exception:
                LOG.exception("the controller's clock goes on after an error")

    # From switches.

    @set_ev_cls(ofp_event.EventOFPHello, HANDSHAKE_DISPATCHER)  # type: ignore[untyped-decorator]
    def _hello(self, event: Any) -> None:
        offered = _offered_versions(event.msg)
        if protocol.OFP_VERSION not in offered:
            LOG.error(
                "refused a switch at %s: it offers OpenFlow %s, and this controller speaks 1.3. Let the switch offer "
                "1.3, too (Open vSwitch: ovs-vsctl set bridge NAME protocols=OpenFlow13)",
                _address(event.msg.datapath),
                ", ".join(VERSIONS.get(version, f"version {version}") for version in sorted(offered)) or "nothing",
            )

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])  # type: ignore[untyped-decorator]
    def _state_changed(self, event: Any) -> None:
        datapath: Any = event.datapath
        if event.state == MAIN_DISPATCHER:
            # Its ports come with the answer.
            datapath.send_msg(parser.OFPDescStatsRequest(datapath, 0))
        elif (dpid := datapath.id) is not None:
            with self._lock:
                if self._identities.speaks(dpid, datapath):
                    self._identities.give_up(dpid)
                    self._tickets = {key: ticket for key, ticket in self._tickets.items() if key[0] != dpid}
                    self._partial.pop(dpid, None)
                    self._send(self.controller.switch_down(time.monotonic(), dpid))

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)  # type: ignore[untyped-decorator]
    def _features(self, event: Any) -> None:
        event.msg.datapath.subflow_tables = event.msg.n_tables

    @set_ev_cls(ofp_event.EventOFPDescStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _description(self, event: Any) -> None:
        datapath, body = event.msg.datapath, event.msg.body
        datapath.subflow_description = f"{_text(body.mfr_desc)} {_text(body.hw_desc)} {_text(body.sw_desc)}"
        datapath.send_msg(parser.OFPPortDescStatsRequest(datapath, 0))

    @set_ev_cls(ofp_event.EventOFPPortDescStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _ports(self, event: Any) -> None:
        datapath = event.msg.datapath
        ports = getattr(datapath, "subflow_ports", None)
        if ports is None:
            ports = datapath.subflow_ports = {}
        ports.update({port.port_no: _port(port) for port in event.msg.body if port.port_no < protocol.OFPP_MAX})
        if event.msg.flags & protocol.OFPMPF_REPLY_MORE:
            return
        with self._lock:
            if self._identities.get(datapath.id) in (None, datapath):
                self._admit(datapath, ports)
                return
        # Events of switches are not handled while one waits: the answer to the echo request is one.
        hub.spawn(self._contest, datapath, ports)

    def _admit(self, datapath: Any, ports: dict[int, Port]) -> None:
        before = self._identities.take(datapath.id, datapath)
        if before is not None:
            LOG.warning("switch %x: connected again, from %s", datapath.id, _address(datapath))
            before.close()
        tables = getattr(datapath, "subflow_tables", 254)
        description = getattr(datapath, "subflow_description", "")
        self._send(self.controller.switch_up(time.monotonic(), datapath.id, ports, tables, description))

    def _contest(self, datapath: Any, ports: dict[int, Port]) -> None:
        """Another connection has the datapath id: a second switch, or the one that this switch lost.

        The one that has it keeps it if it answers. A lost connection does not, and may seem to be open for minutes.
        """
        serving = self._identities.get(datapath.id)
        answers = serving is not None and self._answers(serving)
        with self._lock:
            if answers and self._identities.speaks(datapath.id, serving):
                self._identities.refuse(datapath.id, _address(datapath), _address(serving))
                datapath.close()
            else:
                self._admit(datapath, ports)

    def _answers(self, datapath: Any) -> bool:
        """Whether a switch answers an echo request."""
        echoes = getattr(datapath, "subflow_echoes", 0)
        datapath.send_msg(parser.OFPEchoRequest(datapath, b"subflow"))
        deadline = time.monotonic() + ECHO_PATIENCE
        while time.monotonic() < deadline and self._identities.speaks(datapath.id, datapath):
            if getattr(datapath, "subflow_echoes", 0) > echoes:
                return True
            hub.sleep(0.02)
        return False

    @set_ev_cls(ofp_event.EventOFPEchoReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _echo(self, event: Any) -> None:
        datapath = event.msg.datapath
        datapath.subflow_echoes = getattr(datapath, "subflow_echoes", 0) + 1

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _port_status(self, event: Any) -> None:
        message = event.msg
        port = message.desc
        if port.port_no >= protocol.OFPP_MAX:
            return
        now = time.monotonic()
        gone = message.reason == protocol.OFPPR_DELETE
        with self._lock:
            found = None if gone else _port(port)
            if not self._speaks(message):
                return
            self._send(self.controller.port_changed(now, message.datapath.id, port.port_no, found))

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _packet_in(self, event: Any) -> None:
        message = event.msg
        with self._lock:
            place = message.datapath.id, message.match["in_port"]
            if self._speaks(message):
                self._send(self.controller.packet_in(time.monotonic(), *place, bytes(message.data)))

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _barrier(self, event: Any) -> None:
        dpid = event.msg.datapath.id
        with self._lock:
            ticket = self._tickets.pop((dpid, event.msg.xid), None) if self._speaks(event.msg) else None
            if ticket is not None:
                self._send(self.controller.barrier_reply(dpid, ticket))

    @set_ev_cls(ofp_event.EventOFPFlowRemoved, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _flow_removed(self, event: Any) -> None:
        message = event.msg
        if message.reason != protocol.OFPRR_DELETE:
            with self._lock:
                if self._speaks(message):
                    self._send(self.controller.flow_removed(message.datapath.id, message.cookie, _match(message.match)))

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _flow_stats(self, event: Any) -> None:
        message = event.msg
        dpid = message.datapath.id
        with self._lock:
            if not self._speaks(message):
                return
            found = self._partial.setdefault(dpid, [])
            found += (
                messages.FoundEntry(e.table_id, _match(e.match), e.cookie, _out_port(e), e.byte_count)
                for e in message.body
            )
            if not message.flags & protocol.OFPMPF_REPLY_MORE:
                self._send(self.controller.flow_report(time.monotonic(), dpid, self._partial.pop(dpid)))

    @set_ev_cls(ofp_event.EventOFPPortStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _port_stats(self, event: Any) -> None:
        counters = {
            port.port_no: (port.rx_bytes, port.tx_bytes)
            for port in event.msg.body
            if port.port_no < protocol.OFPP_MAX
        }
        with self._lock:
            if self._speaks(event.msg):
                self._send(self.controller.port_report(time.monotonic(), event.msg.datapath.id, counters))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [CONFIG_DISPATCHER, MAIN_DISPATCHER])  # type: ignore[untyped-decorator]
    def _error(self, event: Any) -> None:
        message = event.msg
        exists = message.type == protocol.OFPET_GROUP_MOD_FAILED and message.code == protocol.OFPGMFC_GROUP_EXISTS
        # A group that exists is the same: its number is made of its ports.
        if not exists:
            with self._lock:
                if self._speaks(message):
                    described = f"error of type {message.type}, code {message.code}"
                    self._send(self.controller.switch_error(message.datapath.id, described))

    def _speaks(self, message: Any) -> bool:
        """Whether a message is from the switch that has its datapath id."""
        return self._identities.speaks(message.datapath.id, message.datapath)

    # To switches.

    def _send(self, batch: list[messages.Message]) -> None:
        for message in batch:
            datapath = self._identities.get(message.dpid)
            if datapath is None:
                continue
            translated = _translate(datapath, message)
            if isinstance(message, messages.Barrier):
                datapath.set_xid(translated)
                self._tickets[message.dpid, translated.xid] = message.ticket
            datapath.send_msg(translated)


def _address(datapath: Any) -> str:
    host, port, *_ = datapath.address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _offered_versions(hello: Any) -> set[int]:
    """The versions that a switch offers: those of its bitmap, or all up to that of the message."""
    elements = getattr(hello, "elements", None)
    if elements:
        return {version for element in elements for version in element.versions}
    return set(range(1, hello.version + 1))


def _text(value: Any) -> str:
    return bytes(value).rstrip(b"\0").decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _port(port: Any) -> Port:
    down = port.config & protocol.OFPPC_PORT_DOWN or port.state & protocol.OFPPS_LINK_DOWN
    return Port(_text(port.name), not down, port.curr_speed)


def _match(match: Any) -> messages.Match:
    return tuple(sorted((name, value) for name, value in match.items()))


def _out_port(entry: Any) -> int | None:
    """The port to which an entry sends; ``None`` if it does not name one."""
    for instruction in entry.instructions:
        for action in getattr(instruction, "actions", ()):
            if action.type == protocol.OFPAT_OUTPUT:
                return int(action.port)
    return None


def _actions(action: messages.Action) -> list[Any]:
    match action:
        case messages.Output(port):
            return [parser.OFPActionOutput(port)]
        case messages.ToGroup(group):
            return [parser.OFPActionGroup(group)]
        case messages.ToController():
            return [parser.OFPActionOutput(protocol.OFPP_CONTROLLER, protocol.OFPCML_NO_BUFFER)]
        case _:
            return []


def _instructions(datapath: Any, action: messages.Action) -> list[Any]:
    match action:
        case messages.ToRoutes():
            return [parser.OFPInstructionGotoTable(1)]
        case messages.Drop():
            return []
        case _:
            return [parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, _actions(action))]


def _translate(datapath: Any, message: messages.Message) -> Any:
    """The message of OpenFlow 1.3."""
    match message:
        case messages.Add(_, entry):
            return parser.OFPFlowMod(
                datapath,
                cookie=entry.cookie,
                table_id=entry.table,
                command=protocol.OFPFC_ADD,
                idle_timeout=entry.idle_timeout,
                hard_timeout=entry.hard_timeout,
                priority=entry.priority,
                buffer_id=protocol.OFP_NO_BUFFER,
                flags=protocol.OFPFF_SEND_FLOW_REM if entry.notify else 0,
                match=parser.OFPMatch(**dict(entry.match)),
                instructions=_instructions(datapath, entry.action),
            )
        case messages.Delete(_, table, priority, match):
            return parser.OFPFlowMod(
                datapath,
                cookie=messages.COOKIE,
                cookie_mask=messages.COOKIE_MASK,
                table_id=table,
                command=protocol.OFPFC_DELETE_STRICT,
                priority=priority,
                buffer_id=protocol.OFP_NO_BUFFER,
                out_port=protocol.OFPP_ANY,
                out_group=protocol.OFPG_ANY,
                match=parser.OFPMatch(**dict(match)),
            )
        case messages.AddGroup(_, group, ports):
            buckets = [parser.OFPBucket(1, actions=[parser.OFPActionOutput(port)]) for port in ports]
            return parser.OFPGroupMod(datapath, protocol.OFPGC_ADD, protocol.OFPGT_SELECT, group, buckets)
        case messages.PacketOut(_, data, action, in_port):
            actions = _actions(action) if action is not None else [parser.OFPActionOutput(protocol.OFPP_TABLE)]
            port = protocol.OFPP_CONTROLLER if in_port is None else in_port
            return parser.OFPPacketOut(datapath, protocol.OFP_NO_BUFFER, port, actions, data)
        case messages.Barrier():
            return parser.OFPBarrierRequest(datapath)
        case messages.AskFlows():
            ours = {"cookie": messages.COOKIE, "cookie_mask": messages.COOKIE_MASK}
            return parser.OFPFlowStatsRequest(
                datapath, 0, protocol.OFPTT_ALL, protocol.OFPP_ANY, protocol.OFPG_ANY, **ours
            )
        case messages.AskPorts():
            return parser.OFPPortStatsRequest(datapath, 0, protocol.OFPP_ANY)


def main(arguments: list[str] | None = None) -> None:
    """The command ``subflow-openflow``: os-ken with this application."""
    # Handlers and threads of os-ken do not end by themselves.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    log.early_init_log(logging.INFO)
    cfg.CONF(args=arguments, project="subflow-openflow", version=__version__)
    log.init_log()
    # os-ken's word about a switch with other versions names them by their numbers on the wire: `_hello` says it.
    logging.getLogger("OFPHandler").addFilter(lambda record: record.msg != "%s on datapath %s")
    manager = AppManager.get_instance()
    manager.load_apps(["subflow.openflow", "os_ken.controller.ofp_handler"])
    contexts = manager.create_contexts()
    services = list(manager.instantiate_apps(**contexts))
    hub.joinall(services)


if __name__ == "__main__":
    # os-ken loads the application by its name: the options belong to that module, not to this copy.
    from subflow import openflow

    openflow.main()
