//! Arbitrary packets that can be written.

use std::net::IpAddr;

use arrayvec::ArrayVec;
use proptest::prelude::*;
use proptest::sample::Index;
use subflow_wire::tcp::mptcp::{
    AddAddress, Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason,
};
use subflow_wire::tcp::{SackBlock, SynOptions, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram, checksum};

/// Bytes that are replaced, and how many are cut off: an eighth of all at most.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    replaced: Vec<(Index, u8)>,
    cut: Index,
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let replaced = prop::collection::vec(any::<(Index, u8)>(), 1..6);
    (replaced, any::<Index>()).prop_map(|(replaced, cut)| Damage { replaced, cut })
}

impl Damage {
    pub(crate) fn replace(&self, bytes: &mut [u8]) {
        for (at, byte) in &self.replaced {
            bytes[at.index(bytes.len())] = *byte;
        }
    }

    pub(crate) fn replace_and_cut(&self, bytes: &mut Vec<u8>) {
        self.replace(bytes);
        bytes.truncate(bytes.len() - self.cut.index(bytes.len()) / 8);
    }
}

/// A packet, and the bytes of its payload.
pub(crate) fn packet_with_payload() -> impl Strategy<Value = (Packet, Vec<u8>)> {
    let payload = prop::collection::vec(any::<u8>(), 0..100);
    (ip_header(), body(), payload).prop_map(|(ip, mut body, bytes)| {
        let sum = checksum::ones_complement_sum(&bytes);
        let description = Payload { stream_offset: 0, length: bytes.len() as u32, sum };
        match &mut body {
            Body::Tcp(segment) => segment.payload = description,
            Body::Udp(datagram) => datagram.payload = description,
            Body::Sctp(_) | Body::Quic(_) => unreachable!("not made here"),
        }
        (Packet { ip, body }, bytes)
    })
}

fn ip_header() -> impl Strategy<Value = IpHeader> {
    let addresses = prop_oneof![
        any::<[[u8; 4]; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
        any::<[[u8; 16]; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
    ];
    (addresses, any::<u8>(), any::<u8>()).prop_map(|([source, destination], hop_limit, traffic_class)| IpHeader {
        source,
        destination,
        hop_limit,
        dscp: Dscp::from_traffic_class(traffic_class),
        ecn: Ecn::from_traffic_class(traffic_class),
    })
}

fn body() -> impl Strategy<Value = Body> {
    let udp = any::<(u16, u16)>().prop_map(|(source_port, destination_port)| {
        Body::Udp(UdpDatagram { source_port, destination_port, payload: Payload::default() })
    });
    prop_oneof![4 => segment().prop_map(Body::Tcp), 1 => udp]
}

fn segment() -> impl Strategy<Value = TcpSegment> {
    (any::<(u16, u16, u32, u32, u8, u16)>(), tcp_options()).prop_map(
        |((source_port, destination_port, sequence, acknowledgment, flags, window), options)| TcpSegment {
            source_port,
            destination_port,
            sequence,
            acknowledgment,
            flags: TcpFlags(flags),
            window,
            options,
            payload: Payload::default(),
        },
    )
}

/// Options that fit into a header. Each kind is rare enough that most combinations fit; those that do not are rejected.
pub(crate) fn tcp_options() -> impl Strategy<Value = TcpOptions> {
    let rarely = |strategy: BoxedStrategy<Dss>| prop::option::weighted(0.4, strategy);
    let mptcp = prop_oneof![2 => Just(Vec::new()), 3 => prop::collection::vec(mptcp_option(), 1..3)];
    (syn_options(), timestamps(), sack(), rarely(dss().boxed()), mptcp).prop_map(
        |(syn, timestamps, sack, dss, mptcp)| {
            let mut options = TcpOptions { syn, timestamps, sack, dss, mptcp };
            let drops: [fn(&mut TcpOptions); 5] = [
                |options| options.sack.clear(),
                |options| options.syn = SynOptions::default(),
                |options| options.mptcp.truncate(1),
                |options| options.timestamps = None,
                |options| options.dss = None,
            ];
            for drop in drops {
                if options.wire_length() > 40 {
                    drop(&mut options);
                }
            }
            options
        },
    )
}

fn syn_options() -> impl Strategy<Value = SynOptions> {
    let syn = any::<(Option<u16>, Option<u8>, bool)>().prop_map(|(mss, window_scale, sack_permitted)| SynOptions {
        mss,
        window_scale,
        sack_permitted,
    });
    prop_oneof![2 => Just(SynOptions::default()), 1 => syn]
}

fn timestamps() -> impl Strategy<Value = Option<Timestamps>> {
    any::<Option<(u32, u32)>>().prop_map(|pair| pair.map(|(value, echo)| Timestamps { value, echo }))
}

fn sack() -> impl Strategy<Value = ArrayVec<SackBlock, 4>> {
    let block = any::<(u32, u32)>().prop_map(|(left, right)| SackBlock { left, right });
    prop::collection::vec(block, 0..=4).prop_map(|blocks| blocks.into_iter().collect())
}

fn dss() -> impl Strategy<Value = Dss> {
    let narrowed = |value: u64, wide| if wide { value } else { value & 0xffff_ffff };
    let data_ack = any::<Option<(u64, bool)>>()
        .prop_map(move |ack| ack.map(|(value, wide)| DataAck { value: narrowed(value, wide), wide }));
    let mapping = any::<Option<(u64, bool, u32, u16, Option<u16>)>>().prop_map(move |mapping| {
        mapping.map(|(data_sequence, wide, subflow_sequence, length, checksum)| Mapping {
            data_sequence: narrowed(data_sequence, wide),
            wide,
            subflow_sequence,
            length,
            checksum,
        })
    });
    (data_ack, mapping, any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| Dss { data_ack, mapping, data_fin })
}

fn mptcp_option() -> impl Strategy<Value = MptcpOption> {
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        add_address().prop_map(MptcpOption::AddAddress),
        prop::collection::vec(any::<u8>(), 1..=37)
            .prop_map(|identifiers| MptcpOption::RemoveAddress(identifiers.into_iter().collect())),
        any::<bool>().prop_map(|backup| MptcpOption::Priority { backup }),
        any::<u64>().prop_map(|data_sequence| MptcpOption::Fail { data_sequence }),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose { receiver_key }),
        any::<(bool, u8)>().prop_map(|(transient, code)| MptcpOption::Reset(ResetReason { transient, code })),
    ]
}

fn capable() -> impl Strategy<Value = Capable> {
    (0..16_u8, any::<(bool, bool)>(), any::<(u64, u64, u16, u16)>(), 0..5).prop_map(
        |(version, (checksum_required, deny_join_to_initial_address), fields, form)| Capable {
            version,
            flags: CapableFlags { checksum_required, deny_join_to_initial_address },
            sender_key: (form > 0).then_some(fields.0),
            receiver_key: (form > 1).then_some(fields.1),
            data_length: (form > 2).then_some(fields.2),
            checksum: (form > 3).then_some(fields.3),
        },
    )
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| Join::Syn {
            backup,
            address_id,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, truncated_hmac, nonce)| Join::SynAck {
            backup,
            address_id,
            truncated_hmac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac }),
    ]
}

fn add_address() -> impl Strategy<Value = AddAddress> {
    any::<(u8, IpAddr, Option<u16>, Option<u64>)>().prop_map(|(address_id, address, port, truncated_hmac)| AddAddress {
        address_id,
        address,
        port,
        truncated_hmac,
    })
}
