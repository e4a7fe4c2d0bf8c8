//! Several paths (draft-ietf-quic-multipath-21): opened and validated, used by schedulers, and lost.

use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::*;
use subflow_quantity::Duration;
use subflow_transport::quic::{Config, MAIN_STREAM};
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, Event};
use subflow_wire::quic::{Frame, PacketHeader};

use super::wire::{CLIENT, Leaving, SERVER, Wire, ms};
use super::{configs, multipath, with_congestion};

/// Paths with delays of 20 ms and 30 ms.
fn two_paths(leaving: &mut Leaving<'_>) -> Vec<Duration> {
    vec![ms(20 + 10 * leaving.path as u64)]
}

fn established(wire: &Wire, side: usize) -> usize {
    wire.events.iter().filter(|(of, event)| *of == side && matches!(event, Event::SubflowEstablished(_))).count()
}

/// Bytes that have arrived on each path.
fn shares(wire: &Wire, side: usize) -> Vec<u64> {
    wire.endpoint(side).figures().paths.iter().map(|path| path.bytes_received).collect()
}

/// Packets of the client with data that was sent before, however many pieces of it.
fn packets_sent_again(wire: &Wire) -> u64 {
    let (mut end, mut again) = (0, 0);
    for (.., sent) in wire.log.iter().filter(|(_, from, _)| *from == CLIENT) {
        let before = end;
        for frame in sent.packets.iter().flat_map(|packet| &packet.frames) {
            if let Frame::Stream(stream) = frame {
                end = end.max(stream.offset + u64::from(stream.payload.length));
            }
        }
        let is_again = |frame: &Frame| matches!(frame, Frame::Stream(stream) if stream.offset < before);
        again += u64::from(sent.packets.iter().any(|packet| packet.frames.iter().any(is_again)));
    }
    again
}

fn transfer(wire: &mut Wire, bytes: u64, time: Duration) {
    wire.with(CLIENT, |endpoint| {
        endpoint.write(bytes);
        endpoint.finish();
    });
    wire.run(ms(200));
    if wire.has_connection(SERVER) {
        wire.with(SERVER, |endpoint| endpoint.finish());
    }
    wire.run(time);
    wire.check_data(SERVER, MAIN_STREAM, bytes);
}

/// Section 3.1: a client opens a path with a challenge, which the server answers, and the server validates the client's
/// address in turn; datagrams with challenges have the least size.
#[test]
fn a_path_carries_data_after_both_ends_have_validated_it() {
    let mut wire = Wire::over_paths(2, multipath("ll"), 1, two_paths);
    wire.run(ms(500));
    assert_eq!([CLIENT, SERVER].map(|side| established(&wire, side)), [1, 1], "{:?}", wire.events);
    for side in [CLIENT, SERVER] {
        let challenges = wire.frames_of(side).filter(|frame| matches!(frame, Frame::PathChallenge(_))).count();
        let responses = wire.frames_of(side).filter(|frame| matches!(frame, Frame::PathResponse(_))).count();
        assert_eq!((challenges, responses), (1, 1), "side {side}");
    }
    let validates = |frame: &Frame| matches!(frame, Frame::PathChallenge(_) | Frame::PathResponse(_));
    let mut validating = wire.log.iter().filter(|(.., sent)| sent.packets[0].frames.iter().any(validates));
    assert!(validating.all(|(.., sent)| sent.length() >= 1200));
}

/// Section 2.3: each path has its own packet numbers, and PATH_ACK acknowledges them.
#[test]
fn each_path_has_packet_numbers_and_acknowledgments_of_its_own() {
    let mut wire = Wire::over_paths(2, multipath("rr"), 2, two_paths);
    wire.run(ms(500));
    transfer(&mut wire, 600_000, Duration::from_secs(3));
    let acked = |path: u64| {
        let largest = wire.frames_of(SERVER).filter_map(move |frame| match frame {
            Frame::Ack(ack) if ack.path == Some(path) => Some(ack.largest),
            _ => None,
        });
        largest.max()
    };
    let largest = [acked(0), acked(1), acked(2)];
    assert!(largest[0] > Some(50) && largest[1] > Some(50) && largest[2].is_none(), "{largest:?}");
    let both = shares(&wire, SERVER);
    assert!(both.iter().all(|&bytes| bytes > 50_000), "{both:?}");
    assert_eq!(wire.endpoint(CLIENT).ended(), Some(Closed::Gracefully));
}

