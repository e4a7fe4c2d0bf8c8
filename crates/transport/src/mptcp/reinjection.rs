//! Repeating data on other subflows: after a timeout or death, and opportunistically (RFC 8684, section 3.3.6).

use subflow_policy::congestion::RecoveryState;
use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, SubflowSet, What};
use subflow_quantity::{Duration, Instant};

use super::Connection;

impl Connection {
    /// A subflow has timed out since last time: what only it carried may go elsewhere.
    pub(super) fn reinject_after_timeout(&mut self, index: usize) {
        if self.subflows[index].notices_timeout() {
            self.reinject_from(index);
        }
    }

    /// Marks everything outstanding that no other living subflow has carried.
    pub(super) fn reinject_from(&mut self, index: usize) {
        let live = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.is_established());
        let others = live.filter(|&(i, _)| i != index).fold(0u64, |set, (i, _)| set | 1 << i);
        // A join that came to nothing has carried nothing.
        let came_to_nothing = index > 0 && !self.phase.has_joined();
        if came_to_nothing || others == 0 && !self.subflows[index].is_closed() {
            return;
        }
        if self.config.stale_loss_count > 0 {
            return self.send.reinject_all();
        }
        self.send.reinject_from(index, SubflowSet(others));
    }

    /// A peer may drop data that its subflow has acknowledged: Linux does with what lies beyond the shared window
    /// (`NoDSSInWindow`). Where no subflow that carried the oldest data has anything left to deliver, no other rule would
    /// repeat it, so the data level does (section 3.3.6; Linux `mptcp_retransmit_timer`).
    pub(super) fn watch_for_dropped_data(&mut self, now: Instant) {
        let delivered = |carrier| self.subflows.has_delivered(carrier);
        let waits = self.send.outstanding().front().is_some_and(|oldest| {
            self.phase.is_multipath() && !oldest.reinject && oldest.carried_by.iter().all(delivered)
        });
        if !waits {
            self.data_timer.stop();
        } else if !self.data_timer.is_running() {
            let live = self.subflows.iter().filter(|subflow| subflow.is_established());
            let rto = live.filter_map(|subflow| subflow.tcp.rtt().rto()).max().unwrap_or(Duration::from_secs(1));
            self.data_timer.start_with_backoff(rto, &self.config.tcp, now);
        }
    }

    /// The peer has had time to acknowledge the oldest data, which the only subflow there ever was has delivered: its
    /// DATA_ACK was lost, for instance where an ADD_ADDR had taken its room and the segment after that was dropped.
    /// Data is not sent on this subflow twice: where options are taken away, either side takes the subflow's stream for
    /// the data.
    #[cold]
    pub(super) fn ask_for_data_ack(&mut self, now: Instant) {
        self.data_timer.stop();
        if self.data_timer.repeats() >= self.config.tcp.max_retries {
            return self.give_up();
        }
        self.data_timer.count_repetition();
        self.subflows.touch(0).tcp.request_answer();
        self.watch_for_dropped_data(now);
    }

    /// The peer has had time to acknowledge the oldest data: any subflow may repeat it.
    pub(super) fn repeat_dropped_data(&mut self) {
        self.data_timer.stop();
        self.data_timer.count_repetition();
        self.send.reinject_oldest();
    }

    /// Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, section 4.2) as in Linux MPTCP 0.9x
    /// (`mptcp_next_segment`, `mptcp_rcv_buf_optimization`). The oldest outstanding data blocks the connection: the
    /// peer's window is full, or everything written is assigned and the writer waits for room in the send buffer. The
    /// subflow that the scheduler chooses for what comes next, `chosen` if it has been asked, repeats that data, and
    /// the window of the slower subflow that carries it is halved.
    pub(super) fn retransmit_opportunistically(&mut self, now: Instant, chosen: Option<usize>) -> bool {
        let waits_for_window = self.send.next() < self.stream.written;
        if waits_for_window {
            if !self.window_is_full() {
                return false;
            }
            self.refresh_views();
            if !self.views.sets().open.is_empty() {
                self.send.count_blocked();
            }
        }
        if !self.config.opportunistic_retransmission || !(waits_for_window || self.stream.is_blocked()) {
            return false;
        }
        self.refresh_views();
        let Some(oldest) = self.send.outstanding().front() else { return false };
        let (range, carriers) = (oldest.range.clone(), oldest.carried_by);
        let Some(fast) = chosen.or_else(|| self.choice_for_next_segment(now)) else { return false };
        let is_limited = waits_for_window || self.stream.is_full(self.bytes_acknowledged());
        if self.config.penalisation && is_limited {
            self.penalise_first_carrier(fast, carriers, now);
        }
        self.is_worth_repeating(fast, carriers) && self.assign_copy(fast, range)
    }

    /// The subflow that would carry the next segment if the peer's window admitted it. Asking takes no turn of the
    /// scheduler.
    fn choice_for_next_segment(&self, now: Instant) -> Option<usize> {
        let next = self.send.next();
        let queue = QueueView {
            now,
            new_data: next..next + u64::from(self.subflows.iter().map(|subflow| subflow.tcp.mss()).max()?),
            fragment_end: next,
            window: self.send.window(),
            blocked: self.send.blocked(),
            outstanding: self.send.outstanding().as_slices(),
            sets: Some(self.views.sets()),
            ..QueueView::default()
        };
        match self.scheduler.clone().next(self.views.all(), &queue)? {
            Assignment { subflow, what: What::New { .. } } => Some(subflow).filter(|&it| self.views.all()[it].can_send),
            Assignment { what: What::Copy { .. }, .. } => None,
        }
    }

    /// Penalises the newest other subflow that carries the blocking data, if it is slower than `fast` and sees no loss;
    /// at most once per round trip of `fast`.
    fn penalise_first_carrier(&mut self, fast: usize, carriers: SubflowSet, now: Instant) {
        let Some(srtt) = self.views.all()[fast].srtt else { return };
        let tick = self.config.tcp.timer_tick;
        if self.subflows[fast]
            .penalised_another_at()
            .is_some_and(|at| ticks_between(at, now, tick) < ticks_of(srtt, tick))
        {
            return;
        }
        let Some(slow) = self.other_carriers(fast, carriers).next() else { return };
        let path = self.subflows[slow].tcp.path();
        if self.views.all()[slow].srtt <= Some(srtt) || self.congestion.path(path).state() != RecoveryState::Open {
            return;
        }
        self.congestion.penalise(path);
        self.subflows.note_penalty(fast, now);
        self.counters.penalties += 1;
        self.update_view(slow);
    }

    /// Whether `fast` may deliver the blocking data much earlier than a subflow that carries it: that one has a window
    /// of at most four packets, or all have more than four times the RTT of `fast`.
    fn is_worth_repeating(&self, fast: usize, carriers: SubflowSet) -> bool {
        if carriers.contains(fast) {
            return false;
        }
        let srtt = |index: usize| self.views.all()[index].srtt.unwrap_or(Duration::ZERO);
        let mut is_worth_it = false;
        for slow in self.other_carriers(fast, carriers) {
            let path = self.congestion.path(self.subflows[slow].tcp.path());
            if path.cwnd() <= 4 * path.quantum() {
                return true;
            }
            is_worth_it = srtt(fast).saturating_mul(4) < srtt(slow);
            if !is_worth_it {
                return false;
            }
        }
        is_worth_it
    }

    /// Carriers but for `fast`, the newest first: the order of the kernel's list of subflows.
    fn other_carriers(&self, fast: usize, carriers: SubflowSet) -> impl Iterator<Item = usize> + '_ {
        let is_other = move |&index: &usize| index != fast && carriers.contains(index);
        (0..self.subflows.len()).rev().filter(is_other).filter(|&index| !self.subflows[index].is_closed())
    }
}

/// A duration in ticks of the kernel's clock, rounded up as `usecs_to_jiffies` does; in nanoseconds without ticks.
fn ticks_of(duration: Duration, tick: Duration) -> u64 {
    duration.as_nanos().div_ceil(tick.as_nanos().max(1))
}

/// By how much the kernel's clock went on from `from` to `to`.
fn ticks_between(from: Instant, to: Instant, tick: Duration) -> u64 {
    let ticks = |instant: Instant| instant.as_nanos() / tick.as_nanos().max(1);
    ticks(to) - ticks(from)
}
