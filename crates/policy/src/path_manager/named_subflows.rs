//! Subflows that a user names, which a connection is to have whatever its path manager says.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;

use super::retries::Retries;
use super::subflows::Pair;
use super::{Address, Command, Event, FourTuple};

/// The named subflows of a connection. One that fails is opened again like those of a full mesh: after a second, and then
/// after twice the time up to a minute, or as soon as its local address returns or routes change. One that the peer has
/// refused for good is not (RFC 8684, section 3.6).
///
/// It is told the events that the path manager is told, and its commands are executed like those of the path manager.
#[derive(Clone, Debug, Default)]
pub struct NamedSubflows {
    named: Vec<Named>,
    retries: Retries,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    /// With the port, if one is named.
    local: Address,
    remote: SocketAddr,
    backup: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for its address or for the time of its next attempt.
    Missing,
    Opening,
    Open(FourTuple),
}

impl NamedSubflows {
    /// The connection is to have a subflow from `local`, from its port if it has one, to `remote`. Its first attempt is the
    /// caller's where `is_opening`; otherwise it waits until this host gets the address.
    pub fn add(&mut self, local: Address, remote: SocketAddr, backup: bool, is_opening: bool) {
        let state = if is_opening { State::Opening } else { State::Missing };
        self.named.push(Named { local, remote, backup, state });
    }

    /// The identifiers of local addresses have changed.
    pub fn renumber(&mut self, mut id_of: impl FnMut(IpAddr) -> Option<u8>) {
        for named in &mut self.named {
            named.local.id = id_of(named.local.address).unwrap_or(named.local.id);
        }
    }

    /// Processes an event that happened at `now` and appends the subflows that are to be opened.
    pub fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        if self.named.is_empty() {
            return;
        }
        match *event {
            Event::SubflowEstablished(subflow) => {
                let is_it = |named: &&mut Named| !matches!(named.state, State::Open(_)) && named.may_be(subflow);
                if let Some(named) = self.named.iter_mut().find(is_it) {
                    named.state = State::Open(subflow);
                    self.retries.on_established(named.pair(), now);
                }
            }
            Event::SubflowClosed(subflow) => {
                if let Some(named) = self.of(subflow) {
                    named.state = State::Missing;
                    let pair = named.pair();
                    self.retries.on_failed(pair, false, now);
                }
            }
            // The connection may have no further one, or is about to end.
            Event::NotOpened(subflow) => self.of(subflow).into_iter().for_each(|named| named.state = State::Missing),
            Event::PathRefused(subflow) => {
                self.named.retain(|named| named.pair() != subflow.into());
                self.retries.forget(|pair| pair == subflow.into());
            }
            Event::LocalAddressRemoved(Address { address, .. }) => {
                let lost = self.named.iter_mut().filter(|named| named.local.address == address);
                lost.for_each(|named| named.state = State::Missing);
                self.retries.forget(|pair| pair.local == address);
            }
            Event::LocalAddressAdded(Address { id, address, .. }) => {
                let back = |named: &Named| named.local.address == address && named.state == State::Missing;
                self.named.iter_mut().filter(|named| back(named)).for_each(|named| named.local.id = id);
                self.open_missing(|named| back(named), commands);
            }
            Event::RoutesChanged => self.retries.expedite(|_| true, now),
            _ => {}
        }
        for pair in self.retries.take_due(now) {
            self.open_missing(|named| named.pair() == pair, commands);
        }
    }

    /// When it is to be told [`Event::Woken`]; [`Instant::MAX`] for never.
    pub fn wake_at(&self) -> Instant {
        self.retries.wake_at()
    }

    fn open_missing(&mut self, which: impl Fn(&Named) -> bool, commands: &mut Vec<Command>) {
        for named in self.named.iter_mut().filter(|named| named.state == State::Missing && which(named)) {
            named.state = State::Opening;
            // The identifier of an address that the peer has not announced is in its answer.
            let Named { local, remote, backup, .. } = *named;
            let port = remote.port();
            let remote = Address { id: 0, address: remote.ip(), port: Some(port) };
            commands.push(Command::Open { local, remote, port, backup });
        }
    }

    /// The one that was open as `subflow`, or else one that may have been opened as it.
    fn of(&mut self, subflow: FourTuple) -> Option<&mut Named> {
        let open = self.named.iter().position(|named| named.state == State::Open(subflow));
        let opening = |named: &Named| named.state == State::Opening && named.may_be(subflow);
        let place = open.or_else(|| self.named.iter().position(opening))?;
        self.named.get_mut(place)
    }
}

