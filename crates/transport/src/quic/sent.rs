//! The packets of a packet number space that are in flight (RFC 9002, appendix A.1), and the detection of lost ones
//! (section 6.1).

use std::collections::VecDeque;

use smallvec::SmallVec;
use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::{AckFrame, StreamId};

use super::space_id::SpaceId;
use crate::delivery_rate::{RateEstimator, Snapshot};

/// What a packet carried that is sent again, in a new frame, if the packet is lost (RFC 9000, section 13.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentFrame {
    /// Data of a stream, and maybe its end.
    Stream { stream: StreamId, start: u64, end: u64, fin: bool },
    /// Data of the handshake.
    Crypto { start: u64, end: u64 },
    /// An acknowledgment of packets of a path up to this one, in a packet number space.
    Ack { space: SpaceId, path: u64, largest: u64 },
    /// The connection's window.
    MaxData,
    /// The number of streams that the peer may open.
    MaxStreams,
    /// A stream's window.
    MaxStreamData(StreamId),
    /// The end of a stream that is not completed.
    ResetStream(StreamId),
    /// That nobody reads a stream any more.
    StopSending(StreamId),
    /// The confirmation of the handshake.
    HandshakeDone,
    /// A connection identifier of a path.
    NewConnectionId { path: u64, sequence: u64 },
    /// The retirement of a connection identifier of the peer.
    RetireConnectionId { path: u64, sequence: u64 },
    /// A challenge of this packet's path.
    PathChallenge,
    /// Whether this packet's path is a backup.
    PathStatus,
    /// The end of a path.
    PathAbandon { path: u64, error_code: u64 },
    /// The highest path identifier that the peer may use.
    MaxPathId,
}

/// The frames of a packet. Those of nearly all packets are stored without heap memory.
pub(super) type SentFrames = SmallVec<[SentFrame; 2]>;

/// A packet in flight.
#[derive(Clone, Debug)]
pub(super) struct SentPacket {
    pub(super) number: u64,
    pub(super) sent_at: Instant,
    pub(super) frames: SentFrames,
    /// Whether it is capable of ECN.
    pub(super) is_capable: bool,
    /// Whether it is still in flight. Others are kept while an earlier one is.
    is_outstanding: bool,
}

/// The packets in flight, in the order of their numbers. Packets that elicit no acknowledgment are not among them.
#[derive(Clone, Debug, Default)]
pub(super) struct SentPackets {
    packets: VecDeque<SentPacket>,
    /// What was delivered when each of them was sent, where rates are measured.
    snapshots: VecDeque<Snapshot>,
    outstanding: u32,
    largest_acknowledged: Option<u64>,
    /// When the last packet was sent that elicits an acknowledgment.
    last_sent_at: Option<Instant>,
    /// When a packet is lost for which it is too early yet.
    loss_time: Option<Instant>,
}

/// What loss detection has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Packets lost.
    pub(super) packets: u32,
    /// When the last of them was sent.
    pub(super) latest_sent_at: Instant,
    /// The longest time between two of them, both included, none of which between was acknowledged.
    pub(super) longest_span: Duration,
}

impl SentPackets {
    /// A packet that elicits an acknowledgment is sent; with a snapshot, if rates are measured.
    pub(super) fn push(
        &mut self,
        (number, frames, is_capable): (u64, SentFrames, bool),
        snapshot: Option<Snapshot>,
        sent_at: Instant,
    ) {
        self.packets.push_back(SentPacket { number, sent_at, frames, is_capable, is_outstanding: true });
        self.snapshots.extend(snapshot);
        self.outstanding += 1;
        self.last_sent_at = Some(sent_at);
    }

    /// Packets in flight.
    #[inline]
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The highest number acknowledged.
    #[inline]
    pub(super) fn largest_acknowledged(&self) -> Option<u64> {
        self.largest_acknowledged
    }

    /// When the last packet was sent, if any is in flight.
    #[inline]
    pub(super) fn last_sent_at(&self) -> Option<Instant> {
        self.last_sent_at.filter(|_| self.outstanding > 0)
    }

    /// When the next packet is to be considered lost.
    #[inline]
    pub(super) fn loss_time(&self) -> Option<Instant> {
        self.loss_time
    }

    /// Takes the packets that `ack` newly acknowledges, from the highest range downwards. `rate` measures rates, if any
    /// does.
    pub(super) fn acknowledge(
        &mut self,
        ack: &AckFrame,
        newly: &mut Vec<SentPacket>,
        mut rate: Option<&mut RateEstimator>,
    ) {
        self.largest_acknowledged = self.largest_acknowledged.max(Some(ack.largest));
        let Some(first) = self.packets.front().map(|packet| packet.number) else { return };
        for (start, end) in ack.acknowledged().take_while(|&(_, end)| end >= first) {
            let from = self.packets.partition_point(|packet| packet.number < start);
            let acknowledged = self.packets.range_mut(from..).take_while(|packet| packet.number <= end);
            for (place, packet) in (from..).zip(acknowledged) {
                if packet.is_outstanding {
                    if let (Some(rate), Some(snapshot)) = (&mut rate, self.snapshots.get(place)) {
                        rate.on_delivered(*snapshot, packet.sent_at);
                    }
                    packet.is_outstanding = false;
                    self.outstanding -= 1;
                    let frames = core::mem::take(&mut packet.frames);
                    newly.push(SentPacket { frames, is_outstanding: false, ..*packet });
                }
            }
        }
        self.trim();
    }

