//! Throughput of our MPTCP to the kernel's in real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde::Serialize;
use subflow_linux::{
    Emulator, Interrupt, KernelHost, KernelInterface, KernelSettings, Needs, Priority, Result, StackHost, Stream,
    StreamOptions, Transport, WallClock, listen,
};
use subflow_network::{LinkConfig, TopologyBuilder};
use subflow_policy::congestion::Cubic;
use subflow_policy::path_manager::Passive;
use subflow_policy::scheduler::LowestLatency;
use subflow_quantity::{Duration, Instant};
use subflow_transport::{mptcp, tcp};
use subflow_wire::Dscp;

use crate::results::goodput_mbps;
use crate::{CpuTimer, RunError, number};

/// One MPTCP connection from our stack to the kernel's over a TUN device, without a rate limit or delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunThroughput {
    /// Real seconds.
    pub seconds: u32,
    /// Largest packet in bytes.
    pub mtu: u16,
}

/// Result of the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunResult {
    /// `tun`.
    pub benchmark: &'static str,
    /// Real seconds.
    pub seconds: u32,
    /// Largest packet in bytes.
    pub mtu: u16,
    /// Goodput: what the application on the kernel's socket read.
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// CPU time of the one thread with our stack, in seconds: at most one core.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_s: f64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Resident memory after a quarter of the time, in MB.
    #[serde(serialize_with = "number::optional")]
    pub rss_early_mb: Option<f64>,
    /// Resident memory at the end, in MB.
    #[serde(serialize_with = "number::optional")]
    pub rss_late_mb: Option<f64>,
}

const PORT: u16 = 5001;
const ENDLESS: u64 = u64::MAX / 8;

impl TunThroughput {
    /// Runs the benchmark.
    pub fn run(self, stop: &Interrupt) -> core::result::Result<TunResult, RunError> {
        Ok(self.measure(stop)?)
    }

    fn measure(self, stop: &Interrupt) -> Result<TunResult> {
        let device = subflow_linux::require(&Needs { mptcp: true, ..Needs::default() })?.device;
        let mut topology = TopologyBuilder::new();
        let [ours, theirs] = ["ours", "kernel"].map(|name| {
            let host = topology.host(name);
            (host, topology.interface(host, "tun"))
        });
        let wire = LinkConfig::instant(Duration::ZERO);
        topology.link("tun", ours.1, theirs.1, wire.clone(), wire);
        let network = topology.build(1).expect("two hosts and a link");
        let (local, remote) = (network.addresses(ours.1)[0], network.addresses(theirs.1)[0]);

        let interface = KernelInterface { name: "tun".to_owned(), addresses: vec![remote] };
        let settings = KernelSettings { device, mtu: self.mtu.into(), ..KernelSettings::default() };
        let (kernel, devices) = KernelHost::create("bench", &[interface], &settings)?;
        let ports = devices.into_iter().map(|device| (theirs.0, theirs.1, device)).collect();
        let host = StackHost::new(&network, ours.0, &[ours.1])?;
        let run_stop = Interrupt::default();
        let clock = WallClock::start();
        let mut emulator = Emulator::new(network, host, ports, clock, run_stop.clone());

        let received = AtomicU64::new(0);
        let options = StreamOptions {
            both_families: false,
            transport: Transport::Mptcp,
            congestion: None,
            nagle: true,
            dscp: Dscp::DEFAULT,
            receive_buffer: None,
            send_buffer: None,
        };
        let listener = kernel.namespace().run(|| listen(&options, (remote, PORT).into()))?;
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_all(&listener, &received, &run_stop));
            let engine = scope.spawn(|| {
                let outcome = self.send(&mut emulator, local, remote, &received, stop);
                run_stop.raise();
                outcome
            });
            let outcome = engine.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            outcome
        })
    }

    /// Sends from our end until the benchmark ends.
    fn send(
        self,
        emulator: &mut Emulator<StackHost>,
        local: std::net::IpAddr,
        remote: std::net::IpAddr,
        received: &AtomicU64,
        stop: &Interrupt,
    ) -> Result<TunResult> {
        Priority::Network.take();
        let timer = CpuTimer::start();
        let (network, host) = emulator.parts();
        let began = network.now();
        let config = self.config();
        let id = host.transport().connect_mptcp(config, (local, 0).into(), (remote, PORT).into(), began);
        let id = id.expect("the first connection of a host finds a port");
        host.transport().endpoint_mut(id).write(ENDLESS);
        host.drain(network, id);
        let whole = Duration::from_secs(self.seconds.into());
        let quarter = Instant::ZERO + Duration::from_nanos(whole.as_nanos() / 4);
        emulator.run_while(quarter, |_, _| !stop.is_raised())?;
        let rss_early_mb = resident_mb();
        emulator.run_while(Instant::ZERO + whole, |_, _| !stop.is_raised())?;
        let took = emulator.network().now().since(began);
        let subflows =
            emulator.userspace().endpoint(id).as_mptcp().map_or_else(Vec::new, |mptcp| mptcp.subflow_records());
        Ok(TunResult {
            benchmark: "tun",
            seconds: self.seconds,
            mtu: self.mtu,
            goodput_mbps: goodput_mbps(received.load(Ordering::Relaxed), took),
            cpu_s: timer.seconds(),
            retransmissions: subflows.iter().map(|subflow| subflow.counters.retransmissions).sum(),
            rss_early_mb,
            rss_late_mb: resident_mb(),
        })
    }

    fn config(self) -> Arc<mptcp::Config> {
        Arc::new(mptcp::Config {
            tcp: Arc::new(tcp::Config { mtu: self.mtu, ..tcp::Config::default() }),
            ..mptcp::Config::new(Cubic::default().into(), LowestLatency.into(), Passive.into())
        })
    }
}

fn read_all(listener: &std::net::TcpListener, received: &AtomicU64, stop: &Interrupt) -> Result<()> {
    Priority::Application.take();
    let Some(stream) = Stream::accept(listener, Transport::Mptcp, stop)? else { return Ok(()) };
    let mut buffer = vec![0; 1 << 18];
    while let Ok(Some(length)) = stream.read(&mut buffer) {
        received.fetch_add(length as u64, Ordering::Relaxed);
        if length == 0 {
            break;
        }
    }
    Ok(())
}

/// Resident memory of the process (`/proc/self/statm`).
fn resident_mb() -> Option<f64> {
    const PAGE: f64 = 4096.0;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<f64>().ok()? * PAGE / 1e6)
}
