//! Repeating data on other subflows: after a timeout or death, and opportunistically (RFC 8684, section 3.3.6).

use subflow_policy::scheduler::SubflowSet;
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::fallback::Mode;

impl Connection {
    /// A subflow has timed out since last time: what only it carried may go elsewhere.
    pub(super) fn reinject_after_timeout(&mut self, index: usize) {
        let timeouts = self.subflows[index].tcp.counters().timeouts;
        if timeouts == self.subflows[index].timeouts_seen {
            return;
        }
        self.subflows[index].timeouts_seen = timeouts;
        self.reinject_from(index);
    }

    /// Marks everything outstanding that no other living subflow has carried.
    pub(super) fn reinject_from(&mut self, index: usize) {
        let live = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.is_established());
        let others = live.filter(|&(i, _)| i != index).fold(0u64, |set, (i, _)| set | 1 << i);
        // A join that came to nothing has carried nothing.
        let came_to_nothing = index > 0 && self.has_sole_carrier();
        if came_to_nothing || others == 0 && !self.subflows[index].is_closed() {
            return;
        }
        if self.config.stale_loss_count > 0 {
            return self.repeat_everything();
        }
        for sent in &mut self.send.outstanding {
            if sent.carried_by.contains(index) && sent.carried_by.0 & others == 0 && !sent.reinject {
                sent.reinject = true;
                self.send.reinjections += 1;
            }
        }
    }

    /// A peer may drop data that its subflow has acknowledged: Linux does with what lies beyond the shared window
    /// (`NoDSSInWindow`). Where no subflow that carried the oldest data has anything left to deliver, nobody else would repeat
    /// it, so the data level does (section 3.3.6; Linux `mptcp_retransmit_timer`).
    pub(super) fn watch_for_dropped_data(&mut self, now: Instant) {
        let delivered = |carrier: usize| match self.glances.get(carrier) {
            Some(glance) if self.dirty & 1 << carrier == 0 => {
                debug_assert_eq!(
                    glance.delivered,
                    self.subflows[carrier].has_delivered(),
                    "it changed and nobody touched it"
                );
                glance.delivered
            }
            _ => self.subflows[carrier].has_delivered(),
        };
        let waits = self.send.outstanding.front().is_some_and(|oldest| {
            self.mode == Mode::Multipath && !oldest.reinject && oldest.carried_by.iter().all(delivered)
        });
        if !waits {
            self.send.repeat_at = None;
        } else if self.send.repeat_at.is_none() {
            let live = self.subflows.iter().filter(|subflow| subflow.is_established());
            let rto = live.filter_map(|subflow| subflow.tcp.rtt().rto()).max().unwrap_or(Duration::from_secs(1));
            let delay = rto.saturating_mul(1 << self.send.repeats.min(16)).min(self.config.tcp.max_rto);
            self.send.repeat_at = Some(now + delay);
        }
    }

    /// The peer has had time to acknowledge the oldest data, which the only subflow there ever was has delivered: its
    /// DATA_ACK was lost, for instance where an ADD_ADDR had taken its room and the segment after that was dropped.
    /// Data is not sent on this subflow twice: where options are taken away, either side takes the subflow's stream for
    /// the data.
    #[cold]
    pub(super) fn ask_for_data_ack(&mut self, now: Instant) {
        self.send.repeat_at = None;
        if self.send.repeats >= self.config.tcp.max_retries {
            return self.give_up();
        }
        self.send.repeats += 1;
        self.subflows[0].tcp.request_answer();
        self.touch(0);
        self.watch_for_dropped_data(now);
    }

    /// The peer has had time to acknowledge the oldest data: any subflow may repeat it.
    pub(super) fn repeat_dropped_data(&mut self) {
        self.send.repeat_at = None;
        self.send.repeats += 1;
        if let Some(oldest) = self.send.outstanding.front_mut().filter(|oldest| !oldest.reinject) {
            oldest.carried_by = SubflowSet::default();
            oldest.reinject = true;
            self.send.reinjections += 1;
        }
    }

    /// Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, section 4.2): the peer's window is full
    /// while a subflow has room. That subflow repeats the oldest outstanding data, and the one that holds it up has its
    /// window halved.
    pub(super) fn retransmit_opportunistically(&mut self, now: Instant) -> bool {
        if self.send.next >= self.stream.written || !self.window_is_full() {
            return false;
        }
        self.send.blocked += u64::from(self.views.iter().any(|view| view.is_live() && view.can_send));
        if !self.config.opportunistic_retransmission {
            return false;
        }
        let Some(oldest) = self.send.outstanding.front() else { return false };
        let (range, carriers) = (oldest.range.clone(), oldest.carried_by);
        let able = |index: usize| self.views[index].eligible(index, carriers) && !self.views[index].backup;
        let fastest = (0..self.views.len()).filter(|&index| able(index)).min_by_key(|&index| self.views[index].srtt);
        let Some(index) = fastest else { return false };
        if self.config.penalisation {
            for slow in carriers.iter().filter(|&slow| slow != index) {
                self.penalise(slow, index, now);
            }
        }
        self.assign_copy(index, range)
    }

    /// Halves the window of `slow`, at most once per its round trip and only where it is slower than `fast`.
    fn penalise(&mut self, slow: usize, fast: usize, now: Instant) {
        let srtt = self.views[slow].srtt.unwrap_or(Duration::ZERO);
        let recently = self.subflows[slow].penalised_at.is_some_and(|at| now.since(at) < srtt);
        if recently || self.views[fast].srtt >= self.views[slow].srtt {
            return;
        }
        self.subflows[slow].penalised_at = Some(now);
        self.counters.penalties += 1;
        let path = self.congestion.path_mut(self.subflows[slow].tcp.path());
        let halved = (path.cwnd / 2).max(path.quantum);
        if path.in_slow_start() {
            // As in Linux MPTCP 0.9x: during slow start only the threshold comes down.
            path.ssthresh = path.ssthresh.min(halved.max(2 * path.quantum));
        } else {
            path.cwnd = halved;
            path.ssthresh = halved.max(2 * path.quantum);
        }
        self.update_view(slow);
    }
}