#[test]
fn every_scheduler_and_coupled_congestion_control_transfers_over_lossy_paths() {
    for (scheduler, congestion) in
        [("ll", "lia"), ("rr", "olia"), ("blest", "balia"), ("ecf", "wvegas"), ("default", "cubic"), ("lts", "reno")]
    {
        let mut lossy = Wire::lossy(2, 5);
        let configs = multipath(scheduler).map(|config| with_congestion(config, congestion));
        let mut wire = Wire::over_paths(3, configs, 3, move |leaving| lossy(leaving));
        wire.run(ms(500));
        transfer(&mut wire, 1_000_000, Duration::from_secs(30));
        let used = shares(&wire, SERVER).iter().filter(|&&bytes| bytes > 0).count();
        assert!(used >= 2, "{scheduler} {congestion}: {used}");
        assert_eq!(wire.connection(CLIENT).counters().retransmissions, packets_sent_again(&wire));
    }
}

/// A path that carries nothing any more is probed without data, what it carried goes to the other one, and it is used
/// again after it has answered.
#[test]
fn the_data_of_a_path_that_fails_goes_to_the_other_one() {
    let link = |leaving: &mut Leaving<'_>| match (leaving.path, leaving.number) {
        (0, 120..700) => Vec::new(),
        _ => two_paths(leaving),
    };
    let mut wire = Wire::over_paths(2, multipath("ll"), 4, link);
    wire.run(ms(500));
    wire.with(CLIENT, |endpoint| endpoint.write(3_000_000));
    wire.run(Duration::from_secs(20));
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 3_000_000);
    wire.check_data(SERVER, MAIN_STREAM, 3_000_000);
    let timeouts: u64 = wire.endpoint(CLIENT).figures().paths.iter().map(|path| path.timeouts).sum();
    assert!((1..20).contains(&timeouts), "{timeouts}");
}

/// Section 3.4: a client that loses an address abandons its path, and opens another one when the address returns, with
/// another path identifier.
#[test]
fn an_address_that_is_lost_and_returns_has_another_path() {
    let mut wire = Wire::over_paths(2, multipath("ll"), 5, two_paths);
    wire.run(ms(500));
    wire.with(CLIENT, |endpoint| endpoint.write(3_000_000));
    wire.run(ms(200));
    wire.change_address(0, false);
    wire.run(Duration::from_secs(2));
    let abandoned = |side| wire.frames_of(side).any(|frame| matches!(frame, Frame::PathAbandon { path: 0, .. }));
    assert!(abandoned(CLIENT) && abandoned(SERVER), "and the server answers in kind");
    wire.change_address(0, true);
    wire.run(Duration::from_secs(20));
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 3_000_000);
    let mut identifiers = Vec::new();
    wire.endpoint(CLIENT).visit_paths(|path| identifiers.push(path.number));
    assert_eq!(identifiers, [2, 1], "the new path has the place of the one that is over");
    let raised = wire.frames_of(SERVER).any(|frame| matches!(frame, Frame::MaxPathId(8)));
    assert!(raised, "another path is allowed in place of the one that is over");
}

/// A client that has lost all addresses owes acknowledgments that nothing can carry: time goes on nevertheless.
#[test]
fn a_connection_without_any_address_waits() {
    let mut wire = Wire::over_paths(2, multipath("rr"), 10, two_paths);
    wire.with(CLIENT, |endpoint| endpoint.write(1));
    wire.run(ms(500));
    wire.with(SERVER, |endpoint| endpoint.write(3_000_000));
    for (path, at) in [(0, 200), (1, 203)] {
        wire.run(ms(at));
        wire.change_address(path, false);
    }
    wire.run(Duration::from_secs(2));
    let arrived = wire.endpoint(CLIENT).bytes_received();
    assert!((1..3_000_000).contains(&arrived), "{arrived}");
}

