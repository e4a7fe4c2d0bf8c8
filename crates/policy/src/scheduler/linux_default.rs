//! `linux-default`: the scheduler of the upstream Linux kernel.

use core::ops::Range;

use crate::catalogue::{Catalogued, Description};

use super::{Assignment, QueueView, Scheduler, SentRange, SubflowView, What, candidates};

/// Chooses the subflow whose queue would be empty first. It gets a burst of about 64 KB, then the choice is repeated.
///
/// ```text
/// linger_r = wmem_r · 2³² / pace_r          r_best = argmin linger_r;  ties go to the earlier subflow (strict <)
/// burst    = min(65428, window left)       pace_best ← (pace_best · wmem + rate_best · burst) / (wmem + burst)
/// ```
///
/// `wmem_r` is the used part of r's send buffer ([`SubflowView::held_bytes`]); `rate_r` is its pacing rate and `pace_r`
/// an average of it, weighted by bytes, that starts with the first rate. A new rate weighs as much as the peer's window
/// still admits ([`QueueView::window_left`]), however little has been written. A subflow without a rate has a linger
/// time of zero (the kernel starts with an unlimited rate).
///
/// Source: Linux 6.12, `net/mptcp/protocol.c`, `mptcp_subflow_get_send`, `__subflow_push_pending` and
/// `mptcp_subflow_get_retrans`. As there:
/// - It **queues ahead**: congestion windows have no effect. Data goes to the chosen subflow until its send buffer is
///   full ([`SubflowView::buffer_full`]) and then waits for it, even if another subflow has space.
/// - The end of a burst is checked only at the end of a fragment of written data ([`QueueView::fragment_end`]): it ends
///   there if its bytes are used up, the buffer is full or the subflow is no longer usable. It also ends where the data
///   or the peer's window ends.
/// - Backups are used only if no other subflow is live.
/// - A reinjection has priority over new data and goes to the subflow whose queue is empty first among those that may
///   carry it: once a subflow is stale, the kernel sends all unacknowledged data again as if it were new
///   (`__mptcp_retransmit_pending_data`). The connection decides when a subflow is stale (`stale_loss_count`). The rule
///   about earlier carriers is the one that all schedulers here share.
#[derive(Clone, Debug, Default)]
pub struct LinuxDefault {
    /// Average pacing rate of each subflow in bytes per second; 0 before the first.
    paces: Vec<u64>,
    burst: Option<Burst>,
}

/// The burst of one subflow.
#[derive(Clone, Copy, Debug)]
struct Burst {
    subflow: usize,
    /// The data-level offset at which its bytes are used up.
    end: u64,
    /// The end of the fragment from which it last got data.
    fragment_end: u64,
    /// The end of all new data when it last got some. A burst that has reached this offset is over.
    data_end: u64,
}

/// 2¹⁶ minus the space for headers (`MPTCP_SEND_BURST_SIZE`).
const BURST_SIZE: u64 = (1 << 16) - 20 - 40 - 40 - 8;

impl Catalogued for LinuxDefault {
    const DESCRIPTION: Description = Description {
        name: "linux-default",
        aliases: &["linux"],
        summary: "the subflow whose queue drains first at its pacing rate, in bursts of 64 KB beyond its window",
        source: "Linux 6.12, net/mptcp/protocol.c, mptcp_subflow_get_send",
    };
}

impl Scheduler for LinuxDefault {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if let Some(sent) = queue.reinjection
            && let Some(subflow) = self.carrier(subflows, queue, sent)
        {
            return Some(Assignment { subflow, what: What::Copy { range: sent.range.clone() } });
        }
        if queue.new_data.is_empty() {
            return None;
        }
        let subflow = self.current(subflows, queue).or_else(|| self.start_burst(subflows, queue))?;
        if let Some(burst) = &mut self.burst {
            (burst.fragment_end, burst.data_end) = (queue.fragment_end, queue.new_data.end);
        }
        let at_most = queue.fragment_end.checked_sub(queue.new_data.start).filter(|&n| n > 0).unwrap_or(u64::MAX);
        Some(Assignment { subflow, what: What::New { at_most } })
    }

    fn queues_ahead(&self) -> bool {
        true
    }

    fn on_replaced(&mut self, subflow: usize, _last: &SubflowView) {
        if let Some(pace) = self.paces.get_mut(subflow) {
            *pace = 0;
        }
        self.burst = self.burst.filter(|burst| burst.subflow != subflow);
    }
}

