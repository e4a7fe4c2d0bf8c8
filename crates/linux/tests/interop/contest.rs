//! Our stack at one end, the kernel at the other.

use core::ops::Range;
use std::sync::Arc;
use std::thread;

use rand_pcg::Pcg64Mcg;
use subflow_linux::{
    DeviceKind, Emulator, Interrupt, KernelHost, Pattern, Payload, Station, Stream, Transport, Userspace, Wake,
    WallClock, listen,
};
use subflow_network::{HostId, InterfaceId, LinkConfig, LinkId, Network, PacketId, TimerId, stream};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::{Duration, Instant, Rate};
use subflow_transport::tcp::TcpOptions;
use subflow_transport::{Endpoint, EndpointId, Event, Listener, mptcp};
use subflow_wire::Body;

use crate::bench::{CLIENT, Curfew, PORT, Paths, SERVER, end, machine_serves, options};

/// No contest lasts longer, even on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(180);

/// A fast path with some delay.
pub(crate) fn fast() -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(200), Duration::from_millis(3))
}

/// Our host, behind something on the path that may take MPTCP's options away from what comes to it.
pub(crate) struct Ours {
    pub(crate) station: Station,
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
        self.station.handle_packet(network, host, interface, packet, payload);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.station.handle_timer(network, timer);
    }
}

/// What our end says it is.
pub(crate) fn ours(path_manager: &str, change: impl FnOnce(&mut mptcp::Config)) -> Arc<mptcp::Config> {
    let algorithm = Algorithm::from_name("cubic").expect("an algorithm");
    let scheduler = Scheduling::from_name("ll").expect("a scheduler");
    let path_manager = PathManagement::from_name(path_manager).expect("a path manager");
    let mut config = mptcp::Config::new(algorithm, scheduler, path_manager);
    change(&mut config);
    Arc::new(config)
}

pub(crate) fn plain_tcp() -> TcpOptions {
    TcpOptions {
        config: Arc::default(),
        congestion: Algorithm::from_name("cubic").expect("an algorithm"),
        send_buffer: None,
    }
}

/// Both hosts, ready to run.
pub(crate) struct Contest {
    pub(crate) emulator: Emulator<Ours>,
    pub(crate) kernel: KernelHost,
    /// What the kernel's application speaks.
    pub(crate) transport: Transport,
    interrupt: Interrupt,
    clock: WallClock,
}

/// What a contest begins with.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Which of the two hosts is the kernel; the other is ours.
    pub(crate) kernel: usize,
    pub(crate) paths: Vec<LinkConfig>,
    /// Settings of the kernel's namespace.
    pub(crate) sysctls: Vec<(&'static str, &'static str)>,
    /// The devices; `None` for what the machine has.
    pub(crate) device: Option<DeviceKind>,
}

impl Setting {
    /// So many fast paths.
    pub(crate) fn fast(kernel: usize, paths: usize) -> Self {
        Self { kernel, paths: vec![fast(); paths], sysctls: Vec::new(), device: None }
    }
}

impl Contest {
    /// Prepares `test`, whose namespaces have its name; `None` where this machine cannot run it, which is said.
    pub(crate) fn new(test: &str, setting: &Setting) -> Option<Self> {
        let found = machine_serves(test)?;
        let device = setting.device.unwrap_or(found);
        let paths = Paths::new(&setting.paths);
        let our_side = 1 - setting.kernel;
        let (host, ports) = paths.kernel(setting.kernel, test, &setting.sysctls, device);
        let rng: Pcg64Mcg = stream(1, test);
        let station = Station::new(&paths.network, paths.hosts[our_side], &paths.interfaces[our_side], rng);
        let (interrupt, clock) = (Interrupt::default(), WallClock::start());
        let ours = Ours { station, strips_options: false };
        let emulator = Emulator::new(paths.network, ours, ports, clock, interrupt.clone());
        Some(Self { emulator, kernel: host, transport: Transport::Mptcp, interrupt, clock })
    }

    /// Our end connects and writes `bytes`; the kernel's accepts, and then `application` acts, which need not close.
    pub(crate) fn with_our_client(
        &mut self,
        config: &Arc<mptcp::Config>,
        bytes: u64,
        application: impl FnOnce(&KernelHost, &Stream) + Send,
        mut done: impl FnMut(&mut Network, &mut Station, EndpointId) -> bool,
    ) {
        let transport = self.transport;
        let id = EndpointId(0);
        // It has to be there before our SYN comes, and to stay: joins come to it, too.
        let listen = || listen(&options(transport), end(SERVER, 0, PORT));
        let listener = self.kernel.namespace().run(listen).expect("listens");
        self.run(
            |network, station| assert_eq!(connect(network, station, config, bytes), id),
            |kernel, interrupt| {
                let stream = Stream::accept(&listener, transport, interrupt).expect("accepts").expect("in time");
                application(kernel, &stream);
            },
            |network, station| done(network, station, id),
        );
    }

    /// The kernel's end connects to ours, which listens, and then `application` acts. `done` is asked about the
    /// connection that was accepted.
    pub(crate) fn with_our_server(
        &mut self,
        listener: Listener,
        application: impl FnOnce(&KernelHost, &Stream) + Send,
        mut done: impl FnMut(&mut Network, &mut Station, EndpointId) -> bool,
    ) {
        let transport = self.transport;
        self.emulator.parts().1.station.transport().listen(PORT, listener);
        self.run(
            |_, _| {},
            |kernel, interrupt| application(kernel, &connect_kernel(kernel, transport, interrupt)),
            |network, station| {
                let accepted = station.accepted().first().copied();
                accepted.is_some_and(|id| done(network, station, id))
            },
        );
    }

