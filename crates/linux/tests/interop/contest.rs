//! Transfers between our stack and the kernel.

use core::ops::Range;
use std::sync::Arc;
use std::thread;

use subflow_linux::{
    DeviceKind, Emulator, Interrupt, KernelHost, Pattern, Payload, StackHost, Stream, Transport, Userspace, Wake,
    WallClock, listen,
};
use subflow_network::{HostId, InterfaceId, LinkConfig, LinkId, Network, PacketId, TimerId};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::{Duration, Instant, Rate};
use subflow_transport::tcp::TcpOptions;
use subflow_transport::{Endpoint, EndpointId, Event, Listener, mptcp};
use subflow_wire::Body;

use crate::bench::{CLIENT, InterruptOnDrop, PORT, Paths, SERVER, end, machine_serves, options};

/// The time limit of a test, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// A fast path with some delay.
pub(crate) fn fast() -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(200), Duration::from_millis(3))
}

/// Our host, behind a middlebox that may remove the MPTCP options of the packets to it.
pub(crate) struct Ours {
    pub(crate) host: StackHost,
    pub(crate) strips_options: bool,
}

impl Userspace for Ours {
    fn handle_packet(
        &mut self,
        network: &mut Network,
        host: HostId,
        interface: InterfaceId,
        packet: PacketId,
        payload: Payload<'_>,
    ) {
        if let (true, Body::Tcp(segment)) = (self.strips_options, &mut network.packet_mut(packet).body) {
            segment.options.mptcp.clear();
            segment.options.dss = None;
        }
        self.host.handle_packet(network, host, interface, packet, payload);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.host.handle_timer(network, timer);
    }
}

/// The configuration of our end.
pub(crate) fn ours(path_manager: &str, change: impl FnOnce(&mut mptcp::Config)) -> Arc<mptcp::Config> {
    let algorithm = Algorithm::from_name("cubic").expect("an algorithm");
    let scheduler = Scheduling::from_name("ll").expect("a scheduler");
    let path_manager = PathManagement::from_name(path_manager).expect("a path manager");
    let mut config = mptcp::Config::new(algorithm, scheduler, path_manager);
    change(&mut config);
    Arc::new(config)
}

pub(crate) fn plain_tcp() -> TcpOptions {
    TcpOptions { config: Arc::default(), congestion: Algorithm::from_name("cubic").expect("an algorithm") }
}

/// Both hosts and the network between them.
pub(crate) struct Contest {
    pub(crate) emulator: Emulator<Ours>,
    pub(crate) kernel: KernelHost,
    /// The protocol of the kernel's application.
    pub(crate) transport: Transport,
    interrupt: Interrupt,
    clock: WallClock,
}

/// The setup of a contest.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The index of the host that is the kernel; the other host is ours.
    pub(crate) kernel: usize,
    pub(crate) paths: Vec<LinkConfig>,
    /// Settings of the kernel's namespace.
    pub(crate) sysctls: Vec<(&'static str, &'static str)>,
    /// The kind of devices; `None` means what the machine supports.
    pub(crate) device: Option<DeviceKind>,
}

impl Setting {
    /// This number of fast paths.
    pub(crate) fn fast(kernel: usize, paths: usize) -> Self {
        Self { kernel, paths: vec![fast(); paths], sysctls: Vec::new(), device: None }
    }
}

impl Contest {
    /// Prepares `test`, whose name is part of its namespaces' names. If this machine cannot run it, prints why and
    /// returns `None`.
    pub(crate) fn new(test: &str, setting: &Setting) -> Option<Self> {
        let found = machine_serves()?;
        let device = setting.device.unwrap_or(found);
        let paths = Paths::new(&setting.paths);
        let our_side = 1 - setting.kernel;
        let (kernel, ports) = paths.kernel(setting.kernel, test, &setting.sysctls, device);
        let host = StackHost::new(&paths.network, paths.hosts[our_side], &paths.interfaces[our_side]);
        let host = host.expect("the system gives random numbers");
        let (interrupt, clock) = (Interrupt::default(), WallClock::start());
        let ours = Ours { host, strips_options: false };
        let emulator = Emulator::new(paths.network, ours, ports, clock, interrupt.clone());
        Some(Self { emulator, kernel, transport: Transport::Mptcp, interrupt, clock })
    }