    /// Takes the packets that are lost at `now`: those of which `threshold` later ones were acknowledged, or that were
    /// sent `delay` or more before and a later one was acknowledged. Spans are those of packets sent after `spans_from`.
    pub(super) fn detect_lost(
        &mut self,
        now: Instant,
        (delay, threshold): (Duration, u64),
        spans_from: Option<Instant>,
        lost: &mut Vec<SentPacket>,
    ) -> Losses {
        self.loss_time = None;
        let mut losses = Losses::default();
        let Some(largest) = self.largest_acknowledged else { return losses };
        // When the first of the lost packets was sent since the last one that was acknowledged.
        let mut run: Option<Instant> = None;
        for packet in self.packets.iter_mut().take_while(|packet| packet.number <= largest) {
            if !packet.is_outstanding {
                run = None;
                continue;
            }
            if packet.number + threshold > largest && packet.sent_at + delay > now {
                self.loss_time.get_or_insert(packet.sent_at + delay);
                continue;
            }
            packet.is_outstanding = false;
            self.outstanding -= 1;
            losses.packets += 1;
            losses.latest_sent_at = packet.sent_at;
            if spans_from.is_some_and(|from| packet.sent_at > from) {
                let since = *run.get_or_insert(packet.sent_at);
                losses.longest_span = losses.longest_span.max(packet.sent_at.since(since));
            }
            lost.push(SentPacket { frames: core::mem::take(&mut packet.frames), is_outstanding: false, ..*packet });
        }
        self.trim();
        losses
    }

    /// The frames of the packets in flight, from the oldest on: what a probe sends again.
    pub(super) fn outstanding_frames(&self) -> impl Iterator<Item = SentFrame> + '_ {
        self.packets.iter().filter(|packet| packet.is_outstanding).flat_map(|packet| packet.frames.iter().copied())
    }

    /// Forgets all packets, and returns how many were in flight.
    pub(super) fn discard(&mut self) -> u32 {
        self.packets.clear();
        self.snapshots.clear();
        self.loss_time = None;
        core::mem::take(&mut self.outstanding)
    }

    fn trim(&mut self) {
        while self.packets.front().is_some_and(|packet| !packet.is_outstanding) {
            self.packets.pop_front();
            self.snapshots.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// Ten packets, one each 10 ms.
    fn ten() -> SentPackets {
        let mut sent = SentPackets::default();
        (0..10).for_each(|n| sent.push((n, SentFrames::new(), false), None, ms(10 * n)));
        sent
    }

    fn acknowledge(sent: &mut SentPackets, ranges: &[(u64, u64)]) -> Vec<u64> {
        let ack = AckFrame::of_ranges(ranges.iter().copied()).expect("there are ranges");
        let mut newly = Vec::new();
        sent.acknowledge(&ack, &mut newly, None);
        newly.iter().map(|packet| packet.number).collect()
    }

    fn lost(sent: &mut SentPackets, now: Instant) -> (Vec<u64>, Losses) {
        let mut lost = Vec::new();
        let losses = sent.detect_lost(now, (Duration::from_millis(100), 3), Some(ms(5)), &mut lost);
        (lost.iter().map(|packet| packet.number).collect(), losses)
    }

    #[test]
    fn each_packet_is_acknowledged_once() {
        let mut sent = ten();
        assert_eq!(acknowledge(&mut sent, &[(6, 7), (2, 3)]), [6, 7, 2, 3]);
        assert_eq!(acknowledge(&mut sent, &[(5, 9), (0, 3)]), [5, 8, 9, 0, 1]);
        assert_eq!((sent.outstanding(), sent.largest_acknowledged()), (1, Some(9)));
        assert_eq!(sent.packets.front().map(|packet| packet.number), Some(4));
    }

    #[test]
    fn three_later_ones_or_time_make_a_packet_lost() {
        let mut sent = ten();
        acknowledge(&mut sent, &[(4, 4)]);
        assert_eq!(lost(&mut sent, ms(95)).0, [0, 1]);
        assert_eq!(sent.loss_time(), Some(ms(120)), "packet 2 was sent at 20 ms");
        assert_eq!(lost(&mut sent, ms(120)).0, [2]);
        assert_eq!(sent.loss_time(), Some(ms(130)));
        assert_eq!(sent.outstanding(), 6);
    }

    #[test]
    fn a_span_of_lost_packets_ends_at_an_acknowledged_one() {
        let mut sent = ten();
        acknowledge(&mut sent, &[(9, 9), (3, 3)]);
        let (numbers, losses) = lost(&mut sent, ms(1000));
        assert_eq!(numbers, [0, 1, 2, 4, 5, 6, 7, 8]);
        assert_eq!((losses.packets, losses.latest_sent_at), (8, ms(80)));
        assert_eq!(losses.longest_span, Duration::from_millis(40));
    }
}
