//! Somebody who does not see the connection throws segments at it: outside the window no option of theirs is obeyed
//! (RFC 9293, section 3.10.7.4; RFC 5961).

use subflow_transport::Event;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::MptcpOption;

use super::{exchange_and_close, has};
use crate::harness::tamper::has_data;
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

/// Far beyond any window here.
const OUTSIDE: u32 = 1 << 30;

/// A connection with checksums over `paths` paths, in the middle of a transfer.
fn busy(paths: usize) -> Pair {
    let mut pair = Setup::mptcp(paths, 1).both(|stack| stack.multipath().checksum = true).connected();
    pair.transfer(CLIENT, 50_000);
    pair.transfer(SERVER, 50_000);
    pair.settle();
    pair.write(CLIENT, 500_000);
    pair.run_for(ms(15));
    pair
}

/// The latest data segment of the client on the first path.
fn data_segment(pair: &Pair) -> TcpSegment {
    let carries = |sent: &&crate::harness::Sent| sent.from == CLIENT && sent.path == 0 && has_data(&sent.segment);
    pair.log.iter().rfind(carries).expect("it has sent").segment.clone()
}

/// Throws what `forge` makes of the client's latest data segment at the server, once with a sequence number and once
/// with an acknowledgment outside the window, with one path and with two, and checks that nothing comes of it.
fn changes_nothing(forge: impl Fn(&Pair, &mut TcpSegment)) {
    for paths in [1, 2] {
        for misplace in [
            (|segment| segment.sequence = segment.sequence.wrapping_add(OUTSIDE)) as fn(&mut TcpSegment),
            |segment| segment.sequence = segment.sequence.wrapping_sub(OUTSIDE),
            |segment| segment.acknowledgment = segment.acknowledgment.wrapping_add(OUTSIDE),
            |segment| segment.acknowledgment = segment.acknowledgment.wrapping_sub(OUTSIDE),
        ] {
            let mut pair = busy(paths);
            let mut segment = data_segment(&pair);
            segment.sequence = segment.sequence.wrapping_add(segment.payload.length);
            forge(&pair, &mut segment);
            misplace(&mut segment);
            pair.inject(SERVER, &pair.first_path(SERVER, segment), ms(0));
            pair.run_for(ms(5));
            assert_eq!(pair.established_subflows(SERVER), paths, "no subflow was reset");
            pair.run_until("the data", |pair| pair.received(SERVER) == 550_000);
            for side in [CLIENT, SERVER] {
                assert_eq!(pair.count(side, Event::FellBack), 0);
                assert_eq!(pair.mptcp(side).counters().checksum_failures, 0);
                assert_eq!(pair.established_subflows(side), paths);
            }
            exchange_and_close(&mut pair);
        }
    }
}

#[test]
fn a_wrong_checksum() {
    changes_nothing(|_, segment| {
        let mapping = segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()).expect("data is mapped");
        mapping.subflow_sequence = mapping.subflow_sequence.wrapping_add(u32::from(mapping.length));
        mapping.checksum = Some(0x1234);
    });
}

#[test]
fn an_infinite_mapping() {
    changes_nothing(|_, segment| {
        let mapping = segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()).expect("data is mapped");
        mapping.subflow_sequence = mapping.subflow_sequence.wrapping_add(u32::from(mapping.length));
        (mapping.length, mapping.checksum) = (0, Some(0));
    });
}

#[test]
fn data_without_a_mapping() {
    changes_nothing(|_, segment| segment.options.dss = None);
}

#[test]
fn an_acknowledgment_without_options() {
    changes_nothing(|_, segment| (segment.options.dss, segment.payload.length) = (None, 0));
}

#[test]
fn a_mapping_of_bytes_that_are_still_to_come() {
    changes_nothing(|_, segment| {
        let mapping = segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()).expect("data is mapped");
        mapping.subflow_sequence = mapping.subflow_sequence.wrapping_add(u32::from(mapping.length));
        mapping.length = 60_000;
        mapping.data_sequence = mapping.data_sequence.wrapping_add(10_000);
    });
}

#[test]
fn the_end_of_the_stream() {
    changes_nothing(|_, segment| segment.options.dss.as_mut().expect("data is mapped").data_fin = true);
}

#[test]
fn mp_fail() {
    changes_nothing(|pair, segment| {
        segment.payload.length = 0;
        let mapped = |sent: &crate::harness::Sent| sent.segment.options.dss?.mapping.filter(|_| sent.from == SERVER);
        let data_sequence =
            pair.log.iter().filter_map(mapped).next_back().expect("the server has sent data").data_sequence;
        segment.options.dss = None;
        segment.options.mptcp.push(MptcpOption::Fail { data_sequence });
    });
}

/// The key that an earlier connection, or somebody on the path, gave away is of no use without the numbers.
#[test]
fn a_fast_close_with_the_right_key_on_a_reset() {
    for paths in [1, 2] {
        let mut fast_close = busy(paths);
        fast_close.act(CLIENT, |endpoint, _| endpoint.abort());
        let reset = |option: &MptcpOption| matches!(option, MptcpOption::FastClose { .. });
        let sent = fast_close.log.iter().find(|sent| has(&sent.segment, reset)).expect("a fast close");
        let option = sent.segment.options.mptcp[0].clone();

        // The same seed makes the same keys.
        let mut pair = busy(paths);
        let mut segment = data_segment(&pair);
        segment.sequence = segment.sequence.wrapping_add(OUTSIDE);
        (segment.options.dss, segment.payload.length) = (None, 0);
        segment.flags = TcpFlags::RST | TcpFlags::ACK;
        segment.options.mptcp = vec![option];
        pair.inject(SERVER, &pair.first_path(SERVER, segment), ms(0));
        pair.run_for(ms(5));
        assert_eq!((pair.endpoint(SERVER).ended(), pair.established_subflows(SERVER)), (None, paths));
        exchange_and_close(&mut pair);
    }
}

/// Segments before the reset were lost, so that its number is not the one expected next, and it is challenged (RFC 5961,
/// section 3.2). The answer of the peer, which has forgotten the connection, has that number and no MP_FASTCLOSE: the
/// connection ends as one without subflows.
#[test]
fn a_fast_close_behind_a_hole_is_challenged() {
    let mut pair = busy(1);
    pair.paths[0].up = false;
    pair.write(CLIENT, 100_000);
    pair.run_for(ms(30));
    pair.paths[0].up = true;
    pair.act(CLIENT, |endpoint, _| endpoint.abort());
    pair.run_for(ms(20));
    assert_eq!(pair.established_subflows(SERVER), 1);
    pair.run_for(ms(40));
    assert_eq!((pair.established_subflows(SERVER), pair.endpoint(SERVER).is_closed()), (0, false));
    pair.run_for(secs(70));
    assert!(pair.endpoint(SERVER).is_closed());
}