    /// Our end connects and writes `bytes`; the kernel's end accepts and runs `application`, which need not close.
    pub(crate) fn with_our_client(
        &mut self,
        config: &Arc<mptcp::Config>,
        bytes: u64,
        application: impl FnOnce(&KernelHost, &Stream) + Send,
        mut done: impl FnMut(&mut Network, &mut StackHost, EndpointId) -> bool,
    ) {
        let transport = self.transport;
        let id = EndpointId(0);
        // The listener must exist before our SYN arrives, and stay: joins also need it.
        let listen = || listen(&options(transport), end(SERVER, 0, PORT));
        let listener = self.kernel.namespace().run(listen).expect("listens");
        self.run(
            |network, host| assert_eq!(connect(network, host, config, bytes), id),
            |kernel, interrupt| {
                let stream = Stream::accept(&listener, transport, interrupt).expect("accepts").expect("in time");
                application(kernel, &stream);
            },
            |network, host| done(network, host, id),
        );
    }

    /// The kernel's end connects to ours, which listens, and runs `application`. `done` is called with the accepted
    /// connection.
    pub(crate) fn with_our_server(
        &mut self,
        listener: Listener,
        application: impl FnOnce(&KernelHost, &Stream) + Send,
        mut done: impl FnMut(&mut Network, &mut StackHost, EndpointId) -> bool,
    ) {
        let transport = self.transport;
        self.emulator.parts().1.host.transport().listen(PORT, listener);
        self.run(
            |_, _| {},
            |kernel, interrupt| application(kernel, &connect_kernel(kernel, transport, interrupt)),
            |network, host| {
                let accepted = host.accepted().first().copied();
                accepted.is_some_and(|id| done(network, host, id))
            },
        );
    }

    /// Runs both ends, ours with `begin` and the kernel's with `application`, until `application` has returned and
    /// `done` returns true.
    fn run(
        &mut self,
        begin: impl FnOnce(&mut Network, &mut StackHost),
        application: impl FnOnce(&KernelHost, &Interrupt) + Send,
        mut done: impl FnMut(&mut Network, &mut StackHost) -> bool,
    ) {
        let (kernel, interrupt, emulator) = (&self.kernel, &self.interrupt, &mut self.emulator);
        let deadline = self.clock.now() + LIMIT;
        thread::scope(|scope| {
            let application = scope.spawn(move || application(kernel, interrupt));
            let curfew = InterruptOnDrop(interrupt);
            // Our end starts after the events since the creation of the contest are processed: its time is that of the
            // clock.
            emulator.run_until(self.clock.now()).expect("runs");
            let (network, ours) = emulator.parts();
            begin(network, &mut ours.host);
            let wake = emulator
                .run_while(deadline, |network, ours| !(done(network, &mut ours.host) && application.is_finished()))
                .expect("runs");
            drop(curfew);
            application.join().expect("the kernel's application");
            assert_eq!(wake, Wake::Done, "after {LIMIT}: {}", describe(&mut emulator.parts().1.host));
            assert_eq!(emulator.userspace().host.wrong_byte(), None);
        });
    }

    /// Checks that no error counter of the kernel's MPTCP is raised, except `expected` ones.
    pub(crate) fn assert_no_errors(&self, expected: &[&str]) {
        let counters = self.kernel.counters().expect("counters");
        let errors: Vec<_> = counters
            .raised("MPTcpExt")
            .filter(|(name, _)| {
                ERRORS.iter().any(|error| name.ends_with(error)) && !expected.iter().any(|e| name.ends_with(e))
            })
            .collect();
        let all: Vec<_> = counters.raised("MPTcpExt").collect();
        assert_eq!(errors, [], "of {all:?}");
    }

    /// A counter of the kernel's MPTCP.
    pub(crate) fn counter(&self, name: &str) -> i64 {
        self.kernel.counters().expect("counters").of(&format!("MPTcpExt{name}"))
    }
}

/// Counters that the kernel raises when it detects an error of the peer.
const ERRORS: [&str; 24] = [
    "FallbackACK",
    "FallbackSYNACK",
    "FallbackTokenInit",
    "MPCapableFallbackSYNACK",
    "HMacFailure",
    "MPJoinNoTokenFound",
    "MPJoinRejected",
    "DSSNotMatching",
    "DSSCorruptionFallback",
    "DSSCorruptionReset",
    "DSSNoMatchTCP",
    "DataCsumErr",
    "InfiniteMapTx",
    "InfiniteMapRx",
    "MPFailTx",
    "MPFailRx",
    "MPFastcloseTx",
    "MPFastcloseRx",
    "MPRstTx",
    "MPRstRx",
    "NoDSSInWindow",
    "AddAddrTxDrop",
    "EchoAddTxDrop",
    "RmAddrTxDrop",
];

