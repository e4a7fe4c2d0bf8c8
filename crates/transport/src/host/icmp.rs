//! ICMP errors about packets of this host (RFC 9293, section 3.9.2.2, MUST-54; RFC 9260, section 10).

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpError;

use super::demux::Protocol;
use super::{EndpointId, Host};
use crate::Endpoint;
use crate::tcp::Ends;

impl Host {
    /// Processes an ICMP error that has arrived. Returns the endpoint whose packet it is about, which is to be drained;
    /// an error about a packet of no endpoint is ignored, and so is one about SCTP in UDP.
    pub fn handle_icmp(&mut self, now: Instant, error: &IcmpError) -> Option<EndpointId> {
        let quoted = &error.quoted;
        let protocol = [Protocol::Tcp, Protocol::Sctp].into_iter().find(|known| *known as u8 == quoted.protocol)?;
        let (local, remote) = quoted.ports()?;
        let ends =
            Ends { local: SocketAddr::new(quoted.source, local), remote: SocketAddr::new(quoted.destination, remote) };
        let (id, subflow) = self.demux.owner(protocol, ends)?;
        if self.endpoint(id).is_over(subflow) {
            return None;
        }
        match &mut self.endpoints[id.0 as usize] {
            Endpoint::Tcp(tcp) => tcp.handle_icmp(error, now),
            Endpoint::Mptcp(mptcp) => mptcp.handle_icmp(subflow, error, now),
            Endpoint::Sctp(sctp) => sctp.on_icmp(error),
            Endpoint::Udp(_) => {}
        }
        self.open_requested(id, now);
        self.update_half_open(id);
        Some(id)
    }
}
