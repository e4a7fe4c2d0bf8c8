//! What runs on kernel sockets: bulk transfers, datagrams at a rate, requests and responses. As in the simulator
//! (`simulate/application.rs`), but a thread for each end that a kernel has.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};

use rand_pcg::Pcg64Mcg;
use subflow_linux::congestion::kernel_name;
use subflow_linux::{
    Error, Interrupt, Namespace, Pattern, Priority, Result, Stream, StreamOptions, Transport, WallClock, listen, udp,
};
use subflow_network::stream;
use subflow_quantity::{Duration, Instant, Pacing};
use subflow_scenario::{Buffer, Flow, Protocol, Scenario, Stack, Traffic};

use super::addresses::{address, socket_address};
use super::hosts::KernelHosts;
use super::kernel_end::KernelEnd;
use crate::simulate::figures::FlowBaseline;
use crate::statistics::DurationSummary;

/// A flow with at least one end that is a kernel's.
pub(super) struct KernelFlow {
    flow: Flow,
    local: SocketAddr,
    remote: SocketAddr,
    /// Where further subflows go from and to, and whether they are backups.
    subflows: Vec<(SocketAddr, SocketAddr, bool)>,
    /// The end that connects and the one that listens, where they are kernels'.
    pub(super) from: Option<KernelEnd>,
    pub(super) to: Option<KernelEnd>,
    listener: Option<Listener>,
    options: Option<[StreamOptions; 2]>,
    rng: Mutex<Pcg64Mcg>,
    pub(super) completed_at: Mutex<Option<Instant>>,
    pub(super) exchanges: Mutex<DurationSummary>,
    /// What went wrong that is no outcome of the scenario's.
    pub(super) error: Mutex<Option<String>>,
}

enum Listener {
    Stream(TcpListener),
    Datagrams(UdpSocket),
}

/// Bytes that are written and read at once.
const CHUNK: usize = 1 << 16;
/// How often something is looked at that nobody tells about.
const TICK: Duration = Duration::from_millis(1);
const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KernelFlow {
    /// The flows of a scenario, with all listeners open.
    pub(super) fn open_all(scenario: &Scenario, seed: u64, hosts: &KernelHosts) -> Result<Vec<Self>> {
        scenario.flows.iter().map(|flow| Self::open(scenario, seed, hosts, flow)).collect()
    }

    fn open(scenario: &Scenario, seed: u64, hosts: &KernelHosts, flow: &Flow) -> Result<Self> {
        let remote = socket_address(scenario, flow.to, flow.port);
        // A datagram's source port is that of its flow, as in the simulator.
        let otherwise = if matches!(flow.protocol, Protocol::Udp) { flow.port } else { 0 };
        let local = socket_address(scenario, flow.from, flow.source_port.unwrap_or(otherwise));
        let subflows = match &flow.protocol {
            Protocol::Mptcp(mptcp) => mptcp
                .subflows
                .iter()
                .map(|plan| {
                    let from = SocketAddr::new(address(scenario, plan.from), plan.source_port.unwrap_or(0));
                    (from, socket_address(scenario, plan.to, flow.port), plan.backup)
                })
                .collect(),
            _ => Vec::new(),
        };
        let options = stream_options(flow);
        let listener = match hosts.get(flow.to.host) {
            None => None,
            Some(host) => Some(host.namespace().run(|| match &options {
                Some([_, to]) => listen(to, remote).map(Listener::Stream),
                None => udp(remote).map(Listener::Datagrams),
            })?),
        };
        Ok(Self {
            flow: flow.clone(),
            local,
            remote,
            subflows,
            from: hosts.get(flow.from.host).map(|_| KernelEnd::default()),
            to: hosts.get(flow.to.host).map(|_| KernelEnd::default()),
            listener,
            options,
            rng: Mutex::new(stream(seed, &format!("flow {}", flow.name))),
            completed_at: Mutex::default(),
            exchanges: Mutex::default(),
            error: Mutex::default(),
        })
    }

    /// Starts a thread for each end.
    pub(super) fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        hosts: &'env KernelHosts,
        clock: WallClock,
        stop: &Interrupt,
    ) {
        let ends = [(self.flow.from.host, &self.from), (self.flow.to.host, &self.to)];
        for (position, (host, end)) in ends.into_iter().enumerate() {
            let (Some(host), Some(end)) = (hosts.get(host), end) else { continue };
            let stop = stop.clone();
            scope.spawn(move || {
                Priority::Application.take();
                let side = Side { flow: self, end, clock, stop, namespace: host.namespace() };
                let outcome = if position == 0 { side.connect() } else { side.serve() };
                if let Err(error) = outcome {
                    locked(&self.error).get_or_insert(format!("{}: {error}", self.flow.name));
                }
            });
        }
    }

    /// Asks the kernels what the connections have done.
    pub(super) fn watch(&self) {
        self.from.iter().chain(&self.to).for_each(KernelEnd::watch);
    }

    /// The end that data goes to, if it is a kernel's.
    pub(super) fn receiver(&self) -> Option<&KernelEnd> {
        match self.flow.traffic {
            Traffic::RequestResponse { .. } => self.from.as_ref(),
            _ => self.to.as_ref(),
        }
    }

    /// The end that data comes from, if it is a kernel's.
    pub(super) fn sender(&self) -> Option<&KernelEnd> {
        match self.flow.traffic {
            Traffic::RequestResponse { .. } => self.to.as_ref(),
            _ => self.from.as_ref(),
        }
    }

    pub(super) fn is_udp(&self) -> bool {
        matches!(self.flow.protocol, Protocol::Udp)
    }

    /// Where counting begins, at a receiver that is a kernel's.
    pub(super) fn baseline(&self) -> Option<FlowBaseline> {
        self.receiver().map(|end| {
            end.watch();
            FlowBaseline::of(None, Some(&end.figures(self.is_udp())))
        })
    }
}

