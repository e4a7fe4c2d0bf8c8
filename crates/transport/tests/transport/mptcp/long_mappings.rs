//! Mappings that several segments fill, as senders with segmentation offload make them (RFC 8684, sections 3.3 and
//! 3.3.1).

use subflow_transport::Event;
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::tcp::mptcp::Mapping;

use super::exchange_and_close;
use crate::harness::tamper::{delay_first, drop_first, has_data};
use crate::harness::{CLIENT, Fate, Leaving, Pair, SERVER, Setup, ms, stream_bytes};

/// Payload of a full-sized segment.
const SEGMENT: u64 = 1424;
/// What the client has sent before: the first segment maps its data with MP_CAPABLE.
const BASE: u64 = 10 * SEGMENT;
/// All that it sends, whole segments.
const TOTAL: u64 = BASE + 200 * SEGMENT;

/// Which segments of a long mapping carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carriers {
    /// All, as where a network card cuts one large segment.
    All,
    /// The first.
    First,
}

/// A client over one path whose `segments` segments in a row have one mapping.
fn offloading(checksum: bool, segments: u64, carriers: Carriers) -> Pair {
    let mut pair = Setup::mptcp(1, 1).both(|stack| stack.multipath().checksum = checksum).connected();
    pair.transfer(CLIENT, BASE);
    pair.settle();
    pair.tamper(move |leaving| {
        if leaving.from == CLIENT && has_data(leaving.segment) {
            join_mappings(leaving, segments * SEGMENT, carriers);
        }
        Fate::Pass
    });
    pair
}

fn join_mappings(leaving: &mut Leaving<'_>, block: u64, carriers: Carriers) {
    let offset = leaving.segment.payload.stream_offset;
    let Some(dss) = &mut leaving.segment.options.dss else { return };
    let Some(mapping) = dss.mapping.filter(|mapping| mapping.length > 0) else { return };
    let inside = (offset - BASE) % block;
    let end = (offset - inside + block).min(TOTAL);
    let sum = ones_complement_sum(&stream_bytes(CLIENT, offset - inside..end));
    let mut joined = Mapping {
        data_sequence: mapping.data_sequence.wrapping_sub(inside),
        subflow_sequence: mapping.subflow_sequence.wrapping_sub(inside as u32),
        length: (end - (offset - inside)) as u16,
        ..mapping
    };
    joined.checksum = mapping.checksum.map(|_| joined.checksum_for(sum));
    let carried = carriers == Carriers::All || inside == 0;
    dss.data_fin &= carried;
    dss.mapping = carried.then_some(joined);
}

fn arrives_whole(pair: &mut Pair) {
    pair.write(CLIENT, TOTAL - BASE);
    pair.run_until("the data", |pair| pair.received(SERVER) == TOTAL);
    for side in [CLIENT, SERVER] {
        assert_eq!((pair.mptcp(side).has_fallen_back(), pair.mptcp(side).counters().checksum_failures), (false, 0));
    }
}

#[test]
fn data_arrives_whatever_the_network_does_to_its_segments() {
    for (checksum, carriers) in
        [(true, Carriers::All), (true, Carriers::First), (false, Carriers::All), (false, Carriers::First)]
    {
        for segments in [2, 3, 46] {
            let mut pair = offloading(checksum, segments, carriers);
            (pair.paths[0].loss, pair.paths[0].duplication, pair.paths[0].reordering) = (0.03, 0.05, (0.1, ms(15)));
            arrives_whole(&mut pair);
            pair.stop_tampering();
            exchange_and_close(&mut pair);
        }
    }
}

#[test]
fn data_is_delivered_only_after_its_whole_mapping_is_verified() {
    let mut pair = offloading(true, 4, Carriers::All);
    pair.tamper(drop_first(1, |leaving| leaving.segment.payload.stream_offset == BASE + 7 * SEGMENT));
    pair.write(CLIENT, 9 * SEGMENT);
    pair.run_for(ms(15));
    assert_eq!(pair.received(SERVER), BASE + 4 * SEGMENT, "the second mapping lacks its last segment");
    assert_eq!(
        pair.tcp(SERVER).counters().bytes_received,
        BASE + 7 * SEGMENT,
        "though its subflow has the others in order"
    );
}

