//! What the subflows carried. The kernel reports each TCP socket that ends, with its last counters ([`EndedSockets`]), but
//! not whose subflow it was: that is known from the events of MPTCP before. A connection's first subflow that ends before
//! the program closes the connection is not reported: the kernel clears its counters and keeps the socket (Linux
//! `__mptcp_close_ssk`, `tcp_disconnect`). So the sockets are listed again and again, and what the last list had of such a
//! subflow is what it carried.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use subflow_policy::path_manager::FourTuple;
use subflow_quantity::{Duration, Instant};

use super::local::LocalAddresses;
use crate::WallClock;
use crate::error::Result;
use crate::netlink::{EndedSockets, Received, SocketDiag, TcpSocket};

/// The shortest time between two lists, and the longest. Between, it is a quarter of the age of the newest subflow: of one
/// that ends the last list has four fifths of its life at least, or all but the last half second.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(500);
/// A list takes time for each socket of the machine: this part of all time at most.
const PART_OF_TIME: u64 = 50;
/// A socket that has not been listed for so long is not reported any more.
const REPORTED_WITHIN: Duration = Duration::from_secs(2);

/// Bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    /// Sent and acknowledged.
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// What has ended, and what open subflows have carried so far.
#[derive(Debug)]
pub(super) struct Carried {
    sockets: EndedSockets,
    ledger: Ledger,
    clock: WallClock,
    /// When the newest subflow began to count.
    newest_since: Instant,
    list_at: Instant,
    /// Before that there is no list, whatever happens.
    no_list_before: Instant,
}

#[derive(Debug, Default)]
struct Ledger {
    /// The subflows of our connections whose sockets have not ended.
    expected: BTreeMap<FourTuple, Expected>,
    /// Sockets that have ended, whatever they were.
    ended: Vec<(FourTuple, Bytes)>,
    by_interface: BTreeMap<String, Bytes>,
    /// The interfaces that have addresses, or had them last.
    homes: BTreeMap<IpAddr, String>,
}

/// A subflow whose end was not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Expected {
    /// What it was listed with last.
    bytes: Bytes,
    /// Since when it is not listed.
    missing_since: Option<Instant>,
}

impl Carried {
    /// Counts what ends from now on in the calling thread's network namespace.
    pub(super) fn open(local: &LocalAddresses, clock: WallClock) -> Result<Self> {
        let (sockets, ledger) = (EndedSockets::open()?, Ledger::default());
        let (newest_since, list_at, no_list_before) = (Instant::ZERO, Instant::MAX, Instant::ZERO);
        let mut carried = Self { sockets, ledger, clock, newest_since, list_at, no_list_before };
        carried.follow(local);
        Ok(carried)
    }

    /// These are subflows of our connections.
    pub(super) fn expect(&mut self, subflows: impl IntoIterator<Item = FourTuple>) {
        for subflow in subflows {
            self.ledger.expect(subflow);
            self.newest_since = self.clock.now();
            self.list_at = self.list_at.min(self.newest_since + SHORTEST);
        }
    }

    /// Addresses may have come.
    pub(super) fn follow(&mut self, local: &LocalAddresses) {
        for entry in local.present() {
            if let Some(name) = local.interface_of(entry.address) {
                self.ledger.homes.insert(entry.address, name.to_owned());
            }
        }
    }

    /// Receives the sockets that have ended.
    pub(super) fn receive(&mut self) -> Result<()> {
        loop {
            match self.sockets.receive()? {
                Received::Events(sockets) => self.ledger.ended.extend(sockets.iter().map(carried_by)),
                Received::Nothing => return Ok(()),
                Received::Lost => {
                    log::warn!("the kernel dropped reports of sockets that ended: `subflow status` lacks their bytes");
                }
            }
        }
    }

    /// Counts those that were received. All events before have been processed.
    pub(super) fn count(&mut self) {
        self.ledger.count();
    }

    /// When the open sockets are to be listed again.
    pub(super) fn list_at(&self) -> Instant {
        self.list_at
    }

