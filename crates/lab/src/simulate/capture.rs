//! Captures: one pcapng file per host, with all its interfaces.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex};

use subflow_network::{Direction, HostId, InterfaceId, Network, Tap};
use subflow_quantity::Instant;
use subflow_scenario::Scenario;
use subflow_wire::{Packet, PayloadBytes, PcapngWriter};

use crate::execute::RunError;

struct HostCapture {
    writer: PcapngWriter<BufWriter<File>>,
    interfaces: Vec<InterfaceId>,
    identification: u16,
    buffer: Vec<u8>,
}

/// What the captures have come to; the tap in the network and its maker share it.
#[derive(Default)]
struct Captures {
    hosts: Vec<HostCapture>,
    error: Option<String>,
}

/// Writes every packet that a host sends or receives. Clones write to the same files.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<Captures>>);

impl Capture {
    /// Begins to capture all simulated packets into `directory`, as `RUN-HOST.pcapng`.
    pub(super) fn begin(
        network: &mut Network,
        scenario: &Scenario,
        interfaces: &[Vec<InterfaceId>],
        directory: &Path,
        run: usize,
    ) -> Result<Self, RunError> {
        let capture = Self::create(scenario, interfaces, directory, run)?;
        let all: Vec<InterfaceId> = interfaces.iter().flatten().copied().collect();
        network.set_tap(&all, Box::new(capture.clone()));
        Ok(capture)
    }

    /// Makes the files, without a packet.
    pub(crate) fn create(
        scenario: &Scenario,
        interfaces: &[Vec<InterfaceId>],
        directory: &Path,
        run: usize,
    ) -> Result<Self, RunError> {
        let mut hosts = Vec::new();
        for (host, ids) in scenario.hosts.iter().zip(interfaces) {
            let path = directory.join(format!("{run}-{}.pcapng", host.name));
            let failed = |error| RunError::failed(format!("cannot write {}: {error}", path.display()));
            let names: Vec<&str> = host.interfaces.iter().map(|interface| interface.name.as_str()).collect();
            let file = BufWriter::new(File::create(&path).map_err(failed)?);
            let writer = PcapngWriter::new(file, &names).map_err(failed)?;
            hosts.push(HostCapture { writer, interfaces: ids.clone(), identification: 0, buffer: Vec::new() });
        }
        Ok(Self(Arc::new(Mutex::new(Captures { hosts, error: None }))))
    }

    /// Writes a packet of these bytes that passes `interface` of `host` at `time`.
    pub(crate) fn write(&self, time: Instant, host: HostId, interface: InterfaceId, bytes: &[u8]) {
        self.with_host(host, |capture| capture.write(time, interface, bytes));
    }

    fn with_host(&self, host: HostId, work: impl FnOnce(&mut HostCapture) -> Result<(), String>) {
        let Ok(mut captures) = self.0.lock() else { return };
        if let Err(error) = work(&mut captures.hosts[host.index()]) {
            captures.error.get_or_insert(error);
        }
    }

    /// Ends the capture; the first error of any packet comes out here.
    pub(crate) fn finish(self, network: &mut Network) -> Result<(), RunError> {
        network.take_tap();
        let mut captures = self.0.lock().map_err(|_| RunError::failed("the capture was abandoned by a panic"))?;
        for host in &mut captures.hosts {
            host.writer.flush().map_err(|error| RunError::failed(format!("cannot write a capture: {error}")))?;
        }
        captures.error.take().map_or(Ok(()), |error| Err(RunError::failed(error)))
    }
}

impl Tap for Capture {
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, _: Direction, packet: &Packet) {
        self.with_host(host, |capture| capture.write_described(time, interface, packet));
    }
}

impl HostCapture {
    /// A packet whose payload nobody has: zeros stand for it.
    fn write_described(&mut self, time: Instant, interface: InterfaceId, packet: &Packet) -> Result<(), String> {
        let mut bytes = core::mem::take(&mut self.buffer);
        bytes.clear();
        self.identification = self.identification.wrapping_add(1);
        packet
            .emit(PayloadBytes::Zero, self.identification, &mut bytes)
            .map_err(|error| format!("a packet cannot be written as bytes: {error}"))?;
        self.write(time, interface, &bytes)?;
        self.buffer = bytes;
        Ok(())
    }

    fn write(&mut self, time: Instant, interface: InterfaceId, bytes: &[u8]) -> Result<(), String> {
        let number = self.interfaces.iter().position(|&known| known == interface).unwrap_or(0);
        self.writer
            .write_packet(number as u32, time.as_nanos(), bytes)
            .map_err(|error| format!("cannot write a capture: {error}"))
    }
}