fn stream_options(flow: &Flow) -> Option<[StreamOptions; 2]> {
    let options = |transport, congestion: &str, stack: &Stack| StreamOptions {
        transport,
        congestion: subflow_linux::congestion_controls()
            .is_ok_and(|known| known.iter().any(|name| name == kernel_name(congestion)))
            .then(|| kernel_name(congestion).to_owned()),
        receive_buffer: fixed(stack.tcp.receive_buffer),
        send_buffer: fixed(stack.tcp.send_buffer),
    };
    match &flow.protocol {
        Protocol::Tcp(tcp) => {
            Some([&tcp.from_stack, &tcp.to_stack].map(|stack| options(Transport::Tcp, tcp.congestion.name(), stack)))
        }
        Protocol::Mptcp(mptcp) => Some(
            [&mptcp.from_stack, &mptcp.to_stack].map(|stack| options(Transport::Mptcp, mptcp.congestion.name(), stack)),
        ),
        Protocol::Sctp(_) | Protocol::Udp => None,
    }
}

fn fixed(buffer: Buffer) -> Option<usize> {
    match buffer {
        Buffer::Fixed(bytes) => Some(bytes as usize),
        Buffer::Unlimited | Buffer::Automatic { .. } => None,
    }
}

/// One end at work.
struct Side<'a> {
    flow: &'a KernelFlow,
    end: &'a KernelEnd,
    clock: WallClock,
    stop: Interrupt,
    namespace: &'a Namespace,
}

