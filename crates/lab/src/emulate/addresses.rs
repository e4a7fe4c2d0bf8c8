//! The addresses of a scenario's interfaces, and those that become MPTCP endpoints of the kernel.

use std::net::{IpAddr, SocketAddr};

use subflow_linux::netlink::{Endpoint, EndpointFlags};
use subflow_scenario::{Flow, InterfaceIndex, Protocol, Scenario};

/// The largest number of endpoints that the in-kernel path manager takes (Linux `MPTCP_PM_ADDR_MAX`).
pub(super) const MOST_ENDPOINTS: usize = 8;

/// The address that connections use on an interface: its first.
pub(super) fn address(scenario: &Scenario, end: InterfaceIndex) -> IpAddr {
    scenario.hosts[end.host].interfaces[end.interface].addresses[0]
}

/// A socket address on an interface.
pub(super) fn socket_address(scenario: &Scenario, end: InterfaceIndex, port: u16) -> SocketAddr {
    SocketAddr::new(address(scenario, end), port)
}

/// The endpoints of `host` for a full mesh: a connecting host opens subflows from all its addresses to all addresses
/// that the peer announces; a listening host announces all addresses except the one it was connected to.
pub(super) fn endpoints(scenario: &Scenario, host: usize) -> Vec<Endpoint> {
    let flows = || scenario.flows.iter().filter(|flow| matches!(flow.protocol, Protocol::Mptcp(_)));
    let connects = flows().any(|flow: &Flow| flow.from.host == host);
    let connected: Vec<IpAddr> =
        flows().filter(|flow| flow.to.host == host).map(|flow| address(scenario, flow.to)).collect();
    let mut endpoints = Vec::new();
    for interface in &scenario.hosts[host].interfaces {
        for &address in &interface.addresses {
            let signal = !connected.is_empty() && !connected.contains(&address);
            if !connects && !signal {
                continue;
            }
            // In the kernel one endpoint cannot both announce its address and open a full mesh from it.
            let flags = EndpointFlags {
                signal: signal && !connects,
                subflow: connects,
                fullmesh: connects,
                backup: interface.backup,
            };
            endpoints.push(Endpoint { id: None, address, port: None, flags });
        }
    }
    endpoints
}
