//! DSS checksums, MP_FAIL and the infinite mapping (RFC 8684, sections 3.3.1 and 3.7).

use subflow_transport::Event;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::MptcpOption;

use super::{capable, exchange_and_close, has};
use crate::harness::tamper::{corrupt_first, delay_first, drop_first, has_data, is_reset, is_syn};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

fn with_checksums(clients: usize) -> Setup {
    Setup::mptcp(clients, 1).both(|stack| stack.multipath().checksum = true)
}

/// A connection whose only subflow alters a byte: what arrives is kept, as on TCP.
fn alone() -> Pair {
    let mut pair = with_checksums(1).connected();
    pair.altered = 1;
    pair
}

fn is_fail(segment: &TcpSegment) -> bool {
    has(segment, |option| matches!(option, MptcpOption::Fail { .. }))
}

fn is_infinite(segment: &TcpSegment) -> bool {
    segment.options.dss.and_then(|dss| dss.mapping).is_some_and(|mapping| mapping.length == 0)
}

#[test]
fn every_mapping_has_a_checksum_where_either_side_asks_for_it() {
    for side in [CLIENT, SERVER] {
        let mut pair = Setup::mptcp(2, 1).on(side, |stack| stack.multipath().checksum = true).build();
        pair.connect();
        pair.write(CLIENT, 100_000);
        pair.run_until("the data", |pair| pair.received(SERVER) == 100_000);
        exchange_and_close(&mut pair);
        let mapped = |segment: &TcpSegment| segment.options.dss.and_then(|dss| dss.mapping);
        assert!(pair.log.iter().filter_map(|sent| mapped(&sent.segment)).all(|mapping| mapping.checksum.is_some()));
        let first = pair.log.iter().find(|sent| has_data(&sent.segment)).expect("data");
        assert!(capable(&first.segment).is_some_and(|capable| capable.checksum.is_some()));
        assert_eq!(pair.mptcp(SERVER).counters().checksum_failures, 0);
    }
}

#[test]
fn without_checksums_mappings_have_none() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 20_000);
    assert!(
        pair.log.iter().filter_map(|sent| sent.segment.options.dss?.mapping).all(|mapping| mapping.checksum.is_none())
    );
}

/// A connection over one path on which a middlebox changes one segment of each side in `froms`; both send 300 000
/// bytes.
fn corrupted(froms: &'static [usize], number: usize) -> Pair {
    let mut pair = alone();
    for &from in froms {
        let mut count = 0;
        pair.tamper(move |leaving| {
            count += usize::from(leaving.from == from && has_data(leaving.segment));
            if leaving.from == from && count == number && has_data(leaving.segment) {
                leaving.bytes[3] ^= 0x10;
            }
            Fate::Pass
        });
    }
    pair.write(CLIENT, 300_000);
    pair.write(SERVER, 300_000);
    pair
}

fn completes(pair: &mut Pair) {
    pair.run_until("both streams", |pair| pair.received(CLIENT) == 300_000 && pair.received(SERVER) == 300_000);
    exchange_and_close(pair);
}

#[test]
fn a_lone_subflow_falls_back_to_an_infinite_mapping() {
    for number in [1, 2, 5, 40] {
        let mut pair = corrupted(&[CLIENT], number);
        completes(&mut pair);
        assert_eq!((pair.mptcp(SERVER).counters().checksum_failures, pair.differing(SERVER)), (1, 1));
        assert!(pair.log.iter().any(|sent| sent.from == SERVER && is_fail(&sent.segment)));
        assert!(pair.log.iter().any(|sent| sent.from == CLIENT && is_infinite(&sent.segment)));
        assert_eq!(pair.count(CLIENT, Event::FellBack) + pair.count(SERVER, Event::FellBack), 2);
    }
}

