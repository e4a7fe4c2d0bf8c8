//! A SYN for ends in TIME-WAIT (RFC 6191).

use subflow_transport::tcp::{Closed, State};
use subflow_transport::{EndpointId, Event};
use subflow_wire::TcpSegment;
use subflow_wire::tcp::{TcpFlags, Timestamps};

use crate::harness::tamper::{is_syn, is_syn_ack};
use crate::harness::{CLIENT, Pair, SERVER, Setup};

/// A connection that the server closed first: it is in TIME-WAIT, and the client's end is gone.
fn server_in_time_wait(setup: Setup) -> (Pair, EndpointId) {
    let mut pair = setup.connected();
    pair.transfer(CLIENT, 3000);
    pair.finish(SERVER);
    pair.settle();
    pair.finish(CLIENT);
    pair.settle();
    assert_eq!((pair.state(SERVER), pair.count(CLIENT, Event::Closed(Closed::Gracefully))), (State::TimeWait, 1));
    let old = pair.connection(SERVER);
    (pair, old)
}

/// The client's last sequence number and timestamp.
fn last_of_client(pair: &Pair) -> &TcpSegment {
    &pair.log.iter().rfind(|sent| sent.from == CLIENT).expect("it has sent something").segment
}

/// The server gets a SYN for the old ends with this much more than the last sequence number, and with this timestamp.
/// Returns whether it opened a connection.
fn opens(pair: &mut Pair, above: i32, timestamp: Option<u32>) -> bool {
    let last = last_of_client(pair);
    let mut syn = TcpSegment {
        source_port: last.source_port,
        destination_port: last.destination_port,
        sequence: last.sequence.wrapping_add_signed(above),
        flags: TcpFlags::SYN,
        window: 65_535,
        ..TcpSegment::default()
    };
    syn.options.timestamps = timestamp.map(|value| Timestamps { value, echo: 0 });
    let (syn, now) = (pair.first_path(SERVER, syn), pair.now());
    pair.host(SERVER).handle_packet(now, &syn);
    pair.host(SERVER).poll_accept().is_some()
}

#[test]
fn a_client_comes_back_from_the_same_port_at_once() {
    for setup in [Setup::tcp(), Setup::mptcp(1, 1)] {
        let (mut pair, old) = server_in_time_wait(setup);
        let (local, began) = (pair.tcp(CLIENT).ends().local, pair.now());
        pair.connect_from(local);
        pair.settle();
        assert_ne!(pair.connection(SERVER), old);
        assert_eq!(pair.sent(CLIENT, began).filter(|sent| is_syn(&sent.segment)).count(), 1);
        pair.transfer(CLIENT, 50_000);
        pair.transfer(SERVER, 50_000);
    }
}

#[test]
fn its_sequence_numbers_are_above_those_used_before() {
    let (mut pair, _) = server_in_time_wait(Setup::tcp());
    let last = pair.log.iter().rfind(|sent| sent.from == SERVER).expect("it has sent something").segment.sequence;
    let (local, began) = (pair.tcp(CLIENT).ends().local, pair.now());
    pair.connect_from(local);
    pair.settle();
    let answer = pair.sent(SERVER, began).find(|sent| is_syn_ack(&sent.segment)).expect("a SYN/ACK");
    assert_eq!(answer.segment.sequence.wrapping_sub(last), 65_537);
}

#[test]
fn the_endpoint_that_waits_goes_on_to_do_so() {
    let (mut pair, old) = server_in_time_wait(Setup::tcp());
    let local = pair.tcp(CLIENT).ends().local;
    pair.connect_from(local);
    pair.settle();
    let now = pair.now();
    let host = pair.host(SERVER);
    let at = host.poll_timeout(old).expect("it waits");
    assert!(at > now && !host.endpoint(old).is_closed());
    host.handle_timeout(at, old);
    assert_eq!(host.endpoint(old).ended(), Some(Closed::Gracefully));
    host.remove(old);
    pair.transfer(CLIENT, 10_000);
}

#[test]
fn with_timestamps_a_newer_one_opens_and_an_older_one_does_not() {
    let recent = |pair: &Pair| last_of_client(pair).options.timestamps.expect("it had one").value;
    for (later, above, opened) in [(1, -1000, true), (0, 1, true), (0, -1000, false), (-1, 1000, false)] {
        let (mut pair, _) = server_in_time_wait(Setup::tcp());
        let timestamp = recent(&pair).wrapping_add_signed(later);
        assert_eq!(opens(&mut pair, above, Some(timestamp)), opened, "{later} ms later, {above} above");
    }
}

#[test]
fn without_timestamps_the_sequence_number_has_to_be_higher() {
    for (above, opened) in [(1, true), (1 << 20, true), (-1, false), (-(1 << 20), false)] {
        let (mut pair, _) = server_in_time_wait(Setup::tcp());
        assert_eq!(opens(&mut pair, above, None), opened, "{above} above");
        let (mut pair, _) = server_in_time_wait(Setup::tcp().both(|stack| stack.tcp.timestamps = false));
        assert_eq!(opens(&mut pair, above, None), opened, "{above} above, never timestamps");
    }
    let (mut pair, _) = server_in_time_wait(Setup::tcp().on(CLIENT, |stack| stack.tcp.timestamps = false));
    assert!(opens(&mut pair, -1000, Some(1)), "timestamps are new");
}
