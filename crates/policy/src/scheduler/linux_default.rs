//! `linux-default`: the scheduler of the upstream Linux kernel.

use super::{Assignment, QueueView, Scheduler, SentRange, SubflowView, What, candidates};

/// The subflow whose queue would drain first; it then gets a burst of about 64 KB before the choice is made again.
///
/// ```text
/// linger_r = wmem_r · 2³² / pace_r          r_best = argmin linger_r;  ties go to the earlier subflow (strict <)
/// burst    = min(65428, new data)           pace_best ← (pace_best · wmem + rate_best · burst) / (wmem + burst)
/// ```
///
/// `wmem_r` are the bytes that r holds, unsent or unacknowledged; `rate_r` is its pacing rate and `pace_r` an average of
/// that, weighted by bytes, which starts as the first rate seen. A subflow without a rate yet has a linger time of zero (the kernel
/// starts from an unlimited rate).
///
/// Source: Linux 6.12, `net/mptcp/protocol.c`, `mptcp_subflow_get_send` and `mptcp_subflow_get_retrans`. As there:
/// - It **queues ahead**: congestion windows play no part. Data goes to the chosen subflow until that one's send buffer is
///   full, and then waits for it, even where another has room. The kernel's buffer has memory for twice the largest window
///   so far (at least ten segments), generously counted; what a segment really takes is an estimate of ours.
/// - A burst ends early where the buffer is full, the data runs out or the subflow is no longer usable. It may end up to a
///   segment late, never with a short segment.
/// - Backups take part only where no other subflow is live.
/// - A reinjection goes, before new data, to the subflow whose queue drains first among those that may carry it: once a
///   subflow is held for stale, the kernel sends all that is not acknowledged again as if it were new
///   (`__mptcp_retransmit_pending_data`). Its first attempt, a single one on an idle subflow, is left out. The rule about
///   earlier carriers is the one that all schedulers here share.
#[derive(Clone, Debug, Default)]
pub struct LinuxDefault {
    memory: Vec<Memory>,
    burst: Option<Burst>,
}

/// What is remembered of a subflow.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// Average pacing rate in bytes per second; 0 before the first.
    pace: u64,
    /// Largest congestion window so far, in packets: send buffers grow and do not shrink.
    largest_window: u32,
}

/// A subflow's turn.
#[derive(Clone, Copy, Debug)]
struct Burst {
    subflow: usize,
    /// The data-level offset at which it ends.
    end: u64,
}

/// 2¹⁶ less the room for headers (`MPTCP_SEND_BURST_SIZE`).
const BURST_SIZE: u64 = (1 << 16) - 20 - 40 - 40 - 8;
/// Bytes of send buffer for each segment of the window (`tcp_sndbuf_expand`): a factor of two for recovery, times a
/// 1460-byte segment with its headers rounded up to a power of two, plus its descriptor.
const BUFFER_PER_WINDOW_SEGMENT: u64 = 2 * (4096 + 256);
/// Bytes of send buffer that a full-sized segment takes up: payload, header space and descriptors. Not measured.
const BUFFER_PER_HELD_SEGMENT: u64 = 2560;
/// Send buffers have room for at least this window (`TCP_INIT_CWND`).
const SMALLEST_WINDOW: u32 = 10;

impl Scheduler for LinuxDefault {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        if let Some(sent) = queue.reinjection
            && let Some(subflow) = self.carrier(subflows, sent)
        {
            return Some(Assignment { subflow, what: What::Copy { range: sent.range.clone() } });
        }
        if queue.new_data.is_empty() {
            return None;
        }
        let subflow = self.current(subflows, queue).or_else(|| self.start_burst(subflows, queue))?;
        Some(Assignment { subflow, what: What::New { at_most: u64::MAX } })
    }

    fn queues_ahead(&self) -> bool {
        true
    }
}

