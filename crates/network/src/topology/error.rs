//! What can be wrong with a topology.

use std::net::IpAddr;

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
        /// What has the name: host, router or link, or interface (then the name is host.interface).
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
    /// A static route over a link that does not begin at the router.
    #[error("router '{router}' cannot send over link '{link}', which does not begin there")]
    RouteNotFromRouter {
        /// The router.
        router: String,
        /// The link.
        link: String,
    },
    /// Some routers under a controller, and some not.
    #[error("router '{controlled}' is under a controller and router '{free}' is not; it has all of them or none")]
    PartlyControlled {
        /// A router under the controller.
        controlled: String,
        /// One that is not.
        free: String,
    },
    /// An address with a gateway where a router does not go by tables.
    #[error("packets of {address} cannot pass a gateway: router '{router}' does not go by its tables")]
    GatewayWithoutTables {
        /// The address.
        address: IpAddr,
        /// The router.
        router: String,
    },
    /// Static routes that lead in a circle.
    #[error("routes to interface '{interface}' lead in a circle through router '{router}'")]
    RouteLoop {
        /// The destination, as host.interface.
        interface: String,
        /// A router of the circle.
        router: String,
    },
}
