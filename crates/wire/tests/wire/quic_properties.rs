//! Properties of every datagram of QUIC and of every sequence of bytes parsed as one.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use proptest::prelude::*;
use subflow_wire::PayloadBytes;
use subflow_wire::quic::{ConnectionId, MAX_VARINT, PreferredAddress, QuicDatagram, TransportParameters};

use crate::common::quic_strategies::{ID_LENGTH, quic_datagram_with_payload};
use crate::common::strategies::damage;

fn emitted(datagram: &QuicDatagram, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram.emit(PayloadBytes::Bytes(payload), &mut bytes).expect("it can be written");
    bytes
}

/// Clears the tag at the end, as the null suite has it.
fn repair(bytes: &mut [u8]) {
    let start = bytes.len().saturating_sub(16);
    bytes[start..].fill(0);
}

/// A parsed datagram can be written, and parses to the same. It may be shorter: integers are written in their shortest
/// form, and a malformed packet ends a datagram. The field of a length has two bytes; a packet that needs more cannot
/// come from bytes as short as these.
fn round_trips(bytes: &[u8]) {
    let Ok((datagram, ranges)) = QuicDatagram::parse(1, 2, bytes, ID_LENGTH) else { return };
    let payload: Vec<u8> = ranges.into_iter().flat_map(|range| bytes[range].to_vec()).collect();
    let again = emitted(&datagram, &payload);
    assert_eq!(again.len(), datagram.length() as usize);
    let (parsed, ranges) = QuicDatagram::parse(1, 2, &again, ID_LENGTH).expect("it was just written");
    assert_eq!(ranges, parsed.payload_ranges().collect::<Vec<_>>());
    assert_eq!(parsed, datagram);
}

fn parameters() -> impl Strategy<Value = TransportParameters> {
    let id = || {
        prop::option::of(prop::collection::vec(any::<u8>(), 1..=20))
            .prop_map(|id| id.map(|id| ConnectionId::new(&id).expect("short enough")))
    };
    let integers = prop::collection::vec(0..=MAX_VARINT, 8);
    let preferred = (any::<([u8; 4], [u8; 16], u16)>(), any::<[u8; 16]>());
    (integers, [id(), id(), id()], any::<(bool, Option<[u8; 16]>)>(), prop::option::of(preferred)).prop_map(
        |(integers, [original, source, retry], (still, token), preferred)| TransportParameters {
            original_destination_connection_id: original,
            max_idle_timeout: integers[0],
            stateless_reset_token: token,
            max_udp_payload_size: integers[1].max(1200),
            initial_max_data: integers[2],
            initial_max_stream_data_bidi_local: integers[3],
            initial_max_stream_data_bidi_remote: integers[4] % 100,
            initial_max_stream_data_uni: integers[5],
            initial_max_streams_bidi: integers[6] % (1 << 60),
            initial_max_streams_uni: integers[7] % 100,
            ack_delay_exponent: integers[0] % 21,
            max_ack_delay: integers[1] % (1 << 14),
            disable_active_migration: still,
            preferred_address: preferred.map(|((v4, v6, port), stateless_reset_token)| {
                Box::new(PreferredAddress {
                    v4: SocketAddrV4::new(Ipv4Addr::from(v4), port),
                    v6: SocketAddrV6::new(Ipv6Addr::from(v6), port, 0, 0),
                    connection_id: ConnectionId::new(&v4).expect("short enough"),
                    stateless_reset_token,
                })
            }),
            active_connection_id_limit: integers[2].max(2),
            initial_source_connection_id: source,
            retry_source_connection_id: retry,
            max_datagram_frame_size: integers[3],
            initial_max_path_id: still.then_some(integers[4] % (1 << 32)),
            min_ack_delay: (!still).then_some(integers[5]),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_written_datagram_parses_to_itself((datagram, payload) in quic_datagram_with_payload()) {
        let bytes = emitted(&datagram, &payload);
        prop_assert_eq!(bytes.len(), datagram.length() as usize);
        let ranges: Vec<_> = datagram.payload_ranges().collect();
        let attached: Vec<u8> = ranges.iter().flat_map(|range| bytes[range.clone()].to_vec()).collect();
        prop_assert_eq!(attached, payload);
        let (source, destination) = (datagram.source_port, datagram.destination_port);
        prop_assert_eq!(QuicDatagram::parse(source, destination, &bytes, ID_LENGTH), Ok((datagram, ranges)));
    }

    #[test]
    fn damage_never_panics(
        (datagram, payload) in quic_datagram_with_payload(),
        damage in damage(),
    ) {
        let mut bytes = emitted(&datagram, &payload);
        damage.replace_and_cut(&mut bytes);
        repair(&mut bytes);
        round_trips(&bytes);
    }

    #[test]
    fn any_bytes_never_panic(mut bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0..9_u8], 0..200)) {
        round_trips(&bytes);
        // Most begin as a packet with a short header.
        if let Some(first) = bytes.first_mut() {
            *first = 0x40 | *first & 0x27;
        }
        repair(&mut bytes);
        round_trips(&bytes);
    }

    #[test]
    fn written_transport_parameters_parse_to_themselves(parameters in parameters()) {
        let mut bytes = Vec::new();
        parameters.emit(&mut bytes).expect("they can be written");
        prop_assert_eq!(TransportParameters::parse(&bytes), Ok(parameters));
        for end in 0..bytes.len() {
            let _ = TransportParameters::parse(&bytes[..end]);
        }
    }
}