impl LinuxDefault {
    /// The subflow of the current burst, if the burst continues.
    fn current(&self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<usize> {
        let burst = self.burst?;
        let start = queue.new_data.start;
        let subflow = subflows.get(burst.subflow)?;
        let within = start < burst.fragment_end;
        let goes_on = within || start < burst.end && !subflow.buffer_full;
        (goes_on && start < burst.data_end && subflow.is_live()).then_some(burst.subflow)
    }

    fn start_burst(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<usize> {
        self.burst = None;
        self.observe(subflows);
        let best = candidates::usable(subflows, queue).live.iter().min_by_key(|&r| self.linger(r, &subflows[r]))?;
        if subflows[best].buffer_full {
            return None;
        }
        let Range { start, end } = queue.new_data;
        // Where the window is closed, new data is a probe beyond it.
        let burst = BURST_SIZE.min(queue.window_left.max(end - start));
        self.burst = Some(Burst { subflow: best, end: start + burst, fragment_end: start, data_end: end });
        let (subflow, pace) = (&subflows[best], &mut self.paces[best]);
        *pace = weighted_mean((*pace, subflow.held_bytes), (subflow.pacing_rate, burst));
        Some(best)
    }

    /// The subflow on which to send `sent` again.
    fn carrier(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>, sent: &SentRange) -> Option<usize> {
        self.observe(subflows);
        let carriers = candidates::allowed_carriers(candidates::usable(subflows, queue).live, sent.carried_by);
        carriers.iter().filter(|&r| !subflows[r].buffer_full).min_by_key(|&r| self.linger(r, &subflows[r]))
    }

    /// The time that a subflow needs to send the data in its buffer, in units of 2⁻³² seconds.
    fn linger(&self, index: usize, subflow: &SubflowView) -> u64 {
        // No subflow holds 4 GiB. The kernel also computes with 64 bits.
        (subflow.held_bytes.min(u32::MAX.into()) << 32).checked_div(self.paces[index]).unwrap_or(0)
    }

    fn observe(&mut self, subflows: &[SubflowView]) {
        self.paces.resize(subflows.len(), 0);
        for (pace, subflow) in self.paces.iter_mut().zip(subflows).filter(|(pace, _)| **pace == 0) {
            *pace = subflow.pacing_rate;
        }
    }
}

fn weighted_mean((a, weight_a): (u64, u64), (b, weight_b): (u64, u64)) -> u64 {
    let sum = u128::from(a) * u128::from(weight_a) + u128::from(b) * u128::from(weight_b);
    (sum / (u128::from(weight_a) + u128::from(weight_b))) as u64
}

#[cfg(test)]
mod tests {
    use super::super::SubflowSet;
    use super::super::test_states::{queue, reinjection, subflow};
    use super::*;

    /// A subflow that holds `in_flight` packets of 1000 bytes and paces at `pacing_mb` MB/s. Its buffer has space for
    /// 34.
    fn holding(in_flight: u32, pacing_mb: u64) -> SubflowView {
        let (held_bytes, buffer_full) = (1000 * u64::from(in_flight), in_flight >= 34);
        let (pacing_rate, can_send) = (pacing_mb * 1_000_000, in_flight < 10);
        SubflowView { in_flight, held_bytes, buffer_full, pacing_rate, can_send, ..subflow(10) }
    }

    /// New data from `start` on, in fragments of 30 000 bytes.
    fn fragments(start: u64) -> QueueView<'static> {
        let fragment_end = (start / 30_000 + 1) * 30_000;
        QueueView { new_data: start..500_000, fragment_end, ..queue(0) }
    }

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        LinuxDefault::default().next(subflows, &queue(100_000)).map(|a| a.subflow)
    }

    #[test]
    fn the_subflow_whose_queue_drains_first_is_chosen() {
        assert_eq!(choice(&[holding(5, 1), holding(3, 1)]), Some(1));
        assert_eq!(choice(&[holding(5, 4), holding(3, 1)]), Some(0), "1.25 ms against 3 ms");
    }

    #[test]
    fn ties_go_to_the_earlier_subflow() {
        assert_eq!(choice(&[holding(4, 2), holding(2, 1)]), Some(0));
    }

    #[test]
    fn a_subflow_without_a_pacing_rate_is_tried() {
        assert_eq!(choice(&[holding(1, 9), holding(5, 0)]), Some(1));
    }

    #[test]
    fn backups_and_subflows_that_are_not_live_are_not_used() {
        let backup = SubflowView { backup: true, ..holding(0, 1) };
        let stale = SubflowView { potentially_failed: true, ..holding(0, 1) };
        assert_eq!(choice(&[backup.clone(), stale.clone(), holding(9, 1)]), Some(2));
        assert_eq!(choice(&[stale, backup]), Some(1));
    }

