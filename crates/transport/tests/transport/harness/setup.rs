//! What a pair of hosts is made of.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::tcp::config::{Config, ReceiveBuffer, SendBuffer};
use subflow_transport::{Listener, mptcp, sctp};

use super::{Pair, Path};

/// What one host speaks.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) tcp: Config,
    /// `None` for plain TCP; its `tcp` is taken from here.
    pub(crate) mptcp: Option<mptcp::Config>,
    /// Where it is there, the host speaks SCTP alone.
    pub(crate) sctp: Option<sctp::Config>,
    pub(crate) congestion: Algorithm,
}

impl Stack {
    fn tcp() -> Self {
        // Exact timers let stories state exact times.
        let tcp = Config { timer_tick: Duration::ZERO, ..Config::default() };
        Self { tcp, mptcp: None, sctp: None, congestion: algorithm("reno") }
    }

    fn mptcp(path_manager: &str) -> Self {
        let path_manager = PathManagement::from_name(path_manager).expect("a path manager");
        let scheduler = Scheduling::from_name("ll").expect("a scheduler");
        let mptcp = mptcp::Config::new(algorithm("reno"), scheduler, path_manager);
        Self { mptcp: Some(mptcp), ..Self::tcp() }
    }

    fn sctp() -> Self {
        let sctp = sctp::Config { record_deliveries: true, ..sctp::Config::rfc9260() };
        Self { sctp: Some(sctp), ..Self::tcp() }
    }

    /// The SCTP configuration, to change.
    pub(crate) fn association(&mut self) -> &mut sctp::Config {
        self.sctp.as_mut().expect("it speaks SCTP")
    }

    /// The MPTCP configuration, to change.
    pub(crate) fn multipath(&mut self) -> &mut mptcp::Config {
        self.mptcp.as_mut().expect("it speaks MPTCP")
    }

    /// A receive buffer of `bytes` bytes, all of it advertised.
    pub(crate) fn receive_buffer(&mut self, bytes: u64) {
        self.tcp.receive_buffer = ReceiveBuffer::Fixed(bytes);
    }

    /// A send buffer of `bytes` bytes.
    pub(crate) fn send_buffer(&mut self, bytes: u64) {
        self.tcp.send_buffer = SendBuffer::Fixed(bytes);
    }

    /// What a plain TCP connection is made of.
    pub(crate) fn tcp_options(&self) -> TcpOptions {
        TcpOptions { config: Arc::new(self.tcp.clone()), congestion: self.congestion.clone() }
    }

    /// As something to listen or connect with.
    pub(crate) fn listener(&self) -> Listener {
        if let Some(sctp) = self.sctp.clone() {
            return Listener::Sctp(Arc::new(sctp));
        }
        let TcpOptions { config, congestion } = self.tcp_options();
        match self.mptcp.clone() {
            Some(mptcp) => Listener::Mptcp(Arc::new(mptcp::Config { tcp: config, congestion, ..mptcp })),
            None => Listener::Tcp(self.tcp_options()),
        }
    }
}

/// The congestion control of this name.
pub(crate) fn algorithm(name: &str) -> Algorithm {
    Algorithm::from_name(name).expect("an algorithm")
}

/// Two hosts and the paths between them, before they are built.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Client and server.
    pub(crate) stacks: [Stack; 2],
    pub(crate) addresses: [Vec<IpAddr>; 2],
    /// From client address `c` to server address `s`: path `c · servers + s`.
    pub(crate) paths: Vec<Path>,
    pub(crate) seed: u64,
}

impl Setup {
    /// Plain TCP over one path of 10 ms each way.
    pub(crate) fn tcp() -> Self {
        Self::with(Stack::tcp(), 1, 1)
    }

    /// MPTCP with a full mesh between so many addresses of the client and of the server.
    pub(crate) fn mptcp(clients: usize, servers: usize) -> Self {
        Self::with(Stack::mptcp("full-mesh"), clients, servers)
    }

    /// SCTP with so many addresses at each end; path `i · (addresses + 1)` joins the two of the same number.
    pub(crate) fn sctp(addresses: usize) -> Self {
        Self::with(Stack::sctp(), addresses, addresses)
    }

    fn with(stack: Stack, clients: usize, servers: usize) -> Self {
        let addresses = |host: u8, n: usize| (0..n as u8).map(|i| IpAddr::V4(Ipv4Addr::new(10, host, i, 1))).collect();
        Self {
            stacks: [stack.clone(), stack],
            addresses: [addresses(1, clients), addresses(2, servers)],
            paths: vec![Path::default(); clients * servers],
            seed: 1,
        }
    }

    /// Changes both hosts' stacks.
    pub(crate) fn both(mut self, mut change: impl FnMut(&mut Stack)) -> Self {
        self.stacks.iter_mut().for_each(&mut change);
        self
    }

    /// Changes one host's stack.
    pub(crate) fn on(mut self, side: usize, change: impl FnOnce(&mut Stack)) -> Self {
        change(&mut self.stacks[side]);
        self
    }

    /// Replaces path `index`.
    pub(crate) fn path(mut self, index: usize, path: Path) -> Self {
        self.paths[index] = path;
        self
    }

    /// The same addresses in IPv6, whose options are longer.
    pub(crate) fn ipv6(mut self) -> Self {
        for address in self.addresses.iter_mut().flatten() {
            if let IpAddr::V4(ipv4) = *address {
                *address = IpAddr::V6(ipv4.to_ipv6_mapped());
            }
        }
        self
    }

    pub(crate) fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The hosts, with the server listening; nothing is connected yet.
    pub(crate) fn build(self) -> Pair {
        Pair::new(self)
    }

    /// The hosts, with an established connection (RTTs have passed, nothing is in flight).
    pub(crate) fn connected(self) -> Pair {
        let mut pair = self.build();
        pair.connect();
        pair.settle();
        pair
    }
}
