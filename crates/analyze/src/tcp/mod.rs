//! A TCP connection, or a subflow of MPTCP, as one point of capture shows it.
//!
//! | to find | look in |
//! |---|---|
//! | what one end sent, and what of it was acknowledged | `half.rs` |
//! | segments in flight, and their samples of the round-trip time | `flight.rs` |
//! | why a segment was sent again | `recovery.rs`; whether the queue was long then: `episodes.rs` |
//! | round-trip times | `rtt.rs` |
//! | the congestion window, and time in which it was not used | `window.rs` |
//! | the family of the congestion control | `reaction.rs` |
//! | all that is estimated | `estimates.rs` |

mod episodes;
mod estimates;
mod flight;
mod half;
mod reaction;
mod recovery;
mod rtt;
mod window;

use std::net::SocketAddr;

use subflow_wire::tcp::{TcpFlags, TcpSegment};

pub(crate) use estimates::Estimates;
pub(crate) use half::{Half, Sending, extend};
pub use reaction::Family;
pub use recovery::Cause;
pub(crate) use rtt::RoundTrips;

use crate::exchanges::Exchanges;
use crate::sequence::Traced;

/// A connection or subflow. Its ends are 0, which opened it, and 1; if the SYN was not captured, 0 is the one whose
/// packet comes first.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) halves: [Half; 2],
    pub(crate) first_time: u64,
    pub(crate) last_time: u64,
    pub(crate) handshake: Handshake,
    /// The end that sent the first RST.
    pub(crate) reset_by: Option<usize>,
    /// Of which MPTCP connection it is a subflow.
    pub(crate) member: Option<Member>,
    /// Whether it is to carry data only if no other subflow can.
    pub(crate) is_backup: bool,
    /// Requests and responses, without MPTCP.
    pub(crate) exchanges: Exchanges,
    /// Its packets with data by end, if they are kept.
    pub(crate) traced: Option<Box<[Traced; 2]>>,
}

/// Echoes of timestamps of each end from which on they tell where the point of capture is.
const FEWEST_ECHOES: u64 = 8;

/// When the packets of the handshake were captured first, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    pub(crate) syn: Option<u64>,
    pub(crate) syn_ack: Option<u64>,
    pub(crate) ack: Option<u64>,
    /// Whether the SYN or the SYN/ACK was sent more than once: no time tells a round trip then.
    is_repeated: bool,
}

/// A subflow's place in its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The position of the connection.
    pub(crate) connection: usize,
    /// The position of the subflow in it.
    pub(crate) place: usize,
    /// Whether the connection's end 1 opened the subflow.
    pub(crate) is_reversed: bool,
}

impl Flow {
    /// A flow whose first packet goes from `source` to `destination`.
    pub(crate) fn new(source: SocketAddr, destination: SocketAddr, segment: &TcpSegment, time: u64) -> Self {
        let is_answer = segment.flags.contains(TcpFlags::SYN | TcpFlags::ACK);
        let ends = if is_answer { [destination, source] } else { [source, destination] };
        Self {
            ends,
            halves: Default::default(),
            first_time: time,
            last_time: time,
            handshake: Handshake::default(),
            reset_by: None,
            member: None,
            is_backup: false,
            exchanges: Exchanges::default(),
            traced: None,
        }
    }

    /// The end that sends from `source`.
    pub(crate) fn end_of(&self, source: SocketAddr) -> usize {
        usize::from(self.ends[0] != source)
    }

    /// Whether a segment begins another connection with the same addresses and ports: the end of this one may not have been
    /// captured.
    pub(crate) fn is_replaced_by(&self, segment: &TcpSegment, from: usize) -> bool {
        let is_syn = segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK);
        let is_other = self.halves[from].initial_sequence() != Some(segment.sequence);
        is_syn && is_other && (self.is_closed() || self.halves[from].packets > 0)
    }

    /// Whether both ends have finished, or one has reset it.
    pub(crate) fn is_closed(&self) -> bool {
        self.reset_by.is_some() || self.halves.iter().all(|half| half.has_finished)
    }

    /// The end `from` has sent new data; `left` is how many exchanges may be kept.
    pub(crate) fn sent_data(&mut self, from: usize, bytes: u64, time: u64, left: &mut usize) {
        let acknowledged = self.halves.iter().filter_map(|half| half.last_acknowledged).max();
        self.exchanges.sent(from, bytes, acknowledged, time, left);
    }

    /// A segment of the end `from`.
    pub(crate) fn observe(&mut self, from: usize, segment: &TcpSegment, time: u64) -> Sending {
        self.last_time = time;
        self.handshake.observe(segment, from, time);
        if segment.flags.contains(TcpFlags::RST) {
            self.reset_by.get_or_insert(from);
        }
        let has_sack = self.halves[1 - from].permits_sack != Some(false);
        let sending = self.halves[from].send(segment, has_sack, time);
        if segment.flags.contains(TcpFlags::ACK) && !segment.flags.contains(TcpFlags::RST) {
            let shift = self.window_shift(from, segment);
            self.halves[1 - from].acknowledge(segment, shift, time);
        }
        sending
    }

    /// By how many bits the window of a segment is shifted: not on a SYN, and only if both ends offered it (RFC 7323,
    /// section 2.2). `None` if its SYN was not captured, or that of the other end, to which it may be no answer.
    fn window_shift(&self, from: usize, segment: &TcpSegment) -> Option<u8> {
        if segment.flags.contains(TcpFlags::SYN) {
            return Some(0);
        }
        let [own, other] = [from, 1 - from].map(|end| &self.halves[end]);
        own.initial_sequence()?;
        match (own.window_scale, other.initial_sequence()) {
            (None, _) => Some(0),
            (Some(_), Some(_)) if other.window_scale.is_none() => Some(0),
            (Some(scale), Some(_)) => Some(scale.min(14)),
            // An answer has it only if the SYN had.
            (Some(scale), None) => (from == 1).then(|| scale.min(14)),
        }
    }

    /// How the connection was opened and how it ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let Handshake { syn, syn_ack, .. } = self.handshake;
        match (self.reset_by, self.halves.each_ref().map(|half| half.has_finished)) {
            (Some(1), _) if syn.is_some() && syn_ack.is_none() => "refused",
            (None, [false, false]) if syn.is_some() && syn_ack.is_none() && self.halves[1].packets == 0 => "no answer",
            (Some(_), _) => "reset",
            (None, [true, true]) => "closed",
            (None, [false, false]) => "open",
            (None, _) => "half closed",
        }
    }

    /// Whether the point of capture is nearer to the end `end`; `None` if neither handshake nor timestamps tell.
    pub(crate) fn is_near(&self, end: usize) -> Option<bool> {
        let is_near_first = self.handshake.is_near_first().or_else(|| self.is_near_first_by_echoes())?;
        Some(is_near_first == (end == 0))
    }

    /// Between a timestamp and its echo passes the way to the other end and back; at the smallest, neither end waits.
    fn is_near_first_by_echoes(&self) -> Option<bool> {
        let [beyond, before] = self.halves.each_ref().map(|half| half.estimates.echoed());
        let (beyond, before) = (beyond?, before?);
        let is_clear = beyond.minimum.abs_diff(before.minimum) > beyond.minimum.min(before.minimum);
        (is_clear && beyond.count.min(before.count) >= FEWEST_ECHOES).then_some(beyond.minimum > before.minimum)
    }
}