impl LinuxDefault {
    /// The subflow whose turn it is, where the turn goes on.
    fn current(&self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<usize> {
        let Burst { subflow, end } = self.burst?;
        let goes_on = queue.new_data.start < end && subflows.get(subflow)?.is_live();
        (goes_on && self.has_room(subflows, subflow)).then_some(subflow)
    }

    fn start_burst(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<usize> {
        self.observe(subflows);
        let best = candidates::usable(subflows).live.iter().min_by_key(|&r| self.linger(r, &subflows[r]))?;
        if !self.has_room(subflows, best) {
            return None;
        }
        let burst = BURST_SIZE.min(queue.new_data.end - queue.new_data.start);
        self.burst = Some(Burst { subflow: best, end: queue.new_data.start + burst });
        let (subflow, pace) = (&subflows[best], &mut self.memory[best].pace);
        *pace = weighted_mean((*pace, held(subflow)), (subflow.pacing_rate, burst));
        Some(best)
    }

    /// The subflow to send `sent` again on.
    fn carrier(&mut self, subflows: &[SubflowView], sent: &SentRange) -> Option<usize> {
        self.observe(subflows);
        let carriers = candidates::allowed_carriers(candidates::usable(subflows).live, sent.carried_by);
        carriers.iter().filter(|&r| self.has_room(subflows, r)).min_by_key(|&r| self.linger(r, &subflows[r]))
    }

    /// How long a subflow takes to send what it holds, in units of 2⁻³² seconds.
    fn linger(&self, index: usize, subflow: &SubflowView) -> u128 {
        (u128::from(held(subflow)) << 32).checked_div(self.memory[index].pace.into()).unwrap_or(0)
    }

    fn observe(&mut self, subflows: &[SubflowView]) {
        self.memory.resize(subflows.len(), Memory::default());
        for (memory, subflow) in self.memory.iter_mut().zip(subflows) {
            memory.largest_window = memory.largest_window.max(subflow.cwnd);
            if memory.pace == 0 {
                memory.pace = subflow.pacing_rate;
            }
        }
    }

    fn has_room(&self, subflows: &[SubflowView], subflow: usize) -> bool {
        let window = self.memory[subflow].largest_window.max(SMALLEST_WINDOW);
        let taken = u64::from(subflows[subflow].in_flight) * BUFFER_PER_HELD_SEGMENT;
        taken < u64::from(window) * BUFFER_PER_WINDOW_SEGMENT
    }
}

/// Bytes in a subflow's send buffer: the queued packets count among those in flight.
fn held(subflow: &SubflowView) -> u64 {
    u64::from(subflow.in_flight) * u64::from(subflow.mss)
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

    /// A subflow that holds this many packets of 1000 bytes and paces this many MB/s.
    fn holding(in_flight: u32, pacing_mb: u64) -> SubflowView {
        SubflowView { in_flight, pacing_rate: pacing_mb * 1_000_000, can_send: in_flight < 10, ..subflow(10) }
    }

    fn choice(subflows: &[SubflowView]) -> Option<usize> {
        LinuxDefault::default().next(subflows, &queue(100_000)).map(|a| a.subflow)
    }

    #[test]
    fn the_queue_that_drains_first_wins() {
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
    fn backups_and_subflows_that_are_not_live_stay_out() {
        let backup = SubflowView { backup: true, ..holding(0, 1) };
        let stale = SubflowView { potentially_failed: true, ..holding(0, 1) };
        assert_eq!(choice(&[backup.clone(), stale.clone(), holding(9, 1)]), Some(2));
        assert_eq!(choice(&[stale, backup]), Some(1));
    }

    #[test]
    fn it_queues_ahead_of_the_window_until_the_send_buffer_is_full() {
        assert_eq!(choice(&[holding(33, 9), holding(9, 1)]), Some(0), "the window is ten");
        assert_eq!(choice(&[holding(34, 9), holding(9, 1)]), None, "and none waits on the slower one");
    }

    #[test]
    fn a_burst_stays_on_its_subflow() {
        let mut scheduler = LinuxDefault::default();
        let mut next = |first: u32, start: u64| {
            let queue = QueueView { new_data: start..500_000, ..queue(0) };
            scheduler.next(&[holding(first, 1), holding(1, 1)], &queue).map(|a| a.subflow)
        };
        assert_eq!(next(0, 0), Some(0));
        assert_eq!(next(9, 65_427), Some(0));
        assert_eq!(next(9, 65_428), Some(1));
    }

    #[test]
    fn a_burst_ends_where_the_data_ran_out() {
        let mut scheduler = LinuxDefault::default();
        assert!(scheduler.next(&[holding(0, 1), holding(1, 1)], &queue(3000)).is_some_and(|a| a.subflow == 0));
        let more = QueueView { new_data: 3000..9000, ..queue(0) };
        assert!(scheduler.next(&[holding(3, 1), holding(1, 1)], &more).is_some_and(|a| a.subflow == 1));
    }

    #[test]
    fn the_pace_is_an_average_weighted_by_bytes() {
        let mut scheduler = LinuxDefault::default();
        scheduler.next(&[holding(6, 1)], &queue(2000));
        assert_eq!(scheduler.memory[0].pace, 1_000_000);
        scheduler.next(&[holding(6, 5)], &QueueView { new_data: 2000..4000, ..queue(0) });
        assert_eq!(scheduler.memory[0].pace, 2_000_000, "(1 · 6000 + 5 · 2000) / 8000");
    }

    #[test]
    fn a_reinjection_goes_to_the_fresh_subflow_that_drains_first() {
        let sent = reinjection(SubflowSet(0b001));
        let queue = QueueView { reinjection: Some(&sent), ..queue(5000) };
        let copy = |subflow| Some(Assignment { subflow, what: What::Copy { range: 0..1000 } });
        let next = |second, third| LinuxDefault::default().next(&[holding(0, 1), second, third], &queue);
        assert_eq!(next(holding(5, 1), holding(3, 1)), copy(2));
        assert_eq!(next(holding(5, 1), holding(34, 9)), copy(1), "a full buffer takes nothing");
    }
}