    /// Lists the open sockets. A subflow that is no more among them, and that `is_open` does not know either, has ended
    /// without a report, if none comes soon.
    pub(super) fn list(&mut self, is_open: impl Fn(FourTuple) -> bool) -> Result<()> {
        if self.ledger.expected.is_empty() {
            self.list_at = Instant::MAX;
            return Ok(());
        }
        let begun = self.clock.now();
        if begun < self.no_list_before {
            self.list_at = self.no_list_before;
            return Ok(());
        }
        let listed = match SocketDiag::open()?.tcp() {
            // A subflow that is missing in such a list has not ended.
            Err(error) if error.is_torn_list() => None,
            listed => Some(listed?),
        };
        let now = self.clock.now();
        if let Some(listed) = listed {
            self.ledger.note(&listed.iter().map(carried_by).collect(), now);
            self.ledger.count_unreported(now, is_open);
        }
        let by_age = (now.since(self.newest_since) / 4).clamp(SHORTEST, LONGEST);
        self.no_list_before = now + now.since(begun) * PART_OF_TIME;
        self.list_at = self.no_list_before.max(now + by_age);
        Ok(())
    }

    /// What an open subflow carried when it was listed last, if it was.
    pub(super) fn of(&self, subflow: FourTuple) -> Option<Bytes> {
        let bytes = self.ledger.expected.get(&subflow).map(|expected| expected.bytes);
        bytes.filter(|bytes| *bytes != Bytes::default())
    }

    /// What subflows carried, by the names of interfaces: those that have ended, and all others but for those `shown`.
    pub(super) fn by_interface(&self, shown: &BTreeSet<FourTuple>) -> BTreeMap<String, Bytes> {
        self.ledger.by_interface(shown)
    }

    /// The interfaces that have addresses, or had them last.
    pub(super) fn homes(&self) -> &BTreeMap<IpAddr, String> {
        &self.ledger.homes
    }
}

fn carried_by(socket: &TcpSocket) -> (FourTuple, Bytes) {
    // The kernel counts the acknowledged SYN and FIN, too.
    let sent = socket.info.bytes_acknowledged.min(socket.payload_sent);
    let received = socket.info.bytes_received;
    (FourTuple { local: socket.info.local, remote: socket.info.remote }, Bytes { sent, received })
}

impl Ledger {
    fn expect(&mut self, subflow: FourTuple) {
        // Another one had the same ends.
        if self.expected.get(&subflow).is_some_and(|before| before.missing_since.is_some()) {
            self.count_as_listed(subflow);
        }
        self.expected.entry(subflow).or_default();
    }

    fn count(&mut self) {
        for (subflow, bytes) in core::mem::take(&mut self.ended) {
            if self.expected.remove(&subflow).is_some() {
                self.add(subflow, bytes);
            }
        }
    }

    fn add(&mut self, subflow: FourTuple, bytes: Bytes) {
        if let Some(home) = self.homes.get(&subflow.local.ip()) {
            self.by_interface.entry(home.clone()).or_default().add(bytes);
        }
    }

    /// A subflow has ended whose socket is not reported.
    fn count_as_listed(&mut self, subflow: FourTuple) {
        if let Some(expected) = self.expected.remove(&subflow) {
            self.add(subflow, expected.bytes);
        }
    }

    /// The sockets that are open now.
    fn note(&mut self, listed: &BTreeMap<FourTuple, Bytes>, now: Instant) {
        for (subflow, expected) in &mut self.expected {
            match listed.get(subflow) {
                Some(&bytes) => *expected = Expected { bytes, missing_since: None },
                None => _ = expected.missing_since.get_or_insert(now),
            }
        }
    }

    /// Counts subflows with what they were listed with last whose ends were not reported.
    fn count_unreported(&mut self, now: Instant, is_open: impl Fn(FourTuple) -> bool) {
        let is_late = |since: Option<Instant>| since.is_some_and(|since| now.since(since) >= REPORTED_WITHIN);
        let late = self.expected.iter().filter(|(_, expected)| is_late(expected.missing_since));
        let over: Vec<FourTuple> = late.map(|(&subflow, _)| subflow).filter(|&subflow| !is_open(subflow)).collect();
        over.into_iter().for_each(|subflow| self.count_as_listed(subflow));
    }

