//! The rows of connections, of their directions and of subflows.

use super::points::{Delays, Points};
use crate::choices::ObservedScheduler;
use crate::over_time::{Seen, SeenConnection, Sent};
use crate::sctp::Path;
use crate::tcp::{Estimates, Family, Half, RoundTrips};

/// A connection: of TCP, MPTCP or UDP, or an SCTP association.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionRow {
    /// Its number, from 1 on.
    pub number: usize,
    /// `tcp`, `mptcp`, `mptcp v0`, `sctp` or `udp`.
    pub protocol: &'static str,
    /// Address and port of the end that opened it; of the first packet's sender if that was not captured.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// Number of its subflows or paths.
    pub subflows: usize,
    /// Its first packet, in seconds since the first packet of all.
    pub start_s: f64,
    /// `open`, `closed`, `half closed`, `reset`, `refused`, `no answer` or `aborted`; empty for UDP.
    pub outcome: &'static str,
    /// What the figures leave out, and what happened to it.
    pub notes: Vec<String>,
    /// What the client sent, and what the server sent.
    pub directions: [DirectionRow; 2],
}

/// What one end sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionRow {
    /// Packets, with and without data.
    pub packets: u64,
    /// Bytes of data that reached the peer, each counted once.
    pub bytes: u64,
    /// From the connection's first packet to the arrival of the last data, in seconds.
    pub duration_s: Option<f64>,
    /// `bytes` per `duration_s`, in Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// When the last data arrived, in seconds since the first packet of all.
    pub done_s: Option<f64>,
    /// Segments, or chunks of SCTP, that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// MPTCP: bytes sent on one subflow after another.
    pub reinjected_bytes: u64,
    /// MPTCP: segments with such bytes.
    pub reinjected_segments: u64,
    /// MPTCP: how long data waited at the receiver behind data of another subflow, in seconds.
    pub blocked_s: Option<f64>,
    /// MPTCP: mean time from data to the DATA_ACK that covers it, in ms.
    pub data_ack_ms: Option<f64>,
    /// MPTCP: segments of new data that were sent while several subflows had room.
    pub choices: Option<u64>,
    /// MPTCP: the rule that nearly all of these choices follow.
    pub scheduler: Option<ObservedScheduler>,
}

