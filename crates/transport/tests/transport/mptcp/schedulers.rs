//! What schedulers do with the data of a connection.

use std::collections::BTreeSet;

use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;

use super::exchange_and_close;
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms, secs};

fn connected(scheduler: &str, paths: [Path; 2], receive_buffer: u64) -> Pair {
    let scheduler = Scheduling::from_name(scheduler).expect("a scheduler");
    let [first, second] = paths;
    let setup = Setup::mptcp(2, 1).path(0, first).path(1, second);
    let setup = setup.both(|stack| stack.multipath().scheduler = scheduler.clone());
    let mut pair = setup.on(SERVER, |stack| stack.receive_buffer(receive_buffer)).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair
}

fn path(delay: Duration) -> Path {
    Path::with_delay(delay).rate(10, 100)
}

/// Stream offsets of the hundreds of bytes that the client sent on `path`, and how many bytes that were in all.
fn sent_on(pair: &Pair, path: usize) -> (BTreeSet<u64>, u64) {
    let data = pair.log.iter().filter(|sent| sent.from == CLIENT && sent.path == path);
    let payloads = data.map(|sent| &sent.segment.payload).filter(|payload| payload.length > 0);
    let (mut hundreds, mut bytes) = (BTreeSet::new(), 0);
    for payload in payloads {
        let end = payload.stream_offset + u64::from(payload.length);
        hundreds.extend(payload.stream_offset.div_ceil(100)..end.div_ceil(100));
        bytes += u64::from(payload.length);
    }
    (hundreds, bytes)
}

#[test]
fn redundant_sends_every_byte_on_every_subflow_and_the_peer_gets_it_once() {
    let mut pair = connected("redundant", [path(ms(10)), path(ms(10))], 1 << 20);
    pair.transfer(CLIENT, 200_000);
    let all: BTreeSet<u64> = (200..2200).collect();
    for path in [0, 1] {
        let (hundreds, bytes) = sent_on(&pair, path);
        assert!(hundreds.is_superset(&all), "path {path} left out {:?}", all.difference(&hundreds));
        assert!(bytes <= 220_000, "path {path}: {bytes}");
    }
    assert_eq!(pair.received(SERVER), 220_000);
    let first_copies: u64 = pair.mptcp(SERVER).subflows().iter().map(|subflow| subflow.bytes_received()).sum();
    assert_eq!(first_copies, 220_000);
    exchange_and_close(&mut pair);
}

#[test]
fn redundant_is_as_fast_as_the_fastest_path_and_spares_the_slow_one_what_is_acknowledged() {
    let alone = connected("ll", [path(ms(5)), Path { up: false, ..path(ms(5)) }], 1 << 20).transfer(CLIENT, 500_000);
    let mut pair = connected("redundant", [path(ms(5)), Path::with_delay(ms(80)).rate(1, 100)], 1 << 20);
    let took = pair.transfer(CLIENT, 500_000);
    assert!(took <= alone + ms(20), "{took:?} against {alone:?}");
    let (_, slow) = sent_on(&pair, 1);
    assert!(slow < 250_000, "{slow}");
    exchange_and_close(&mut pair);
}

#[test]
fn redundant_does_not_wait_for_a_lost_segment() {
    let mut pair = connected("redundant", [path(ms(10)).loss(0.05), path(ms(12)).loss(0.05)], 1 << 20);
    pair.transfer(CLIENT, 500_000);
    assert_eq!(pair.received(SERVER), 520_000);
    exchange_and_close(&mut pair);
}

/// Bytes on the slow one of two paths in the last of several transfers, when RTTs are known well.
fn bytes_on_the_slow_path(scheduler: &str, receive_buffer: u64, transfers: u32, bytes: u64) -> u64 {
    let mut pair = connected(scheduler, [path(ms(5)), path(ms(150))], receive_buffer);
    let mut before = 0;
    for _ in 0..transfers {
        before = sent_on(&pair, 1).1;
        pair.transfer(CLIENT, bytes);
        pair.settle();
    }
    let (_, after) = sent_on(&pair, 1);
    exchange_and_close(&mut pair);
    after - before
}

#[test]
fn ecf_spares_a_short_transfer_the_slow_path() {
    let [ll, ecf] = ["ll", "ecf"].map(|name| bytes_on_the_slow_path(name, 1 << 20, 30, 60_000));
    assert!(ecf * 3 < ll * 2, "ecf {ecf}, ll {ll}");
}

#[test]
fn blest_leaves_a_small_window_to_the_fast_path() {
    // 60 kB are less than what the fast path takes in a round trip of the slow one.
    let [ll, blest] = ["ll", "blest"].map(|name| bytes_on_the_slow_path(name, 60_000, 2, 500_000));
    assert!(blest * 2 < ll, "blest {blest}, ll {ll}");
}

#[test]
fn every_scheduler_uses_both_of_two_equal_paths() {
    for &name in Scheduling::NAMES {
        let mut pair = connected(name, [path(ms(20)), path(ms(20))], 1 << 20);
        let took = pair.transfer(CLIENT, 3_000_000);
        assert!(took < secs(4), "{}: {took:?}", name);
        for path in [0, 1] {
            let (_, bytes) = sent_on(&pair, path);
            assert!(bytes > 600_000, "{}: {bytes} bytes on path {path}", name);
        }
        exchange_and_close(&mut pair);
    }
}
