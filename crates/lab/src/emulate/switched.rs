//! Switches in place of the scenario's routers: Open vSwitch and the OpenFlow controller (`subflow.openflow`).
//!
//! Every link of the scenario becomes a network of its own, between hosts and ports of switches. What comes to a port
//! goes to its switch, which sends it to another port, and so on. The links are the simulator's, as without switches.

use std::ffi::OsString;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::thread;

use serde_json::Value;
use subflow_linux::{
    Cable, Device, DeviceKind, Emulator, Interrupt, Neighbour, SwitchPort, Switches, Tap, Wake, WallClock,
};
use subflow_network::{HostId, InterfaceId, LinkChange, RouterMode, RoutingConfig};
use subflow_policy::routing::{InitialSubflow, ReturnPath, Ties};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Attachment, Host, HostStack, Interface, InterfaceIndex, Scenario};
use subflow_transport::RandomSource;

use super::sctp::KernelSctp;
use super::userspace::RealWorld;
use crate::RunError;
use crate::results::{SwitchPortBytes, SwitchReport};
use crate::simulate::build::{Run, Setup, Wires, build_for};

/// How switches are run.
#[derive(Clone, Debug)]
pub struct SwitchOptions {
    /// The command of the controller.
    pub controller: OsString,
}

/// A device with its interface in the network.
type Port = (HostId, InterfaceId, Device);

/// The switches of a run.
pub(super) struct Switched {
    pub(super) switches: Switches,
    /// The scenario with ports, which are hosts with one interface, in place of its routers.
    pub(super) scenario: Scenario,
    /// Per port, the link that it is on, and the cable.
    ports: Vec<(usize, Cable)>,
    /// The number of hosts of the scenario.
    hosts: usize,
    taps: Vec<Tap>,
}

/// The longest time that switches and controller may take until all links and hosts are found.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between questions for the controller's status.
const STATUS_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

/// Checks that `scenario` can run with switches here.
pub(super) fn check(scenario: &Scenario, device: Option<DeviceKind>, options: &SwitchOptions) -> Result<(), RunError> {
    let refused = |why: String| Err(RunError::Scenario(format!("--switches ovs: {why}")));
    if device == Some(DeviceKind::Veth) {
        return refused("found --device veth, expected TUN and TAP devices, which ports of switches are".into());
    }
    let Some(first) = scenario.routers.first() else {
        return refused("found a scenario without routers, expected some, which become switches".into());
    };
    if let Some(other) = scenario.routers.iter().find(|router| router.mode != first.mode) {
        return refused(format!("{} and {} route in different modes, expected one for all", first.name, other.name));
    }
    if first.mode == RouterMode::EcmpPacket {
        return refused("found ecmp-packet, expected another mode: Open vSwitch chooses from a group by flow".into());
    }
    if let Some(link) = scenario.links.iter().find(|link| !link.middleboxes.is_empty()) {
        return refused(format!("links.{} has middleboxes, which need the simulator's routers", link.name));
    }
    for interface in scenario.hosts.iter().flat_map(|host| &host.interfaces) {
        if let Some(address) = interface.addresses.iter().find(|address| address.is_ipv6()) {
            return refused(format!("found the address {address}, expected IPv4, which the controller knows"));
        }
        if !interface.gateways.is_empty() {
            return refused(format!("{} has gateways, which switches do not have", interface.name));
        }
    }
    Ok(subflow_linux::require_switches(&options.controller)?)
}

impl Switched {
    /// Starts the switches of `scenario` with their controller.
    pub(super) fn start(scenario: &Scenario, seed: u64, options: &SwitchOptions) -> Result<Self, RunError> {
        let (with_ports, ports) = with_ports(scenario);
        let settings = controller_settings(scenario, seed);
        let wanted: Vec<SwitchPort> = ports.iter().map(|(_, port)| port.clone()).collect();
        let (switches, taps) = Switches::start(scenario.routers.len(), &wanted, &options.controller, &settings)?;
        let cables = taps.iter().map(Tap::cable).collect::<Result<Vec<_>, _>>()?;
        let ports = ports.into_iter().map(|(link, _)| link).zip(cables).collect();
        Ok(Self { switches, scenario: with_ports, ports, hosts: scenario.hosts.len(), taps })
    }