#[test]
fn a_mapping_whose_last_segment_comes_first_is_verified() {
    let mut pair = offloading(true, 2, Carriers::All);
    let first = |leaving: &Leaving<'_>| leaving.segment.payload.stream_offset == BASE + 2 * SEGMENT;
    pair.tamper(delay_first(ms(2), move |leaving| has_data(leaving.segment) && first(leaving)));
    let mut changed = false;
    pair.altered = 1;
    pair.tamper(move |leaving| {
        let last = leaving.from == CLIENT && leaving.segment.payload.stream_offset == BASE + 3 * SEGMENT;
        if last && has_data(leaving.segment) && !core::mem::replace(&mut changed, true) {
            leaving.bytes[5] ^= 0x40;
        }
        Fate::Pass
    });
    pair.write(CLIENT, TOTAL - BASE);
    pair.run_until("the data", |pair| pair.received(SERVER) == TOTAL);
    assert_eq!((pair.mptcp(SERVER).counters().checksum_failures, pair.differing(SERVER)), (1, 1));
    assert_eq!(pair.count(SERVER, Event::FellBack), 1);
    pair.stop_tampering();
    exchange_and_close(&mut pair);
}

#[test]
fn a_changed_byte_in_a_long_mapping_of_the_only_subflow_is_delivered_once_and_nothing_else_is_lost() {
    for number in [0, 1, 2, 3, 57] {
        let mut pair = offloading(true, 4, Carriers::All);
        let mut changed = false;
        pair.altered = 1;
        pair.tamper(move |leaving| {
            let this = leaving.from == CLIENT && leaving.segment.payload.stream_offset == BASE + number * SEGMENT;
            if this && has_data(leaving.segment) && !core::mem::replace(&mut changed, true) {
                leaving.bytes[1000] ^= 1;
            }
            Fate::Pass
        });
        pair.write(CLIENT, TOTAL - BASE);
        pair.run_until("the data", |pair| pair.received(SERVER) == TOTAL);
        let found = (pair.mptcp(SERVER).counters().checksum_failures, pair.differing(SERVER));
        assert_eq!(found, (1, 1), "segment {number}");
        pair.stop_tampering();
        exchange_and_close(&mut pair);
    }
}

/// The first segment arrives changed, and no acknowledgment returns. The peer then sends the mapping again in one
/// segment: the bytes that TCP has accepted stay those of the first one, and are not what the second one verifies.
#[test]
fn a_longer_retransmission_does_not_verify_what_was_accepted_before() {
    let mut pair = offloading(true, 3, Carriers::All);
    pair.altered = 1;
    let (mut sent, mut repeated) = (0, false);
    pair.tamper(move |leaving| {
        if leaving.from == SERVER {
            return if repeated { Fate::Pass } else { Fate::Drop };
        }
        let first = has_data(leaving.segment) && leaving.segment.payload.stream_offset == BASE;
        sent += u32::from(first);
        match (first, sent) {
            (true, 1) => leaving.bytes[700] ^= 1,
            (true, 2) => {
                *leaving.bytes = stream_bytes(CLIENT, BASE..BASE + 3 * SEGMENT);
                leaving.segment.payload.length = 3 * SEGMENT as u32;
                repeated = true;
            }
            _ if !repeated => return Fate::Drop,
            _ => {}
        }
        Fate::Pass
    });
    pair.write(CLIENT, TOTAL - BASE);
    pair.run_until("the data", |pair| pair.received(SERVER) == TOTAL);
    assert_eq!((pair.mptcp(SERVER).counters().checksum_failures, pair.differing(SERVER)), (1, 1));
    pair.stop_tampering();
    exchange_and_close(&mut pair);
}

/// What a middlebox appends to a segment has no mapping, and the next segment brings what really stands there.
#[test]
fn bytes_beyond_the_end_of_a_mapping_are_not_data() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, BASE);
    let mut extended = false;
    pair.tamper(move |leaving| {
        let this = leaving.from == CLIENT && leaving.segment.payload.stream_offset == BASE + 3 * SEGMENT;
        if this && has_data(leaving.segment) && !core::mem::replace(&mut extended, true) {
            leaving.bytes.extend([0xab; 30]);
            leaving.segment.payload.length += 30;
        }
        Fate::Pass
    });
    arrives_whole(&mut pair);
    exchange_and_close(&mut pair);
}
