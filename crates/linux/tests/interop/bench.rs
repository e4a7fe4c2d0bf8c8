//! The test setup: two hosts, paths between them, a run in the background.

use std::net::{IpAddr, SocketAddr};

use subflow_linux::{
    Device, DeviceKind, Interrupt, KernelHost, KernelInterface, KernelSettings, Needs, StreamOptions, Transport,
};
use subflow_network::{HostId, InterfaceId, LinkConfig, Network, TopologyBuilder};
use subflow_prerequisite::Prerequisite;
use subflow_wire::Dscp;

/// The kind of devices for the tests on this machine; `None`, with the reason printed, if it cannot run them.
pub(crate) fn machine_serves() -> Option<DeviceKind> {
    let needs = Needs { mptcp: true, congestion: vec!["reno".into(), "cubic".into()], device: None };
    match subflow_linux::require(&needs) {
        Ok(provided) => Some(provided.device),
        Err(error) => {
            Prerequisite::Kernel.missing(error);
            None
        }
    }
}

/// The two hosts.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;
pub(crate) const PORT: u16 = 5001;

/// Two hosts with one interface per path; path `p` connects their interfaces `p`.
pub(crate) struct Paths {
    pub(crate) network: Network,
    pub(crate) hosts: [HostId; 2],
    /// Interfaces by host and path.
    pub(crate) interfaces: [Vec<InterfaceId>; 2],
}

/// The address of a host on a path.
pub(crate) fn address(host: usize, path: usize) -> IpAddr {
    IpAddr::from([10, path as u8 + 1, 0, host as u8 + 1])
}

pub(crate) fn end(host: usize, path: usize, port: u16) -> SocketAddr {
    SocketAddr::new(address(host, path), port)
}

impl Paths {
    /// Paths with the same configuration in both directions.
    pub(crate) fn new(paths: &[LinkConfig]) -> Self {
        let mut topology = TopologyBuilder::new();
        let hosts = [topology.host("client"), topology.host("server")];
        let mut interfaces = [Vec::new(), Vec::new()];
        // Every address of one host can be reached from every interface of the other, through a router.
        let router = topology.router("middle", subflow_network::RouterMode::ShortestPath);
        for (path, config) in paths.iter().enumerate() {
            for host in [CLIENT, SERVER] {
                let interface = topology.interface(hosts[host], &format!("path{path}"));
                topology.address(interface, address(host, path));
                interfaces[host].push(interface);
            }
            let name = format!("path{path}");
            topology.link(&name, interfaces[CLIENT][path], router, config.clone(), config.clone());
            let wide = LinkConfig::instant(subflow_quantity::Duration::ZERO);
            topology.link(&format!("{name}-server"), interfaces[SERVER][path], router, wide.clone(), wide);
        }
        let network = topology.build(1).expect("a valid topology");
        Self { network, hosts, interfaces }
    }

    /// Creates a kernel namespace for `host`.
    pub(crate) fn kernel(
        &self,
        host: usize,
        name: &str,
        sysctls: &[(&str, &str)],
        device: DeviceKind,
    ) -> (KernelHost, Vec<(HostId, InterfaceId, Device)>) {
        let interfaces: Vec<KernelInterface> = (0..self.interfaces[host].len())
            .map(|path| KernelInterface { name: format!("path{path}"), addresses: vec![address(host, path)] })
            .collect();
        let settings = KernelSettings {
            device,
            sysctls: sysctls.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..KernelSettings::default()
        };
        let (kernel, devices) = KernelHost::create(name, &interfaces, &settings).expect("a namespace");
        let ports =
            self.interfaces[host].iter().zip(devices).map(|(&id, device)| (self.hosts[host], id, device)).collect();
        (kernel, ports)
    }
}

pub(crate) fn options(transport: Transport) -> StreamOptions {
    StreamOptions {
        transport,
        both_families: false,
        congestion: Some("cubic".into()),
        nagle: true,
        dscp: Dscp::DEFAULT,
        receive_buffer: None,
        send_buffer: None,
    }
}

/// Raises the interrupt when dropped, so that a failing test does not leave threads waiting for the run.
pub(crate) struct InterruptOnDrop<'a>(pub(crate) &'a Interrupt);

impl Drop for InterruptOnDrop<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}