/// What one end sent on a subflow or path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubflowRow {
    /// The number of its connection.
    pub connection: usize,
    /// Its number in the connection, from 1 on.
    pub subflow: usize,
    /// Address and port of the sender.
    pub from: String,
    /// Address and port of the receiver.
    pub to: String,
    /// Packets, with and without data.
    pub packets: u64,
    /// Packets with data.
    pub data_packets: u64,
    /// Bytes of data that reached the peer.
    pub bytes: u64,
    /// `bytes` per duration of the connection, in Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// Segments, or chunks of SCTP, that were sent again.
    pub retransmissions: u64,
    /// Of them, those that SACK blocks, gap reports or duplicate acknowledgments caused.
    pub fast: u64,
    /// Of them, those after a timeout.
    pub after_timeout: u64,
    /// Of them, tail loss probes.
    pub probes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// D-SACK blocks, or duplicate TSNs of SCTP: what arrived twice.
    pub spurious: u64,
    /// Segments that came behind later ones for the first time: lost or reordered before the point of capture.
    pub out_of_order: u64,
    /// Packets that another capture does not show, if there is one.
    pub lost: Option<u64>,
    /// Bytes that were acknowledged and are not in the capture.
    pub missing_bytes: u64,
    /// Round-trip time of the handshake, in ms.
    pub handshake_ms: Option<f64>,
    /// Smallest round-trip time of data, in ms.
    pub minimum_rtt_ms: Option<f64>,
    /// Mean of these times, in ms.
    pub mean_rtt_ms: Option<f64>,
    /// Largest of these times, in ms.
    pub maximum_rtt_ms: Option<f64>,
    /// Mean round-trip time by timestamps, in ms.
    pub timestamp_rtt_ms: Option<f64>,
    /// SCTP: mean round-trip time by HEARTBEAT, in ms.
    pub heartbeat_rtt_ms: Option<f64>,
    /// Most bytes sent and not acknowledged, if acknowledgments were captured.
    pub most_in_flight: Option<u64>,
    /// The largest congestion window, as it is estimated, in bytes.
    pub largest_window: Option<u64>,
    /// The family of the congestion control.
    pub congestion: Option<Family>,
    /// Smallest one-way delay between two points of capture, in ms.
    pub minimum_delay_ms: Option<f64>,
    /// Mean of these delays, in ms.
    pub mean_delay_ms: Option<f64>,
    /// Largest of these delays, in ms.
    pub maximum_delay_ms: Option<f64>,
    /// Packets that a later one overtook between two points of capture, in per cent.
    pub overtaken_percent: Option<f64>,
    /// By how much the round-trip time exceeded the smallest one when half of the losses were noticed, in ms.
    pub queue_at_losses_ms: Option<f64>,
    /// Loss episodes that began when it was less than half of that: no full queue dropped these packets.
    pub losses_at_short_queue: Option<u64>,
    /// How long data behind a hole in the sequence waited at the receiver's point of capture, in seconds.
    pub holes_s: Option<f64>,
    /// How long the receiver's window had no room, in seconds, if it is known how that is scaled.
    pub window_limited_s: Option<f64>,
    /// How long nothing was in flight between the first data and the end, in seconds.
    pub idle_s: Option<f64>,
    /// How long a quarter of the estimated window or more was free though the receiver's had room, in seconds: the
    /// application, or the scheduler, gave no data.
    pub unused_s: Option<f64>,
}

impl ConnectionRow {
    /// Shows it over time in a report, if it has enough data; times are counted from `origin`, in nanoseconds.
    pub(super) fn show(&self, seen: &mut Seen, sent: &[Sent<'_>], origin: u64) {
        let bytes = self.directions.iter().map(|direction| direction.bytes).sum();
        seen.add(bytes, || {
            let title = format!("{}  {} {} to {}", self.number, self.protocol, self.client, self.server);
            let curves = sent.iter().map(|(name, over_time)| (name.clone(), over_time.series(name, origin)));
            SeenConnection::new(self.number, title, bytes, curves.collect())
        });
    }
}

impl DirectionRow {
    pub(super) fn of_half(half: &Half) -> Self {
        Self {
            packets: half.packets,
            retransmissions: half.retransmissions.segments,
            timeouts: half.retransmissions.timeouts,
            ..Self::default()
        }
    }

    /// Adds the counts of another subflow.
    pub(super) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }

    /// Its last data arrived at `done`, in nanoseconds, if it had some.
    pub(super) fn finish(&mut self, begin: u64, done: Option<u64>, origin: u64) {
        let Some(done) = done.filter(|_| self.bytes > 0) else { return };
        let duration = seconds(done, begin);
        self.done_s = Some(seconds(done, origin));
        self.duration_s = Some(duration);
        self.goodput_mbps = megabits(self.bytes, duration);
    }
}

