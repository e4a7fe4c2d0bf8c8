//! An arbitrary segment, told relative to what its receiver expects, so that it meets edges.

use proptest::prelude::*;
use subflow_wire::Packet;
use subflow_wire::tcp::mptcp::{AddAddress, Capable, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason};
use subflow_wire::tcp::{SackBlock, TcpFlags, TcpSegment, Timestamps};

use crate::harness::Pair;

/// A DSS: distance of the DATA_ACK; of the mapping's data sequence, its relative subflow sequence and length; DATA_FIN.
type ThrownDss = (Option<i64>, Option<(i64, i64, u16)>, bool);

#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    pub(crate) to: usize,
    sequence: i64,
    acknowledgment: i64,
    flags: u8,
    window: u16,
    length: u32,
    timestamp: Option<i64>,
    sack: Vec<(i64, i64)>,
    dss: Option<ThrownDss>,
    option: Option<MptcpOption>,
    pub(crate) wait_ms: u64,
}

/// A distance from what is expected.
fn near() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0i64),
        -3i64..4,
        (-4i64..5).prop_map(|segments| segments * 1424),
        -70_000i64..70_000,
        any::<i32>().prop_map(i64::from),
        any::<i64>(),
    ]
}

fn option() -> impl Strategy<Value = MptcpOption> {
    prop_oneof![
        any::<bool>().prop_map(|backup| MptcpOption::Priority { backup }),
        any::<u64>().prop_map(|data_sequence| MptcpOption::Fail { data_sequence }),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose { receiver_key }),
        (0u8..4).prop_map(|id| MptcpOption::RemoveAddress([id].into_iter().collect())),
        any::<u64>().prop_map(|hmac| MptcpOption::AddAddress(AddAddress {
            address_id: 7,
            address: [10, 9, 9, 9].into(),
            port: None,
            truncated_hmac: (hmac % 2 == 0).then_some(hmac),
        })),
        any::<u64>().prop_map(|key| MptcpOption::Capable(Capable {
            version: 1,
            flags: Default::default(),
            sender_key: Some(key),
            receiver_key: (key % 2 == 0).then_some(key),
            data_length: (key % 4 == 0).then_some(1000),
            checksum: None,
        })),
        any::<[u8; 20]>().prop_map(|hmac| MptcpOption::Join(Join::Ack { hmac })),
        any::<u8>().prop_map(|code| MptcpOption::Reset(ResetReason { transient: false, code: code & 0x3f })),
    ]
}

pub(crate) fn thrown() -> impl Strategy<Value = Thrown> {
    let flags = prop_oneof![6 => Just(TcpFlags::ACK.0), 1 => any::<u8>()];
    let length = prop_oneof![Just(0u32), 1u32..3000];
    let mapping = (near(), near(), prop_oneof![Just(0u16), Just(1424), any::<u16>()]);
    let dss = (proptest::option::of(near()), proptest::option::of(mapping), any::<bool>());
    (
        (0..2usize, near(), near(), flags, any::<u16>(), length, proptest::option::of(near())),
        (proptest::collection::vec((near(), near()), 0..3), proptest::option::of(dss)),
        (proptest::option::weighted(0.2, option()), 0u64..300),
    )
        .prop_map(
            |((to, sequence, acknowledgment, flags, window, length, timestamp), (sack, dss), (option, wait_ms))| {
                Thrown { to, sequence, acknowledgment, flags, window, length, timestamp, sack, dss, option, wait_ms }
            },
        )
}

fn off(number: u32, by: i64) -> u32 {
    number.wrapping_add(by as u32)
}

impl Thrown {
    /// The same segment far above or below the receiver's window, by its sequence number or its acknowledgment number.
    pub(crate) fn outside_the_window(&self, by_sequence: bool, above: bool) -> Self {
        let far = if above { 1 << 30 } else { -(1 << 30) };
        match by_sequence {
            true => Self { sequence: far + self.sequence % (1 << 20), ..self.clone() },
            // Without an acknowledgment number there is none that is wrong, and resets are judged by the sequence
            // number.
            false => Self {
                acknowledgment: far + self.acknowledgment % (1 << 20),
                flags: TcpFlags::ACK.0 | self.flags & !TcpFlags::RST.0,
                ..self.clone()
            },
        }
    }

    /// The packet, put together around the last one that the peer sent to the same end.
    pub(crate) fn packet(&self, pair: &Pair) -> Packet {
        let last = pair.log.iter().rfind(|sent| sent.from != self.to && sent.path == 0).expect("the peer has spoken");
        let last = &last.segment;
        let mut segment = TcpSegment {
            source_port: last.source_port,
            destination_port: last.destination_port,
            sequence: off(last.sequence.wrapping_add(last.payload.length), self.sequence),
            acknowledgment: off(last.acknowledgment, self.acknowledgment),
            flags: TcpFlags(self.flags),
            window: self.window,
            ..TcpSegment::default()
        };
        segment.payload.length = self.length;
        if let (Some(by), Some(Timestamps { value, echo })) = (self.timestamp, last.options.timestamps) {
            segment.options.timestamps = Some(Timestamps { value: off(value, by % 2000), echo });
        }
        segment.options.dss = self.dss.map(|dss| around(last.options.dss, dss));
        for &(left, length) in &self.sack {
            let left = off(last.acknowledgment, left);
            segment.options.sack.push(SackBlock { left, right: off(left, length) });
        }
        segment.options.mptcp.extend(self.option.clone());
        while segment.options.wire_length() > 40 && segment.options.sack.pop().is_some() {}
        if segment.options.wire_length() > 40 {
            segment.options.mptcp.clear();
        }
        pair.first_path(self.to, segment)
    }
}

/// The DSS that `thrown` describes, near the numbers of `known`.
fn around(known: Option<Dss>, (ack, mapping, data_fin): ThrownDss) -> Dss {
    let base = known.and_then(|dss| dss.data_ack).map_or(0, |ack| ack.value);
    let data = known.and_then(|dss| dss.mapping).map_or(base, |mapping| mapping.data_sequence);
    Dss {
        data_ack: ack.map(|by| DataAck { value: base.wrapping_add_signed(by) & 0xffff_ffff, wide: false }),
        mapping: mapping.map(|(by, relative, length)| Mapping {
            data_sequence: data.wrapping_add_signed(by),
            wide: true,
            subflow_sequence: off(1, relative),
            length,
            checksum: None,
        }),
        data_fin: data_fin && mapping.is_some(),
    }
}
