//! Addresses that this side has withdrawn (REMOVE_ADDR, RFC 8684, section 3.4.2).
//!
//! The peer echoes no REMOVE_ADDR, and an acknowledgment, which carries it, may be lost. Linux sends it once, on the
//! first subflow that is active, not stale, and not of the withdrawn address (`mptcp_pm_remove_addr`,
//! `mptcp_pm_addr_send_ack_avoid_list`). A peer that misses it keeps subflows to an address that nobody has, until they
//! time out. Here the first one goes out as in Linux. As with ADD_ADDR, it is then repeated twice, a second apart, and
//! on every established subflow, since the first may be on a path that is dead as well. A peer that has taken it in has
//! no such subflows any more and ignores the others. Nothing is repeated of an address that is back: the peer's old
//! subflows get a reset from there.

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::MptcpOption;

use super::Connection;
use super::mode::Mode;

/// A withdrawal is said so often.
const WITHDRAWALS: u32 = 3;
/// Time between withdrawals of an address.
const WITHDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// Withdrawals that are to be repeated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Withdrawals {
    /// Address identifiers, with how often each was said.
    sent: Vec<(u8, u32)>,
    /// When to repeat them.
    pub(super) repeat_at: Option<Instant>,
}

impl Withdrawals {
    /// The address with identifier `id` is lost, which has been said `times` times.
    fn begin(&mut self, id: u8, times: u32, now: Instant) {
        self.cancel(id);
        self.sent.push((id, times));
        self.repeat_at.get_or_insert(now + WITHDRAW_INTERVAL);
    }

    /// The identifier belongs to an address that this host has.
    pub(super) fn cancel(&mut self, id: u8) {
        self.sent.retain(|&(known, _)| known != id);
        if self.sent.is_empty() {
            self.repeat_at = None;
        }
    }

    /// What is to be said again.
    fn ids(&self) -> Vec<u8> {
        self.sent.iter().map(|&(id, _)| id).collect()
    }

    /// All of it was said again at `now`, or there was no subflow for it.
    fn note_repetition(&mut self, was_sent: bool, now: Instant) {
        self.sent.iter_mut().for_each(|(_, times)| *times += u32::from(was_sent));
        self.sent.retain(|&(_, times)| times < WITHDRAWALS);
        self.repeat_at = (!self.sent.is_empty()).then_some(now + WITHDRAW_INTERVAL);
    }
}

impl Connection {
    /// Tells the peer that the address with identifier `id` is gone.
    pub(super) fn withdraw(&mut self, id: u8, now: Instant) {
        let carrier = self.signalling_subflow();
        self.withdrawals.begin(id, u32::from(carrier.is_some()), now);
        if let Some(index) = carrier {
            self.withdraw_on(index, id);
        }
    }

    /// Says again which addresses are gone, on all subflows. Where there is none, it waits for one.
    pub(super) fn repeat_withdrawals(&mut self, now: Instant) {
        self.withdrawals.repeat_at = None;
        if self.mode != Mode::Multipath || self.is_done() {
            self.withdrawals = Withdrawals::default();
            return;
        }
        let ids = self.withdrawals.ids();
        let carries = |&index: &usize| {
            let subflow = &self.subflows[index];
            subflow.is_established() && self.addresses.local.has(subflow.tcp.ends().local.ip())
        };
        let carriers: Vec<usize> = (0..self.subflows.len()).filter(carries).collect();
        for &index in &carriers {
            ids.iter().for_each(|&id| self.withdraw_on(index, id));
        }
        self.withdrawals.note_repetition(!carriers.is_empty(), now);
    }

    fn withdraw_on(&mut self, index: usize, id: u8) {
        let ids = core::iter::once(id).collect();
        self.subflows[index].signal(MptcpOption::RemoveAddress(ids));
        self.touch(index);
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

    #[test]
    fn what_is_back_is_not_withdrawn_any_more() {
        let mut withdrawals = Withdrawals::default();
        withdrawals.begin(1, 1, second(0));
        withdrawals.begin(2, 1, second(0));
        withdrawals.cancel(1);
        assert_eq!((withdrawals.ids(), withdrawals.repeat_at), (vec![2], Some(second(1))));
        withdrawals.cancel(2);
        assert_eq!(withdrawals.repeat_at, None);
    }
}