impl Side<'_> {
    /// The end that connects.
    fn connect(&self) -> Result<()> {
        self.namespace.enter()?;
        if !self.sleep_until(Instant::ZERO + self.flow.flow.start) {
            return Ok(());
        }
        let Some([options, _]) = &self.flow.options else { return self.send_datagrams() };
        let stream = match Stream::connect(options, self.flow.local, self.flow.remote, &self.stop) {
            Ok(Some(stream)) => stream,
            Ok(None) => return Ok(()),
            Err(Error::System { source, .. }) if is_an_outcome(&source) => {
                self.end.fail(&source);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.end.observe(stream.watch()?);
        // Joins have to wait for the peer's first data-level acknowledgment, so data cannot wait for them.
        let over = AtomicBool::new(false);
        let (talked, opened) = thread::scope(|scope| {
            let opening = scope.spawn(|| self.open_subflows(&stream, &over));
            let talked = match self.flow.flow.traffic {
                Traffic::Bulk { bytes } => self.write_bulk(&stream, bytes.unwrap_or(u64::MAX)),
                Traffic::RequestResponse { request, response, count, think } => {
                    self.ask(&stream, request, response, count, think)
                }
                Traffic::OnOff { .. } => Ok(()),
            };
            if talked.is_ok() {
                self.wait_for_acknowledgments(&stream);
            }
            over.store(true, Ordering::Relaxed);
            (talked, opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        opened?;
        self.finish(&stream, talked)
    }

    /// The end that listens.
    fn serve(&self) -> Result<()> {
        let listener = match &self.flow.listener {
            Some(Listener::Stream(listener)) => listener,
            Some(Listener::Datagrams(socket)) => return self.receive_datagrams(socket),
            None => return Ok(()),
        };
        let transport = self.flow.options.as_ref().map_or(Transport::Tcp, |[_, to]| to.transport);
        let Some(stream) = Stream::accept(listener, transport, &self.stop)? else { return Ok(()) };
        self.end.observe(stream.watch()?);
        let talked = match self.flow.flow.traffic {
            Traffic::RequestResponse { request, response, .. } => self.answer(&stream, request, response),
            Traffic::Bulk { bytes } => self.read_bulk(&stream, bytes),
            Traffic::OnOff { .. } => Ok(()),
        };
        self.finish(&stream, talked)
    }

    /// Ends a connection as it has come to an end, and keeps it as long as somebody may look at it.
    fn finish(&self, stream: &Stream, talked: io::Result<()>) -> Result<()> {
        match talked {
            Ok(()) if self.stop.is_raised() => {}
            Ok(()) => {
                // A closed connection does not tell what it has done.
                self.wait_for_acknowledgments(stream);
                self.end.watch();
                let mut rest = [0; CHUNK];
                let closed = stream.finish().and_then(|()| {
                    loop {
                        match stream.read(&mut rest)? {
                            Some(0) => break Ok(true),
                            None => break Ok(false),
                            Some(_) => {}
                        }
                    }
                });
                match closed {
                    Ok(true) => self.end.end("gracefully"),
                    Ok(false) => {}
                    Err(error) => self.end.fail(&error),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Error::Unexpected(error.to_string()));
            }
            Err(error) => self.end.fail(&error),
        }
        Ok(())
    }

    fn wait_for_acknowledgments(&self, stream: &Stream) {
        while !self.stop.is_raised() && stream.unacknowledged().is_ok_and(|bytes| bytes > 0) {
            self.sleep_until(self.clock.now() + TICK);
        }
    }

    fn sleep_until(&self, at: Instant) -> bool {
        self.clock.sleep_until(at, INTERRUPT_CHECK_INTERVAL, || !self.stop.is_raised())
    }

    fn stop_is_due(&self) -> bool {
        self.flow.flow.stop.is_some_and(|stop| self.clock.now() >= Instant::ZERO + stop)
    }

    /// Opens the subflows that the scenario names, until the connection is `over`.
    fn open_subflows(&self, stream: &Stream, over: &AtomicBool) -> Result<()> {
        if self.flow.subflows.is_empty() {
            return Ok(());
        }
        self.namespace.enter()?;
        Priority::Application.take();
        let mut manager = subflow_linux::netlink::MptcpPathManager::open()?;
        let mut ids: Vec<std::net::IpAddr> = vec![self.flow.local.ip()];
        for &(from, to, backup) in &self.flow.subflows {
            // All subflows from one address have one identifier, the initial address's being 0.
            let id = ids.iter().position(|&known| known == from.ip()).unwrap_or_else(|| {
                ids.push(from.ip());
                ids.len() - 1
            });
            loop {
                // What has fallen back to TCP has no other subflows.
                let Some(token) = stream.info().ok().filter(|info| !info.fallback).and_then(|info| info.token) else {
                    return Ok(());
                };
                match manager.open_subflow(token, id as u8, from, to, backup) {
                    Ok(()) => break,
                    Err(_) if over.load(Ordering::Relaxed) => return Ok(()),
                    // Until the peer has shown that it has both keys.
                    Err(Error::System { source, .. }) if source.kind() == io::ErrorKind::NotConnected => {
                        if !self.sleep_until(self.clock.now() + TICK) {
                            return Ok(());
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn write_bulk(&self, stream: &Stream, bytes: u64) -> io::Result<()> {
        let (mut written, mut buffer) = (0, vec![0; CHUNK]);
        while written < bytes && !self.stop_is_due() {
            match self.write_some(stream, written, bytes, &mut buffer)? {
                Some(more) => written += more,
                None => break,
            }
        }
        Ok(())
    }

    /// Writes what fits of the stream from `written` to `end`.
    fn write_some(&self, stream: &Stream, written: u64, end: u64, buffer: &mut [u8]) -> io::Result<Option<u64>> {
        let length = (end - written).min(buffer.len() as u64) as usize;
        Pattern.fill(written, &mut buffer[..length]);
        Ok(stream.write(&buffer[..length])?.map(|more| more as u64))
    }

    /// Reads what there is, up to `limit` bytes. Nothing at the end of the stream, or of the run.
    fn read_some(&self, stream: &Stream, limit: u64, buffer: &mut [u8]) -> io::Result<Option<u64>> {
        let room = limit.min(buffer.len() as u64) as usize;
        let Some(length) = stream.read(&mut buffer[..room])?.filter(|&length| length > 0) else { return Ok(None) };
        let offset = self.end.delivered.load(Ordering::Relaxed);
        if let Some(position) = Pattern.first_difference(offset, &buffer[..length]) {
            let message = format!("byte {} arrived that was not sent", offset + position as u64);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.end.delivered.store(offset + length as u64, Ordering::Relaxed);
        Ok(Some(length as u64))
    }

    fn read_bulk(&self, stream: &Stream, bytes: Option<u64>) -> io::Result<()> {
        let (mut received, mut buffer) = (0, vec![0; CHUNK]);
        while let Some(more) = self.read_some(stream, u64::MAX, &mut buffer)? {
            received += more;
            if Some(received) == bytes {
                *locked(&self.flow.completed_at) = Some(self.clock.now());
                self.end.watch();
            }
        }
        Ok(())
    }

    fn ask(
        &self,
        stream: &Stream,
        request: u64,
        response: u64,
        count: Option<u64>,
        think: subflow_scenario::Period,
    ) -> io::Result<()> {
        let (mut asked, mut buffer) = (0, vec![0; CHUNK]);
        for number in 0..count.unwrap_or(u64::MAX) {
            if self.stop_is_due() {
                break;
            }
            let began = self.clock.now();
            let end = asked + request;
            while asked < end {
                let Some(more) = self.write_some(stream, asked, end, &mut buffer)? else { return Ok(()) };
                asked += more;
            }
            let mut left = response;
            while left > 0 {
                let Some(more) = self.read_some(stream, left, &mut buffer)? else { return Ok(()) };
                left -= more;
            }
            let now = self.clock.now();
            locked(&self.flow.exchanges).add(now.since(began));
            if count == Some(number + 1) {
                *locked(&self.flow.completed_at) = Some(now);
            } else if !self.sleep_until(now + think.draw(&mut locked(&self.flow.rng))) {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, stream: &Stream, request: u64, response: u64) -> io::Result<()> {
        let (mut answered, mut buffer) = (0, vec![0; CHUNK]);
        loop {
            let mut left = request;
            while left > 0 {
                let Some(more) = self.read_some(stream, left, &mut buffer)? else { return Ok(()) };
                left -= more;
            }
            let end = answered + response;
            while answered < end {
                let Some(more) = self.write_some(stream, answered, end, &mut buffer)? else { return Ok(()) };
                answered += more;
            }
        }
    }

    fn send_datagrams(&self) -> Result<()> {
        let Traffic::OnOff { rate, packet, on, off } = self.flow.flow.traffic else { return Ok(()) };
        let failed = |source| Error::System { action: format!("cannot send to {}", self.flow.remote), source };
        let socket = udp(self.flow.local)?;
        socket.connect(self.flow.remote).map_err(failed)?;
        let mut payload = vec![0; packet as usize];
        Pattern.fill(0, &mut payload);
        let draw = |period: subflow_scenario::Period| period.draw(&mut locked(&self.flow.rng));
        let mut pacing = Pacing::new(rate);
        let mut next = self.clock.now();
        let mut on_until = next + draw(on);
        while self.sleep_until(next) && !self.stop_is_due() {
            // Nobody listening any more is no mistake of the sender's.
            if socket.send(&payload).is_ok() {
                self.end.datagrams[0].fetch_add(1, Ordering::Relaxed);
            }
            next += pacing.time_of(u64::from(packet));
            while next >= on_until {
                let (pause, burst) = (draw(off), draw(on));
                next = next.max(on_until) + pause;
                on_until = next + burst.max(Duration::from_nanos(1));
                if pause.is_zero() && burst.is_zero() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn receive_datagrams(&self, socket: &UdpSocket) -> Result<()> {
        let mut buffer = vec![0; CHUNK];
        while !self.stop.is_raised() {
            if let Ok(length) = socket.recv(&mut buffer) {
                self.end.datagrams[1].fetch_add(1, Ordering::Relaxed);
                self.end.delivered.fetch_add(length as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Whether an error is something that a scenario may bring about.
fn is_an_outcome(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::TimedOut
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::HostUnreachable
    )
}
