//! Tests of the record of a flow's data.

use std::net::{IpAddr, SocketAddr};

use subflow_wire::{Dscp, Ecn, IpHeader};

use super::*;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn ends(port: u16) -> Ends {
    Ends { local: SocketAddr::from(([10, 0, 0, 1], port)), remote: SocketAddr::from(([10, 0, 0, 2], 80)) }
}

/// A record, and the sequence number that each subflow comes to next, by port.
#[derive(Default)]
struct Sender {
    record: DataRecord,
    next: std::collections::BTreeMap<u16, u32>,
}

impl Sender {
    /// A subflow sends a range for the first time.
    fn sends(&mut self, port: u16, data: Range<u64>, ms: u64) -> Sending {
        let next = self.next.entry(port).or_default();
        let number = *next;
        *next += (data.end - data.start) as u32;
        let subflow = self.record.subflow_of(ends(port));
        self.record.on_sent(subflow, data, number, at(ms))
    }

    /// A subflow sends again what it has sent last.
    fn repeats(&mut self, port: u16, data: Range<u64>, ms: u64) -> Sending {
        let number = self.next[&port] - (data.end - data.start) as u32;
        let subflow = self.record.subflow_of(ends(port));
        self.record.on_sent(subflow, data, number, at(ms))
    }

    fn arrives(&mut self, data: Range<u64>, readable: u64, ms: u64) -> Option<Range<u64>> {
        self.record.arrive(data, readable, at(ms))
    }

    fn sample(&mut self, ms: u64) -> (DataSample, Vec<SubflowSample>) {
        (self.record.sample(at(ms)), self.record.take_subflow_samples().collect())
    }
}

fn millis(durations: impl IntoIterator<Item = Duration>) -> Vec<u64> {
    durations.into_iter().map(|duration| duration.as_nanos() / 1_000_000).collect()
}

#[test]
fn the_reader_waits_for_the_subflow_that_carries_the_missing_data() {
    let mut sender = Sender::default();
    sender.sends(1, 0..1000, 0);
    sender.sends(2, 1000..3000, 0);
    assert_eq!(sender.arrives(1000..3000, 0, 10), None);
    let (waiting, subflows) = sender.sample(30);
    assert_eq!((waiting.out_of_order, waiting.outstanding, waiting.delays), (2000, 3000, None));
    assert_eq!(millis(subflows.iter().map(|subflow| subflow.blocked)), [20, 0]);
    assert_eq!(sender.arrives(0..1000, 3000, 40), Some(0..3000));
    let (read, subflows) = sender.sample(40);
    // 40 ms from sending to reading for both; one of them waited for 30 ms after its arrival.
    assert_eq!(read.delays, Some([Duration::from_millis(40), Duration::from_millis(15)]));
    assert_eq!((read.out_of_order, read.outstanding), (0, 0));
    assert_eq!((subflows[0].blocked, subflows[1].sequence), (Duration::from_millis(10), 3000));
}

#[test]
fn data_that_was_not_sent_yet_is_a_hole_and_its_first_transmission_is_new() {
    let mut sender = Sender::default();
    // The first subflow has 0..2000 in its queue, and sends them one by one.
    sender.sends(2, 2000..3000, 0);
    assert_eq!(sender.arrives(2000..3000, 0, 10), None);
    let (waiting, subflows) = sender.sample(10);
    assert_eq!((waiting.out_of_order, waiting.outstanding), (1000, 3000));
    assert_eq!(sender.sends(1, 0..1000, 20), Sending::New);
    assert_eq!(sender.arrives(0..1000, 1000, 30), Some(0..1000));
    assert_eq!(sender.sends(1, 1000..2000, 40), Sending::New);
    assert_eq!(sender.arrives(1000..2000, 3000, 60), Some(1000..3000));
    let (read, later) = sender.sample(60);
    // Delays of 10, 20 and 60 ms, the last with 50 ms of waiting.
    assert_eq!(read.delays, Some([Duration::from_millis(30), Duration::from_nanos(50_000_000 / 3)]));
    assert_eq!((read.out_of_order, read.outstanding), (0, 0));
    // Nobody carries what was not sent: the first subflow is waited for from 20 to 30 and from 40 to 60 ms.
    assert_eq!(millis(subflows.iter().map(|subflow| subflow.blocked)), [0]);
    assert_eq!(millis(later.iter().map(|subflow| subflow.blocked)), [0, 30]);
    let [delay, reassembly] = sender.record.delays().of_flow();
    assert_eq!((delay.map(|delay| delay.samples), reassembly.map(|delay| delay.samples)), (Some(3), Some(3)));
}

