//! The switches by which Linux differs from RFC 9260, each alone: the same losses with it off and on.

use subflow_quantity::Duration;
use subflow_transport::sctp::Config;
use subflow_transport::sctp::config::RtoLimits;

use crate::harness::sctp::{data_of, drop_data, drop_first, has_data, sack_of};
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms};

/// A pair on a path of 40 ms there and back, both of whose ends are RFC 9260 with `change`.
fn pair(change: impl Fn(&mut Config)) -> Pair {
    Setup::sctp(1)
        .path(0, Path::with_delay(ms(20)).rate(50, 1000))
        .both(|stack| change(stack.association()))
        .connected()
}

/// Transfers `chunks` full chunks of which `lost` are dropped once.
fn transfer(change: impl Fn(&mut Config), chunks: u64, lost: &[usize]) -> (Pair, Duration) {
    let mut pair = pair(change);
    pair.tamper_sctp(drop_data(CLIENT, lost));
    let took = pair.transfer(CLIENT, chunks * 1452);
    (pair, took)
}

#[test]
fn a_receiver_may_name_no_more_than_so_many_gap_blocks() {
    let every_third: Vec<usize> = (300..372).step_by(3).collect();
    let most = |limit| {
        let (pair, took) = transfer(|config| config.max_gap_blocks = limit, 600, &every_third);
        let blocks = pair.sctp.log.iter().filter_map(|sent| sack_of(&sent.packet)).map(|sack| sack.gaps.len()).max();
        (blocks, took)
    };
    let ((all, at_once), (some, in_turns)) = (most(None), most(Some(4)));
    assert_eq!((all, some), (Some(24), Some(4)));
    assert!(in_turns > at_once + ms(100), "24 holes four at a time: {in_turns} against {at_once}");
}

#[test]
fn data_too_far_ahead_of_the_first_gap_is_dropped() {
    let far = |most_tsns_ahead| {
        let (pair, _) = transfer(|config| config.most_tsns_ahead = most_tsns_ahead, 400, &[100]);
        pair.sctp(CLIENT).destinations()[0].counters().data_chunks_sent
    };
    assert_eq!(far(4096), 401);
    assert!(far(10) > 410, "what lies beyond the tenth chunk is sent again: {}", far(10));
}

/// Numbers of the chunks that the client sent within a millisecond after it had first sent something again, from there
/// on.
fn sent_again_at_once(pair: &Pair) -> Vec<u32> {
    let sent = || pair.sctp.log.iter().filter(|sent| sent.from == CLIENT);
    let tsns = |sent: &subflow_wire::SctpPacket| sent.chunks.iter().filter_map(data_of).map(|data| data.tsn).collect();
    let (mut highest, mut at, mut again) = (0, None, Vec::new());
    let first = sent().find_map(|sent| sent.packet.chunks.iter().find_map(data_of)).expect("data").tsn;
    for packet in sent() {
        let here: Vec<u32> = tsns(&packet.packet);
        for number in here.into_iter().map(|tsn| tsn.wrapping_sub(first)) {
            if number < highest && at.is_none_or(|at| packet.at < at + ms(1)) {
                at = at.or(Some(packet.at));
                again.push(number);
            }
            highest = highest.max(number + 1);
        }
    }
    again
}

#[test]
fn only_what_leaves_with_the_sack_ignores_the_window() {
    let lost: Vec<usize> = (60..64).collect();
    let run = |single, offload| {
        let change = move |config: &mut Config| {
            (config.single_fast_packet, config.segmentation_offload) = (single, offload);
        };
        sent_again_at_once(&transfer(change, 300, &lost).0)
    };
    // The window is far from open when four are marked at once: one packet leaves, or what is cut into packets later.
    assert_eq!(run(true, false), [60]);
    assert_eq!(run(true, true), [60, 61, 62, 63]);
}

/// When a chunk that is lost with its fast retransmission leaves for the third time, after the second time.
fn third_after_second(change: impl Fn(&mut Config)) -> Duration {
    let mut pair = pair(change);
    let mut seen = Vec::new();
    pair.tamper_sctp(drop_first(2, move |leaving| {
        let Some(tsn) = leaving.packet.chunks.iter().find_map(data_of).map(|data| data.tsn) else { return false };
        if leaving.from == CLIENT && !seen.contains(&tsn) {
            seen.push(tsn);
        }
        leaving.from == CLIENT && seen.get(30) == Some(&tsn)
    }));
    pair.transfer(CLIENT, 100 * 1452);
    let sent = |pair: &Pair| {
        let mut times = std::collections::BTreeMap::new();
        for sent in pair.sctp.log.iter().filter(|sent| sent.from == CLIENT) {
            for data in sent.packet.chunks.iter().filter_map(data_of) {
                times.entry(data.tsn).or_insert_with(Vec::new).push(sent.at);
            }
        }
        times.into_values().find(|times| times.len() == 3).expect("a chunk that is sent three times")
    };
    let times = sent(&pair);
    times[2] - times[1]
}

#[test]
fn a_fast_retransmission_may_leave_the_timer_as_it_is() {
    assert_eq!(third_after_second(|_| {}), ms(1000));
    let sooner = third_after_second(|config| config.fast_retransmission_restarts_timer = false);
    assert!(sooner < ms(1000) && sooner > ms(900), "the timer runs since the last acknowledgment: {sooner}");
}

#[test]
fn the_timeout_may_double_one_retransmission_later() {
    let times = |late| {
        let mut pair = pair(|config| {
            config.late_back_off = late;
            config.rto = RtoLimits { initial: ms(1000), ..config.rto };
        });
        pair.tamper_sctp(drop_first(4, |leaving| leaving.from == CLIENT && has_data(leaving.packet)));
        pair.transfer(CLIENT, 1000);
        let sent: Vec<_> = pair.sctp.log.iter().filter(|sent| sent.from == CLIENT && has_data(&sent.packet)).collect();
        sent.windows(2).map(|pair| (pair[1].at - pair[0].at).as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(times(false), [1000, 2000, 4000, 8000]);
    assert_eq!(times(true), [1000, 1000, 2000, 4000]);
}

#[test]
fn every_message_that_is_written_may_begin_a_burst() {
    let most_at_once = |per_message| {
        let mut pair = pair(|config| {
            config.burst_per_message = per_message;
            config.send_buffer = Some(100 * 1452);
        });
        // Many chunks are acknowledged by one SACK: as many messages are written, and the window is wide open.
        pair.transfer(CLIENT, 200 * 1452);
        pair.tamper_sctp(drop_first(20, |leaving| leaving.from == SERVER));
        pair.transfer(CLIENT, 300 * 1452);
        let mut at_once = std::collections::BTreeMap::<_, u32>::new();
        for sent in pair.sctp.log.iter().filter(|sent| sent.from == CLIENT && has_data(&sent.packet)) {
            *at_once.entry(sent.at).or_default() += 1;
        }
        let _ = at_once.pop_first();
        at_once.into_values().max().expect("data")
    };
    assert!(most_at_once(false) <= 5, "{}", most_at_once(false));
    assert!(most_at_once(true) > 10, "{}", most_at_once(true));
}
