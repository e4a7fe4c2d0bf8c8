"""LLDP frames, by which links are found, and ARP."""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

ETHERTYPE_IPV4, ETHERTYPE_ARP, ETHERTYPE_LLDP = 0x0800, 0x0806, 0x88CC
TCP = 6
BROADCAST = b"\xff" * 6
# IEEE 802.1AB: frames to this address stay on their link.
NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
# Locally administered.
OUR_ADDRESS = bytes.fromhex("025f10000001")

_CHASSIS, _PORT, _LIFETIME, _OWN = 1, 2, 3, 127
_LOCALLY_ASSIGNED = b"\x07"
# An organisation's TLV begins with its identifier and a subtype. This identifier is locally administered.
_OUR_TLV = bytes.fromhex("025f10") + b"\x01"
_MAC_SIZE = 16


def ethertype(frame: bytes) -> int | None:
    """The type of an Ethernet frame; ``None`` if it is too short."""
    return int.from_bytes(frame[12:14], "big") if len(frame) >= 14 else None


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


class Probes:
    """LLDP frames that say which port of which switch they left. A keyed hash tells ours from those of others."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def frame(self, dpid: int, port: int) -> bytes:
        """The frame that leaves `port` of switch `dpid`."""
        place = struct.pack("!QI", dpid, port)
        tlvs = [
            _tlv(_CHASSIS, _LOCALLY_ASSIGNED + place[:8]),
            _tlv(_PORT, _LOCALLY_ASSIGNED + place[8:]),
            _tlv(_LIFETIME, struct.pack("!H", 120)),
            _tlv(_OWN, _OUR_TLV + self._hash(place)),
            b"\0\0",
        ]
        return NEAREST_BRIDGE + OUR_ADDRESS + struct.pack("!H", ETHERTYPE_LLDP) + b"".join(tlvs)

    def origin(self, frame: bytes) -> tuple[int, int] | None:
        """The switch and port that a frame left, if it is one of ours."""
        if len(frame) < 14 + 11 + 7 + 4 + 6 + _MAC_SIZE:
            return None
        dpid, port = struct.unpack_from("!Q", frame, 17)[0], struct.unpack_from("!I", frame, 28)[0]
        expected = self.frame(dpid, port)
        # Short frames may be padded.
        return (dpid, port) if hmac.compare_digest(frame[: len(expected)], expected) else None

    def _hash(self, place: bytes) -> bytes:
        return hmac.new(self._key, place, hashlib.sha256).digest()[:_MAC_SIZE]


@dataclass(frozen=True)
class Arp:
    """An ARP packet for IPv4 over Ethernet (RFC 826)."""

    request: bool
    sender_mac: bytes
    sender: str
    target_mac: bytes
    target: str

    @staticmethod
    def read(frame: bytes) -> Arp | None:
        """The ARP packet in a frame, if it is a valid one."""
        if len(frame) < 42 or frame[14:20] != b"\0\x01\x08\0\x06\x04":
            return None
        operation = int.from_bytes(frame[20:22], "big")
        if operation not in (1, 2):
            return None
        sender, target = (str(IPv4Address(frame[at : at + 4])) for at in (28, 38))
        return Arp(operation == 1, frame[22:28], sender, frame[32:38], target)

    def frame(self) -> bytes:
        """The frame to its target; a request goes to all."""
        return b"".join(
            (
                BROADCAST if self.request else self.target_mac,
                self.sender_mac,
                struct.pack("!H", ETHERTYPE_ARP),
                b"\0\x01\x08\0\x06\x04",
                struct.pack("!H", 1 if self.request else 2),
                self.sender_mac,
                IPv4Address(self.sender).packed,
                bytes(6) if self.request else self.target_mac,
                IPv4Address(self.target).packed,
            )
        )