#[test]
fn corruption_in_both_directions_at_once() {
    for number in [1, 6] {
        let mut pair = corrupted(&[CLIENT, SERVER], number);
        completes(&mut pair);
        assert_eq!([CLIENT, SERVER].map(|side| pair.mptcp(side).counters().checksum_failures), [1, 1]);
    }
}

#[test]
fn a_lost_mp_fail_is_repeated() {
    for times in [1, 3] {
        let mut pair = corrupted(&[CLIENT], 5);
        pair.tamper(drop_first(times, |leaving| leaving.from == SERVER && is_fail(leaving.segment)));
        completes(&mut pair);
    }
}

#[test]
fn a_lost_infinite_mapping_is_repeated_with_its_data() {
    for times in [1, 2] {
        let mut pair = corrupted(&[CLIENT], 5);
        pair.tamper(drop_first(times, |leaving| leaving.from == CLIENT && is_infinite(leaving.segment)));
        completes(&mut pair);
    }
}

#[test]
fn fallback_survives_loss_and_reordering() {
    for seed in 0..20 {
        let mut pair = with_checksums(1).seed(seed).connected();
        pair.altered = usize::MAX;
        (pair.paths[0].loss, pair.paths[0].reordering) = (0.05, (0.1, ms(15)));
        let number = seed as usize * 3 + 1;
        let mut count = 0;
        pair.tamper(move |leaving| {
            count += usize::from(has_data(leaving.segment));
            if count == number && has_data(leaving.segment) {
                leaving.bytes[0] ^= 1;
            }
            Fate::Pass
        });
        pair.write(CLIENT, 300_000);
        pair.write(SERVER, 300_000);
        completes(&mut pair);
    }
}

#[test]
fn with_another_subflow_only_the_corrupted_one_is_reset() {
    let mut pair = with_checksums(2).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.tamper(corrupt_first(|leaving| leaving.path == 1 && leaving.from == CLIENT));
    pair.transfer(CLIENT, 1_000_000);
    pair.settle();
    assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (1, 1));
    let reset = pair.log.iter().find(|sent| is_reset(&sent.segment)).expect("a reset");
    assert!(is_fail(&reset.segment) && reset.from == SERVER && reset.path == 1);
    assert!(!pair.mptcp(SERVER).has_fallen_back());
    exchange_and_close(&mut pair);
}

#[test]
fn corrupted_data_at_the_very_end_of_the_stream() {
    let mut pair = alone();
    pair.transfer(CLIENT, 5_000);
    pair.tamper(corrupt_first(|leaving| leaving.from == CLIENT));
    pair.write(CLIENT, 700);
    pair.finish(CLIENT);
    pair.run_for(secs(5));
    assert_eq!(pair.received(SERVER), 5_700);
    pair.close_gracefully();
}

#[test]
fn a_corrupted_first_segment() {
    let mut pair = with_checksums(1).build();
    pair.altered = 1;
    pair.tamper(corrupt_first(|leaving| leaving.from == CLIENT && !is_syn(leaving.segment)));
    pair.connect();
    pair.write(CLIENT, 50_000);
    pair.run_until("the data", |pair| pair.received(SERVER) == 50_000);
    exchange_and_close(&mut pair);
}

/// The segment that says MP_FAIL acknowledges the bytes at the subflow's level.
#[test]
fn what_is_altered_in_both_directions_at_once_is_acknowledged_when_it_is_received() {
    let mut pair = alone();
    for side in [CLIENT, SERVER] {
        pair.tamper(corrupt_first(move |leaving| leaving.from == side));
        pair.write(side, 1);
    }
    while pair.received(CLIENT) + pair.received(SERVER) < 2 {
        assert!(pair.step(), "both bytes arrive");
        for side in [CLIENT, SERVER] {
            let acknowledged = pair.endpoint(side).bytes_acknowledged();
            assert!(acknowledged <= pair.received(1 - side), "side {side}: {acknowledged} bytes are acknowledged");
        }
    }
    exchange_and_close(&mut pair);
}

