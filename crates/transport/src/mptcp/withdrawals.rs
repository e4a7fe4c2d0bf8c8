//! Addresses that this side has withdrawn (REMOVE_ADDR, RFC 8684, section 3.4.2).
//!
//! The peer does not echo a REMOVE_ADDR, and the acknowledgment that carries it may be lost. Linux sends it once, on
//! the first subflow that is active, not stale, and not of the withdrawn address (`mptcp_pm_remove_addr`,
//! `mptcp_pm_addr_send_ack_avoid_list`). A peer that does not receive it keeps subflows to an address that does not
//! exist until they time out. Here the first one is sent as in Linux. As with ADD_ADDR, it is then repeated twice, at
//! an interval of one second, and on every established subflow, since the path of the first may have failed as well. A
//! peer that has processed it has no such subflows any more and ignores the others. If the address returns meanwhile it
//! has another identifier, which this does not concern.

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::MptcpOption;

use super::Connection;

/// Maximum number of transmissions of a withdrawal.
const WITHDRAWALS: u32 = 3;
/// Time between two transmissions of a withdrawal.
const WITHDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// Withdrawals to be repeated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Withdrawals {
    /// Address identifiers, each with the number of transmissions.
    sent: Vec<(u8, u32)>,
    repeat_at: Option<Instant>,
}

impl Withdrawals {
    /// When to repeat the withdrawals; [`Instant::MAX`] if never.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.repeat_at.unwrap_or(Instant::MAX)
    }

    /// Nothing is withdrawn any more.
    pub(super) fn stop(&mut self) {
        self.repeat_at = None;
    }

    /// Starts the withdrawal of the lost address with identifier `id`, which has been sent `times` times.
    fn begin(&mut self, id: u8, times: u32, now: Instant) {
        self.sent.push((id, times));
        self.repeat_at.get_or_insert(now + WITHDRAW_INTERVAL);
    }

    /// The identifiers to be withdrawn again.
    fn ids(&self) -> Vec<u8> {
        self.sent.iter().map(|&(id, _)| id).collect()
    }

    /// Counts a repetition at `now`; `was_sent` is false if there was no subflow for it.
    fn note_repetition(&mut self, was_sent: bool, now: Instant) {
        self.sent.iter_mut().for_each(|(_, times)| *times += u32::from(was_sent));
        self.sent.retain(|&(_, times)| times < WITHDRAWALS);
        self.repeat_at = (!self.sent.is_empty()).then_some(now + WITHDRAW_INTERVAL);
    }
}

impl Connection {
    /// Withdraws the address with identifier `id`.
    pub(super) fn withdraw(&mut self, id: u8, now: Instant) {
        let carrier = self.signalling_subflow();
        self.withdrawals.begin(id, u32::from(carrier.is_some()), now);
        if let Some(index) = carrier {
            self.withdraw_on(index, id);
        }
    }

    /// Repeats the withdrawals on all subflows. If there is none, the next repetition is scheduled.
    pub(super) fn repeat_withdrawals(&mut self, now: Instant) {
        self.withdrawals.stop();
        if !self.phase.is_multipath() || self.is_done() {
            self.withdrawals = Withdrawals::default();
            return;
        }
        let ids = self.withdrawals.ids();
        let carriers = self.signalling_subflows();
        for index in carriers.iter() {
            ids.iter().for_each(|&id| self.withdraw_on(index, id));
        }
        self.withdrawals.note_repetition(!carriers.is_empty(), now);
    }

    fn withdraw_on(&mut self, index: usize, id: u8) {
        let ids = core::iter::once(id).collect();
        self.subflows.touch(index).signal(MptcpOption::RemoveAddress(ids));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(n)
    }

    #[test]
    fn an_address_is_withdrawn_three_times_and_not_counted_while_there_is_no_subflow() {
        let mut withdrawals = Withdrawals::default();
        withdrawals.begin(1, 0, second(0));
        withdrawals.note_repetition(false, second(1));
        for n in 2..4 {
            assert_eq!((withdrawals.ids(), withdrawals.repeat_at), (vec![1], Some(second(n))));
            withdrawals.note_repetition(true, second(n));
        }
        withdrawals.begin(2, 1, second(4));
        withdrawals.note_repetition(true, second(4));
        assert_eq!((withdrawals.ids(), withdrawals.repeat_at), (vec![2], Some(second(5))));
        withdrawals.note_repetition(true, second(5));
        assert_eq!((withdrawals.ids(), withdrawals.repeat_at), (vec![], None));
    }
}
