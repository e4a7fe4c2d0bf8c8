//! ICMP errors about packets of this host (RFC 9293, section 3.9.2.2, MUST-54; RFC 9260, section 10).

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpError;

use super::{EndpointId, Host};
use crate::tcp::Ends;

impl Host {
    /// Processes an ICMP error that has arrived. Returns the endpoint whose packet it is about, which is to be drained;
    /// an error about a packet of no endpoint is ignored, and so is one about SCTP in UDP.
    pub fn handle_icmp(&mut self, now: Instant, error: &IcmpError) -> Option<EndpointId> {
        let quoted = &error.quoted;
        let (local, remote) = quoted.ports()?;
        let ends =
            Ends { local: SocketAddr::new(quoted.source, local), remote: SocketAddr::new(quoted.destination, remote) };
        let (id, subflow) = self.demux.owner(quoted.protocol, ends)?;
        if self.endpoint(id).is_over(subflow) {
            return None;
        }
        self.endpoint_mut(id).handle_icmp(subflow, error, now);
        self.open_requested(id, now);
        self.update_half_open(id);
        Some(id)
    }
}
