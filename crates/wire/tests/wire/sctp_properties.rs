//! Properties of every SCTP packet and of every sequence of bytes parsed as one.

use proptest::prelude::*;
use subflow_wire::sctp::{SctpPacket, UdpEncapsulation};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, PayloadBytes};

use crate::common::sctp_strategies::sctp_packet_with_payload;
use crate::common::strategies::damage;

fn emitted(packet: &SctpPacket, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(PayloadBytes::Bytes(payload), &mut bytes).unwrap();
    bytes
}

fn repair(bytes: &mut [u8]) {
    if bytes.len() >= 12 {
        bytes[8..12].fill(0);
        let crc = crc32c::crc32c(bytes);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    }
}

/// A parsed packet can be written, has the same length, and parses to the same.
fn round_trips(bytes: &[u8]) {
    let Ok(packet) = SctpPacket::parse(bytes) else { return };
    let payload: Vec<u8> = packet.payload_ranges().flat_map(|range| bytes[range].to_vec()).collect();
    assert_eq!(payload.len(), packet.user_data_length() as usize);
    let again = emitted(&packet, &payload);
    assert_eq!(again.len(), bytes.len().next_multiple_of(4));
    assert_eq!(SctpPacket::parse(&again), Ok(packet));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_written_packet_parses_to_itself((packet, payload) in sctp_packet_with_payload()) {
        let bytes = emitted(&packet, &payload);
        prop_assert_eq!(bytes.len(), packet.length() as usize);
        let attached: Vec<u8> = packet.payload_ranges().flat_map(|range| bytes[range].to_vec()).collect();
        prop_assert_eq!(attached, payload);
        prop_assert_eq!(SctpPacket::parse(&bytes), Ok(packet));
    }

    #[test]
    fn an_ip_packet_carries_it_directly_or_in_udp(
        (mut sctp, payload) in sctp_packet_with_payload(),
        in_udp: bool,
        v6: bool,
        port: u16,
    ) {
        sctp.encapsulation = in_udp.then_some(UdpEncapsulation { source_port: port, destination_port: 9899 });
        let [source, destination] = if v6 { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] };
        let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
        let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let packet = Packet { ip, body: Body::Sctp(sctp) };
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&payload), 0, &mut bytes).unwrap();
        prop_assert_eq!(bytes.len(), packet.wire_length() as usize);
        let (parsed, place) = Packet::parse(&bytes).unwrap();
        let Body::Sctp(sctp) = &parsed.body else { panic!("{parsed:?}") };
        prop_assert_eq!(place.len(), sctp.length() as usize);
        prop_assert_eq!(parsed, packet);
    }

    #[test]
    fn a_flipped_bit_is_detected(
        (packet, payload) in sctp_packet_with_payload(),
        at: prop::sample::Index,
        bit in 0..8,
    ) {
        let mut bytes = emitted(&packet, &payload);
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        prop_assert!(SctpPacket::parse(&bytes).is_err());
    }

    #[test]
    fn damage_with_a_correct_checksum_never_panics(
        (packet, payload) in sctp_packet_with_payload(),
        damage in damage(),
    ) {
        let mut bytes = emitted(&packet, &payload);
        damage.replace_and_cut(&mut bytes);
        repair(&mut bytes);
        round_trips(&bytes);
    }

    #[test]
    fn any_bytes_never_panic(mut bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0..17_u8], 0..200)) {
        let _ = SctpPacket::parse(&bytes);
        repair(&mut bytes);
        round_trips(&bytes);
    }
}