    fn by_interface(&self, shown: &BTreeSet<FourTuple>) -> BTreeMap<String, Bytes> {
        let mut sums = self.by_interface.clone();
        for (subflow, expected) in self.expected.iter().filter(|(subflow, _)| !shown.contains(subflow)) {
            if let Some(home) = self.homes.get(&subflow.local.ip()) {
                sums.entry(home.clone()).or_default().add(expected.bytes);
            }
        }
        sums
    }
}

impl Bytes {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subflow(last: u8, port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, last], port).into(), remote: ([10, 9, 0, 1], 80).into() }
    }

    /// A ledger that expects these.
    fn ledger(subflows: &[FourTuple]) -> Ledger {
        let homes = [(1, "wlan0"), (2, "wwan0"), (3, "wlan0")];
        let homes = homes.map(|(last, name)| ([10, 0, 0, last].into(), name.to_owned())).into();
        let mut ledger = Ledger { homes, ..Ledger::default() };
        subflows.iter().for_each(|&subflow| ledger.expect(subflow));
        ledger
    }

    fn sums<const N: usize>(expected: [(&str, u64); N]) -> BTreeMap<String, Bytes> {
        expected.map(|(name, sent)| (name.to_owned(), Bytes { sent, received: 0 })).into()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_bytes_of_our_subflows_are_added_up_by_interface_and_those_of_others_left_out() {
        let mut ledger = ledger(&[subflow(1, 1), subflow(1, 2), subflow(2, 1), subflow(3, 1)]);
        let ended = [(subflow(1, 1), 5), (subflow(3, 1), 7), (subflow(1, 9), 100), (subflow(1, 1), 1000)];
        ledger.ended = ended.map(|(ends, sent)| (ends, Bytes { sent, received: 0 })).to_vec();
        ledger.count();
        assert_eq!(ledger.by_interface, sums([("wlan0", 12)]));
        assert!(ledger.expected.keys().eq(&[subflow(1, 2), subflow(2, 1)]), "they are still open");
    }

    #[test]
    fn a_subflow_whose_end_is_not_reported_has_carried_what_it_was_listed_with_last() {
        let (first, second) = (subflow(1, 1), subflow(2, 1));
        let mut ledger = ledger(&[first, second]);
        let list =
            |all: &[(FourTuple, u64)]| all.iter().map(|&(ends, sent)| (ends, Bytes { sent, received: 0 })).collect();
        ledger.note(&list(&[(first, 500), (second, 70)]), at(0));
        ledger.note(&list(&[(second, 90)]), at(500));
        assert_eq!(ledger.by_interface(&[second].into()), sums([("wlan0", 500)]), "the second one is shown itself");
        // Its connection is open, or the report may still come.
        ledger.count_unreported(at(5000), |_| true);
        ledger.count_unreported(at(2000), |_| false);
        assert_eq!((ledger.expected.len(), ledger.by_interface.len()), (2, 0));
        ledger.count_unreported(at(2500), |_| false);
        assert_eq!(ledger.by_interface(&[].into()), sums([("wlan0", 500), ("wwan0", 90)]));
        // A report that comes after all counts no more.
        ledger.ended.push((first, Bytes { sent: 501, received: 0 }));
        ledger.count();
        assert_eq!(ledger.by_interface, sums([("wlan0", 500)]));
    }

    #[test]
    fn a_subflow_between_the_ends_of_one_that_is_not_listed_any_more_is_another_one() {
        let mut ledger = ledger(&[subflow(1, 1)]);
        let list = |sent| BTreeMap::from([(subflow(1, 1), Bytes { sent, received: 0 })]);
        ledger.note(&list(500), at(0));
        ledger.expect(subflow(1, 1));
        ledger.note(&list(600), at(10));
        assert_eq!(ledger.by_interface(&[].into()), sums([("wlan0", 600)]), "it was only announced again");
        ledger.note(&BTreeMap::new(), at(20));
        ledger.expect(subflow(1, 1));
        ledger.note(&list(30), at(30));
        assert_eq!(ledger.by_interface(&[].into()), sums([("wlan0", 630)]));
    }
}
