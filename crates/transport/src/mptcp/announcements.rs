//! Addresses that this side has announced (ADD_ADDR, RFC 8684, section 3.4.1) and the peer has not echoed.

use std::net::IpAddr;

use subflow_policy::path_manager::Address;
use subflow_quantity::{Duration, Instant};

/// Maximum number of transmissions of an announcement that is not echoed.
const ANNOUNCEMENTS: u32 = 3;
/// Time between two transmissions of an announcement.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(1);

/// Announcements to be repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcements {
    /// Each address with its number of announcements.
    sent: Vec<(Address, u32)>,
    repeat_at: Option<Instant>,
}

impl Announcements {
    /// When to repeat the announcements; [`Instant::MAX`] if never.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.repeat_at.unwrap_or(Instant::MAX)
    }

    /// `address` is announced now.
    pub(super) fn note(&mut self, address: Address, now: Instant) {
        match self.sent.iter_mut().find(|(known, _)| known.id == address.id) {
            Some((_, times)) => *times += 1,
            None => self.sent.push((address, 1)),
        }
        self.repeat_at = Some(now + ANNOUNCE_INTERVAL);
    }

    /// The addresses to be announced again.
    pub(super) fn take_due(&mut self) -> Vec<Address> {
        self.repeat_at = None;
        self.sent.retain(|&(_, times)| times < ANNOUNCEMENTS);
        self.sent.iter().map(|&(address, _)| address).collect()
    }

    /// The peer has echoed the address with identifier `id`.
    pub(super) fn on_echo(&mut self, id: u8) {
        self.sent.retain(|(known, _)| known.id != id);
        if self.sent.is_empty() {
            self.repeat_at = None;
        }
    }

    /// This host has lost `address`.
    pub(super) fn forget(&mut self, address: IpAddr) {
        self.sent.retain(|(announced, _)| announced.address != address);
    }

    /// Nothing is announced any more.
    pub(super) fn stop(&mut self) {
        self.repeat_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(id: u8) -> Address {
        Address { id, address: IpAddr::from([10, 0, 0, id]), port: None }
    }

    #[test]
    fn an_address_is_announced_three_times_or_until_it_is_echoed() {
        let mut announcements = Announcements::default();
        let mut now = Instant::ZERO;
        announcements.note(address(1), now);
        announcements.note(address(2), now);
        announcements.on_echo(2);
        for _ in 0..2 {
            assert_eq!(announcements.deadline(), now + ANNOUNCE_INTERVAL);
            now = announcements.deadline();
            assert_eq!(announcements.take_due(), [address(1)]);
            announcements.note(address(1), now);
        }
        assert_eq!(announcements.take_due(), []);
        assert_eq!(announcements.deadline(), Instant::MAX);
    }
}
