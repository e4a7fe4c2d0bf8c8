//! What subflows carried that have ended.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_transport::{Endpoint, mptcp};

/// What subflows carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarriedBytes {
    /// Payload bytes acknowledged by peers.
    pub acknowledged: u64,
    /// Payload bytes received.
    pub received: u64,
}

/// What subflows carried, by their addresses of this side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried(pub(crate) BTreeMap<IpAddr, CarriedBytes>);

impl Carried {
    /// Adds the subflows of an endpoint that is over.
    pub(crate) fn add(&mut self, endpoint: &Endpoint) {
        self.add_without(endpoint, &[]);
    }

    /// Adds the subflows of an endpoint that have ended; those with the numbers `open` have not.
    pub(crate) fn add_without(&mut self, endpoint: &Endpoint, open: &[usize]) {
        let records = endpoint.as_mptcp().map(mptcp::Connection::subflow_records).unwrap_or_default();
        for record in records.iter().filter(|record| !open.contains(&record.number)) {
            let sum = self.0.entry(record.ends.local.ip()).or_default();
            sum.acknowledged += record.counters.bytes_acknowledged;
            sum.received += record.counters.bytes_received;
        }
    }
}
