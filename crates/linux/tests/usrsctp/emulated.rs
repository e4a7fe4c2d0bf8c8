//! usrsctp in a namespace behind devices, two emulated paths, and our SCTP at their other end.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::Arc;

use subflow_linux::{
    DeviceKind, Emulator, Interrupt, KernelHost, KernelInterface, KernelSettings, Needs, StackHost, Wake, WallClock,
};
use subflow_network::{LinkConfig, Network, RouterMode, TopologyBuilder};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_transport::sctp::Config;
use subflow_transport::{Endpoint, EndpointId, Event, Listener};

use crate::driver::Addressing;

const LIMIT: Duration = Duration::from_secs(20);
const OURS: u8 = 1;
const PEER: u8 = 2;

fn addresses(host: u8) -> Vec<IpAddr> {
    [1, 2].map(|path| IpAddr::from([10, path, 0, host])).to_vec()
}

/// Our host, and the peer's namespace.
pub(crate) struct Emulated {
    emulator: Emulator<StackHost>,
    peer: KernelHost,
    place: Addressing,
}

impl Emulated {
    /// Two paths of 20 Mbit/s with 5 ms in each direction. `Err` contains the
    /// reason if that is not possible on this machine.
    pub(crate) fn make(name: &str, device: DeviceKind, place: Addressing) -> Result<Self, String> {
        let needs = Needs { device: Some(device), ..Needs::default() };
        subflow_linux::require(&needs).map_err(|error| error.to_string())?;
        let mut topology = TopologyBuilder::new();
        let hosts = [topology.host("ours"), topology.host("peer")];
        let mut interfaces = [Vec::new(), Vec::new()];
        // usrsctp chooses its source addresses without regard to the route, so that answers go from either to either.
        let router = topology.router("middle", RouterMode::ShortestPath);
        for path in 0..2 {
            for (side, host) in [OURS, PEER].into_iter().enumerate() {
                let interface = topology.interface(hosts[side], &format!("path{path}"));
                topology.address(interface, addresses(host)[path]);
                interfaces[side].push(interface);
            }
            let link = LinkConfig::new(Rate::from_mbit(20), Duration::from_millis(5));
            topology.link(&format!("path{path}"), interfaces[0][path], router, link.clone(), link);
            let wide = LinkConfig::instant(Duration::ZERO);
            topology.link(&format!("path{path}-peer"), interfaces[1][path], router, wide.clone(), wide);
        }
        let network = topology.build(1).map_err(|error| error.to_string())?;
        let own = |path: usize| KernelInterface { name: format!("path{path}"), addresses: vec![addresses(PEER)[path]] };
        let settings = KernelSettings { device, ..KernelSettings::default() };
        let created = KernelHost::create(name, &[own(0), own(1)], &settings).map_err(|error| error.to_string())?;
        let (peer, devices) = created;
        route_to_ours(&peer)?;
        let ports = interfaces[1].iter().zip(devices).map(|(&id, device)| (hosts[1], id, device)).collect();
        let host = StackHost::new(&network, hosts[0], &interfaces[0]).map_err(|error| error.to_string())?;
        let emulator = Emulator::new(network, host, ports, WallClock::start(), Interrupt::default());
        Ok(Self { emulator, peer, place })
    }

    /// The peer's namespace, for `ip netns exec`.
    pub(crate) fn namespace(&self) -> &str {
        self.peer.namespace().name()
    }

    /// Opens the association and sends `bytes`.
    pub(crate) fn connect(&mut self, config: Config, bytes: u64) -> EndpointId {
        let local = SocketAddr::new(self.place.locals[0], self.place.local_port);
        let remote = SocketAddr::new(self.place.remotes[0], self.place.remote_port);
        let (network, host) = self.emulator.parts();
        let opened = host.transport().connect_sctp(Arc::new(config), local, remote, network.now());
        let id = opened.expect("a free port");
        write(host, id, bytes);
        host.drain(network, id);
        id
    }

    /// Waits for the peer to open the association, then sends `bytes`.
    pub(crate) fn listen(&mut self, config: Config, bytes: u64) -> EndpointId {
        self.emulator.parts().1.transport().listen(self.place.local_port, Listener::Sctp(Arc::new(config)));
        self.run_until("the peer opens an association", |_, host| !host.accepted().is_empty());
        let (network, host) = self.emulator.parts();
        let id = host.accepted()[0];
        write(host, id, bytes);
        host.drain(network, id);
        id
    }

    /// Sends and receives `bytes` in each direction.
    pub(crate) fn exchange(&mut self, id: EndpointId, bytes: u64) {
        self.run_until("everything was transferred in both directions", |network, host| {
            let writable = host.take_events().iter().any(|(_, event)| *event == Event::Writable);
            if writable {
                write(host, id, bytes);
                host.drain(network, id);
            }
            let endpoint = host.endpoint(id);
            endpoint.bytes_acknowledged() == bytes && endpoint.bytes_received() == bytes
        });
        assert_eq!(self.emulator.userspace().wrong_byte(), None);
    }

    /// Shuts the association down, and waits for its end.
    pub(crate) fn finish(&mut self, id: EndpointId) {
        let (network, host) = self.emulator.parts();
        host.transport().endpoint_mut(id).finish();
        host.drain(network, id);
        self.run_until("the association is closed", |_, host| host.endpoint(id).is_closed());
        // Our last packet is still on its way.
        let arrived = self.emulator.network().now() + Duration::from_millis(100);
        self.emulator.run_until(arrived).expect("the devices can be read");
    }

    /// The user data that the peer has acknowledged, by path.
    pub(crate) fn acknowledged_by_path(&self, id: EndpointId) -> Vec<u64> {
        let Endpoint::Sctp(association) = self.emulator.userspace().endpoint(id) else { panic!("not SCTP") };
        association.destinations().iter().map(|path| path.counters().bytes_acknowledged).collect()
    }

    fn run_until(&mut self, what: &str, mut done: impl FnMut(&mut Network, &mut StackHost) -> bool) {
        let deadline = self.emulator.network().now() + LIMIT;
        let woken = self.emulator.run_while(deadline, |network, host| !done(network, host));
        let wake = woken.expect("the devices can be read");
        let events = self.emulator.parts().1.take_events();
        assert_eq!(wake, Wake::Done, "still waiting: {what}; {events:?} at {:?}", deadline.since(Instant::ZERO));
    }
}

/// usrsctp writes IP headers itself, so that the kernel finds routes by the destination alone.
fn route_to_ours(peer: &KernelHost) -> Result<(), String> {
    for (device, address) in peer.devices().iter().zip(addresses(OURS)) {
        let route =
            ["-n", peer.namespace().name(), "route", "add", &address.to_string(), "dev", device].map(String::from);
        let output = Command::new("ip").args(&route).output().map_err(|error| format!("ip: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    Ok(())
}

fn write(host: &mut StackHost, id: EndpointId, total: u64) {
    let endpoint = host.transport().endpoint_mut(id);
    let left = total - endpoint.bytes_written();
    if left > 0 {
        endpoint.write(left);
    }
}
