//! Tests of the record of a flow's data.

use std::net::{IpAddr, SocketAddr};

use subflow_wire::{Ecn, IpHeader};

use super::*;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn ends(port: u16) -> Ends {
    Ends { local: SocketAddr::from(([10, 0, 0, 1], port)), remote: SocketAddr::from(([10, 0, 0, 2], 80)) }
}

fn sample(path: &mut DataPath, read: u64, now: Instant) -> (DataSample, Vec<CarrierSample>) {
    (path.sample(read, now), path.take_carrier_samples().collect())
}

#[test]
fn the_reader_waits_for_the_subflow_that_carries_the_missing_data() {
    let mut path = DataPath::default();
    path.on_range_sent(ends(1), 0, 1000, at(0));
    path.on_range_sent(ends(2), 1000, 3000, at(0));
    path.on_range_arrived(1000, 3000, at(10));
    let (waiting, carriers) = sample(&mut path, 0, at(30));
    assert_eq!((waiting.held, waiting.outstanding, waiting.delays), (2000, 3000, None));
    assert_eq!(carriers.iter().map(|c| c.blocked).collect::<Vec<_>>(), [at(20) - at(0), Duration::ZERO]);
    path.on_range_arrived(0, 1000, at(40));
    let (read, carriers) = sample(&mut path, 3000, at(40));
    // 40 ms from sending to reading for both; one of them waited for 30 ms after its arrival.
    assert_eq!(read.delays, Some([Duration::from_millis(40), Duration::from_millis(15)]));
    assert_eq!((read.held, read.outstanding), (0, 0));
    assert_eq!((carriers[0].blocked, carriers[1].sequence), (Duration::from_millis(10), 3000));
}

#[test]
fn packets_are_told_apart_also_where_the_numbers_made_of_their_ports_are_equal() {
    let [source, destination] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
    let ip = IpHeader { source, destination, hop_limit: 64, ecn: Ecn::default() };
    let way = |source_port| Way { ip: &ip, source_port, destination_port: 80 };
    let mut path = DataPath::default();
    for (turn, port) in [1, 17, 1, 33, 17].into_iter().enumerate() {
        let start = 1000 * turn as u64;
        path.on_packet_sent(way(port), start, start + 1000, at(0));
    }
    assert_eq!(path.carriers(), [ends(1), ends(17), ends(33)]);
    let sequences: Vec<u64> = path.take_carrier_samples().map(|carrier| carrier.sequence).collect();
    assert_eq!(sequences, [3000, 5000, 4000]);
}

#[test]
fn data_that_was_repeated_elsewhere_blocks_where_it_is_now() {
    let mut path = DataPath::default();
    path.on_range_sent(ends(1), 0, 1000, at(0));
    path.on_range_sent(ends(2), 1000, 2000, at(0));
    path.on_range_arrived(1000, 2000, at(10));
    path.on_range_sent(ends(1), 0, 1000, at(20));
    path.on_range_sent(ends(2), 0, 1000, at(30));
    let (sample, carriers) = sample(&mut path, 0, at(50));
    assert_eq!(sample.repeated_elsewhere, 1000);
    assert_eq!(
        carriers.iter().map(|c| (c.blocked - Duration::ZERO).as_nanos() / 1_000_000).collect::<Vec<_>>(),
        [20, 20]
    );
}

#[test]
fn what_happens_to_data_is_kept_by_subflow() {
    let mut path = DataPath::default();
    path.on_range_sent(ends(1), 0, 1000, at(0));
    path.on_range_sent(ends(2), 1000, 2000, at(1));
    path.on_range_arrived(1000, 2000, at(11));
    path.on_lost(ends(1), 0, at(12));
    path.on_range_sent(ends(1), 0, 1000, at(12));
    path.on_timeout(ends(1), at(20));
    path.on_range_sent(ends(2), 0, 1000, at(20));
    path.on_range_arrived(0, 1000, at(30));
    let kept = path.take_sequences().into_iter().map(|(ends, sequence)| {
        let point = sequence.points()[0];
        (ends.map(|ends| ends.local.port()), sequence.kind, (point.time_s * 1e3) as u64, point.offset)
    });
    let expected = [
        (Some(1), SequenceKind::Sent, 0, 0),
        (Some(1), SequenceKind::Retransmitted, 12, 0),
        (Some(1), SequenceKind::Lost, 12, 0),
        (Some(1), SequenceKind::TimedOut, 20, 0),
        (Some(2), SequenceKind::Sent, 1, 1000),
        (Some(2), SequenceKind::Copied, 20, 0),
        (None, SequenceKind::Readable, 30, 2000),
    ];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
}

#[test]
fn what_was_cut_on_the_way_is_forgotten_once_it_is_read() {
    let mut path = DataPath::default();
    path.on_range_sent(ends(1), 0, 1000, at(0));
    path.on_range_sent(ends(1), 1000, 2000, at(0));
    path.on_range_arrived(0, 500, at(10));
    path.on_range_arrived(500, 900, at(11));
    path.on_range_arrived(1000, 2000, at(12));
    assert_eq!(path.sample(0, at(12)).held, 1000);
    let sample = path.sample(2000, at(13));
    assert_eq!((sample.held, sample.outstanding), (0, 0));
}