/// The server has fallen back because data of its own was altered, and takes what the client sent before it knew that.
#[test]
fn a_side_that_has_fallen_back_takes_what_is_altered() {
    let mut pair = alone();
    pair.tamper(corrupt_first(|leaving| leaving.from == SERVER));
    pair.tamper(drop_first(1, |leaving| leaving.from == SERVER && is_fail(leaving.segment)));
    pair.tamper(corrupt_first(|leaving| leaving.from == CLIENT));
    pair.tamper(delay_first(ms(20), |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.write(SERVER, 1000);
    pair.run_for(ms(5));
    pair.write(CLIENT, 1000);
    pair.finish(CLIENT);
    pair.run_until("both streams", |pair| pair.received(CLIENT) == 1000 && pair.received(SERVER) == 1000);
    pair.close_gracefully();
}

/// An echo of ADD_ADDR does not fit beside MP_FAIL, which is on every segment.
#[test]
fn mp_fail_leaves_no_room_for_an_echo() {
    let mut pair = Setup::mptcp(1, 2).both(|stack| stack.multipath().checksum = true).ipv6().build();
    pair.altered = 1;
    pair.tamper(corrupt_first(|leaving| leaving.from == SERVER));
    pair.connect();
    pair.run_for(ms(31));
    pair.write(SERVER, 1000);
    pair.run_until("the data", |pair| pair.received(CLIENT) == 1000);
    assert!(pair.log.len() < 50, "{} segments", pair.log.len());
    exchange_and_close(&mut pair);
}

/// The second segment comes behind the altered one, and both end with the FIN.
#[test]
fn the_stream_ends_behind_altered_data() {
    let mut pair = with_checksums(1).both(|stack| stack.tcp.nagle = false).connected();
    pair.altered = 1;
    pair.tamper(corrupt_first(|leaving| leaving.from == CLIENT));
    pair.write(CLIENT, 700);
    pair.write(CLIENT, 700);
    pair.finish(CLIENT);
    pair.run_until("the data", |pair| pair.received(SERVER) == 1400);
    pair.close_gracefully();
}

/// A gateway that lengthens one segment by three bytes and moves the numbers behind it, as for FTP.
#[test]
fn a_stream_that_a_gateway_lengthens_goes_on_as_tcp() {
    let mut pair = with_checksums(1).connected();
    pair.trust_content = true;
    let (mut count, mut from) = (0, None);
    pair.tamper(move |leaving| {
        let segment = &mut leaving.segment;
        let is_behind = |number: u32, from: u32| number.wrapping_sub(from) < 1 << 31;
        if leaving.from == CLIENT && has_data(segment) {
            count += 1;
            let end = segment.sequence.wrapping_add(segment.payload.length);
            if (count == 5 && from.is_none()) || from == Some(end) {
                from = Some(end);
                segment.payload.length += 3;
                leaving.bytes.extend([0; 3]);
                return Fate::Pass;
            }
        }
        match from {
            Some(from) if leaving.from == CLIENT && is_behind(segment.sequence, from) => {
                segment.sequence = segment.sequence.wrapping_add(3);
            }
            Some(from) if leaving.from == SERVER && is_behind(segment.acknowledgment, from.wrapping_add(3)) => {
                segment.acknowledgment = segment.acknowledgment.wrapping_sub(3);
                segment.options.sack.iter_mut().for_each(|block| {
                    (block.left, block.right) = (block.left.wrapping_sub(3), block.right.wrapping_sub(3));
                });
            }
            _ => {}
        }
        Fate::Pass
    });
    pair.write(CLIENT, 300_000);
    pair.finish(CLIENT);
    pair.run_until("the stream and three bytes more", |pair| pair.received(SERVER) == 300_003);
    assert!([CLIENT, SERVER].iter().all(|&side| pair.mptcp(side).has_fallen_back()));
    pair.close_gracefully();
}
