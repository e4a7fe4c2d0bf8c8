//! Detection and replacement of subflows that no longer deliver data, as in upstream Linux
//! ([`Config::stale_loss_count`]).
//!
//! A data-level timer runs while data is outstanding. Every DATA_ACK that advances restarts it. When it expires:
//!
//! 1. A subflow that has data to deliver and received no segment since the last expiry counts one more period. Above
//!    `stale_loss_count` periods it is stale, provided that another subflow can take over: the scheduler does not use
//!    it until it receives a segment. **All** outstanding data is then sent again, in order, including data that other
//!    subflows have delivered meanwhile, since the DATA_ACK does not show which. These copies amount to a whole send
//!    buffer, and the same amount again when the stale subflow recovers and delivers its own queue.
//! 2. A subflow that has delivered everything assigned to it repeats the oldest fragment of the written data.
//!
//! The interval is chosen whenever the scheduler is asked for a subflow, and kept until it is asked again: what is then
//! left of the longest timer (retransmission, loss probe) of the subflows that are not stale and have no period counted,
//! or 200 ms if there is none. A connection whose send buffer is full asks no scheduler. Its timer keeps the interval of
//! the time before, however long the retransmission timer of the subflow that it waits for has become. Unlike in Linux,
//! the interval doubles after ten repetitions without progress.
//!
//! Source: Linux 6.12, `net/mptcp/protocol.c` (`mptcp_subflow_get_retrans`, `__mptcp_retrans`,
//! `__mptcp_retransmit_pending_data`, `mptcp_subflow_get_send`, `mptcp_reset_rtx_timer`), `net/mptcp/pm.c`
//! (`mptcp_pm_subflow_chk_stale`).
//!
//! [`Config::stale_loss_count`]: super::Config::stale_loss_count

use subflow_quantity::Instant;

use super::Connection;

/// The deliveries of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Segments accepted from the peer.
    pub(crate) received_segments: u64,
    /// Number of consecutive periods without such a segment.
    periods: u8,
    /// Value of `received_segments` at the start of the first of these periods.
    received_before: u64,
    stale: bool,
}

impl Delivery {
    /// Whether the scheduler should not use the subflow.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale && self.received_segments == self.received_before
    }

    /// Ends a period in which the subflow had data to deliver.
    pub(super) fn note_period(&mut self) {
        if self.periods == 0 {
            self.received_before = self.received_segments;
            self.periods = 1;
        } else if self.received_segments == self.received_before {
            self.periods = self.periods.saturating_add(1);
        } else {
            (self.periods, self.stale) = (0, false);
        }
    }
}

impl Connection {
    /// The scheduler is asked where to send data: the timer takes its interval from the subflows' timers of this moment
    /// (Linux `mptcp_subflow_get_send`).
    pub(super) fn choose_interval(&mut self, now: Instant) {
        if self.config.stale_loss_count == 0 {
            return;
        }
        let usable = self.subflows.iter().filter(|s| s.is_established() && !s.delivery.is_stale());
        let counting = usable.filter(|s| s.delivery.periods == 0);
        let left = counting.filter_map(|subflow| subflow.tcp.transmission_deadline()).map(|at| at.since(now)).max();
        self.data_timer.choose_interval(left.filter(|left| !left.is_zero()));
    }

    /// Keeps the data-level timer running while data is outstanding.
    pub(super) fn watch_deliveries(&mut self, now: Instant) {
        if self.config.stale_loss_count == 0 || !self.phase.has_joined() {
            return;
        }
        if !self.phase.is_multipath() || self.send.outstanding().is_empty() {
            self.data_timer.reset_interval();
        } else if !self.data_timer.is_running() {
            self.data_timer.start_with_interval(&self.config.tcp, now);
        }
    }

    /// The data-level timer has expired.
    pub(super) fn judge_deliveries(&mut self, now: Instant) {
        self.data_timer.stop();
        self.watch_deliveries(now);
        let mut idle = None;
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if !subflow.is_established() {
                continue;
            }
            let takes_data = subflow.takes_data();
            if subflow.tcp.buffered_packets() > 0 {
                self.subflows.note_period(index);
                self.replace_if_stale(index);
            } else if idle.is_none() && takes_data && !subflow.is_backup() {
                idle = Some(index);
            }
        }
        if let Some(index) = idle {
            self.data_timer.count_repetition();
            self.repeat_oldest_piece(index);
        }
    }

    /// Marks a subflow as stale if it has delivered nothing for too long and another one can take over.
    fn replace_if_stale(&mut self, index: usize) {
        let limit = self.config.stale_loss_count;
        let delivery = self.subflows[index].delivery;
        let in_time = limit.saturating_sub(1).max(1);
        let mut others = self.subflows.iter().enumerate().filter(|&(other, _)| other != index);
        let taken_over = others
            .any(|(_, other)| other.takes_data() && !other.delivery.is_stale() && other.delivery.periods < in_time);
        if delivery.stale || delivery.periods <= limit || !taken_over {
            return;
        }
        self.subflows.touch(index).delivery.stale = true;
        self.update_view(index);
        self.send.reinject_all();
        for other in 0..self.subflows.len() {
            self.subflows.touch(other);
        }
    }

    /// Repeats on subflow `index` the oldest fragment that is not acknowledged.
    fn repeat_oldest_piece(&mut self, index: usize) {
        let start = self.send.una();
        let end = self.memory.as_ref().map_or(start + 1, |memory| memory.fragment_end(start)).min(self.send.next());
        let mut offset = start;
        while offset < end {
            let Some(range) = self.send.range_at(offset) else { return };
            offset = range.end;
            if !self.assign_copy(index, range) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_count_while_no_segment_is_received() {
        let mut delivery = Delivery { received_segments: 7, ..Delivery::default() };
        for expected in 1..=5 {
            delivery.note_period();
            assert_eq!(delivery.periods, expected);
        }
        delivery.received_segments += 1;
        delivery.note_period();
        assert_eq!(delivery.periods, 0);
    }

    #[test]
    fn a_subflow_stays_stale_until_it_receives_a_segment() {
        let mut delivery = Delivery::default();
        delivery.note_period();
        delivery.stale = true;
        assert!(delivery.is_stale());
        delivery.received_segments += 1;
        assert!(!delivery.is_stale());
        delivery.note_period();
        assert!(!delivery.stale, "and for good");
    }
}
