//! Flows with an end on a kernel: their sockets' options and listeners, and a thread for each such end.

use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

use rand_pcg::Pcg64Mcg;
use subflow_linux::congestion::kernel_name;
use subflow_linux::{Interrupt, Namespace, Result, StreamOptions, Transport, WallClock, listen, udp};
use subflow_network::stream;
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{ExchangeSizes, Flow, PerEnd, Scenario};
use subflow_transport::tcp;
use subflow_transport::tcp::config::{ReceiveBuffer, SendBuffer};

use super::hosts::KernelHosts;
use super::kernel_end::KernelEnd;
use crate::simulate::application::{ExchangeLog, Pace};
use crate::simulate::figures::FlowBaseline;

/// A flow with at least one end on a kernel.
pub(super) struct KernelFlow {
    pub(super) flow: Flow,
    pub(super) local: SocketAddr,
    /// The ends that the connection may leave from, the preferred one first: one is taken that the host has when it
    /// connects.
    pub(super) sources: Vec<SocketAddr>,
    pub(super) remote: SocketAddr,
    /// The connecting and the listening end, if they are on a kernel.
    pub(super) from: Option<KernelEnd>,
    pub(super) to: Option<KernelEnd>,
    pub(super) listener: Option<Listener>,
    pub(super) options: Option<[StreamOptions; 2]>,
    pub(super) rng: Mutex<Pcg64Mcg>,
    /// The sizes of its exchanges, which both ends draw, if it has any.
    pub(super) exchange_sizes: Option<ExchangeSizes>,
    pub(super) completed_at: Mutex<Option<Instant>>,
    pub(super) exchanges: Mutex<ExchangeLog>,
    /// The pace of its reader, if data is not read at once.
    pub(super) pace: Option<Mutex<Pace>>,
    /// Whether what arrives has to be what was sent: no middlebox rewrites it.
    pub(super) checks_bytes: bool,
    /// The first error that is not an outcome of the scenario.
    pub(super) error: Mutex<Option<String>>,
}

