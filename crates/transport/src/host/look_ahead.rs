//! Fetching from memory what the next packets need, before they arrive.
//!
//! The state of thousands of connections is not in the caches, and a packet reads some forty lines of it. Each step
//! fetches what the one before has shown the place of. The steps change nothing and wait for nothing.

use subflow_wire::Packet;

use super::{EndpointId, Host};
use crate::prefetch::prefetch;

impl Host {
    /// Fetches the host's tables: a packet will come soon.
    #[inline]
    pub fn fetch_tables(&self) {
        self.demux.fetch();
        prefetch(&self.endpoints);
        prefetch(&self.accepted);
        prefetch(&self.replies);
        prefetch(&self.half_open);
    }

    /// Fetches where the host finds for which endpoint `packet` will come, with IPv4.
    #[inline]
    pub fn fetch_owner(&self, packet: &Packet) {
        self.demux.fetch_owner(packet);
    }

    /// Fetches the endpoint for which `packet` will come, and returns it and the index of its subflow.
    #[inline]
    pub fn fetch_endpoint(&self, packet: &Packet) -> Option<(EndpointId, usize)> {
        let (id, subflow) = self.demux.peek(packet)?;
        self.endpoints.get(id.0 as usize)?.fetch();
        Some((id, subflow))
    }

    /// Fetches the subflow for which a packet will come.
    #[inline]
    pub fn fetch_subflow(&self, id: EndpointId, subflow: usize) {
        if let Some(endpoint) = self.endpoints.get(id.0 as usize) {
            endpoint.fetch_subflow(subflow);
        }
    }

    /// Fetches the ends of the queues of the subflow for which a packet will come.
    #[inline]
    pub fn fetch_queues(&self, id: EndpointId, subflow: usize) {
        if let Some(endpoint) = self.endpoints.get(id.0 as usize) {
            endpoint.fetch_queues(subflow);
        }
    }
}