impl SubflowRow {
    pub(super) fn new(
        (connection, subflow): (usize, usize),
        points: &Points<'_>,
        end: usize,
        duration_s: Option<f64>,
    ) -> Self {
        let half = points.sender(end);
        let ends = points.first().ends;
        let is_at_sender = points.is_at_sender(end);
        let trips = (half.round_trips.count > 0 && is_at_sender).then_some(&half.round_trips);
        let again = &half.retransmissions;
        let estimates = is_at_sender.then_some(&half.estimates);
        let at_losses = half.episodes.told().filter(|_| trips.is_some());
        let at_receiver = points.receiver(end).or((!is_at_sender).then_some(half));
        let delays = points.delays(end);
        Self {
            connection,
            subflow,
            from: ends[end].to_string(),
            to: ends[1 - end].to_string(),
            packets: half.packets,
            data_packets: half.data_packets,
            bytes: half.delivered(),
            goodput_mbps: duration_s.and_then(|duration| megabits(half.delivered(), duration)),
            retransmissions: again.segments,
            fast: again.fast,
            after_timeout: again.after_timeout,
            probes: again.probes,
            timeouts: again.timeouts,
            spurious: again.spurious,
            out_of_order: half.out_of_order,
            lost: points.lost(end),
            missing_bytes: half.missing(),
            handshake_ms: points.round_trip().map(ms),
            minimum_rtt_ms: trips.map(|trips| ms(trips.minimum)),
            mean_rtt_ms: trips.and_then(|trips| trips.mean()).map(ms),
            maximum_rtt_ms: trips.map(|trips| ms(trips.maximum)),
            timestamp_rtt_ms: half.estimates.echoed().and_then(RoundTrips::mean).map(ms),
            most_in_flight: half.is_acknowledged().then_some(half.most_in_flight),
            largest_window: estimates.and_then(Estimates::largest_window),
            congestion: estimates.and_then(Estimates::family),
            queue_at_losses_ms: at_losses.map(|it| ms(it.wait)),
            losses_at_short_queue: at_losses.map(|it| it.at_short_queue),
            holes_s: at_receiver.map(|half| half.holes_time as f64 / 1e9),
            window_limited_s: half.window_limited().map(|nanos| nanos as f64 / 1e9),
            idle_s: Some(half.idle as f64 / 1e9),
            unused_s: estimates.and_then(Estimates::unused).map(|nanos| nanos as f64 / 1e9),
            ..Self::default()
        }
        .with_delays(delays)
    }

    pub(super) fn with_delays(self, delays: Option<Delays>) -> Self {
        Self {
            minimum_delay_ms: delays.map(|delays| delays.smallest_ms),
            mean_delay_ms: delays.map(|delays| delays.mean_ms),
            maximum_delay_ms: delays.map(|delays| delays.largest_ms),
            overtaken_percent: delays.map(|delays| delays.overtaken_percent),
            ..self
        }
    }

    /// What an end sent on a path of SCTP, as its own point of capture shows it.
    pub(super) fn of_path(
        (connection, subflow): (usize, usize),
        path: &Path,
        end: usize,
        is_at_sender: bool,
        duration_s: Option<f64>,
    ) -> Self {
        let sent = &path.sent[end];
        let trips = Some(&sent.round_trips).filter(|trips| trips.count > 0 && is_at_sender);
        Self {
            connection,
            subflow,
            from: path.ends[end].to_string(),
            to: path.ends[1 - end].to_string(),
            packets: sent.packets,
            data_packets: sent.data_packets,
            bytes: sent.bytes,
            goodput_mbps: duration_s.and_then(|duration| megabits(sent.bytes, duration)),
            retransmissions: sent.retransmissions,
            fast: sent.fast,
            after_timeout: sent.after_timeout,
            timeouts: sent.timeouts,
            spurious: sent.duplicates,
            minimum_rtt_ms: trips.map(|trips| ms(trips.minimum)),
            mean_rtt_ms: trips.and_then(RoundTrips::mean).map(ms),
            maximum_rtt_ms: trips.map(|trips| ms(trips.maximum)),
            heartbeat_rtt_ms: sent.heartbeat_trips.mean().filter(|_| is_at_sender).map(ms),
            most_in_flight: Some(sent.most_in_flight),
            ..Self::default()
        }
    }
}

/// Nanoseconds in ms.
pub(super) fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// Seconds from `origin` to `time`, which are in nanoseconds.
pub(super) fn seconds(time: u64, origin: u64) -> f64 {
    time.saturating_sub(origin) as f64 / 1e9
}

/// A rate in Mbit/s.
fn megabits(bytes: u64, duration_s: f64) -> Option<f64> {
    (duration_s > 0.0).then(|| bytes as f64 * 8.0 / 1e6 / duration_s)
}
