//! Addresses that this side has announced (ADD_ADDR, RFC 8684, section 3.4.1) and the peer has not echoed.
//!
//! An announcement is sent three times, a second apart: first on one subflow, then on all, since the path of the first may
//! have failed. Then it rests until there is reason to think that these never had a path: another subflow is established,
//! or a segment arrives on a subflow that had carried the announcement and was silent for a second. Linux repeats an
//! announcement on whatever subflow then comes first, after `net.mptcp.add_addr_timeout` (120 s by default; at most three
//! times, `mptcp_pm_add_timer`, `mptcp_pm_add_addr_send_ack`).

use std::net::IpAddr;

use subflow_policy::path_manager::Address;
use subflow_policy::scheduler::SubflowSet;
use subflow_quantity::{Duration, Instant};

/// Maximum number of transmissions of an announcement that is not echoed, until there is reason for others.
const ANNOUNCEMENTS: u32 = 3;
/// Time between two transmissions of an announcement.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(1);

/// Announcements that may have to be repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcements {
    /// Each address with the number of times that it was sent.
    sent: Vec<(Address, u32)>,
    repeat_at: Option<Instant>,
    /// The subflows that have carried announcements, and on which nothing has arrived since.
    silent: SubflowSet,
}

impl Announcements {
    /// When to repeat the announcements; [`Instant::MAX`] if never.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.repeat_at.unwrap_or(Instant::MAX)
    }

    /// `address` is announced now on the subflows `carriers`; if there are none, it waits for one.
    pub(super) fn note(&mut self, address: Address, carriers: SubflowSet, now: Instant) {
        let times = u32::from(!carriers.is_empty());
        match self.sent.iter_mut().find(|(known, _)| known.id == address.id) {
            Some((_, before)) => *before += times,
            None => self.sent.push((address, times)),
        }
        self.silent.0 |= carriers.0;
        if !carriers.is_empty() {
            self.repeat_at = Some(now + ANNOUNCE_INTERVAL);
        }
    }

    /// The addresses to be announced again.
    pub(super) fn take_due(&mut self) -> Vec<Address> {
        self.repeat_at = None;
        self.sent.iter().filter(|(_, times)| *times < ANNOUNCEMENTS).map(|&(address, _)| address).collect()
    }

    /// Whether a segment that arrives on subflow `index` says something about an announcement.
    #[inline]
    pub(super) fn concerns(&self, index: usize) -> bool {
        self.silent.contains(index)
    }

    /// A segment has arrived on subflow `index`, or it is established: its path works. What was sent so far does not count,
    /// unless it may still be answered.
    pub(super) fn on_working_path(&mut self, index: usize, now: Instant) {
        self.silent.remove(index);
        if self.repeat_at.is_none() && !self.sent.is_empty() {
            self.sent.iter_mut().for_each(|(_, times)| *times = 0);
            self.repeat_at = Some(now);
        }
    }

    /// The peer has echoed the address with identifier `id`.
    pub(super) fn on_echo(&mut self, id: u8) {
        self.sent.retain(|(known, _)| known.id != id);
        if self.sent.is_empty() {
            self.stop();
        }
    }

    /// This host has lost `address`.
    pub(super) fn forget(&mut self, address: IpAddr) {
        self.sent.retain(|(announced, _)| announced.address != address);
    }

    /// Nothing is announced any more.
    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: SubflowSet = SubflowSet(1);

    fn address(id: u8) -> Address {
        Address { id, address: IpAddr::from([10, 0, 0, id]), port: None }
    }

    /// Sends what is due until the announcements rest, and returns how often that was.
    fn rounds(announcements: &mut Announcements, carriers: SubflowSet) -> usize {
        let mut rounds = 0;
        while announcements.deadline() < Instant::MAX {
            let now = announcements.deadline();
            let due = announcements.take_due();
            rounds += usize::from(!due.is_empty());
            due.into_iter().for_each(|address| announcements.note(address, carriers, now));
        }
        rounds
    }

    #[test]
    fn an_address_is_announced_three_times_or_until_it_is_echoed() {
        let mut announcements = Announcements::default();
        let mut now = Instant::ZERO;
        announcements.note(address(1), FIRST, now);
        announcements.note(address(2), FIRST, now);
        announcements.on_echo(2);
        for _ in 0..2 {
            assert_eq!(announcements.deadline(), now + ANNOUNCE_INTERVAL);
            now = announcements.deadline();
            assert_eq!(announcements.take_due(), [address(1)]);
            announcements.note(address(1), FIRST, now);
            announcements.on_working_path(0, now);
        }
        assert_eq!(announcements.take_due(), []);
        assert_eq!(announcements.deadline(), Instant::MAX);
        assert!(!announcements.concerns(0), "its path works");
    }

    #[test]
    fn what_nothing_carried_or_a_silent_path_did_is_announced_again_when_there_is_a_path() {
        let mut announcements = Announcements::default();
        announcements.note(address(1), SubflowSet::default(), Instant::ZERO);
        assert_eq!(announcements.deadline(), Instant::MAX, "there is no subflow");
        announcements.on_working_path(1, Instant::ZERO);
        assert_eq!(rounds(&mut announcements, SubflowSet(3)), 3);
        assert!(announcements.concerns(0) && announcements.concerns(1));
        announcements.on_working_path(1, Instant::ZERO);
        assert_eq!(rounds(&mut announcements, FIRST), 3);
        announcements.on_working_path(2, Instant::ZERO);
        announcements.on_echo(1);
        assert_eq!(rounds(&mut announcements, FIRST), 0);
        announcements.on_working_path(3, Instant::ZERO);
        assert_eq!(announcements.deadline(), Instant::MAX);
    }
}
