//! Packets that overtake each other, and packets that come twice: no more repetition than needed, and windows restored.

use subflow_transport::tcp::config::LossDetection;

use crate::harness::tamper::{delay_first, has_data};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms};

/// A window of 40 segments, and some rate: packets do not all arrive at one instant.
fn setup() -> Setup {
    Setup::tcp().both(|stack| stack.tcp.initial_window = 40).path(0, Path::default().rate(100, 10_000))
}

fn wide() -> Pair {
    let mut pair = setup().connected();
    pair.transfer(CLIENT, 5 * 1448);
    pair.run_for(ms(100));
    pair
}

#[test]
fn a_segment_that_is_overtaken_by_two_is_not_repeated() {
    let mut pair = wide();
    let mut count = 0;
    pair.tamper(move |leaving| {
        count += u32::from(leaving.from == CLIENT && has_data(leaving.segment));
        // It comes 2 ms late; the two behind it come 1 ms late: the rest of the window waits longer.
        match (leaving.from, count) {
            (CLIENT, 10) => Fate::Late(ms(2)),
            (CLIENT, 11..=12) => Fate::Late(ms(1)),
            (CLIENT, 13..) => Fate::Late(ms(3)),
            _ => Fate::Pass,
        }
    });
    pair.transfer(CLIENT, 40 * 1448);
    pair.settle();
    assert_eq!(pair.tcp(CLIENT).counters().retransmissions, 0);
}

#[test]
fn a_needless_reduction_is_taken_back() {
    for timestamps in [true, false] {
        let mut pair = setup().both(|stack| stack.tcp.timestamps = timestamps).connected();
        pair.transfer(CLIENT, 5 * 1460);
        pair.run_for(ms(100));
        let window = pair.cwnd(CLIENT, 0);
        pair.tamper(delay_first(ms(8), |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
        pair.transfer(CLIENT, 200 * 1448);
        pair.settle();
        let counters = *pair.tcp(CLIENT).counters();
        assert_eq!(counters.recoveries, 1, "timestamps {timestamps}: taken for a loss at first");
        assert_eq!(counters.undos, 1, "timestamps {timestamps}: {counters:?}");
        assert!(pair.cwnd(CLIENT, 0) >= window, "timestamps {timestamps}: {} < {window}", pair.cwnd(CLIENT, 0));
    }
}

#[test]
fn a_needless_reduction_is_taken_back_by_a_d_sack_that_comes_after_everything() {
    let mut pair = setup().both(|stack| stack.tcp.timestamps = false).connected();
    pair.transfer(CLIENT, 5 * 1460);
    pair.run_for(ms(100));
    let window = pair.cwnd(CLIENT, 0);
    pair.tamper(delay_first(ms(8), |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.transfer(CLIENT, 12 * 1460);
    pair.settle();
    let counters = *pair.tcp(CLIENT).counters();
    assert_eq!((counters.recoveries, counters.undos, pair.cwnd(CLIENT, 0)), (1, 1, window), "{counters:?}");
}

#[test]
fn once_reordering_is_known_rack_waits_for_it() {
    let mut pair = wide();
    for round in 0..10 {
        pair.tamper(delay_first(ms(4), |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
        pair.transfer(CLIENT, 40 * 1448);
        pair.run_for(ms(100));
        pair.stop_tampering();
        let repeated = pair.tcp(CLIENT).counters().retransmissions;
        assert!(repeated <= 2, "round {round}: {repeated}");
    }
}

#[test]
fn steady_reordering_costs_little() {
    for detection in [LossDetection::Rack, LossDetection::DupThresh] {
        let path = Path { reordering: (0.05, ms(4)), ..Path::default().rate(20, 10_000) };
        let setup = Setup::tcp().both(|stack| stack.tcp.loss_detection = detection).path(0, path);
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 3_000_000);
        let counters = *pair.tcp(CLIENT).counters();
        assert!(counters.retransmissions * 20 < counters.data_segments_sent, "{detection:?}: {counters:?}");
        assert_eq!(counters.timeouts, 0, "{detection:?}");
    }
}

#[test]
fn duplicates_of_the_network_are_no_losses() {
    let mut pair = Setup::tcp().path(0, Path { duplication: 0.3, ..Path::default().rate(20, 10_000) }).connected();
    pair.transfer(CLIENT, 1_000_000);
    let counters = *pair.tcp(CLIENT).counters();
    assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
    pair.transfer(SERVER, 100_000);
    pair.close_gracefully();
}