/// Section 3.3: PATH_STATUS_BACKUP keeps the peer from using a path while another one works.
#[test]
fn a_backup_carries_data_only_after_the_other_path_has_failed() {
    let [client, server] = multipath("rr");
    let backup = |config: Config| {
        let mut multipath = config.multipath.clone().expect("it has several paths");
        multipath.backup_addresses = vec![[10, 0, 1, 1].into()];
        Config { multipath: Some(multipath), ..config }
    };
    let link = |leaving: &mut Leaving<'_>| match (leaving.path, leaving.number) {
        (0, 400..) => Vec::new(),
        _ => two_paths(leaving),
    };
    let mut wire = Wire::over_paths(2, [backup(client), server], 6, link);
    wire.with(CLIENT, |endpoint| endpoint.write(1));
    wire.run(ms(500));
    wire.with(SERVER, |endpoint| endpoint.write(200_000));
    wire.run(Duration::from_secs(1));
    let before = shares(&wire, CLIENT);
    assert_eq!(before, [200_000, 0]);
    wire.with(SERVER, |endpoint| endpoint.write(2_000_000));
    wire.run(Duration::from_secs(20));
    assert_eq!(wire.endpoint(CLIENT).bytes_received(), 2_200_000);
    assert!(shares(&wire, CLIENT)[1] > 500_000);
}

/// Section 2.1: without the peer's transport parameter there is one path, and the application is told.
#[test]
fn a_peer_without_multipath_gets_one_path() {
    let ([client, _], [_, server]) = (multipath("ll"), configs());
    let mut wire = Wire::over_paths(2, [client, server], 7, two_paths);
    wire.run(ms(500));
    transfer(&mut wire, 100_000, Duration::from_secs(2));
    assert!(wire.events.contains(&(CLIENT, Event::FellBack)), "{:?}", wire.events);
    assert!(wire.endpoint(CLIENT).figures().fallback);
    let is_of_paths = |frame: &Frame| frame.kind() >= 0x3e && !matches!(frame, Frame::Stream(_));
    assert!(!wire.frames_of(CLIENT).any(is_of_paths));
}

/// RFC 9000, section 8.2.4: a path whose challenges are not answered is abandoned.
#[test]
fn a_path_that_is_not_validated_is_given_up() {
    let link = |leaving: &mut Leaving<'_>| if leaving.path == 1 { Vec::new() } else { vec![ms(20)] };
    let mut wire = Wire::over_paths(2, multipath("ll"), 8, link);
    wire.run(Duration::from_secs(5));
    let abandoned = wire.frames_of(CLIENT).any(|frame| matches!(frame, Frame::PathAbandon { path: 1, .. }));
    assert!(abandoned);
    assert_eq!(established(&wire, CLIENT), 0);
    transfer(&mut wire, 100_000, Duration::from_secs(2));
}

/// Section 4.2.1: a path for which the client's identifiers have not arrived is refused. Its packets are none of the
/// connection any more, also when that has been removed.
#[test]
fn a_path_that_was_refused_leaves_nothing_behind() {
    let link = |leaving: &mut Leaving<'_>| {
        let is_late = leaving.from == CLIENT && leaving.path == 1;
        let frames = leaving.datagram.packets.iter_mut().flat_map(|packet| &mut packet.frames);
        let tells = |frame: &&mut Frame| matches!(frame, Frame::NewConnectionId(new) if new.path == Some(1));
        frames.filter(tells).filter(|_| leaving.from == CLIENT).for_each(|frame| *frame = Frame::Ping);
        if is_late { vec![ms(20), Duration::from_secs(20)] } else { vec![ms(20)] }
    };
    let mut wire = Wire::over_paths(2, multipath("ll"), 11, link);
    wire.run(ms(500));
    let refused = Frame::PathAbandon { path: 1, error_code: 0x3e77 };
    assert!(wire.frames_of(SERVER).any(|frame| *frame == refused));
    wire.with(SERVER, Endpoint::abort);
    wire.run(Duration::from_secs(10));
    assert_eq!(wire.endpoint(SERVER).ended(), Some(Closed::Aborted));
    wire.remove(SERVER);
    wire.run(Duration::from_secs(20));
    assert!(!wire.has_connection(SERVER), "the second copies of the path's packets open none");
}