#[test]
fn data_behind_a_hole_of_its_subflow_cannot_be_read() {
    let mut sender = Sender::default();
    sender.sends(1, 0..1000, 0);
    sender.sends(1, 1000..2000, 0);
    // The second segment fills the gap in the stream that a copy of the first one has left, but not that of its subflow.
    sender.sends(2, 0..1000, 5);
    assert_eq!(sender.arrives(1000..2000, 0, 10), None);
    assert_eq!(sender.arrives(0..1000, 1000, 15), Some(0..1000));
    assert_eq!(sender.sample(20).0.out_of_order, 1000);
    assert_eq!(sender.repeats(1, 0..1000, 20), Sending::Retransmission);
    assert_eq!(sender.arrives(0..1000, 2000, 30), Some(1000..2000));
    assert_eq!(sender.sample(30).1[0].blocked, Duration::from_millis(10));
}

#[test]
fn packets_are_told_apart_also_where_the_numbers_made_of_their_ports_are_equal() {
    let [source, destination] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
    let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::default() };
    let tuple = |source_port| FourTuple { ip: &ip, source_port, destination_port: 80 };
    let mut record = DataRecord::default();
    for (turn, port) in [1, 17, 1, 33, 17].into_iter().enumerate() {
        record.batch_sent(tuple(port), 1000 * turn as u64, 1000, 1000 * turn as u32, at(0));
    }
    record.catch_up();
    assert_eq!(record.subflow_ends(), [ends(1), ends(17), ends(33)]);
    let sequences: Vec<u64> = record.take_subflow_samples().map(|subflow| subflow.sequence).collect();
    assert_eq!(sequences, [3000, 5000, 4000]);
}

#[test]
fn data_that_was_repeated_elsewhere_blocks_where_it_is_now() {
    let mut sender = Sender::default();
    sender.sends(1, 0..1000, 0);
    sender.sends(2, 1000..2000, 0);
    sender.arrives(1000..2000, 0, 10);
    sender.repeats(1, 0..1000, 20);
    sender.sends(2, 0..1000, 30);
    let (sample, subflows) = sender.sample(50);
    assert_eq!(sample.repeated_elsewhere, 1000);
    assert_eq!(millis(subflows.iter().map(|subflow| subflow.blocked)), [20, 20]);
}

#[test]
fn a_copy_counts_also_if_the_data_was_read_before() {
    let mut sender = Sender::default();
    sender.sends(1, 0..1000, 0);
    sender.arrives(0..1000, 1000, 10);
    assert_eq!(sender.sends(2, 0..1000, 20), Sending::Copy);
    assert_eq!(sender.repeats(1, 0..1000, 30), Sending::Retransmission);
    assert_eq!(sender.repeats(2, 0..1000, 40), Sending::Retransmission);
    assert_eq!(sender.sample(50).0.repeated_elsewhere, 1000);
}