fn describe(host: &mut StackHost) -> String {
    let mut text = format!("events {:?}", host.take_events());
    for id in host.transport().endpoint_ids() {
        let endpoint = host.endpoint(id);
        text += &format!(
            "; {id:?}: written {}, acknowledged {}, received {}, ended {:?}",
            endpoint.bytes_written(),
            endpoint.bytes_acknowledged(),
            endpoint.bytes_received(),
            endpoint.ended()
        );
    }
    text
}

/// Our end connects to the kernel's, and writes.
fn connect(network: &mut Network, host: &mut StackHost, config: &Arc<mptcp::Config>, bytes: u64) -> EndpointId {
    let (local, remote) = (end(CLIENT, 0, 0), end(SERVER, 0, PORT));
    let id = host.transport().connect_mptcp(Arc::clone(config), local, remote, network.now()).expect("a free port");
    host.transport().endpoint_mut(id).write(bytes);
    host.drain(network, id);
    id
}

/// Sends this part of the stream from the kernel's application.
pub(crate) fn send(stream: &Stream, part: Range<u64>) {
    let (mut sent, mut buffer) = (part.start, vec![0; 1 << 16]);
    while sent < part.end {
        let length = (part.end - sent).min(buffer.len() as u64) as usize;
        Pattern.fill(sent, &mut buffer[..length]);
        let Some(more) = stream.write(&buffer[..length]).expect("writes") else { return };
        sent += more as u64;
    }
}

/// Sends the first `bytes` of the stream from the kernel's application while it receives the first `receive` bytes of
/// ours.
pub(crate) fn talk(stream: &Stream, bytes: u64, receive: u64) {
    thread::scope(|scope| {
        scope.spawn(|| send(stream, 0..bytes));
        let (mut received, mut buffer) = (0, vec![0; 1 << 16]);
        while received < receive {
            let Some(length) = stream.read(&mut buffer).expect("reads") else { return };
            assert!(length > 0, "the stream ends after {received} bytes");
            assert_eq!(Pattern.first_difference(received, &buffer[..length]), None, "after {received} bytes");
            received += length as u64;
        }
        assert_eq!(received, receive);
    });
}

/// Closes the kernel's side and waits for the end of ours.
pub(crate) fn close(stream: &Stream) {
    stream.finish().expect("ends");
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).expect("ends without a reset").is_some_and(|length| length > 0) {}
}

/// The kernel connects.
fn connect_kernel(kernel: &KernelHost, transport: Transport, interrupt: &Interrupt) -> Stream {
    let connect = || Stream::connect(&options(transport), end(CLIENT, 0, 0), end(SERVER, 0, PORT), interrupt);
    kernel.namespace().run(connect).expect("connects").expect("in time")
}

/// Whether our endpoint has received `bytes` and all its written data is acknowledged. If so, finishes its stream.
pub(crate) fn finish_after(network: &mut Network, host: &mut StackHost, id: EndpointId, bytes: u64) -> bool {
    let endpoint = host.endpoint(id);
    let all = endpoint.bytes_received() >= bytes && endpoint.bytes_acknowledged() >= endpoint.bytes_written();
    if all && endpoint.ended().is_none() {
        host.transport().endpoint_mut(id).finish();
        host.drain(network, id);
    }
    all
}

/// The number of our established subflows.
pub(crate) fn subflows_up(host: &StackHost, id: EndpointId) -> usize {
    match host.endpoint(id) {
        Endpoint::Mptcp(mptcp) => mptcp.subflows().iter().filter(|s| s.is_established() && !s.is_closed()).count(),
        _ => 0,
    }
}

pub(crate) fn has_fallen_back(host: &StackHost, id: EndpointId) -> bool {
    matches!(host.endpoint(id), Endpoint::Mptcp(mptcp) if mptcp.has_fallen_back())
}

/// Our end as an MPTCP connection.
pub(crate) fn connection(host: &mut StackHost, id: EndpointId) -> &mut mptcp::Connection {
    match host.transport().endpoint_mut(id) {
        Endpoint::Mptcp(mptcp) => mptcp,
        other => panic!("{other:?} is no MPTCP connection"),
    }
}

/// Whether `event` is among the events so far, which are collected in `seen`.
pub(crate) fn happened(seen: &mut Vec<Event>, host: &mut StackHost, event: impl Fn(&Event) -> bool) -> bool {
    seen.extend(host.take_events().into_iter().map(|(_, event)| event));
    seen.iter().any(event)
}

/// The links of a path, in both directions.
pub(crate) fn links_of(path: usize) -> [LinkId; 2] {
    // Each path has two links, one on each side of the router, with two directions each.
    [LinkId::from_index(4 * path), LinkId::from_index(4 * path + 1)]
}

pub(crate) fn at(clock_ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(clock_ms)
}
