//! Properties of every packet and of every sequence of bytes.

use proptest::prelude::*;
use subflow_wire::{Header, Packet, ParseError, PayloadBytes, checksum};

use crate::common::strategies::{damage, packet_with_payload, tcp_options};
use crate::common::{emit_options, parse_options, repair};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_written_packet_parses_to_itself((packet, payload) in packet_with_payload(), identification: u16) {
        let mut bytes = vec![0xee];
        packet.emit(PayloadBytes::Bytes(&payload), identification, &mut bytes).unwrap();
        prop_assert_eq!(bytes.remove(0), 0xee, "emit appends");
        prop_assert_eq!(bytes.len(), packet.wire_length() as usize);
        let (parsed, payload_range) = Packet::parse(&bytes).unwrap();
        prop_assert_eq!(parsed, packet);
        prop_assert_eq!(&bytes[payload_range], payload);
    }

    #[test]
    fn the_length_of_options_is_a_multiple_of_four(options in tcp_options()) {
        prop_assert_eq!(options.wire_length() % 4, 0);
    }

    #[test]
    fn truncated_packets_are_refused((packet, payload) in packet_with_payload(), at: prop::sample::Index) {
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&payload), 0, &mut bytes).unwrap();
        bytes.truncate(at.index(bytes.len()));
        let truncated = matches!(Packet::parse(&bytes), Err(ParseError::Truncated { .. }));
        prop_assert!(truncated);
    }

    #[test]
    fn a_flipped_bit_is_detected((packet, payload) in packet_with_payload(), at: prop::sample::Index, bit in 0..8) {
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&payload), 0, &mut bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        let is_ipv4 = packet.ip.source.is_ipv4();
        let transport = if is_ipv4 { 20 } else { 40 };
        // No checksum covers an IPv6 header except the addresses. Lengths of the IPv4 header and of a UDP datagram are
        // not always covered. And a UDP checksum may become zero, which means that there is none.
        let covered = if is_ipv4 { at > 0 } else { at >= 8 };
        let is_udp = packet.body.protocol() == 17;
        prop_assume!(covered && !(is_udp && (transport + 4..transport + 8).contains(&at)));
        prop_assert!(Packet::parse(&bytes).is_err());
    }

    #[test]
    fn a_changed_checksum_is_refused((packet, payload) in packet_with_payload(), change in 1..0xffff_u16) {
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&payload), 0, &mut bytes).unwrap();
        let ip_header = if packet.ip.source.is_ipv4() { 20 } else { 40 };
        let is_tcp = packet.body.protocol() == 6;
        let (header, at) = if is_tcp { (Header::Tcp, ip_header + 16) } else { (Header::Udp, ip_header + 6) };
        let sum = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let changed = checksum::ones_complement_add(sum, change);
        // A UDP checksum of zero means that there is none.
        prop_assume!(changed != 0);
        bytes[at..at + 2].copy_from_slice(&changed.to_be_bytes());
        prop_assert_eq!(Packet::parse(&bytes), Err(ParseError::Checksum(header)));
    }

    #[test]
    fn parsing_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0..3) {
        // Most inputs start like a packet; others fail at the first check.
        if let (Some(first), 1..) = (bytes.first_mut(), version) {
            *first = [0x45, 0x60][version as usize - 1];
        }
        let _ = Packet::parse(&bytes);
    }

    #[test]
    fn parsing_options_never_panics_and_what_it_finds_can_be_written(
        mut bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0..31_u8, Just(30)], 0..=40)
    ) {
        bytes.truncate(bytes.len() / 4 * 4);
        let options = parse_options(&bytes);
        // Packed options may need more space in the layout of Linux.
        if options.wire_length() <= 40 {
            prop_assert_eq!(parse_options(&emit_options(&options)), options);
        }
    }

    #[test]
    fn parsing_a_damaged_packet_never_panics(
        (packet, payload) in packet_with_payload(),
        damage in damage(),
    ) {
        let mut bytes = Vec::new();
        packet.emit(PayloadBytes::Bytes(&payload), 0, &mut bytes).unwrap();
        damage.replace(&mut bytes);
        if bytes[0] == 0x45 && bytes[9] == 6 {
            repair(&mut bytes); // with a wrong checksum the options would not be parsed
        }
        let _ = Packet::parse(&bytes);
    }
}