    /// Runs the links without traffic until the controller has found all links and hosts, and is ready for flows. Returns
    /// the ports' devices.
    pub(super) fn discover(
        &mut self,
        seed: u64,
        random: &RandomSource,
        interrupt: &Interrupt,
    ) -> Result<Vec<Port>, RunError> {
        let quiet =
            Scenario { flows: Vec::new(), timeline: Vec::new(), host_timeline: Vec::new(), ..self.scenario.clone() };
        let run = build_for(&quiet, Setup::of_seed(seed), |_| random.clone(), |_, _| true, Wires::PointToPoint)?;
        let taps = std::mem::take(&mut self.taps).into_iter().enumerate();
        let devices = taps.map(|(port, tap)| {
            let host = self.hosts + port;
            (HostId::from_index(host), run.interfaces[host][0], Device::Tap(tap))
        });
        let Run { network, world, .. } = run;
        let found = Interrupt::default();
        let world = RealWorld::new(world, &quiet, |_| false, KernelSctp::default());
        let mut emulator = Emulator::new(network, world, devices.collect(), WallClock::start(), found.clone());
        let devices = thread::scope(|scope| {
            let engine = scope.spawn(move || -> subflow_linux::Result<_> {
                let wake = emulator.run_until(Instant::ZERO + PATIENCE)?;
                Ok((wake, emulator.into_devices()))
            });
            let outcome = loop {
                thread::sleep(STATUS_INTERVAL);
                match self.is_found(interrupt) {
                    Ok(false) if !engine.is_finished() => {}
                    Ok(_) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            found.raise();
            let driven = engine.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            outcome.map(|()| driven)
        })?;
        match devices {
            (Wake::Interrupted, devices) => Ok(devices),
            _ => Err(RunError::System(format!(
                "the controller was not ready within {} s; {}",
                PATIENCE.as_secs_f64(),
                self.found().map_or_else(|| "it serves no status".to_owned(), |found| format!("it has found {found}"))
            ))),
        }
    }

    /// Whether the controller has found all links and hosts, and is ready for flows.
    fn is_found(&mut self, interrupt: &Interrupt) -> Result<bool, RunError> {
        if interrupt.is_raised() {
            return Err(RunError::Stopped("interrupted; everything that the run had created is removed"));
        }
        self.switches.check()?;
        let Some(status) = self.status() else { return Ok(false) };
        let [links, hosts] = self.expected();
        Ok(status["ready"] == true && found_in(&status) == [links, hosts])
    }

    /// What the controller has found, for people.
    fn found(&self) -> Option<String> {
        let [links, hosts] = found_in(&self.status()?);
        let [all_links, all_hosts] = self.expected();
        Some(format!("{links} of {all_links} links, {hosts} of {all_hosts} hosts"))
    }

    /// The numbers of links between switches and of addresses of hosts.
    fn expected(&self) -> [usize; 2] {
        let is_port = |end: &Attachment| matches!(end, Attachment::Interface(index) if index.host >= self.hosts);
        let between = self.scenario.links.iter().filter(|link| link.ends.iter().all(is_port));
        let interfaces = self.scenario.hosts[..self.hosts].iter().flat_map(|host| &host.interfaces);
        [between.count(), interfaces.map(|interface| interface.addresses.len()).sum()]
    }

    /// The status of the controller.
    pub(super) fn status(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.switches.status().ok()??).ok()
    }

    /// Per interface, whether a device is at the other end of its link. `is_kernel` states it for hosts.
    pub(super) fn far_devices(&self, interfaces: &[Vec<InterfaceId>], is_kernel: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut far = vec![false; interfaces.iter().map(Vec::len).sum()];
        let is_device = |host: usize| host >= self.hosts || is_kernel(host);
        for link in &self.scenario.links {
            if let [Attachment::Interface(a), Attachment::Interface(b)] = link.ends {
                for (here, there) in [(a, b), (b, a)] {
                    far[interfaces[here.host][here.interface].index()] = is_device(there.host);
                }
            }
        }
        far
    }

    /// Per port, the link that it is on.
    pub(super) fn links(&self) -> impl Iterator<Item = usize> {
        self.ports.iter().map(|(link, _)| *link)
    }

    /// Pulls and plugs the cables of links that fail and recover, at their times, until the run ends.
    pub(super) fn follow_timeline(&self, scenario: &Scenario, clock: WallClock, stop: &Interrupt) {
        const PIECE: Duration = Duration::from_millis(20);
        for event in &scenario.timeline {
            let state = event.up.iter().chain(&event.down).rev().find_map(|change| match change {
                LinkChange::Down => Some(false),
                LinkChange::Up => Some(true),
                _ => None,
            });
            let Some(plugged) = state else { continue };
            if !clock.sleep_until(Instant::ZERO + event.at, PIECE, || !stop.is_raised()) {
                return;
            }
            for (_, cable) in self.ports.iter().filter(|(link, _)| *link == event.link) {
                // Without it, the controller notices the failure by the absence of LLDP frames.
                let _ = cable.plug(plugged);
            }
        }
    }
}

/// The numbers of links that work and of hosts in a status; with a switch that serves nobody, none.
fn found_in(status: &serde_json::Value) -> [usize; 2] {
    let list = |name: &str| status[name].as_array().map_or(&[][..], Vec::as_slice);
    [list("links").iter().filter(|link| link["up"] == true).count(), list("hosts").len()]
}

/// The scenario with a host in place of each end of a link at a router. Returns also the ports with their links.
fn with_ports(scenario: &Scenario) -> (Scenario, Vec<(usize, SwitchPort)>) {
    let mut changed = Scenario {
        routers: Vec::new(),
        routing: RoutingConfig::default(),
        single_ways: Vec::new(),
        ..scenario.clone()
    };
    let mut ports = Vec::new();
    for (number, link) in scenario.links.iter().enumerate() {
        for (end, &attachment) in link.ends.iter().enumerate() {
            let Attachment::Router(switch) = attachment else { continue };
            let neighbour = match link.ends[1 - end] {
                Attachment::Interface(index) => Neighbour::Host(addresses_v4(scenario, index)),
                Attachment::Router(_) => Neighbour::Port([reserved(number, end), reserved(number, 1 - end)]),
            };
            let index = InterfaceIndex { host: changed.hosts.len(), interface: 0 };
            changed.hosts.push(port_host(&format!("{}@{number}.{end}", scenario.routers[switch].name), number, end));
            changed.links[number].ends[end] = Attachment::Interface(index);
            ports.push((number, SwitchPort { switch, neighbour }));
        }
    }
    (changed, ports)
}

fn addresses_v4(scenario: &Scenario, index: InterfaceIndex) -> Vec<Ipv4Addr> {
    let addresses = scenario.hosts[index.host].interfaces[index.interface].addresses.iter();
    addresses
        .filter_map(|address| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        })
        .collect()
}