/// RFC 9000, section 10.1: the idle timeout lasts for three probe timeouts at least, of the slowest path. When that is
/// lost, the timeout has passed.
#[test]
fn the_idle_timeout_ends_with_the_slow_path_for_which_it_waited() {
    let works = Rc::new(Cell::new(true));
    let link = {
        let works = works.clone();
        move |leaving: &mut Leaving<'_>| match works.get() {
            true => vec![ms(20 + 1000 * leaving.path as u64)],
            false => Vec::new(),
        }
    };
    let configs = multipath("ll").map(|config| Config { idle_timeout: Some(Duration::from_secs(5)), ..config });
    let mut wire = Wire::over_paths(2, configs, 12, link);
    wire.run(Duration::from_secs(5));
    assert_eq!(established(&wire, CLIENT), 1);
    works.set(false);
    wire.with(CLIENT, |endpoint| endpoint.write(1000));
    wire.run(Duration::from_secs(6));
    assert_eq!(wire.endpoint(CLIENT).ended(), None);
    wire.change_address(1, false);
    assert_eq!(wire.endpoint(CLIENT).ended(), Some(Closed::TimedOut));
}

/// RFC 9000, section 8.1, holds for each path: no more than three times what has arrived leaves before the address is
/// validated.
#[test]
fn a_new_path_is_not_an_amplifier() {
    let link = |leaving: &mut Leaving<'_>| {
        let is_challenge =
            leaving.datagram.packets[0].frames.iter().any(|frame| matches!(frame, Frame::PathChallenge(_)));
        match (leaving.path, leaving.from) {
            (1, CLIENT) if is_challenge => vec![ms(20)],
            (1, _) => Vec::new(),
            _ => vec![ms(20)],
        }
    };
    let mut wire = Wire::over_paths(2, multipath("ll"), 9, link);
    wire.with(CLIENT, |endpoint| endpoint.write(1));
    wire.run(ms(100));
    let log_length = wire.log.len();
    wire.with(SERVER, |endpoint| endpoint.write(500_000));
    wire.run(Duration::from_secs(2));
    let is_short = |header: &PacketHeader| matches!(header, PacketHeader::OneRtt { .. });
    let challenges = wire.log[..].iter().filter(|(_, from, sent)| {
        let frames = &sent.packets[0].frames;
        *from == SERVER
            && is_short(&sent.packets[0].header)
            && frames.iter().any(|frame| matches!(frame, Frame::PathChallenge(_)))
    });
    assert!(challenges.count() <= 6, "of {} datagrams", wire.log.len() - log_length);
    assert_eq!(established(&wire, SERVER), 0);
    assert_eq!(wire.endpoint(CLIENT).bytes_received(), 500_000);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn every_byte_arrives_over_paths_that_lose_delay_and_fail(
        seed: u32,
        loss in 0..20_u64,
        reordered in 0..40_u64,
        fails_at in 0..400_usize,
        bytes in 0..300_000_u64,
    ) {
        let mut lossy = Wire::lossy(loss, reordered);
        let link = move |leaving: &mut Leaving<'_>| {
            let is_down = leaving.path == 1 && (fails_at..fails_at + 200).contains(&leaving.number);
            if is_down { Vec::new() } else { lossy(leaving) }
        };
        let configs = multipath("rr").map(|config| Config { idle_timeout: None, ..config });
        let mut wire = Wire::over_paths(3, configs, seed.into(), link);
        for _ in 0..40 {
            wire.run(Duration::from_secs(5));
            if wire.has_connection(SERVER) {
                break;
            }
        }
        wire.run(ms(500));
        transfer(&mut wire, bytes, Duration::from_secs(600));
        prop_assert_eq!(wire.endpoint(SERVER).bytes_received(), bytes);
    }
}
