//! The send buffer where a scheduler queues data ahead of the windows, as Linux's does.

use subflow_policy::scheduler::Scheduling;
use subflow_transport::Event;
use subflow_transport::tcp::config::{Autotuning, SendBuffer};

use super::exchange_and_close;
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms};

/// Linux's scheduler over paths of 10 Mbit/s and 20 ms each way; the writer waits for room.
fn linux(paths: usize) -> Pair {
    let mut setup = Setup::mptcp(paths, 1);
    for path in 0..paths {
        setup = setup.path(path, Path::with_delay(ms(20)).rate(10, 50));
    }
    let scheduler = Scheduling::from_name("linux-default").expect("a scheduler");
    let setup = setup.on(CLIENT, |stack| {
        stack.multipath().scheduler = scheduler.clone();
        stack.tcp.send_buffer = SendBuffer::Automatic(Autotuning::LINUX_SEND);
    });
    setup.connected()
}

#[test]
fn a_writer_is_cut_short_at_the_page_that_fills_the_buffer_and_told_when_to_go_on() {
    let mut pair = linux(1);
    let admitted = pair.act(CLIENT, |endpoint, _| endpoint.write(100_000));
    assert_eq!(admitted, 65_456, "two pages of 32 KiB");
    assert_eq!(pair.count(CLIENT, Event::Writable), 0);
    pair.run_until("room", |pair| pair.count(CLIENT, Event::Writable) == 1);
    exchange_and_close(&mut pair);
}

#[test]
fn a_piece_that_comes_late_leaves_a_short_segment_and_its_own_end_waits_for_that() {
    let mut pair = linux(1);
    pair.transfer(CLIENT, 100_000);
    let sizes: Vec<_> =
        pair.log.iter().filter(|sent| sent.from == CLIENT).map(|sent| sent.segment.payload.length).collect();
    let data: Vec<_> = sizes.into_iter().filter(|&size| size > 0).collect();
    assert_eq!(data.len(), 71);
    assert_eq!(data.iter().filter(|&&size| size < 1424).count(), 2, "the late one's predecessor, and the last");
    assert_eq!(data[70], 704, "as of Linux 6.12");
}

#[test]
fn a_subflow_holds_no_more_than_its_buffer_and_the_piece_that_filled_it() {
    let mut pair = linux(2);
    pair.write(CLIENT, 3_000_000);
    let mut widest = [10; 2];
    while pair.received(SERVER) < 3_000_000 && pair.step() {
        let client = pair.mptcp(CLIENT);
        for ((subflow, path), widest) in client.subflows().iter().zip(client.congestion().paths()).zip(&mut widest) {
            *widest = path.cwnd().max(*widest);
            let held = subflow.connection().unacknowledged_bytes() + subflow.connection().queued_bytes();
            let largest = 4608 * u64::from(*widest) + 33_000;
            assert!(held < largest, "{held} bytes of a window of {}", path.cwnd());
        }
    }
    exchange_and_close(&mut pair);
}

#[test]
fn without_a_bound_of_its_own_the_connection_takes_all_that_is_written() {
    let scheduler = Scheduling::from_name("linux-default").expect("a scheduler");
    let mut pair = Setup::mptcp(2, 1).both(|stack| stack.multipath().scheduler = scheduler.clone()).connected();
    assert_eq!(pair.act(CLIENT, |endpoint, _| endpoint.write(5_000_000)), 5_000_000);
    pair.run_until("the data", |pair| pair.received(SERVER) == 5_000_000);
    exchange_and_close(&mut pair);
}
