//! The end of this side's stream: DATA_FIN, its repetition and its acknowledgment (RFC 8684, section 3.3.3).

use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::data_timer::{MOST_DOUBLINGS, REPEATS_AT_ONE_RATE};
use crate::Event;

/// The end of this side's stream. After a fallback there is no DATA_FIN, and the FIN of the subflow ends it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataFin(State);

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    None,
    /// The application has finished; data may still wait to be sent.
    Wanted,
    Sent(Sent),
    Acknowledged,
}

/// A DATA_FIN that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Its offset: that after the last byte.
    offset: u64,
    repeat_at: Option<Instant>,
    /// Number of repetitions since the last DATA_ACK.
    unanswered: u32,
    /// Number of repetitions since the last DATA_ACK that acknowledged new data.
    repeats: u32,
}

impl DataFin {
    /// The application will write no more.
    pub(super) fn want(&mut self) {
        if let State::None = self.0 {
            self.0 = State::Wanted;
        }
    }

    /// Whether the application will write no more.
    pub(super) fn is_finishing(&self) -> bool {
        !matches!(self.0, State::None)
    }

    fn is_wanted(&self) -> bool {
        matches!(self.0, State::Wanted)
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        matches!(self.0, State::Acknowledged)
    }

    /// The offset of the DATA_FIN while it is sent and not acknowledged.
    #[inline]
    pub(super) fn offset(&self) -> Option<u64> {
        match self.0 {
            State::Sent(sent) => Some(sent.offset),
            State::None | State::Wanted | State::Acknowledged => None,
        }
    }

    fn on_sent(&mut self, offset: u64) {
        self.0 = State::Sent(Sent { offset, repeat_at: None, unanswered: 0, repeats: 0 });
    }

    /// A DATA_ACK has arrived; `is_new` if it acknowledges new data.
    #[inline]
    pub(super) fn on_data_ack(&mut self, is_new: bool) {
        if let State::Sent(sent) = &mut self.0 {
            sent.unanswered = 0;
            sent.repeats = if is_new { 0 } else { sent.repeats };
        }
    }

    /// This side's end is acknowledged. Returns whether this is new.
    pub(super) fn acknowledge(&mut self) -> bool {
        let is_new = matches!(self.0, State::Wanted | State::Sent(_));
        if is_new {
            self.0 = State::Acknowledged;
        }
        is_new
    }

    /// When to repeat it; [`Instant::MAX`] if never.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        match self.0 {
            State::Sent(Sent { repeat_at: Some(at), .. }) => at,
            _ => Instant::MAX,
        }
    }

    /// It is repeated after `rto`, with backoff: only this repetition detects that the peer is gone. A peer that answers
    /// and acknowledges nothing new may still wait for data before the DATA_FIN, so the backoff begins later.
    fn schedule(&mut self, rto: Duration, max_rto: Duration, now: Instant) {
        if let State::Sent(sent) = &mut self.0 {
            let without_progress = sent.repeats.saturating_sub(REPEATS_AT_ONE_RATE);
            let doublings = sent.unanswered.max(without_progress).min(MOST_DOUBLINGS);
            sent.repeat_at = Some(now + rto.saturating_mul(1 << doublings).min(max_rto));
        }
    }

    /// It is not repeated any more.
    pub(super) fn stop_repeating(&mut self) {
        if let State::Sent(sent) = &mut self.0 {
            sent.repeat_at = None;
        }
    }

    /// Counts a repetition; the next one is due in a second unless it is [scheduled](Self::schedule). Returns whether
    /// fewer than `most` have not been answered.
    fn begin_repetition(&mut self, most: u32, now: Instant) -> bool {
        let State::Sent(sent) = &mut self.0 else { return false };
        if sent.unanswered >= most {
            return false;
        }
        sent.unanswered += 1;
        sent.repeats = sent.repeats.saturating_add(1);
        sent.repeat_at = Some(now + Duration::from_secs(1));
        true
    }
}