impl Handshake {
    /// Whether the point of capture is nearer to end 0.
    fn is_near_first(&self) -> Option<bool> {
        let (beyond, before) = (self.syn_ack?.checked_sub(self.syn?)?, self.ack?.checked_sub(self.syn_ack?)?);
        (!self.is_repeated && beyond != before).then_some(beyond > before)
    }

    fn observe(&mut self, segment: &TcpSegment, from: usize, time: u64) {
        let has = |flag| segment.flags.contains(flag);
        match (from, has(TcpFlags::SYN), has(TcpFlags::ACK)) {
            (0, true, false) => self.note(|handshake| &mut handshake.syn, time),
            (1, true, true) => self.note(|handshake| &mut handshake.syn_ack, time),
            (0, false, true) if self.syn_ack.is_some() && self.ack.is_none() => self.ack = Some(time),
            _ => {}
        }
    }

    fn note(&mut self, packet: fn(&mut Self) -> &mut Option<u64>, time: u64) {
        if packet(self).is_some() {
            self.is_repeated = true;
        } else {
            *packet(self) = Some(time);
        }
    }

    /// The round-trip time from one end to the other, in nanoseconds: from SYN to ACK, wherever they were captured.
    pub(crate) fn round_trip(&self) -> Option<u64> {
        let (Some(syn), Some(ack), false) = (self.syn, self.ack, self.is_repeated) else { return None };
        self.syn_ack.and_then(|_| ack.checked_sub(syn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_another_number_is_counted_from_anew() {
        let [client, server] = ["10.0.0.1:4000", "10.0.0.2:80"].map(|end| end.parse().expect("an address"));
        let mut flow = Flow::new(client, server, &TcpSegment::default(), 0);
        let mut observe = |from, sequence, acknowledgment, flags, length| {
            let mut segment = TcpSegment { sequence, acknowledgment, flags, ..TcpSegment::default() };
            segment.payload.length = length;
            flow.observe(from, &segment, 0);
        };
        observe(0, 7, 0, TcpFlags::SYN, 0);
        for sequence in [9000, 9000, 2_000_000_000] {
            observe(1, sequence, 8, TcpFlags::SYN | TcpFlags::ACK, 0);
        }
        observe(0, 8, 2_000_000_001, TcpFlags::ACK, 0);
        observe(1, 2_000_000_001, 8, TcpFlags::ACK, 100);
        let half = &flow.halves[1];
        assert_eq!((half.packets, half.retransmissions.segments, half.bytes, half.flight()), (4, 1, 100, 100));
        assert_eq!((half.out_of_order, half.most_in_flight), (0, 100));
    }

    #[test]
    fn a_syn_with_another_number_begins_another_connection_though_no_end_was_captured() {
        let [client, server] = ["10.0.0.1:4000", "10.0.0.2:80"].map(|end| end.parse().expect("an address"));
        let segment = |sequence: u32, flags: TcpFlags| TcpSegment { sequence, flags, ..Default::default() };
        let syn = segment(7, TcpFlags::SYN);
        let mut flow = Flow::new(client, server, &syn, 0);
        flow.observe(0, &syn, 0);
        assert!(!flow.is_replaced_by(&syn, 0), "it is sent again");
        assert!(flow.is_replaced_by(&segment(9, TcpFlags::SYN), 0));
        assert!(!flow.is_replaced_by(&segment(9, TcpFlags::SYN), 1), "the other end opens at the same time");
        assert!(!flow.is_replaced_by(&segment(9, TcpFlags::SYN | TcpFlags::ACK), 1));
    }
}
