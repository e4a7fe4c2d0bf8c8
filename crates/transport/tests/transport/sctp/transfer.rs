//! Opening, data both ways, closing.

use subflow_transport::Event;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::Chunk;

use crate::harness::sctp::{drop_data, has, has_data};
use crate::harness::{CLIENT, Pair, Path, SERVER, Setup, ms};

fn names(pair: &Pair) -> Vec<&'static str> {
    let name = |chunk: &Chunk| match chunk {
        Chunk::Init(_) => "INIT",
        Chunk::InitAck(_) => "INIT ACK",
        Chunk::CookieEcho(_) => "COOKIE ECHO",
        Chunk::CookieAck => "COOKIE ACK",
        Chunk::Data(_) => "DATA",
        Chunk::Sack(_) => "SACK",
        Chunk::Shutdown { .. } => "SHUTDOWN",
        Chunk::ShutdownAck => "SHUTDOWN ACK",
        Chunk::ShutdownComplete { .. } => "SHUTDOWN COMPLETE",
        _ => "other",
    };
    pair.sctp.log.iter().flat_map(|sent| sent.packet.chunks.iter().map(name)).collect()
}

#[test]
fn an_association_opens_with_four_packets_and_closes_with_three() {
    let mut pair = Setup::sctp(1).connected();
    assert_eq!(names(&pair), ["INIT", "INIT ACK", "COOKIE ECHO", "COOKIE ACK"]);
    assert_eq!([CLIENT, SERVER].map(|side| pair.count(side, Event::Established)), [1, 1]);
    let since = pair.sctp.log.len();
    pair.finish(CLIENT);
    pair.drive();
    assert_eq!(names(&pair)[since..], ["SHUTDOWN", "SHUTDOWN ACK", "SHUTDOWN COMPLETE"]);
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.count(side, Event::Closed(Closed::Gracefully)), 1);
    }
}

#[test]
fn data_flows_both_ways() {
    let mut pair = Setup::sctp(1).connected();
    pair.write(SERVER, 300_000);
    pair.transfer(CLIENT, 500_000);
    pair.run_until("the server's data", |pair| pair.received(CLIENT) == 300_000);
    pair.finish(CLIENT);
    pair.drive();
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1);
}

#[test]
fn data_written_before_the_peer_answers_is_bundled_with_cookie_echo() {
    let mut pair = Setup::sctp(1).build();
    pair.connect();
    pair.write(CLIENT, 1000);
    pair.run_until("the data", |pair| pair.received(SERVER) == 1000);
    let bundled = |chunk: &Chunk| matches!(chunk, Chunk::CookieEcho(_));
    assert!(pair.sctp.log.iter().any(|sent| has(&sent.packet, bundled) && has_data(&sent.packet)));
}

#[test]
fn a_lost_packet_is_sent_again_after_three_misses() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(drop_data(CLIENT, &[10]));
    let took = pair.transfer(CLIENT, 200_000);
    let counters = *pair.sctp(CLIENT).destinations()[0].counters();
    assert_eq!((counters.fast_retransmissions, counters.timeouts), (1, 0), "{counters:?}");
    assert_eq!(counters.fast_retransmits, 1, "{counters:?}");
    assert!(took < ms(1000), "no timeout: {took}");
}

#[test]
fn chunks_that_one_sack_shows_lost_are_one_fast_retransmission() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(drop_data(CLIENT, &[10, 11]));
    pair.transfer(CLIENT, 200_000);
    let counters = *pair.sctp(CLIENT).destinations()[0].counters();
    assert_eq!((counters.fast_retransmissions, counters.fast_retransmits), (2, 1), "{counters:?}");
}

#[test]
fn a_lost_last_packet_is_sent_again_after_the_timeout() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(drop_data(CLIENT, &[2]));
    let took = pair.transfer(CLIENT, 3 * 1452);
    let counters = *pair.sctp(CLIENT).destinations()[0].counters();
    assert_eq!((counters.fast_retransmissions, counters.timeout_retransmissions), (0, 1), "{counters:?}");
    assert!(took > ms(1000) && took < ms(1300), "{took}");
}

#[test]
fn heavy_loss_delays_but_loses_nothing() {
    let mut pair = Setup::sctp(1).path(0, Path::with_delay(ms(10)).rate(20, 50).loss(0.05)).connected();
    pair.transfer(CLIENT, 1_000_000);
    pair.finish(CLIENT);
    pair.drive();
    assert_eq!(pair.count(SERVER, Event::PeerFinished), 1);
}

#[test]
fn an_idle_window_is_halved_once_for_each_timeout() {
    use subflow_policy::catalogue::Catalogue;
    use subflow_policy::scheduler::Scheduling;
    use subflow_transport::sctp::config::Distribution;
    let schedulers = Scheduling::prototypes().into_iter().map(Distribution::Scheduler);
    // Schedulers are shown the window more than once before data leaves.
    for distribution in schedulers.chain([Distribution::Primary, Distribution::LargestFreeWindow]) {
        let mut pair = Setup::sctp(1).both(|stack| stack.association().distribution = distribution.clone()).connected();
        pair.transfer(CLIENT, 300_000);
        let before = pair.cwnd(CLIENT, 0);
        assert!(before > 50_000);
        pair.run_for(ms(1500));
        pair.write(CLIENT, 1452);
        assert_eq!(pair.cwnd(CLIENT, 0), before / 2, "{distribution:?}");
    }
}

/// What is in flight to all destinations is what is in flight to each, but for copies.
pub(super) fn flights_add_up(pair: &Pair, side: usize) {
    if !pair.has_connection(side) {
        return;
    }
    let association = pair.sctp(side);
    let each: u64 = association.destinations().iter().map(|destination| destination.bytes_in_flight()).sum();
    assert_eq!(association.bytes_in_flight(), each);
}