impl Connection {
    /// Sends the DATA_FIN once all data is assigned. Returns whether there is something to send.
    pub(super) fn send_data_fin(&mut self, now: Instant) -> bool {
        if !self.fin.is_wanted() || self.send.next() < self.stream.written {
            return false;
        }
        let Some(index) = self.signalling_subflow() else { return false };
        self.fin.on_sent(self.send.next());
        self.subflows.touch(index).tcp.request_ack();
        self.schedule_fin_repeat(index, now);
        true
    }

    fn schedule_fin_repeat(&mut self, index: usize, now: Instant) {
        let rto = self.subflows[index].tcp.rtt().rto().unwrap_or(Duration::from_secs(1));
        self.fin.schedule(rto, self.config.tcp.max_rto, now);
    }

    /// The DATA_FIN was not acknowledged in time. It is repeated on every subflow, since the path of its first
    /// transmission may have failed.
    pub(super) fn repeat_data_fin(&mut self, now: Instant) {
        self.fin.stop_repeating();
        if !self.phase.is_multipath() {
            return;
        }
        if !self.fin.begin_repetition(self.config.tcp.max_retries, now) {
            return self.give_up();
        }
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if !subflow.is_closed() && subflow.tcp.state().is_synchronised() {
                self.subflows.touch(index).tcp.request_ack();
                if !self.subflows[index].tcp.timed_out() {
                    self.schedule_fin_repeat(index, now);
                }
            }
        }
    }

    /// The peer has acknowledged everything up to `acknowledged`.
    pub(super) fn acknowledge_data_fin(&mut self, acknowledged: u64) {
        if self.fin.offset().is_some_and(|offset| acknowledged > offset) {
            self.fin.acknowledge();
            self.emit(Event::Acknowledged);
            self.finish_if_done();
        }
    }

    /// Closes the subflows once both streams have ended.
    pub(super) fn finish_if_done(&mut self) {
        if !self.is_done() || !self.phase.is_multipath() {
            return;
        }
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if !subflow.is_closed() && !subflow.tcp.is_finishing() {
                self.subflows.touch(index).tcp.finish();
            }
        }
    }

    /// Whether both streams have ended and both sides have acknowledged it.
    pub(super) fn is_done(&self) -> bool {
        self.fin.is_acknowledged() && self.receive.has_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Duration = Duration::from_secs(1);
    const MAX_RTO: Duration = Duration::from_secs(120);

    fn delay(fin: &mut DataFin) -> Duration {
        fin.schedule(RTO, MAX_RTO, Instant::ZERO);
        fin.deadline().since(Instant::ZERO)
    }

    #[test]
    fn backoff_begins_at_once_without_an_answer_and_after_ten_repetitions_without_progress() {
        let mut fin = DataFin::default();
        fin.want();
        fin.on_sent(7);
        for _ in 0..3 {
            assert!(fin.begin_repetition(15, Instant::ZERO));
        }
        assert_eq!(delay(&mut fin), Duration::from_secs(8));
        for _ in 3..11 {
            fin.on_data_ack(false);
            assert!(fin.begin_repetition(15, Instant::ZERO));
        }
        fin.on_data_ack(false);
        assert_eq!(delay(&mut fin), Duration::from_secs(2), "eleven repetitions");
        fin.on_data_ack(true);
        assert_eq!(delay(&mut fin), RTO);
    }

    #[test]
    fn the_end_is_acknowledged_once_and_not_before_it_is_wanted() {
        let mut fin = DataFin::default();
        assert!(!fin.acknowledge());
        fin.want();
        fin.on_sent(7);
        delay(&mut fin);
        assert!(fin.acknowledge() && !fin.acknowledge());
        assert_eq!((fin.deadline(), fin.offset()), (Instant::MAX, None), "nothing is repeated");
        fin.want();
        assert!(fin.is_acknowledged());
    }

    #[test]
    fn the_peer_is_given_up_after_as_many_repetitions_without_an_answer() {
        let mut fin = DataFin::default();
        fin.on_sent(0);
        assert!(fin.begin_repetition(2, Instant::ZERO) && fin.begin_repetition(2, Instant::ZERO));
        assert!(!fin.begin_repetition(2, Instant::ZERO));
    }
}
