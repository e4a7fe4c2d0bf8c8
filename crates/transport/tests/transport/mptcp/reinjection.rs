//! Data that is sent again elsewhere: after a timeout, after a subflow's death (RFC 8684, section 3.3.6).

use subflow_policy::scheduler::Scheduling;
use subflow_transport::tcp::State;
use subflow_transport::tcp::config::{Autotuning, SendBuffer};
use subflow_wire::tcp::mptcp::MptcpOption;

use super::exchange_and_close;
use crate::harness::tamper::{has_data, has_fin};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

fn two_paths(scheduler: &str) -> Pair {
    let path = Path::default().rate(10, 100);
    let scheduler = Scheduling::from_name(scheduler).expect("a scheduler");
    let setup = Setup::mptcp(2, 1).path(0, path.clone()).path(1, path);
    let mut pair = setup.both(|stack| stack.multipath().scheduler = scheduler.clone()).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair
}

#[test]
fn what_a_dead_path_had_taken_goes_over_the_other() {
    for &name in Scheduling::NAMES {
        for dead in [0, 1] {
            let mut pair = two_paths(name);
            pair.write(CLIENT, 2_000_000);
            pair.run_for(ms(300));
            pair.paths[dead].up = false;
            let start = pair.now();
            pair.run_until("the data", |pair| pair.received(SERVER) == 2_020_000);
            let took = pair.now().since(start);
            // linux-default repeats a segment a round trip, on an idle subflow.
            let limit = if name == "linux-default" { secs(30) } else { secs(6) };
            assert!(took < limit, "{} without path {dead}: {took:?}", name);
            // red-module has sent nothing on path 1.
            let used = (name, dead) != ("red-module", 1);
            assert_eq!(pair.mptcp(CLIENT).counters().bytes_reinjected > 0, used, "{} without path {dead}", name);
            pair.close_gracefully();
        }
    }
}

/// As upstream Linux does: nothing moves at the first timeout. Five periods of the data level later everything does.
#[test]
fn a_stale_subflow_is_replaced_after_five_periods_and_all_that_is_outstanding_is_sent_again() {
    for dead in [0, 1] {
        let path = Path::default().rate(10, 100);
        let linux = Scheduling::from_name("linux-default").expect("a scheduler");
        let setup = Setup::mptcp(2, 1).path(0, path.clone()).path(1, path).both(|stack| {
            let multipath = stack.multipath();
            (multipath.scheduler, multipath.stale_loss_count) = (linux.clone(), 4);
            stack.tcp.send_buffer = SendBuffer::Automatic(Autotuning::LINUX_SEND);
        });
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 20_000);
        pair.settle();
        pair.write(CLIENT, 2_000_000);
        pair.run_for(ms(300));
        pair.paths[dead].up = false;
        let failed_at = pair.now();
        let subflows = pair.mptcp(CLIENT).subflows();
        let timeouts = subflows.iter().filter_map(|subflow| subflow.connection().rtt().rto());
        let longest_timeout = timeouts.max().expect("both have an RTT");
        let reinjected = |pair: &mut Pair| pair.mptcp(CLIENT).counters().bytes_reinjected;
        // The first timeout comes after some 300 ms; an idle subflow repeats a piece of 32 KiB at most each period.
        pair.run_for(ms(600));
        assert!(reinjected(&mut pair) <= 3 * 32_768, "{dead}: {}", reinjected(&mut pair));
        let held = pair.mptcp(CLIENT).subflows()[dead].connection().unacknowledged_bytes();
        // The last DATA_ACK comes less than a timeout R after the failure, and starts the timer with at most R. When the
        // scheduler is asked for the last time, before the writer waits, the dead subflow may have timed out once: then
        // its timer has 2 R left, which is the interval of the other four periods, however long that timer becomes.
        pair.run_until("everything again", |pair| pair.mptcp(CLIENT).counters().bytes_reinjected > held);
        let took = pair.now().since(failed_at);
        assert!(took <= longest_timeout * (1 + 1 + 4 * 2), "{dead}: {took:?}, with timeouts of {longest_timeout:?}");
        pair.run_until("the data", |pair| pair.received(SERVER) == 2_020_000);
        pair.close_gracefully();
    }
}

/// The server announces an address and withdraws it with the same packet: the client closes the subflow that it opens
/// there, and the server's answer to that is lost.
#[test]
fn a_subflow_that_has_sent_its_fin_is_given_nothing_more() {
    let setup = Setup::mptcp(1, 2).both(|stack| {
        let multipath = stack.multipath();
        multipath.scheduler = Scheduling::from_name("linux-default").expect("a scheduler");
        multipath.stale_loss_count = 4;
    });
    let mut pair = setup.build();
    pair.tamper(|leaving| {
        let options = &mut leaving.segment.options;
        let announced = options.mptcp.iter().find_map(|option| match option {
            MptcpOption::AddAddress(announced) if leaving.from == SERVER => Some(announced.address_id),
            _ => None,
        });
        options.mptcp.extend(announced.map(|id| MptcpOption::RemoveAddress([id].into_iter().collect())));
        let answers_fin = leaving.from == SERVER && leaving.path == 1 && has_fin(leaving.segment);
        if answers_fin { Fate::Drop } else { Fate::Pass }
    });
    pair.connect();
    pair.write(CLIENT, 20_000);
    pair.settle();
    assert_eq!(pair.mptcp(CLIENT).subflows()[1].connection().state(), State::FinWait2);
    pair.paths[0].up = false;
    pair.write(CLIENT, 100_000);
    pair.run_for(secs(5));
    pair.paths[0].up = true;
    pair.run_until("the data", |pair| pair.received(SERVER) == 120_000);
}