impl Named {
    fn pair(&self) -> Pair {
        Pair { local: self.local.address, remote: self.remote }
    }

    /// Whether it could be the subflow, whose local port is 0 if it never had one.
    fn may_be(&self, subflow: FourTuple) -> bool {
        let port = subflow.local.port();
        self.pair() == subflow.into() && self.local.port.is_none_or(|named| port == named || port == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PathManager;
    use super::super::test_events::{address, local, lost, tell, tell_after, tuple, up};
    use super::*;

    impl PathManager for NamedSubflows {
        fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
            Self::on_event(self, event, now, commands);
        }
    }

    const AGAIN: [&str; 1] = ["open 10.0.1.1#1 -> 10.9.0.1:80#0"];

    fn one(is_opening: bool) -> NamedSubflows {
        let mut named = NamedSubflows::default();
        named.add(address(1, "10.0.1.1"), ([10, 9, 0, 1], 80).into(), false, is_opening);
        named
    }

    fn closed(local: &str) -> Event {
        Event::SubflowClosed(tuple(local, "10.9.0.1:80"))
    }

    #[test]
    fn a_named_subflow_that_fails_is_opened_again_with_a_delay_that_grows() {
        let mut named = one(true);
        assert_eq!(tell(&mut named, &[up("10.0.1.1:1025", "10.9.0.1:80"), closed("10.0.1.1:1025")]), [""; 0]);
        assert_eq!(tell_after(&mut named, 999, &[Event::Woken]), [""; 0]);
        assert_eq!(tell_after(&mut named, 1000, &[Event::Woken]), AGAIN);
        assert_eq!(tell_after(&mut named, 5000, &[closed("10.0.1.1:0"), Event::Woken]), [""; 0]);
        assert_eq!(tell_after(&mut named, 7000, &[Event::Woken]), AGAIN);
        assert_eq!(tell_after(&mut named, 8000, &[closed("10.0.1.1:1027"), Event::RoutesChanged]), AGAIN);
    }

    #[test]
    fn it_is_opened_when_its_address_is_there_or_returns() {
        let mut named = one(false);
        assert_eq!(tell(&mut named, &[local(1, "10.0.1.1")]), AGAIN);
        let gone = [up("10.0.1.1:1025", "10.9.0.1:80"), lost(1, "10.0.1.1"), closed("10.0.1.1:1025")];
        assert_eq!(tell(&mut named, &gone), [""; 0]);
        assert_eq!(named.wake_at(), Instant::MAX, "there is no address to try it from");
        assert_eq!(tell(&mut named, &[local(2, "10.0.1.1")]), ["open 10.0.1.1#2 -> 10.9.0.1:80#0"]);
    }

    #[test]
    fn subflows_of_the_path_manager_and_those_that_were_refused_are_left_alone() {
        let mut named = one(true);
        tell(&mut named, &[up("10.0.1.1:1025", "10.9.0.1:80"), up("10.0.1.1:1026", "10.9.0.1:80")]);
        assert_eq!(tell(&mut named, &[closed("10.0.1.1:1026")]), [""; 0]);
        assert_eq!(named.wake_at(), Instant::MAX);
        let refused = Event::PathRefused(tuple("10.0.1.1:1025", "10.9.0.1:80"));
        tell(&mut named, &[refused, closed("10.0.1.1:1025")]);
        assert_eq!((named.wake_at(), tell(&mut named, &[local(1, "10.0.1.1")])), (Instant::MAX, vec![]));
    }
}
