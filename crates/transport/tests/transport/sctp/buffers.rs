//! Flow control, small buffers, and receivers that drop what they acknowledged (RFC 9260, sections 6.1, 6.2 and 6.2.1).

use subflow_transport::Endpoint;
use subflow_transport::sctp::State;
use subflow_transport::sctp::config::MessageOptions;
use subflow_wire::sctp::Chunk;

use crate::harness::sctp::{drop_data, drop_first, has, has_data, sack_of};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

/// The server does not read, and its buffer of 20 000 bytes is full.
fn stalled() -> Pair {
    stalled_with(100_000)
}

/// The same after so many bytes.
fn stalled_with(bytes: u64) -> Pair {
    let mut pair = Setup::sctp(1).on(SERVER, |stack| stack.association().receive_buffer = 20_000).connected();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.write(CLIENT, bytes);
    pair.run_for(secs(2));
    pair
}

#[test]
fn a_full_buffer_stops_the_sender() {
    let pair = stalled();
    assert!((18_000..=20_000).contains(&pair.received(SERVER)), "{}", pair.received(SERVER));
    assert!(pair.sctp.log.iter().filter_map(|sent| sack_of(&sent.packet)).next_back().expect("a SACK").a_rwnd < 1452);
}

#[test]
fn a_closed_window_is_probed_and_a_peer_that_answers_is_never_given_up() {
    let mut pair = stalled();
    let (start, probes) = (pair.now(), pair.sctp(CLIENT).counters().window_probes);
    pair.run_for(secs(300));
    let since = pair.sctp(CLIENT).counters().window_probes - probes;
    assert!((5..=20).contains(&since), "{since} probes, ever further apart");
    pair.run_for(secs(3 * 3600));
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);
    assert!(pair.sctp(CLIENT).destinations()[0].is_active());
    assert!(pair.sent_sctp(CLIENT, start).any(|sent| has_data(&sent.packet)));
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
}

#[test]
fn a_probe_that_found_no_room_is_repeated_as_soon_as_there_is_some() {
    // One chunk follows the probe: too few for a fast retransmission.
    let mut pair = stalled_with(21_000);
    // The timeout of the probe is at RTO.Max by now.
    pair.run_for(secs(600));
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    pair.run_for(secs(1));
    assert_eq!(pair.received(SERVER), 21_000);
}

#[test]
fn a_window_that_opens_is_announced_at_once() {
    let mut pair = stalled();
    let start = pair.now();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    assert!(pair.sent_sctp(SERVER, start).any(|sent| sack_of(&sent.packet).is_some_and(|sack| sack.a_rwnd == 20_000)));
}

#[test]
fn a_receiver_that_drops_what_it_acknowledged_is_survived() {
    // The buffer takes five chunks, and the first of the flight is lost: the rest fills it before the hole closes.
    let mut pair = Setup::sctp(1).both(|stack| stack.association().receive_buffer = 5 * 1452).connected();
    pair.transfer(CLIENT, 20_000);
    let mut lost = 0;
    pair.tamper_sctp(move |leaving| {
        let data = leaving.from == CLIENT && has_data(leaving.packet);
        lost += u64::from(data);
        if data && lost == 1 { Fate::Drop } else { Fate::Pass }
    });
    pair.transfer(CLIENT, 200_000);
}

#[test]
fn gap_blocks_that_are_taken_back_put_chunks_into_flight_again() {
    let mut pair = Setup::sctp(1).path(0, Path::with_delay(ms(10)).rate(10, 100)).connected();
    pair.tamper_sctp(drop_data(CLIENT, &[20]));
    let mut sacks = 0;
    pair.tamper_sctp(move |leaving| {
        for chunk in &mut leaving.packet.chunks {
            if let Chunk::Sack(sack) = chunk
                && !sack.gaps.is_empty()
            {
                sacks += 1;
                if sacks % 2 == 0 {
                    sack.gaps.clear();
                }
            }
        }
        Fate::Pass
    });
    pair.transfer(CLIENT, 300_000);
    assert!(pair.sctp(CLIENT).counters().reneged_by_peer > 0);
    pair.run_for(secs(1));
    assert_eq!(pair.sctp(CLIENT).bytes_in_flight(), 0);
}

#[test]
fn with_nr_sack_nothing_is_dropped_and_nothing_counted_twice() {
    let change = |stack: &mut crate::harness::Stack| {
        stack.association().nr_sack = true;
        stack.association().receive_buffer = 5 * 1452;
    };
    let mut pair = Setup::sctp(1).path(0, Path::with_delay(ms(10)).rate(10, 5).loss(0.05)).both(change).connected();
    pair.transfer(CLIENT, 200_000);
    assert_eq!(pair.sctp(SERVER).counters().reneged, 0);
    let sacks = || pair.sctp.log.iter().filter(|sent| sent.from == SERVER);
    assert!(sacks().any(|sent| has(&sent.packet, |chunk| matches!(chunk, Chunk::NrSack(_)))));
    assert!(!sacks().any(|sent| has(&sent.packet, |chunk| matches!(chunk, Chunk::Sack(_)))));
}

#[test]
fn a_message_larger_than_the_buffer_is_delivered_in_parts() {
    let mut pair = Setup::sctp(1).both(|stack| stack.association().receive_buffer = 10_000).connected();
    let sent = pair.act(CLIENT, |endpoint, _| match endpoint {
        Endpoint::Sctp(association) => association.send_message(100_000, MessageOptions::default()),
        _ => false,
    });
    assert!(sent);
    pair.run_until("the message", |pair| pair.received(SERVER) == 100_000);
}

#[test]
fn a_message_that_filled_the_buffer_while_nobody_read_is_delivered_in_parts_once_somebody_does() {
    // The timeout of the probe is at RTO.Max by then: without a window update the rest would come a minute later.
    let mut pair = Setup::sctp(1).on(SERVER, |stack| stack.association().receive_buffer = 3000).connected();
    pair.act(CLIENT, |endpoint, _| match endpoint {
        Endpoint::Sctp(association) => association.send_message(3542, MessageOptions::default()),
        _ => false,
    });
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.run_for(secs(600));
    let start = pair.now();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    assert!(pair.sent_sctp(SERVER, start).any(|sent| sack_of(&sent.packet).is_some_and(|sack| sack.a_rwnd == 3000)));
    pair.run_for(secs(1));
    assert_eq!(pair.received(SERVER), 3542);
}

#[test]
fn small_messages_share_packets() {
    let mut pair = Setup::sctp(1).both(|stack| stack.association().message_size = 100).connected();
    let start = pair.now();
    pair.transfer(CLIENT, 100_000);
    let packets = pair.sent_sctp(CLIENT, start).filter(|sent| has_data(&sent.packet)).count();
    // 12 chunks of 116 bytes fit beside the headers.
    assert!((84..=100).contains(&packets), "{packets}");
}

#[test]
fn sacks_that_are_lost_cost_little() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(drop_first(2, |leaving| leaving.from == SERVER && sack_of(leaving.packet).is_some()));
    let took = pair.transfer(CLIENT, 100_000);
    assert!(took < secs(1), "{took}");
    assert_eq!(pair.sctp(CLIENT).destinations()[0].counters().timeouts, 0);
}
