//! Whole packets: golden bytes, written and parsed, and errors.

use crate::common::{emit, hex, ipv4_header, ipv6_header, packet, segment, to_hex};
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, DataAck, Dss, Mapping, MptcpOption};
use subflow_wire::tcp::{SackBlock, SynOptions, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use subflow_wire::{Body, Ecn, EmitError, Header, IpHeader, Packet, ParseError, Payload, PayloadBytes, UdpDatagram};

/// `payload` must be the last bytes of `golden`.
#[track_caller]
fn both_ways(packet: &Packet, payload: PayloadBytes<'_>, golden: &str) {
    let golden = hex(golden);
    assert_eq!(to_hex(&emit(packet, payload)), to_hex(&golden));
    assert_eq!(packet.wire_length() as usize, golden.len());
    let payload_start = golden.len() - packet.payload().length as usize;
    assert_eq!(Packet::parse(&golden), Ok((packet.clone(), payload_start..golden.len())));
}

fn udp(ip: IpHeader, payload: Payload) -> Packet {
    Packet { ip, body: Body::Udp(UdpDatagram { source_port: 49152, destination_port: 53, payload }) }
}

const ABC: Payload = Payload { stream_offset: 0, length: 3, sum: 0x6162 + 0x6300 };
const UDP_OVER_IPV4: &str = "45 02 001f 1234 4000 40 11 1496 0a000001 0a000002
                             c000 0035 000b 673d 616263";
const UDP_OVER_IPV6: &str = "6 03 00000 000b 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002
                             c000 0035 000b 1fcb 616263";
const TCP_OVER_IPV4: &str = "45 01 002d 1234 4000 40 06 1494 0a000001 0a000002
                             c000 01bb 01020304 05060708 50 18 2000 6623 0000 68656c6c6f";

#[test]
fn tcp_over_ipv4() {
    let mut segment = segment(TcpOptions::default());
    segment.flags = TcpFlags::ACK | TcpFlags::PSH;
    segment.payload = Payload { stream_offset: 0, length: 5, sum: 0x43d2 };
    let ip = IpHeader { ecn: Ecn::Ect1, ..ipv4_header() };
    both_ways(&Packet { ip, body: Body::Tcp(segment) }, PayloadBytes::Bytes(b"hello"), TCP_OVER_IPV4);
}

#[test]
fn tcp_over_ipv6() {
    let syn = SynOptions { mss: Some(1440), ..Default::default() };
    let segment = TcpSegment {
        source_port: 49152,
        destination_port: 443,
        sequence: 0x0102_0304,
        flags: TcpFlags::SYN,
        window: 64240,
        options: TcpOptions { syn, ..Default::default() },
        ..Default::default()
    };
    both_ways(
        &Packet { ip: ipv6_header(), body: Body::Tcp(segment) },
        PayloadBytes::Zero,
        "60 00 0000 0018 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002
         c000 01bb 01020304 00000000 60 02 faf0 7c13 0000 02 04 05a0",
    );
}

#[test]
fn udp_over_ipv4() {
    let ip = IpHeader { ecn: Ecn::Ect0, ..ipv4_header() };
    both_ways(&udp(ip, ABC), PayloadBytes::Bytes(b"abc"), UDP_OVER_IPV4);
}

#[test]
fn udp_over_ipv6() {
    let ip = IpHeader { ecn: Ecn::CongestionExperienced, ..ipv6_header() };
    both_ways(&udp(ip, ABC), PayloadBytes::Bytes(b"abc"), UDP_OVER_IPV6);
}

#[test]
fn a_zero_payload_has_the_described_number_of_zero_bytes() {
    let payload = Payload { length: 1001, ..Payload::default() };
    let packet = udp(ipv4_header(), payload);
    assert_eq!(emit(&packet, PayloadBytes::Zero), emit(&packet, PayloadBytes::Bytes(&[0; 1001])));
}

#[test]
fn full_mptcp_segment_has_36_option_bytes() {
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let data_ack = Some(DataAck { value: 3, wide: false });
    let mapping = Mapping { data_sequence: 4, wide: true, subflow_sequence: 5, length: 1400, checksum: None };
    let dss = Some(Dss { data_ack, mapping: Some(mapping), data_fin: false });
    let mut packet = packet(TcpOptions { timestamps, dss, ..Default::default() });
    let Body::Tcp(segment) = &mut packet.body else { unreachable!() };
    segment.payload.length = 1400;
    assert_eq!(segment.options.wire_length(), 12 + 24);
    assert_eq!(packet.wire_length(), 20 + 20 + 36 + 1400);
}

#[test]
fn mapping_checksum_covers_pseudo_header_and_data() {
    let mapping = Mapping {
        data_sequence: 0x8182_8384_8586_8788,
        wide: true,
        subflow_sequence: 0x0579,
        length: 1400,
        checksum: None,
    };
    assert_eq!(mapping.checksum_for(0), 0xe2f8);
    assert_eq!(mapping.checksum_for(0x43d2), 0x9f26);
    assert_eq!(
        Mapping { wide: false, ..mapping }.checksum_for(0),
        0xe2f8,
        "always computed from the 64-bit sequence number"
    );
    assert!(mapping.is_intact(0x43d2));
    assert!(Mapping { checksum: Some(0x9f26), ..mapping }.is_intact(0x43d2));
    assert!(!Mapping { checksum: Some(0x9f26), ..mapping }.is_intact(0x43d3));
}

#[test]
fn computed_zero_of_udp_is_sent_as_all_ones() {
    // The checksum over a zero payload is 0x2ba2, so the payload 0x2ba2 makes it zero.
    let packet = udp(ipv4_header(), Payload { stream_offset: 0, length: 2, sum: 0x2ba2 });
    let bytes = emit(&packet, PayloadBytes::Bytes(&[0x2b, 0xa2]));
    assert_eq!(bytes[26..28], [0xff, 0xff]);
    assert_eq!(Packet::parse(&bytes), Ok((packet, 28..30)));
}

#[test]
fn udp_may_lack_a_checksum_over_ipv4_only() {
    let mut bytes = hex(UDP_OVER_IPV4);
    bytes[26..28].fill(0);
    assert!(Packet::parse(&bytes).is_ok());
    let mut bytes = hex(UDP_OVER_IPV6);
    bytes[46..48].fill(0);
    assert_eq!(Packet::parse(&bytes), Err(ParseError::Checksum(Header::Udp)));
}

#[test]
fn bytes_after_the_packet_are_ignored() {
    let packet = Packet::parse(&hex(TCP_OVER_IPV4));
    assert!(packet.is_ok());
    let mut padded = hex(TCP_OVER_IPV4);
    padded.resize(60, 0xaa);
    assert_eq!(Packet::parse(&padded), packet);
    let datagram = Packet::parse(&hex(UDP_OVER_IPV6)).unwrap().0;
    let mut padded = hex(UDP_OVER_IPV6);
    padded.resize(60, 0xaa);
    padded[5] = 20; // the IP payload is longer than the datagram
    assert_eq!(Packet::parse(&padded), Ok((datagram, 48..51)));
}

#[test]
fn ipv4_options_are_skipped() {
    // Router alert (RFC 2113).
    let bytes = hex("46 00 002c 1234 4000 40 06 0000 0a000001 0a000002 94040000
                     c000 01bb 01020304 05060708 50 10 2000 0000 0000");
    assert_eq!(Packet::parse(&bytes), Err(ParseError::Checksum(Header::Ipv4)), "the checksum covers the options");
    let bytes = hex("46 00 002c 1234 4000 40 06 7f91 0a000001 0a000002 94040000
                         c000 01bb 01020304 05060708 50 10 2000 aa02 0000");
    let expected = packet(TcpOptions::default());
    assert_eq!(Packet::parse(&bytes), Ok((expected, 44..44)));
}

#[test]
fn ipv6_options_headers_are_skipped() {
    let datagram = hex(UDP_OVER_IPV6);
    let mut bytes = datagram[..40].to_vec();
    bytes[5] += 8 + 16;
    bytes[6] = 0;
    bytes.extend_from_slice(&hex("3c 00 010400000000")); // hop-by-hop, then destination options
    bytes.extend_from_slice(&hex("11 01 010c000000000000000000000000"));
    bytes.extend_from_slice(&datagram[40..]);
    let expected = Packet::parse(&datagram).unwrap().0;
    assert_eq!(Packet::parse(&bytes), Ok((expected, 72..75)));

    bytes[49] = 4; // the second one is longer than the packet
    let expected = ParseError::Truncated { header: Header::Ipv6Extension, needed: 40, available: 16 + 11 };
    assert_eq!(Packet::parse(&bytes), Err(expected));
}

#[test]
fn each_invalid_packet_has_its_own_error() {
    let change = |golden: &str, at: usize, byte: u8| {
        let mut bytes = hex(golden);
        bytes[at] = byte;
        Packet::parse(&bytes).unwrap_err()
    };
    let truncated = |header, needed, available| ParseError::Truncated { header, needed, available };
    let length_field = |header, stated, minimum| ParseError::LengthField { header, stated, minimum };

    assert_eq!(Packet::parse(&[]), Err(truncated(Header::Ipv4, 20, 0)));
    assert_eq!(change(TCP_OVER_IPV4, 0, 0x55), ParseError::IpVersion(5));
    assert_eq!(change(TCP_OVER_IPV4, 0, 0x44), length_field(Header::Ipv4, 16, 20));
    assert_eq!(change(TCP_OVER_IPV4, 3, 19), length_field(Header::Ipv4, 19, 20));
    assert_eq!(change(TCP_OVER_IPV4, 3, 46), truncated(Header::Ipv4, 46, 45));
    assert_eq!(change(TCP_OVER_IPV4, 8, 63), ParseError::Checksum(Header::Ipv4));
    assert_eq!(change(TCP_OVER_IPV4, 44, 0), ParseError::Checksum(Header::Tcp));
    assert_eq!(change(TCP_OVER_IPV4, 32, 0x40), length_field(Header::Tcp, 16, 20));
    assert_eq!(change(TCP_OVER_IPV4, 32, 0x70), truncated(Header::Tcp, 28, 25));
    assert_eq!(change(UDP_OVER_IPV4, 30, 0), ParseError::Checksum(Header::Udp));
    assert_eq!(change(UDP_OVER_IPV4, 25, 7), length_field(Header::Udp, 7, 8));
    assert_eq!(change(UDP_OVER_IPV4, 25, 12), truncated(Header::Udp, 12, 11));
    assert_eq!(change(UDP_OVER_IPV6, 5, 12), truncated(Header::Ipv6, 52, 51));
    assert_eq!(change(UDP_OVER_IPV6, 6, 44), ParseError::Fragment(Header::Ipv6));
    assert_eq!(change(UDP_OVER_IPV6, 6, 58), ParseError::Protocol { header: Header::Ipv6, protocol: 58 });
    let more_fragments = "45 00 0014 0000 2000 40 06 46e2 0a000001 0a000002";
    assert_eq!(Packet::parse(&hex(more_fragments)), Err(ParseError::Fragment(Header::Ipv4)));
    let last_fragment = "45 00 0014 0000 0001 40 06 66e1 0a000001 0a000002";
    assert_eq!(Packet::parse(&hex(last_fragment)), Err(ParseError::Fragment(Header::Ipv4)));
    let icmp = "45 00 0014 0000 4000 40 01 26e7 0a000001 0a000002";
    let icmp = Packet::parse(&hex(icmp)).unwrap_err();
    assert_eq!(icmp, ParseError::Protocol { header: Header::Ipv4, protocol: 1 });
    assert_eq!(icmp.to_string(), "IPv4 header announces protocol 1, expected TCP (6), UDP (17) or SCTP (132)");
}

#[test]
fn a_packet_that_cannot_be_written_is_an_error_and_leaves_the_output_unchanged() {
    #[track_caller]
    fn refused(packet: &Packet, payload: PayloadBytes<'_>, expected: EmitError) {
        let mut out = vec![1, 2, 3];
        assert_eq!(packet.emit(payload, 0, &mut out), Err(expected));
        assert_eq!(out, [1, 2, 3]);
    }
    let sized = |ip, length| udp(ip, Payload { length, ..Payload::default() });

    let mixed = IpHeader { destination: ipv6_header().destination, ..ipv4_header() };
    refused(&sized(mixed, 0), PayloadBytes::Zero, EmitError::MixedFamilies);
    refused(&sized(ipv4_header(), 4), PayloadBytes::Bytes(b"abc"), EmitError::PayloadLength { expected: 4, given: 3 });
    let too_long = |needed, limit| EmitError::PacketTooLong { needed, limit };
    refused(&sized(ipv4_header(), 65_508), PayloadBytes::Zero, too_long(65_536, 65_535));
    refused(&sized(ipv6_header(), 65_528), PayloadBytes::Zero, too_long(65_576, 65_575));
    refused(&sized(ipv4_header(), u32::MAX), PayloadBytes::Zero, too_long(u32::MAX, 65_535));
    assert_eq!(emit(&sized(ipv4_header(), 65_507), PayloadBytes::Zero).len(), 65_535);
    assert_eq!(emit(&sized(ipv6_header(), 65_527), PayloadBytes::Zero).len(), 65_575);

    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let sack = [SackBlock { left: 1, right: 2 }; 4].into_iter().collect();
    let options = TcpOptions { timestamps, sack, ..Default::default() };
    refused(&packet(options), PayloadBytes::Zero, EmitError::OptionsTooLong { needed: 48 });

    let with = |option| packet(TcpOptions { mptcp: vec![option], ..Default::default() });
    let incomplete = |option, missing| EmitError::IncompleteOption { option, missing };
    refused(
        &with(MptcpOption::RemoveAddress(Default::default())),
        PayloadBytes::Zero,
        incomplete("REMOVE_ADDR", "an address identifier"),
    );
    let capable = |sender_key, receiver_key, data_length, checksum| {
        let flags = CapableFlags::default();
        with(MptcpOption::Capable(Capable { version: 1, flags, sender_key, receiver_key, data_length, checksum }))
    };
    let incomplete = |missing| incomplete("MP_CAPABLE", missing);
    refused(&capable(None, Some(1), None, None), PayloadBytes::Zero, incomplete("the sender's key"));
    refused(&capable(Some(1), None, Some(2), None), PayloadBytes::Zero, incomplete("the receiver's key"));
    refused(&capable(Some(1), Some(1), None, Some(3)), PayloadBytes::Zero, incomplete("the data-level length"));
    refused(&capable(None, None, None, Some(3)), PayloadBytes::Zero, incomplete("the data-level length"));
}
