"""Captures as tables."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import subflow


def capture(segments: int) -> bytes:
    """A pcap file of a connection: segments of 100 bytes, each with its acknowledgment 20 ms later."""
    header = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    packets = []

    def packet(time: int, ends: bytes, ports: bytes, numbers: tuple[int, int], length: int) -> None:
        ip = bytes([0x45, 0, 0, 40 + length, 0, 1, 0x40, 0, 64, 6, 0, 0]) + ends
        tcp = ports + struct.pack(">IIBBHHH", *numbers, 0x50, 0x10, 8192, 0, 0)
        record = ip + tcp + bytes(length)
        packets.append(struct.pack("<IIII", 0, time, len(record), len(record)) + record)

    client, server = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    for number in range(segments):
        sequence = 1000 + 100 * number
        packet(number * 50_000, client + server, b"\x9c\x40\x00\x50", (sequence, 500), 100)
        packet(number * 50_000 + 20_000, server + client, b"\x00\x50\x9c\x40", (500, sequence + 100), 0)
    return header + b"".join(packets)


def test_a_capture_gives_the_tables_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "connection.pcap"
    path.write_bytes(capture(10))
    captures = subflow.analyze([path])
    assert captures.connections["protocol"] == ["tcp"]
    assert captures.subflows["bytes"] == [1000]
    assert captures.subflows["mean_rtt_ms"] == [20.0]
    assert captures.subflows.units["mean_rtt_ms"] == "ms"
    assert len(captures.bottlenecks) == 0
    assert len(captures.totals) == 0
    assert captures.notes == ["Connection 1: its SYN was not captured."]
    assert "10.0.0.1:40000" in str(captures)


def test_captures_of_one_host_are_given_as_a_list(tmp_path: Path) -> None:
    whole = capture(10)
    # A packet with data has 140 bytes and 16 of its record; its acknowledgment has 40 and 16.
    half = 24 + 5 * (156 + 56)
    parts = [tmp_path / "first.pcap", tmp_path / "second.pcap"]
    parts[0].write_bytes(whole[:half])
    parts[1].write_bytes(whole[:24] + whole[half:])
    together = subflow.analyze([parts])
    assert together.subflows["bytes"] == [1000]
    assert any("are of one host" in note for note in together.notes)
    assert subflow.analyze(parts).subflows["bytes"] == [1000]
    with pytest.raises(ValueError, match="is empty"):
        subflow.analyze([parts, []])


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    with pytest.raises(ValueError, match="expected a capture"):
        subflow.analyze([path])
    with pytest.raises(FileNotFoundError, match="missing.pcap"):
        subflow.analyze([tmp_path / "missing.pcap"])
    with pytest.raises(ValueError, match="clocks"):
        subflow.analyze([path], clocks="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        subflow.analyze([])