/// An address for the port at this end of a link, from the reserved range 240.0.0.0/4 (RFC 1112).
fn reserved(link: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xF000_0000 | (2 * link + end) as u32)
}

fn port_host(name: &str, link: usize, end: usize) -> Host {
    let addresses = vec![reserved(link, end).into()];
    let interface = Interface { addresses, ..Interface::new("port") };
    Host { name: name.into(), interfaces: vec![interface], stack: HostStack::Subflow, namespace: None }
}

/// The settings in the form of the controller's file.
pub(super) fn controller_settings(scenario: &Scenario, seed: u64) -> String {
    let routing = &scenario.routing;
    let options = &routing.multiflow;
    let mode = match scenario.routers.first().map(|router| router.mode) {
        Some(RouterMode::EcmpFlow) => "ecmp-flow",
        Some(RouterMode::EcmpPacket) => "ecmp-packet",
        Some(RouterMode::Multiflow) => "multiflow",
        Some(RouterMode::ShortestPath) | None => "shortest-path",
    };
    let initial = match options.initial {
        InitialSubflow::Included => "included",
        InitialSubflow::Apart => "apart",
        InitialSubflow::DefaultRoute => "default-route",
    };
    let ties = match options.ties {
        Ties::First => "first",
        Ties::Random => "random",
        Ties::LeastLoaded => "least-loaded",
    };
    let return_path = match options.return_path {
        ReturnPath::Forward => "forward",
        ReturnPath::Default => "default",
    };
    let single_ways = scenario.single_ways.iter().flat_map(|&host| &scenario.hosts[host].interfaces);
    let single_ways: Vec<String> =
        single_ways.flat_map(|interface| &interface.addresses).map(ToString::to_string).collect();
    let settings = [
        ("mode", mode.to_owned()),
        ("initial", initial.to_owned()),
        ("ties", ties.to_owned()),
        ("disjoint_set", options.set.clamp(1, 64).to_string()),
        ("return_path", return_path.to_owned()),
        ("reroute", if routing.reroute_after.is_some() { "yes" } else { "no" }.to_owned()),
        // Switches are numbered from 1.
        ("spanning_tree", routing.spanning_tree.map_or(0, |root| root + 1).to_string()),
        ("single_ways", single_ways.join(" ")),
        ("seed", (seed & 0x7FFF_FFFF).to_string()),
        // Links and hosts are to be found soon.
        ("discovery_interval", "0.5".to_owned()),
    ];
    settings.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name} = {value}");
        text
    })
}

/// The report at the end of a run.
pub(super) fn report(switched: &Switched, scenario: &Scenario) -> Result<SwitchReport, RunError> {
    let counters = switched.switches.port_bytes()?;
    let places = switched.switches.places().iter();
    let ports = places
        .zip(switched.links())
        .zip(counters)
        .map(|((&(switch, _), link), bytes)| SwitchPortBytes {
            switch: scenario.routers[switch].name.clone(),
            link: scenario.links[link].name.clone(),
            received_bytes: bytes.received,
            sent_bytes: bytes.sent,
        })
        .collect();
    let mut status = switched.status().unwrap_or_default();
    for subflow in status["connections"].as_array_mut().into_iter().flatten().flat_map(subflows) {
        name_switches(&mut subflow["path"], scenario);
        name_switches(&mut subflow["return_path"], scenario);
    }
    Ok(SwitchReport { ports, connections: status["connections"].take(), controller: status["counters"].take() })
}

fn subflows(connection: &mut Value) -> impl Iterator<Item = &mut Value> {
    connection["subflows"].as_array_mut().into_iter().flatten()
}

/// Puts the names of routers in place of the numbers of switches, which are hexadecimal and begin with 1.
fn name_switches(path: &mut Value, scenario: &Scenario) {
    for switch in path.as_array_mut().into_iter().flatten() {
        let number = switch.as_str().and_then(|text| usize::from_str_radix(text, 16).ok());
        if let Some(router) = number.and_then(|number| scenario.routers.get(number.checked_sub(1)?)) {
            *switch = router.name.clone().into();
        }
    }
}
