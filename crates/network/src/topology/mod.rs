//! Describing a network.

use std::net::IpAddr;

use crate::{HostId, InterfaceId, LinkConfig, LinkId, Network, RouteMetric, RouterId, RouterMode};

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A host's interface.
    Interface(InterfaceId),
    /// A router.
    Router(RouterId),
}

impl From<InterfaceId> for Attachment {
    fn from(id: InterfaceId) -> Self {
        Self::Interface(id)
    }
}
impl From<RouterId> for Attachment {
    fn from(id: RouterId) -> Self {
        Self::Router(id)
    }
}

/// The two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplexLink {
    /// From the first end to the second.
    pub forward: LinkId,
    /// From the second end to the first.
    pub backward: LinkId,
}

/// Describes hosts, routers and links, and makes a [`Network`] of them.
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {}

#[allow(unused_variables)]
impl TopologyBuilder {
    /// An empty network.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a host.
    pub fn host(&mut self, name: &str) -> HostId {
        todo!()
    }
    /// Adds an interface to `host`. Without [`Self::address`] it gets one of its link's 10.a.b.0/24.
    pub fn interface(&mut self, host: HostId, name: &str) -> InterfaceId {
        todo!()
    }
    /// Gives `interface` an address, IPv4 or IPv6; more calls give more addresses.
    pub fn address(&mut self, interface: InterfaceId, address: IpAddr) {
        todo!()
    }
    /// Adds a router.
    pub fn router(&mut self, name: &str, mode: RouterMode) -> RouterId {
        todo!()
    }
    /// Connects `a` and `b`.
    pub fn link(
        &mut self,
        name: &str,
        a: impl Into<Attachment>,
        b: impl Into<Attachment>,
        forward: LinkConfig,
        backward: LinkConfig,
    ) -> DuplexLink {
        todo!()
    }
    /// Sets what makes a path short. Default: few links.
    pub fn metric(&mut self, metric: RouteMetric) {
        todo!()
    }
    /// Says that `a` and `b` exchange packets. Once one pair is named, only named pairs may; without, all may.
    pub fn conversation(&mut self, a: HostId, b: HostId) {
        todo!()
    }
    /// Makes the network. `seed` determines everything random in it.
    pub fn build(self, seed: u64) -> Result<Network, TopologyError> {
        todo!()
    }
}

/// What is wrong with a topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// Two hosts that should talk cannot.
    #[error("no path leads from host '{from}' to host '{to}'")]
    Unreachable {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// An interface without a link.
    #[error("interface '{interface}' of host '{host}' is on no link")]
    Unattached {
        /// The host.
        host: String,
        /// The interface.
        interface: String,
    },
    /// An interface on two links.
    #[error("interface '{interface}' of host '{host}' is on two links, '{first}' and '{second}'")]
    AttachedTwice {
        /// The host.
        host: String,
        /// The interface.
        interface: String,
        /// The link added first.
        first: String,
        /// The link added later.
        second: String,
    },
    /// An address given to two interfaces.
    #[error("address {address} is on two interfaces, '{first}' and '{second}'")]
    DuplicateAddress {
        /// The address.
        address: IpAddr,
        /// One interface.
        first: String,
        /// The other.
        second: String,
    },
    /// A name used twice.
    #[error("there are two {kind}s named '{name}'")]
    DuplicateName {
        /// What has the name: host, interface, router or link.
        kind: &'static str,
        /// The name.
        name: String,
    },
}
