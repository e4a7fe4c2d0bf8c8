//! What the subflows carried that have ended. The kernel reports each TCP socket that ends, with its last counters
//! ([`EndedSockets`]), but not whose subflow it was: that is known from the events of MPTCP before.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use subflow_policy::path_manager::FourTuple;

use super::local::LocalAddresses;
use crate::error::Result;
use crate::netlink::{EndedSockets, Received};

/// Bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    /// Sent and acknowledged.
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// What has ended.
#[derive(Debug)]
pub(super) struct Carried {
    sockets: EndedSockets,
    ledger: Ledger,
}

#[derive(Debug, Default)]
struct Ledger {
    /// The subflows of our connections whose sockets have not ended.
    expected: BTreeSet<FourTuple>,
    /// Sockets that have ended, whatever they were.
    ended: Vec<(FourTuple, Bytes)>,
    by_interface: BTreeMap<String, Bytes>,
    /// The interfaces that have addresses, or had them last.
    homes: BTreeMap<IpAddr, String>,
}

impl Carried {
    /// Counts what ends from now on in the calling thread's network namespace.
    pub(super) fn open(local: &LocalAddresses) -> Result<Self> {
        let mut carried = Self { sockets: EndedSockets::open()?, ledger: Ledger::default() };
        carried.follow(local);
        Ok(carried)
    }

    /// These are subflows of our connections.
    pub(super) fn expect(&mut self, subflows: impl IntoIterator<Item = FourTuple>) {
        self.ledger.expected.extend(subflows);
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
                Received::Events(sockets) => {
                    let ended = sockets.into_iter().map(|socket| {
                        // The kernel counts the acknowledged SYN and FIN, too.
                        let sent = socket.info.bytes_acknowledged.min(socket.payload_sent);
                        let received = socket.info.bytes_received;
                        (FourTuple { local: socket.info.local, remote: socket.info.remote }, Bytes { sent, received })
                    });
                    self.ledger.ended.extend(ended);
                }
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

    /// What ended subflows carried, by the names of interfaces.
    pub(super) fn by_interface(&self) -> &BTreeMap<String, Bytes> {
        &self.ledger.by_interface
    }

    /// The interfaces that have addresses, or had them last.
    pub(super) fn homes(&self) -> &BTreeMap<IpAddr, String> {
        &self.ledger.homes
    }
}

impl Ledger {
    fn count(&mut self) {
        for (subflow, bytes) in core::mem::take(&mut self.ended) {
            if self.expected.remove(&subflow)
                && let Some(home) = self.homes.get(&subflow.local.ip())
            {
                let sum = self.by_interface.entry(home.clone()).or_default();
                sum.sent += bytes.sent;
                sum.received += bytes.received;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_our_subflows_are_added_up_by_interface_and_those_of_others_left_out() {
        let subflow = |last: u8, port: u16| FourTuple {
            local: ([10, 0, 0, last], port).into(),
            remote: ([10, 9, 0, 1], 80).into(),
        };
        let homes = [(1, "wlan0"), (2, "wwan0"), (3, "wlan0")];
        let mut ledger = Ledger {
            homes: homes.map(|(last, name)| ([10, 0, 0, last].into(), name.to_owned())).into(),
            expected: [subflow(1, 1), subflow(1, 2), subflow(2, 1), subflow(3, 1)].into(),
            ..Ledger::default()
        };
        let ended = [(subflow(1, 1), 5), (subflow(3, 1), 7), (subflow(1, 9), 100), (subflow(1, 1), 1000)];
        ledger.ended = ended.map(|(ends, sent)| (ends, Bytes { sent, received: 1 })).to_vec();
        ledger.count();
        assert_eq!(ledger.by_interface, [("wlan0".to_owned(), Bytes { sent: 12, received: 2 })].into());
        assert_eq!(ledger.expected, [subflow(1, 2), subflow(2, 1)].into(), "they are still open");
    }
}
