//! The application at one end of a flow, on a kernel socket: from connecting or accepting to the end of the connection.
//! It does the same as `simulate/application.rs`, but in a thread.

use std::io;
use std::thread::Scope;

use subflow_linux::{Error, Interrupt, Priority, Result, Stream, StreamOptions, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Traffic;
use subflow_transport::tcp::Closed;

use super::hosts::KernelHosts;
use super::kernel_flow::{KernelFlow, Listener, Side, locked};

use super::traffic::CHUNK;

/// Interval at which states are polled that cause no event.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The pause before the second attempt to connect from an address that the host does not have (RFC 6298, section 2).
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Further attempts (Linux: `net.ipv4.tcp_syn_retries`).
const SYN_RETRIES: u32 = 6;

/// Starts a thread for each end of `flow` that is on a kernel.
pub(super) fn start<'scope, 'env>(
    flow: &'env KernelFlow,
    scope: &'scope Scope<'scope, 'env>,
    hosts: &'env KernelHosts,
    clock: WallClock,
    stop: &Interrupt,
) {
    let ends = [(flow.flow.from.host, &flow.from), (flow.flow.to.host, &flow.to)];
    for (position, (host, end)) in ends.into_iter().enumerate() {
        let (Some(host), Some(end)) = (hosts.get(host), end) else { continue };
        let stop = stop.clone();
        scope.spawn(move || {
            Priority::Application.take();
            let side = Side { flow, end, clock, stop, namespace: host.namespace() };
            let outcome = if position == 0 { side.connect() } else { side.serve() };
            if let Err(error) = outcome {
                locked(&flow.error).get_or_insert(format!("{}: {error}", flow.flow.name));
            }
        });
    }
}

impl Side<'_> {
    /// Runs the end that connects.
    pub(super) fn connect(&self) -> Result<()> {
        self.namespace.enter()?;
        if !self.sleep_until(Instant::ZERO + self.flow.flow.start) {
            return Ok(());
        }
        let Some([options, _]) = &self.flow.options else { return self.send_datagrams() };
        let stream = match self.open(options) {
            Ok(Some(stream)) => stream,
            Ok(None) => return Ok(()),
            Err(Error::System { source, .. }) if is_an_outcome(&source) => {
                self.end.fail(&source);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.end.observe(stream.watch()?);
        let may_send = self.sleep_until(Instant::ZERO + self.flow.flow.sends_from());
        let outcome = match self.flow.flow.traffic {
            _ if !may_send => Ok(()),
            Traffic::Bulk { bytes } => self.write_bulk(&stream, bytes.unwrap_or(u64::MAX)),
            Traffic::RequestResponse { count, think, .. } => self.send_requests(&stream, count, think),
            Traffic::OnOff { .. } | Traffic::Video(_) | Traffic::Exchanges(_) | Traffic::Streams(_) => Ok(()),
        };
        if outcome.is_ok() {
            self.wait_for_acknowledgments(&stream);
        }
        self.finish(&stream, outcome)
    }

    /// Connects from the first end that this host has and that has a route to the peer. While there is none, it tries
    /// again as often as a SYN is sent, and at the same times.
    fn open(&self, options: &StreamOptions) -> Result<Option<Stream>> {
        let (mut tries, mut pause) = (0, FIRST_PAUSE);
        loop {
            let mut refusal = None;
            for &local in &self.flow.sources {
                match Stream::connect(options, local, self.flow.remote, &self.stop) {
                    Err(Error::System { action, source }) if lacks_source(&source) => {
                        refusal.get_or_insert(Error::System { action, source });
                    }
                    outcome => return outcome,
                }
            }
            tries += 1;
            match refusal {
                Some(error) if tries > SYN_RETRIES => return Err(error),
                _ if !self.sleep_until(self.clock.now() + pause) => return Ok(None),
                _ => pause = pause.saturating_mul(2),
            }
        }
    }

    /// Runs the end that listens.
    pub(super) fn serve(&self) -> Result<()> {
        let listener = match &self.flow.listener {
            Some(Listener::Stream(listener)) => listener,
            Some(Listener::Datagrams(socket)) => return self.receive_datagrams(socket),
            None => return Ok(()),
        };
        let Some([_, StreamOptions { transport, .. }]) = self.flow.options else { return Ok(()) };
        let Some(stream) = Stream::accept(listener, transport, &self.stop)? else { return Ok(()) };
        self.end.observe(stream.watch()?);
        let outcome = match self.flow.flow.traffic {
            Traffic::RequestResponse { .. } => self.send_responses(&stream),
            Traffic::Bulk { bytes } => self.read_bulk(&stream, bytes),
            Traffic::OnOff { .. } | Traffic::Video(_) | Traffic::Exchanges(_) | Traffic::Streams(_) => Ok(()),
        };
        self.finish(&stream, outcome)
    }

    /// Closes the connection as the `outcome` of its traffic requires, and records how it ended.
    fn finish(&self, stream: &Stream, outcome: io::Result<()>) -> Result<()> {
        match outcome {
            Ok(()) if self.stop.is_raised() => {}
            Ok(()) => {
                // The kernel reports no figures of a closed connection.
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
                    Ok(true) => self.end.end(Closed::Gracefully),
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
            self.sleep_until(self.clock.now() + POLL_INTERVAL);
        }
    }
}

/// Whether a connection cannot begin because this host does not have its source address, or no route from there.
fn lacks_source(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::NetworkUnreachable)
}

/// Whether an error is a possible outcome of a scenario, not a failure of the run.
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