    /// Lets both ends act: ours in `begin`, the kernel's in `application`, until that returns and `done` says so, too.
    fn run(
        &mut self,
        begin: impl FnOnce(&mut Network, &mut Station),
        application: impl FnOnce(&KernelHost, &Interrupt) + Send,
        mut done: impl FnMut(&mut Network, &mut Station) -> bool,
    ) {
        let (kernel, interrupt, emulator) = (&self.kernel, &self.interrupt, &mut self.emulator);
        let deadline = self.clock.now() + LIMIT;
        thread::scope(|scope| {
            let application = scope.spawn(move || application(kernel, interrupt));
            let curfew = Curfew(interrupt);
            // What happened since the contest was made is over before ours acts: its time is that of the clock.
            emulator.run_until(self.clock.now()).expect("runs");
            let (network, ours) = emulator.parts();
            begin(network, &mut ours.station);
            let wake = emulator
                .run_while(deadline, |network, ours| !(done(network, &mut ours.station) && application.is_finished()))
                .expect("runs");
            drop(curfew);
            application.join().expect("the kernel's application");
            assert_eq!(wake, Wake::Done, "after {LIMIT}: {}", describe(&mut emulator.parts().1.station));
            assert_eq!(emulator.userspace().station.wrong_byte(), None);
        });
    }

    /// Counters of the kernel's MPTCP that tell of an error, but for those that are expected.
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

/// What the kernel counts when a peer makes a mistake, or when it takes one for having made one.
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

fn describe(station: &mut Station) -> String {
    let mut text = format!("events {:?}", station.take_events());
    for id in station.transport().endpoint_ids() {
        let endpoint = station.endpoint(id);
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
fn connect(network: &mut Network, station: &mut Station, config: &Arc<mptcp::Config>, bytes: u64) -> EndpointId {
    let (local, remote) = (end(CLIENT, 0, 0), end(SERVER, 0, PORT));
    let id = station.transport().connect_mptcp(Arc::clone(config), local, remote, network.now());
    station.transport().endpoint_mut(id).write(bytes);
    station.drain(network, id);
    id
}

/// The kernel's application sends this part of the stream.
pub(crate) fn send(stream: &Stream, part: Range<u64>) {
    let (mut sent, mut buffer) = (part.start, vec![0; 1 << 16]);
    while sent < part.end {
        let length = (part.end - sent).min(buffer.len() as u64) as usize;
        Pattern.fill(sent, &mut buffer[..length]);
        let Some(more) = stream.write(&buffer[..length]).expect("writes") else { return };
        sent += more as u64;
    }
}

/// The kernel's application sends the first `bytes` of the stream, while it receives the first `receive` of the other.
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

/// Ends the kernel's side and waits for the end of the other.
pub(crate) fn close(stream: &Stream) {
    stream.finish().expect("ends");
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).expect("ends in good order").is_some_and(|length| length > 0) {}
}

/// The kernel connects.
fn connect_kernel(kernel: &KernelHost, transport: Transport, interrupt: &Interrupt) -> Stream {
    let connect = || Stream::connect(&options(transport), end(CLIENT, 0, 0), end(SERVER, 0, PORT), interrupt);
    kernel.namespace().run(connect).expect("connects").expect("in time")
}

/// Whether our `endpoint` has received `bytes` and all that it wrote is acknowledged; if so, it says that it will write
/// no more.
pub(crate) fn finish_after(network: &mut Network, station: &mut Station, id: EndpointId, bytes: u64) -> bool {
    let endpoint = station.endpoint(id);
    let all = endpoint.bytes_received() >= bytes && endpoint.bytes_acknowledged() >= endpoint.bytes_written();
    if all && endpoint.ended().is_none() {
        station.transport().endpoint_mut(id).finish();
        station.drain(network, id);
    }
    all
}

/// The subflows of ours that are up.
pub(crate) fn subflows_up(station: &Station, id: EndpointId) -> usize {
    match station.endpoint(id) {
        Endpoint::Mptcp(mptcp) => mptcp.subflows().iter().filter(|s| s.is_established() && !s.is_closed()).count(),
        _ => 0,
    }
}

pub(crate) fn has_fallen_back(station: &Station, id: EndpointId) -> bool {
    matches!(station.endpoint(id), Endpoint::Mptcp(mptcp) if mptcp.has_fallen_back())
}

/// Our end as MPTCP has it.
pub(crate) fn connection(station: &mut Station, id: EndpointId) -> &mut mptcp::Connection {
    match station.transport().endpoint_mut(id) {
        Endpoint::Mptcp(mptcp) => mptcp,
        other => panic!("{other:?} is no MPTCP connection"),
    }
}

/// Whether `event` has happened, among the events noted so far.
pub(crate) fn happened(seen: &mut Vec<Event>, station: &mut Station, event: impl Fn(&Event) -> bool) -> bool {
    seen.extend(station.take_events().into_iter().map(|(_, event)| event));
    seen.iter().any(event)
}

/// Changes a path of the contest in both directions.
pub(crate) fn links_of(path: usize) -> [LinkId; 2] {
    // Each path has a link to the middle and one from there, of two directions each.
    [LinkId::from_index(4 * path), LinkId::from_index(4 * path + 1)]
}

pub(crate) fn at(clock_ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(clock_ms)
}