    #[test]
    fn it_queues_ahead_of_the_window_until_the_send_buffer_is_full() {
        assert_eq!(choice(&[holding(33, 9), holding(9, 1)]), Some(0), "the window is ten");
        assert_eq!(choice(&[holding(34, 9), holding(9, 1)]), None, "the data waits, it does not go to the slower one");
    }

    #[test]
    fn a_burst_stays_on_its_subflow_until_the_end_of_the_fragment_in_which_it_is_used_up() {
        let mut scheduler = LinuxDefault::default();
        let mut next = |first: u32, start: u64| {
            scheduler.next(&[holding(first, 1), holding(1, 1)], &fragments(start)).map(|a| (a.subflow, a.what))
        };
        assert_eq!(next(0, 0), Some((0, What::New { at_most: 30_000 })));
        assert_eq!(next(9, 60_000), Some((0, What::New { at_most: 30_000 })));
        assert_eq!(next(9, 89_999), Some((0, What::New { at_most: 1 })));
        assert_eq!(next(9, 90_000), Some((1, What::New { at_most: 30_000 })));
    }

    #[test]
    fn a_fragment_is_assigned_whole_even_if_the_buffer_fills_up() {
        let mut scheduler = LinuxDefault::default();
        let mut next =
            |held: u32, start: u64| scheduler.next(&[holding(held, 1)], &fragments(start)).map(|a| a.subflow);
        assert_eq!(next(0, 0), Some(0));
        assert_eq!(next(34, 10_000), Some(0));
        assert_eq!(next(50, 30_000), None, "the next one waits");
        assert_eq!(next(33, 30_000), Some(0));
    }

    #[test]
    fn a_burst_ends_where_the_data_ended() {
        let mut scheduler = LinuxDefault::default();
        assert!(scheduler.next(&[holding(0, 1), holding(1, 1)], &queue(3000)).is_some_and(|a| a.subflow == 0));
        let more = QueueView { new_data: 3000..9000, ..queue(9000) };
        assert!(scheduler.next(&[holding(3, 1), holding(1, 1)], &more).is_some_and(|a| a.subflow == 1));
    }

    #[test]
    fn the_pace_is_an_average_weighted_by_bytes() {
        let mut scheduler = LinuxDefault::default();
        scheduler.next(&[holding(6, 1)], &queue(2000));
        assert_eq!(scheduler.paces[0], 1_000_000);
        scheduler.next(&[holding(6, 5)], &QueueView { new_data: 2000..4000, ..queue(4000) });
        assert_eq!(scheduler.paces[0], 2_000_000, "(1 · 6000 + 5 · 2000) / 8000");
    }

    #[test]
    fn a_new_rate_weighs_what_the_window_admits_up_to_a_burst_however_little_is_written() {
        let pace_after = |window_left| {
            let mut scheduler = LinuxDefault::default();
            let little = QueueView { window_left, ..queue(100) };
            scheduler.next(&[holding(6, 1)], &little);
            scheduler.next(&[holding(6, 6)], &QueueView { new_data: 100..200, ..little });
            scheduler.paces[0]
        };
        assert_eq!(pace_after(4000), 3_000_000, "(1 · 6000 + 6 · 4000) / 10000");
        assert_eq!(pace_after(1_000_000), 5_579_996, "(1 · 6000 + 6 · 65428) / 71428");
    }

    #[test]
    fn a_reinjection_goes_to_the_subflow_that_drains_first_and_has_not_carried_it() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let copy = |subflow| Some(Assignment { subflow, what: What::Copy { range: 0..1000 } });
        let next = |second, third| LinuxDefault::default().next(&[holding(0, 1), second, third], &queue);
        assert_eq!(next(holding(5, 1), holding(3, 1)), copy(2));
        assert_eq!(next(holding(5, 1), holding(34, 9)), copy(1), "a full buffer takes nothing");
    }

    #[test]
    fn a_subflow_in_the_place_of_another_has_its_own_pace_and_no_burst() {
        let mut scheduler = LinuxDefault::default();
        let slow = [holding(0, 8), holding(4, 1)];
        assert_eq!(scheduler.next(&slow, &fragments(0)).map(|a| a.subflow), Some(0));
        scheduler.on_replaced(1, &slow[1]);
        let replaced = [holding(4, 8), holding(4, 64)];
        scheduler.on_replaced(0, &slow[0]);
        assert_eq!(scheduler.next(&replaced, &fragments(1000)).map(|a| a.subflow), Some(1), "the burst of 0 is over");
        assert_eq!(scheduler.paces[0], 8_000_000);
    }
}