pub(super) enum Listener {
    Stream(TcpListener),
    Datagrams(UdpSocket),
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KernelFlow {
    /// The flows of a scenario, with all listeners open. SCTP flows have no end on a kernel's socket.
    pub(super) fn open_all(scenario: &Scenario, seed: u64, hosts: &KernelHosts) -> Result<Vec<Self>> {
        scenario.flows.iter().map(|flow| Self::open(scenario, seed, hosts, flow)).collect()
    }

    fn open(scenario: &Scenario, seed: u64, hosts: &KernelHosts, flow: &Flow) -> Result<Self> {
        let [local, remote] = flow.addresses;
        let remote = SocketAddr::new(remote, flow.port);
        // Datagrams have their flow's port as source port, as in the simulator.
        let otherwise = if flow.protocol.is_udp() { flow.port } else { 0 };
        let local = SocketAddr::new(local, flow.source_port.unwrap_or(otherwise));
        let options = stream_options(scenario, flow);
        let kernel = |host| hosts.get(host).filter(|_| flow.protocol.sctp().is_none());
        let listener = match kernel(flow.to.host) {
            None => None,
            Some(host) => Some(host.namespace().run(|| match &options {
                Some([_, to]) => listen(to, remote).map(Listener::Stream),
                None => udp(remote, flow.dscp).map(Listener::Datagrams),
            })?),
        };
        Ok(Self {
            flow: flow.clone(),
            local,
            sources: sources(scenario, flow, local),
            remote,
            from: kernel(flow.from.host).map(|_| KernelEnd::default()),
            to: kernel(flow.to.host).map(|_| KernelEnd::default()),
            listener,
            options,
            rng: Mutex::new(stream(seed, &format!("flow {}", flow.name))),
            exchange_sizes: flow.exchange_sizes(seed),
            completed_at: Mutex::default(),
            exchanges: Mutex::default(),
            pace: flow.read.clone().map(|reading| Mutex::new(Pace::new(reading))),
            checks_bytes: !scenario.rewrites_payload(),
            error: Mutex::default(),
        })
    }

    /// Reads the figures of the connection from the kernels.
    pub(super) fn watch(&self) {
        self.from.iter().chain(&self.to).for_each(KernelEnd::watch);
    }

    /// The end that receives the data, if it is on a kernel.
    pub(super) fn receiver(&self) -> Option<&KernelEnd> {
        if self.flow.is_answered() { self.from.as_ref() } else { self.to.as_ref() }
    }

    /// The end that sends the data, if it is on a kernel.
    pub(super) fn sender(&self) -> Option<&KernelEnd> {
        if self.flow.is_answered() { self.to.as_ref() } else { self.from.as_ref() }
    }

    pub(super) fn is_udp(&self) -> bool {
        self.flow.protocol.is_udp()
    }

    /// What a receiver on a kernel has received when measuring begins.
    pub(super) fn baseline(&self) -> Option<FlowBaseline> {
        self.receiver().map(|end| {
            end.watch();
            FlowBaseline::of(None, Some(&end.figures(self.is_udp())))
        })
    }
}

/// The ends of `flow` at the host that connects: `preferred`, then, unless the scenario names the interface, those at the
/// host's other addresses of the same family.
fn sources(scenario: &Scenario, flow: &Flow, preferred: SocketAddr) -> Vec<SocketAddr> {
    let all = scenario.hosts[flow.from.host].interfaces.iter().flat_map(|interface| &interface.addresses);
    let other = |address: &&IpAddr| {
        !flow.fixed_source && **address != preferred.ip() && address.is_ipv4() == preferred.is_ipv4()
    };
    let others = all.filter(other).map(|&address| SocketAddr::new(address, preferred.port()));
    core::iter::once(preferred).chain(others).collect()
}

fn stream_options(scenario: &Scenario, flow: &Flow) -> Option<[StreamOptions; 2]> {
    let congestion = kernel_name(flow.congestion()?.name());
    let is_multipath = flow.protocol.mptcp().is_some();
    // The kernel gives a socket of IPv4 no subflows of IPv6.
    let has_both = |host: usize| {
        let addresses = || scenario.hosts[host].interfaces.iter().flat_map(|interface| &interface.addresses);
        is_multipath && addresses().any(IpAddr::is_ipv4) && addresses().any(IpAddr::is_ipv6)
    };
    let options = |transport, host, config: &tcp::Config| StreamOptions {
        transport,
        both_families: has_both(host),
        congestion: subflow_linux::congestion_controls()
            .is_ok_and(|known| known.iter().any(|name| name == congestion))
            .then(|| congestion.to_owned()),
        nagle: config.nagle,
        dscp: flow.dscp,
        receive_buffer: match config.receive_buffer {
            ReceiveBuffer::Fixed(bytes) => Some(bytes as usize),
            ReceiveBuffer::Automatic(_) => None,
        },
        send_buffer: match config.send_buffer {
            SendBuffer::Fixed(bytes) => Some(bytes as usize),
            SendBuffer::Unlimited | SendBuffer::Automatic(_) => None,
        },
    };
    let transport = if is_multipath { Transport::Mptcp } else { Transport::Tcp };
    let PerEnd { from, to } = flow.protocol.tcp()?;
    Some([(flow.from.host, from), (flow.to.host, to)].map(|(host, config)| options(transport, host, config)))
}

const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// One end. What it does is in `application.rs` and `traffic.rs`.
pub(super) struct Side<'a> {
    pub(super) flow: &'a KernelFlow,
    pub(super) end: &'a KernelEnd,
    pub(super) clock: WallClock,
    pub(super) stop: Interrupt,
    pub(super) namespace: &'a Namespace,
}

impl Side<'_> {
    /// Sleeps until `at`. Returns false if the run is stopped before.
    pub(super) fn sleep_until(&self, at: Instant) -> bool {
        self.clock.sleep_until(at, INTERRUPT_CHECK_INTERVAL, || !self.stop.is_raised())
    }

    /// Whether the scenario ends the traffic now or has ended it.
    pub(super) fn stop_is_due(&self) -> bool {
        self.flow.flow.stop.is_some_and(|stop| self.clock.now() >= Instant::ZERO + stop)
    }
}
