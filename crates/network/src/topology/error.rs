//! Errors of a topology.

use std::net::IpAddr;

/// An error in a topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// It was asked to [stop](crate::TopologyBuilder::stop_on).
    #[error("stopped on request")]
    Stopped,
    /// Two hosts that should exchange packets have no path.
    #[error("no path leads from host '{from}' to host '{to}'")]
    Unreachable {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// An interface without a link.
    #[error("interface '{interface}' of host '{host}' is not connected to a link")]
    Unattached {
        /// The host.
        host: String,
        /// The interface.
        interface: String,
    },
    /// An interface on two links, or on both ends of one.
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
    /// An address given twice.
    #[error("address {address} is on two interfaces, '{first}' and '{second}'")]
    DuplicateAddress {
        /// The address.
        address: IpAddr,
        /// One interface, as host.interface.
        first: String,
        /// The other.
        second: String,
    },
    /// A name used twice.
    #[error("there are two {kind}s named '{name}'")]
    DuplicateName {
        /// The kind of the named item: host, router, link, or interface (then the name is host.interface).
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A rate of zero.
    #[error("link '{link}' has a rate of zero")]
    ZeroRate {
        /// The link.
        link: String,
    },
    /// A static route over a link that does not start at the router.
    #[error("router '{router}' cannot send over link '{link}', which does not start there")]
    RouteNotFromRouter {
        /// The router.
        router: String,
        /// The link.
        link: String,
    },
    /// Some routers have the controller and some do not.
    #[error("router '{controlled}' has a controller and router '{free}' does not; all routers must have it, or none")]
    PartlyControlled {
        /// A router with the controller.
        controlled: String,
        /// One without it.
        free: String,
    },
    /// An address has a gateway, but a router does not follow tables.
    #[error("packets of {address} cannot pass a gateway: router '{router}' does not follow its tables")]
    GatewayWithoutTables {
        /// The address.
        address: IpAddr,
        /// The router.
        router: String,
    },
    /// Static routes form a loop.
    #[error("routes to interface '{interface}' form a loop through router '{router}'")]
    RouteLoop {
        /// The destination, as host.interface.
        interface: String,
        /// A router in the loop.
        router: String,
    },
}
