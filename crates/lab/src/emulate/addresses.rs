//! The addresses of a scenario's interfaces.

use std::net::{IpAddr, SocketAddr};

use subflow_scenario::{InterfaceIndex, Scenario};

/// The address that connections use on an interface: its first.
pub(super) fn address(scenario: &Scenario, end: InterfaceIndex) -> IpAddr {
    scenario.hosts[end.host].interfaces[end.interface].addresses[0]
}

/// A socket address on an interface.
pub(super) fn socket_address(scenario: &Scenario, end: InterfaceIndex, port: u16) -> SocketAddr {
    SocketAddr::new(address(scenario, end), port)
}