#[test]
fn a_path_that_comes_back_is_used_again() {
    let mut pair = two_paths("ll");
    pair.write(CLIENT, 10_000_000);
    pair.run_for(ms(300));
    pair.paths[1].up = false;
    pair.run_for(secs(1));
    pair.paths[1].up = true;
    pair.run_for(secs(2));
    let before = pair.mptcp(SERVER).subflows()[1].bytes_received();
    pair.run_until("the data", |pair| pair.received(SERVER) == 10_020_000);
    assert!(pair.mptcp(SERVER).subflows()[1].bytes_received() > before + 100_000);
    exchange_and_close(&mut pair);
}

#[test]
fn copies_that_both_arrive_are_counted_once() {
    let mut pair = two_paths("ll");
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(300));
    // Nothing is lost: the path only stands still for longer than a timeout.
    pair.paths[1].delay = ms(1500);
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_020_000);
    pair.run_for(secs(5));
    let sum: u64 = pair.mptcp(SERVER).subflows().iter().map(|subflow| subflow.bytes_received()).sum();
    assert_eq!(sum, 1_020_000);
    exchange_and_close(&mut pair);
}

#[test]
fn a_subflow_that_dies_for_good_is_given_up_and_its_data_is_not_lost() {
    let setup = Setup::mptcp(2, 1).both(|stack| stack.tcp.max_retries = 3);
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.paths[1].up = false;
    pair.transfer(CLIENT, 2_000_000);
    pair.run_for(secs(60));
    assert_eq!(pair.established_subflows(CLIENT), 1);
    exchange_and_close(&mut pair);
}

#[test]
fn all_paths_may_be_down_for_a_while() {
    let mut pair = two_paths("ll");
    pair.write(CLIENT, 1_000_000);
    pair.write(SERVER, 1_000_000);
    pair.run_for(ms(200));
    for up in [false, true] {
        for path in &mut pair.paths {
            path.up = up;
        }
        pair.run_for(secs(10));
    }
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_020_000 && pair.received(CLIENT) == 1_000_000);
    exchange_and_close(&mut pair);
}

#[test]
fn data_outstanding_on_a_closed_subflow_waits_for_the_next_join() {
    let mut pair = two_paths("ll");
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(100));
    pair.lose_address(CLIENT, 0);
    pair.lose_address(CLIENT, 1);
    pair.run_for(secs(5));
    pair.regain_address(CLIENT, 1);
    pair.run_until("the data", |pair| pair.received(SERVER) == 1_020_000);
    exchange_and_close(&mut pair);
}

#[test]
fn what_the_peer_acknowledged_on_the_subflow_and_dropped_is_sent_again() {
    let mut pair = two_paths("ll");
    // A mapping far beyond the window: the subflow takes the segment, the data level has no use for it. Linux does the
    // same to a segment that comes while its shared window is closed.
    let mut misplaced = 0;
    pair.tamper(move |leaving| {
        if leaving.from == CLIENT && has_data(leaving.segment) && misplaced < 3 {
            let mapping =
                leaving.segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()).expect("data is mapped");
            mapping.data_sequence = mapping.data_sequence.wrapping_add(1 << 30);
            misplaced += 1;
        }
        Fate::Pass
    });
    pair.write(CLIENT, 30_000);
    pair.run_until("the data", |pair| pair.received(SERVER) == 50_000);
    exchange_and_close(&mut pair);
}

/// A peer acknowledges every copy on the subflow and nothing at the data level.
#[test]
fn copies_that_no_data_ack_covers_become_rare() {
    let mut pair = Setup::mptcp(2, 1).on(CLIENT, |stack| stack.multipath().stale_loss_count = 4).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair.tamper(|leaving| {
        let dss = leaving.segment.options.dss.as_mut();
        if let (SERVER, Some(ack)) = (leaving.from, dss.and_then(|dss| dss.data_ack.as_mut())) {
            ack.value = ack.value.wrapping_sub(1000) & 0xFFFF_FFFF;
        }
        Fate::Pass
    });
    let start = pair.now();
    pair.write(CLIENT, 1000);
    pair.run_for(secs(60));
    let sent = pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment)).count();
    assert!((10..40).contains(&sent), "{sent} copies");
}
