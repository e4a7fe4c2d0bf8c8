//! Loss detection, probes, acknowledgments and pacing, seen from outside.

use subflow_quantity::Duration;
use subflow_transport::quic::{Config, MAIN_STREAM};
use subflow_wire::quic::{Frame, QuicDatagram};

use super::configs;
use super::wire::{CLIENT, Leaving, SERVER, Wire, ms};

/// The offsets of the stream data in a datagram.
fn offsets(datagram: &QuicDatagram) -> Vec<u64> {
    let frames = datagram.packets.iter().flat_map(|packet| &packet.frames);
    frames.filter_map(|frame| if let Frame::Stream(stream) = frame { Some(stream.offset) } else { None }).collect()
}

/// Without pacing, so that windows leave at once.
fn unpaced() -> [Config; 2] {
    configs().map(|config| Config { pacing: false, ..config })
}

/// A connection that is established and idle, whose client's datagrams are lost if `lost` says so of the number of
/// datagrams since then.
fn established(configs: [Config; 2], lost: impl Fn(usize) -> bool + 'static) -> Wire {
    let mut begin = None;
    let link = move |leaving: &mut Leaving<'_>| {
        let has_data = !offsets(leaving.datagram).is_empty();
        if leaving.from == CLIENT && has_data && begin.is_none() {
            begin = Some(leaving.number);
        }
        match begin {
            Some(first) if leaving.from == CLIENT && lost(leaving.number - first) => Vec::new(),
            _ => vec![ms(20)],
        }
    };
    let mut wire = Wire::new(configs, 1, link);
    wire.run(ms(500));
    wire.log.clear();
    wire
}

#[test]
fn a_gap_of_three_packets_is_sent_again_one_round_trip_later() {
    let mut wire = established(unpaced(), |number| number == 2);
    let begin = wire.now;
    wire.with(CLIENT, |endpoint| endpoint.write(14_000));
    wire.run(Duration::from_secs(1));
    let missing = offsets(&wire.log[2].2);
    let again = wire.log.iter().filter(|(_, from, datagram)| *from == CLIENT && offsets(datagram) == missing);
    let times: Vec<u64> = again.map(|(at, ..)| (*at - begin).as_millis()).collect();
    assert_eq!(times, [0, 40]);
    wire.check_data(SERVER, MAIN_STREAM, 14_000);
    assert_eq!(wire.connection(CLIENT).counters().timeouts, 0);
}

#[test]
fn a_lost_tail_is_probed_for() {
    let mut wire = established(unpaced(), |number| number == 0);
    wire.with(CLIENT, |endpoint| endpoint.write(1000));
    wire.run(Duration::from_secs(2));
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 1000);
    let counters = wire.connection(CLIENT).counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (1, 1));
}

#[test]
fn persistent_congestion_leaves_two_packets_and_one_for_what_has_proved_it() {
    // All is lost for three seconds of probes.
    let mut wire = established(unpaced(), |number| (1..20).contains(&number));
    wire.with(CLIENT, |endpoint| endpoint.write(200_000));
    let mut least = f64::MAX;
    for _ in 0..400 {
        wire.run(ms(20));
        wire.endpoint(CLIENT).visit_paths(|path| least = least.min(path.cwnd));
    }
    assert_eq!(least, 3.0);
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 200_000);
}

#[test]
fn every_second_packet_is_acknowledged_and_a_single_one_within_25_ms() {
    let mut wire = established(unpaced(), |_| false);
    let begin = wire.now;
    wire.with(CLIENT, |endpoint| endpoint.write(5 * 1430));
    wire.run(ms(200));
    let sent: Vec<u64> =
        wire.log.iter().filter(|(_, from, _)| *from == SERVER).map(|(at, ..)| (*at - begin).as_millis()).collect();
    assert_eq!(sent, [20, 20, 45]);
}

#[test]
fn paced_packets_leave_one_after_the_other() {
    let mut wire = established(configs(), |_| false);
    wire.with(CLIENT, |endpoint| endpoint.write(400_000));
    wire.run(ms(300));
    let times: Vec<_> = wire.log.iter().filter(|(_, from, _)| *from == CLIENT).map(|(at, ..)| *at).collect();
    let at_once = times.chunk_by(|one, other| one == other).skip(1).map(<[_]>::len).max();
    assert!(at_once.is_some_and(|most| most <= 3), "after the initial window: {at_once:?}");
}

#[test]
fn the_window_grows_by_what_is_acknowledged_in_slow_start() {
    let mut wire = established(unpaced(), |_| false);
    wire.with(CLIENT, |endpoint| endpoint.write(10_000_000));
    let mut windows = Vec::new();
    for _ in 0..4 {
        wire.endpoint(CLIENT).visit_paths(|path| windows.push(path.cwnd));
        wire.run(ms(40));
    }
    // The handshake has used the window for a few packets only.
    assert!(windows.windows(2).skip(1).all(|pair| pair[1] == 2.0 * pair[0]), "{windows:?}");
}
