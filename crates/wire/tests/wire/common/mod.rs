//! Helpers of the tests that compare bytes.

pub(crate) mod quic_strategies;
pub(crate) mod sctp_specimens;
pub(crate) mod sctp_strategies;
pub(crate) mod specimens;
pub(crate) mod strategies;
pub(crate) mod tshark_capture;

use subflow_wire::tcp::{TcpFlags, TcpOptions, TcpSegment};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, checksum};

/// IPv4 header and TCP header without options.
pub(crate) const HEADERS: usize = 40;

/// Bytes from hex digits. White space and the rest of a line after `//` are ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.lines().map(|line| line.split("//").next().unwrap()).collect();
    let digits: Vec<_> = digits.chars().filter(|character| !character.is_whitespace()).collect();
    assert!(digits.len().is_multiple_of(2), "odd number of hex digits in {text}");
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn ipv4_header() -> IpHeader {
    IpHeader {
        source: "10.0.0.1".parse().unwrap(),
        destination: "10.0.0.2".parse().unwrap(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    }
}

pub(crate) fn ipv6_header() -> IpHeader {
    IpHeader {
        source: "2001:db8::1".parse().unwrap(),
        destination: "2001:db8::2".parse().unwrap(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    }
}

/// A data segment with the given options and no payload.
pub(crate) fn segment(options: TcpOptions) -> TcpSegment {
    TcpSegment {
        source_port: 49152,
        destination_port: 443,
        sequence: 0x0102_0304,
        acknowledgment: 0x0506_0708,
        flags: TcpFlags::ACK,
        window: 0x2000,
        options,
        payload: Payload::default(),
    }
}

pub(crate) fn packet(options: TcpOptions) -> Packet {
    Packet { ip: ipv4_header(), body: Body::Tcp(segment(options)) }
}

pub(crate) fn emit(packet: &Packet, payload: PayloadBytes<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(payload, 0x1234, &mut bytes).unwrap();
    bytes
}

/// The options as bytes.
pub(crate) fn emit_options(options: &TcpOptions) -> Vec<u8> {
    emit(&packet(options.clone()), PayloadBytes::Zero).split_off(HEADERS)
}

/// Parses the options `bytes`, padded with end-of-options to a multiple of 4.
pub(crate) fn parse_options(bytes: &[u8]) -> TcpOptions {
    let mut packet = emit(&packet(TcpOptions::default()), PayloadBytes::Zero);
    packet.extend_from_slice(bytes);
    packet.resize(packet.len().next_multiple_of(4), 0);
    packet[32] = ((packet.len() - 20) as u8 / 4) << 4;
    repair(&mut packet);
    match Packet::parse(&packet).unwrap().0.body {
        Body::Tcp(segment) => segment.options,
        Body::Udp(_) | Body::Sctp(_) | Body::Quic(_) => unreachable!(),
    }
}

/// Sets length and checksums of an IPv4 packet without options that carries TCP.
pub(crate) fn repair(packet: &mut [u8]) {
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[10..12].fill(0);
    let sum = checksum::ones_complement_sum(&packet[..20]);
    packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
    packet[36..38].fill(0);
    let mut pseudo_header = packet[12..20].to_vec();
    pseudo_header.extend_from_slice(&[0, 6]);
    pseudo_header.extend_from_slice(&(length - 20).to_be_bytes());
    pseudo_header.extend_from_slice(&packet[20..]);
    let sum = checksum::ones_complement_sum(&pseudo_header);
    packet[36..38].copy_from_slice(&(!sum).to_be_bytes());
}