#[test]
fn what_happens_to_data_is_kept_by_subflow() {
    let mut sender = Sender::default();
    sender.sends(1, 0..1000, 0);
    sender.sends(2, 1000..2000, 1);
    sender.arrives(1000..2000, 0, 11);
    sender.record.on_lost(ends(1), 0, at(12));
    sender.repeats(1, 0..1000, 12);
    sender.record.on_timeout(ends(1), at(20));
    sender.sends(2, 0..1000, 20);
    sender.arrives(0..1000, 2000, 30);
    let kept = sender.record.take_sequences().into_iter().map(|(ends, sequence)| {
        let point = sequence.points()[0];
        (ends.map(|ends| ends.local.port()), sequence.kind, (point.time_s * 1e3) as u64, point.offset)
    });
    use crate::results::SequenceKind;
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
fn a_segment_that_was_cut_on_the_way_arrives_with_the_last_byte_that_was_missing() {
    let mut sender = Sender::default();
    for start in [0, 1000, 2000] {
        sender.sends(1, start..start + 1000, 0);
    }
    sender.arrives(0..500, 500, 10);
    assert_eq!(sender.sample(10).0.outstanding, 2500);
    // The rest of the second comes before its first half, and once more with the third.
    sender.arrives(1500..2000, 500, 11);
    assert_eq!(sender.sample(11).0.out_of_order, 500);
    sender.arrives(1400..2100, 500, 12);
    assert_eq!(sender.sample(12).0.out_of_order, 700);
    sender.arrives(1000..1500, 500, 14);
    assert_eq!(sender.sample(14).0.out_of_order, 1100);
    sender.arrives(500..1000, 2100, 20);
    let (sample, _) = sender.sample(20);
    assert_eq!((sample.out_of_order, sample.outstanding), (0, 900));
    assert_eq!(sample.delays, Some([Duration::from_millis(20), Duration::from_millis(3)]));
    sender.arrives(2100..3000, 3000, 24);
    let (sample, _) = sender.sample(24);
    assert_eq!((sample.out_of_order, sample.outstanding), (0, 0));
    assert_eq!(sample.delays, Some([Duration::from_millis(24), Duration::ZERO]));
}

#[test]
fn messages_that_may_overtake_others_are_read_when_they_are_delivered_and_given_up_ones_never() {
    let mut record = DataRecord::new(true);
    let subflow = record.subflow_of(ends(1));
    for (tsn, start) in [(7, 0), (8, 1000), (9, 2000)] {
        record.on_chunk_sent(subflow, start..start + 1000, tsn, at(0));
    }
    record.arrive(2000..3000, 0, at(10));
    assert_eq!(record.on_delivered(2000..3000, at(10)), Some(2000..3000));
    let sample = record.sample(at(10));
    assert_eq!((sample.out_of_order, sample.outstanding), (0, 3000));
    assert_eq!(sample.delays, Some([Duration::from_millis(10), Duration::ZERO]));
    record.on_skipped(7, at(20));
    assert_eq!(record.sample(at(20)).outstanding, 2000);
    record.on_skipped(8, at(30));
    let sample = record.sample(at(30));
    assert_eq!((sample.outstanding, sample.delays), (0, None));
    assert_eq!(record.delays().of_flow()[0].map(|delay| delay.samples), Some(1));
}

#[test]
fn a_chunk_that_was_delivered_and_goes_to_another_destination_is_a_copy() {
    let mut record = DataRecord::default();
    let to = |port, last| Ends { remote: SocketAddr::from(([10, 0, 0, last], 80)), ..ends(port) };
    let [one, other, other_from_elsewhere] = [to(1, 2), to(1, 3), to(2, 3)].map(|ends| record.subflow_of(ends));
    // A chunk with a later number is sent first.
    assert_eq!(record.on_chunk_sent(one, 1000..2000, 5, at(0)), Sending::New);
    assert_eq!(record.on_chunk_sent(other, 0..1000, 4, at(1)), Sending::New);
    record.arrive(0..1000, 1000, at(10));
    record.arrive(1000..2000, 2000, at(11));
    assert_eq!(record.on_chunk_sent(other, 0..1000, 4, at(20)), Sending::Retransmission);
    assert_eq!(record.on_chunk_sent(other_from_elsewhere, 0..1000, 4, at(20)), Sending::Retransmission);
    assert_eq!(record.on_chunk_sent(one, 0..1000, 4, at(21)), Sending::Copy);
    assert_eq!(record.sample(at(22)).repeated_elsewhere, 1000);
}
