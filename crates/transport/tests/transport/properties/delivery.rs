//! Data arrives complete, in order and once, both ends close, and no endpoint runs in circles, whatever the paths do.

use proptest::prelude::*;
use subflow_transport::Endpoint;
use subflow_transport::tcp::Connection;

use super::case::{Case, Stripping, case};
use super::disturbance::{Turn, take};
use crate::harness::tamper::{is_pure_ack, is_syn, is_syn_ack, strip_mptcp};
use crate::harness::{CLIENT, Fate, Pair, SERVER, ms, secs};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn tcp_delivers_everything_and_closes(case in case(false)) {
        delivers(&case);
    }

    #[test]
    fn mptcp_delivers_everything_and_closes(case in case(true)) {
        delivers(&case);
    }
}

fn delivers(case: &Case) {
    let mut pair = case.setup().build();
    pair.keep_log = false;
    strip(&mut pair, case);
    shorten_acks(&mut pair, case);
    pair.connect();
    if !case.early {
        pair.settle();
    }
    for side in [CLIENT, SERVER] {
        for write in 0..case.writes {
            let rest = case.bytes[side] % case.writes;
            pair.write(side, case.bytes[side] / case.writes + u64::from(write < rest));
        }
        pair.finish(side);
    }
    let start = pair.now();
    for &(at, turn) in &case.turns {
        pair.run_to(start + ms(at));
        take(&mut pair, turn);
        check_counts(&pair, case);
    }
    // Whoever does not read yet begins now.
    pair.run_to(start + secs(4));
    for side in [CLIENT, SERVER] {
        take(&mut pair, Turn::Read(side));
    }
    run_to_the_end(&mut pair, case);
}

fn strip(pair: &mut Pair, case: &Case) {
    let after = pair.now() + ms(case.strips_after);
    match case.stripping {
        Stripping::None => {}
        Stripping::Syns => pair.tamper(strip_mptcp(|leaving| is_syn(leaving.segment) || is_syn_ack(leaving.segment))),
        Stripping::From(side) => pair.tamper(strip_mptcp(move |leaving| leaving.from == side && leaving.at >= after)),
        Stripping::Both => pair.tamper(strip_mptcp(move |leaving| leaving.at >= after)),
    }
}

/// Acknowledgments that fall inside segments, or say less than an earlier one.
fn shorten_acks(pair: &mut Pair, case: &Case) {
    let Some((bytes, every)) = case.short_acks else { return };
    let mut counts = [0u32; 2];
    pair.tamper(move |leaving| {
        let count = &mut counts[leaving.from];
        *count += u32::from(is_pure_ack(leaving.segment));
        if is_pure_ack(leaving.segment) && count.is_multiple_of(every) {
            leaving.segment.acknowledgment = leaving.segment.acknowledgment.wrapping_sub(bytes);
        }
        Fate::Pass
    });
}

fn run_to_the_end(pair: &mut Pair, case: &Case) {
    let (total, limit) = (case.bytes[CLIENT] + case.bytes[SERVER], pair.now() + secs(24 * 3600));
    // Small buffers cost a packet a byte, heavy loss some repetitions: what goes in circles takes far more.
    let most_steps = 200_000 + 60 * total;
    let complete =
        |pair: &Pair| pair.received(CLIENT) == case.bytes[SERVER] && pair.received(SERVER) == case.bytes[CLIENT];
    let closed = |pair: &Pair| [CLIENT, SERVER].iter().all(|&side| pair.endpoint(side).is_closed());
    while !(complete(pair) && closed(pair)) {
        assert!(pair.next().is_some(), "asleep for ever with {:?}", progress(pair, case));
        assert!(pair.now() < limit, "too late: {:?}", progress(pair, case));
        assert!(pair.steps < most_steps, "too many packets and timers: {:?}", progress(pair, case));
        pair.step();
        if pair.steps.is_multiple_of(64) {
            check_counts(pair, case);
        }
    }
    pair.drive();
}

fn progress(pair: &Pair, case: &Case) -> impl std::fmt::Debug {
    let closed = [CLIENT, SERVER].map(|side| pair.has_connection(side).then(|| pair.endpoint(side).is_closed()));
    ([pair.received(SERVER), pair.received(CLIENT)], case.bytes, closed, pair.now())
}

fn connections(endpoint: &Endpoint) -> Vec<&Connection> {
    match endpoint {
        Endpoint::Tcp(tcp) => vec![tcp.connection()],
        Endpoint::Mptcp(mptcp) => mptcp.subflows().iter().map(|subflow| subflow.connection()).collect(),
        Endpoint::Sctp(_) | Endpoint::Quic(_) | Endpoint::Udp(_) => Vec::new(),
    }
}

/// Counters agree with each other and with the peer's.
fn check_counts(pair: &Pair, case: &Case) {
    for side in [CLIENT, SERVER].into_iter().filter(|&side| pair.has_connection(side)) {
        let endpoint = pair.endpoint(side);
        assert!(endpoint.bytes_acknowledged() <= endpoint.bytes_written());
        if pair.has_connection(1 - side) {
            assert!(endpoint.bytes_received() <= pair.endpoint(1 - side).bytes_written());
            assert!(endpoint.bytes_acknowledged() <= pair.endpoint(1 - side).bytes_received());
        }
        for connection in connections(endpoint) {
            // A segment and its repetition, for each byte at most.
            let most = connection.unacknowledged_bytes().max(1) * 2;
            assert!(u64::from(connection.in_flight()) <= most, "{} packets in flight", connection.in_flight());
            let counters = connection.counters();
            // An acknowledgment that ends inside a SACKed segment looks like a receiver that reneged: one more episode.
            let episodes = counters.recoveries + counters.timeouts + counters.loss_probes;
            assert!(counters.undos <= episodes || case.short_acks.is_some());
            assert!(counters.data_segments_sent <= counters.segments_sent);
        }
    }
}
