//! Fast recovery with SACK: many losses in a window, proportional rate reduction, lost retransmissions, reneging.

use subflow_policy::congestion::RecoveryState;
use subflow_transport::tcp::config::LossDetection;
use subflow_transport::{Endpoint, tcp};

use crate::harness::tamper::{drop_data, has_data};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

fn recovery_state(pair: &Pair) -> RecoveryState {
    match pair.endpoint(CLIENT) {
        Endpoint::Tcp(tcp) => tcp.congestion().path(0).state(),
        _ => panic!("plain TCP"),
    }
}

/// A connection with a window of 40 segments.
fn wide(setup: Setup) -> Pair {
    // Some rate, so that packets do not all arrive at one instant: RACK tells them apart by time.
    let setup = setup.path(0, Path::default().rate(100, 10_000));
    let mut pair = setup.both(|stack| stack.tcp.initial_window = 40).connected();
    pair.transfer(CLIENT, 3 * 1448);
    pair.run_for(ms(100));
    pair
}

fn lose(mut pair: Pair, numbers: &[u64], segments: u64) -> (Pair, tcp::Counters) {
    pair.tamper(drop_data(CLIENT, numbers));
    let took = pair.transfer(CLIENT, segments * 1448);
    assert!(took < secs(2), "{took:?}");
    let counters = *pair.tcp(CLIENT).counters();
    (pair, counters)
}

#[test]
fn one_loss_costs_one_retransmission_and_half_the_window() {
    for detection in [LossDetection::Rack, LossDetection::DupThresh] {
        let pair = wide(Setup::tcp().both(|stack| stack.tcp.loss_detection = detection));
        let (pair, counters) = lose(pair, &[5], 80);
        assert_eq!((counters.recoveries, counters.timeouts, counters.retransmissions), (1, 0, 1), "{detection:?}");
        assert!((20..=24).contains(&pair.cwnd(CLIENT, 0)), "{detection:?}: {}", pair.cwnd(CLIENT, 0));
    }
}

#[test]
fn many_losses_in_a_window_are_one_recovery() {
    for detection in [LossDetection::Rack, LossDetection::DupThresh] {
        let pair = wide(Setup::tcp().both(|stack| stack.tcp.loss_detection = detection));
        let lost = [1, 2, 3, 7, 9, 20, 21, 30];
        let (pair, counters) = lose(pair, &lost, 120);
        assert_eq!((counters.recoveries, counters.timeouts), (1, 0), "{detection:?}");
        assert_eq!(counters.retransmissions, lost.len() as u64, "{detection:?}");
        assert!((18..=26).contains(&pair.cwnd(CLIENT, 0)), "{detection:?}: {}", pair.cwnd(CLIENT, 0));
    }
}

#[test]
fn a_whole_window_but_its_last_segments_may_be_lost() {
    let lost: Vec<u64> = (0..36).collect();
    let (_, counters) = lose(wide(Setup::tcp()), &lost, 100);
    assert_eq!(counters.timeouts, 0);
    assert_eq!(counters.retransmissions, 36);
}

#[test]
fn during_recovery_about_one_segment_leaves_for_two_that_arrive() {
    // A link that spaces packets shows the rate; PRR halves it evenly instead of falling silent and bursting.
    let mut pair = Setup::tcp().path(0, Path::with_delay(ms(20)).rate(10, 10_000)).connected();
    pair.write(CLIENT, 3_000_000);
    pair.run_for(ms(400));
    pair.induce_loss(1);
    pair.run_until("recovery", |pair| recovery_state(pair) == RecoveryState::Recovery);
    let (start, window) = (pair.now(), pair.cwnd(CLIENT, 0));
    pair.run_until("its end", |pair| recovery_state(pair) != RecoveryState::Recovery);
    let sent = pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment)).count();
    let silence = pair.sent(CLIENT, start).zip(pair.sent(CLIENT, start).skip(1)).map(|(a, b)| b.at.since(a.at)).max();
    assert!((window / 3..=window).contains(&(sent as u32)), "{sent} left in a round that began with {window}");
    assert!(silence < Some(ms(10)), "{silence:?}");
}

#[test]
fn a_lost_retransmission_is_found_by_rack() {
    // Room in the receive window for new data to follow the retransmission.
    let mut pair = wide(Setup::tcp().on(SERVER, |stack| stack.receive_buffer(1_000_000)));
    let mut copies = 0;
    pair.tamper(move |leaving| {
        let fifth = leaving.from == CLIENT && leaving.segment.payload.stream_offset == (3 + 5) * 1448;
        copies += u32::from(fifth);
        if fifth && copies <= 2 { Fate::Drop } else { Fate::Pass }
    });
    pair.transfer(CLIENT, 150 * 1448);
    let counters = pair.tcp(CLIENT).counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 2));
}

#[test]
fn limited_transmit_keeps_acknowledgments_coming() {
    // RFC 3042: with a window of four, the first two duplicates release new data and so bring the third.
    let setup = Setup::tcp().both(|stack| {
        stack.tcp.initial_window = 4;
        stack.tcp.loss_detection = LossDetection::DupThresh;
        stack.tcp.tail_loss_probe = false;
    });
    let mut pair = setup.connected();
    pair.tamper(drop_data(CLIENT, &[1]));
    pair.transfer(CLIENT, 12 * 1448);
    let counters = pair.tcp(CLIENT).counters();
    assert_eq!((counters.recoveries, counters.timeouts), (1, 0));
}

#[test]
fn a_receiver_that_forgets_what_it_reported_is_served_again() {
    // RFC 2018, section 8: SACKed data may be dropped by the receiver until it is acknowledged.
    let mut pair = wide(Setup::tcp());
    pair.tamper(drop_data(CLIENT, &[0]));
    let start = pair.now();
    let mut reneged = false;
    pair.tamper(move |leaving| {
        // Its reports claim segments 10 to 12, which never arrive there.
        let number = leaving.segment.payload.stream_offset / 1448;
        let eaten = leaving.from == CLIENT && has_data(leaving.segment) && (13..16).contains(&number);
        if eaten && leaving.at.since(start) < ms(30) {
            return Fate::Drop;
        }
        if leaving.from == SERVER
            && !reneged
            && let Some(block) = leaving.segment.options.sack.last_mut()
        {
            let length = block.right.wrapping_sub(leaving.segment.acknowledgment);
            reneged = length >= 16 * 1448;
            block.left = leaving.segment.acknowledgment.wrapping_add(1448);
        }
        Fate::Pass
    });
    pair.transfer(CLIENT, 60 * 1448);
    pair.close_gracefully();
}

#[test]
fn heavy_loss_does_not_stop_a_transfer() {
    for seed in 0..5 {
        let mut pair = Setup::tcp().seed(seed).path(0, Path::default().loss(0.2)).connected();
        pair.transfer(CLIENT, 300_000);
        pair.transfer(SERVER, 300_000);
        pair.close_gracefully();
    }
}
