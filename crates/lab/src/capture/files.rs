//! The files of one run's captures. A file is open only while it is written: a run may have more hosts than a process
//! may have open files.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use subflow_network::{Direction, HostId, InterfaceId, Network, Passage, Tap};
use subflow_quantity::Instant;
use subflow_scenario::Scenario;
use subflow_wire::{Body, Packet, PayloadBytes, PcapngWriter, packet_block_length};

use super::CaptureFolder;
use crate::{RunError, remedy};

struct HostCapture {
    writer: PcapngWriter<AppendedFile>,
    interfaces: Vec<InterfaceId>,
    /// That of the last packet that the host has sent.
    identification: u16,
    buffer: Vec<u8>,
    /// The payload of a datagram of UDP.
    payload: Vec<u8>,
}

/// The state of a run's captures, shared by the tap in the network and the run.
struct Captures {
    folder: CaptureFolder,
    hosts: Vec<HostCapture>,
    /// The first error; nothing is written after it.
    error: Option<String>,
}

/// Writes every packet that a host sends or receives. Clones write to the same files.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<Captures>>);

impl Capture {
    /// Captures all simulated packets of run number `run` from now on.
    pub(crate) fn begin(
        network: &mut Network,
        scenario: &Scenario,
        interfaces: &[Vec<InterfaceId>],
        folder: &CaptureFolder,
        run: usize,
    ) -> Result<Self, RunError> {
        let capture = Self::create(scenario, interfaces, folder, run)?;
        let all: Vec<InterfaceId> = interfaces.iter().flatten().copied().collect();
        network.set_tap(&all, Box::new(capture.clone()));
        Ok(capture)
    }

    /// Creates the files, without any packet.
    pub(crate) fn create(
        scenario: &Scenario,
        interfaces: &[Vec<InterfaceId>],
        folder: &CaptureFolder,
        run: usize,
    ) -> Result<Self, RunError> {
        let mut hosts = Vec::new();
        for (host, ids) in scenario.hosts.iter().zip(interfaces) {
            let path = folder.directory().join(CaptureFolder::file_name(run, &host.name));
            let failed = |error| RunError::write("", &path, &error);
            let names: Vec<&str> = host.interfaces.iter().map(|interface| interface.name.as_str()).collect();
            let file = AppendedFile::create(&path).map_err(failed)?;
            let writer = PcapngWriter::new(file, &names).map_err(failed)?;
            let (buffer, payload) = (Vec::new(), Vec::new());
            hosts.push(HostCapture { writer, interfaces: ids.clone(), identification: 0, buffer, payload });
        }
        Ok(Self(Arc::new(Mutex::new(Captures { folder: folder.clone(), hosts, error: None }))))
    }

    /// Writes the packet `bytes`, which passes `interface` of `host` at `time`.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn write(&self, time: Instant, host: HostId, interface: InterfaceId, bytes: &[u8]) {
        self.with_host(host, |capture, folder| capture.write(folder, time, interface, bytes));
    }

    fn with_host(&self, host: HostId, work: impl FnOnce(&mut HostCapture, &CaptureFolder) -> Result<(), String>) {
        let Ok(mut captures) = self.0.lock() else { return };
        let Captures { folder, hosts, error } = &mut *captures;
        if error.is_none() {
            *error = work(&mut hosts[host.index()], folder).err();
        }
    }

    /// Returns the first error of any packet. Nothing has been captured since then.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let captures = self.0.lock().map_err(|_| RunError::Defect("a panic ended the capture".to_owned()))?;
        captures.error.as_ref().map_or(Ok(()), |error| Err(RunError::Write(error.clone())))
    }

    /// Ends the capture. Fails with the first error of any packet.
    pub(crate) fn finish(self, network: &mut Network) -> Result<(), RunError> {
        network.take_tap();
        self.check()?;
        let mut captures = self.0.lock().map_err(|_| RunError::Defect("a panic ended the capture".to_owned()))?;
        let Captures { folder, hosts, .. } = &mut *captures;
        for host in hosts {
            host.writer.flush().map_err(|error| RunError::Write(failed(folder, &error)))?;
        }
        Ok(())
    }
}

impl Tap for Capture {
    fn packet(&mut self, passage: Passage, packet: &Packet, mark: &mut u16) {
        self.with_host(passage.host, |capture, folder| {
            if passage.direction == Direction::Out {
                *mark = capture.next_identification();
            }
            capture.write_described(folder, passage, packet, *mark)
        });
    }
}

impl HostCapture {
    /// The IPv4 identification of the next packet that the host sends. It keeps it, so that captures of both ends can be
    /// matched.
    fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// Writes a packet whose payload is not stored, with zeros as payload; that of UDP begins with its place in the stream.
    fn write_described(
        &mut self,
        folder: &CaptureFolder,
        Passage { time, interface, .. }: Passage,
        packet: &Packet,
        identification: u16,
    ) -> Result<(), String> {
        let mut bytes = core::mem::take(&mut self.buffer);
        bytes.clear();
        let payload = match &packet.body {
            Body::Udp(datagram) => {
                self.payload.clear();
                self.payload.extend_from_slice(&datagram.payload.stream_offset.to_be_bytes());
                self.payload.resize(datagram.payload.length as usize, 0);
                PayloadBytes::Bytes(&self.payload)
            }
            _ => PayloadBytes::Zero,
        };
        packet
            .emit(payload, identification, &mut bytes)
            .map_err(|error| format!("a packet cannot be written as bytes: {error}"))?;
        self.write(folder, time, interface, &bytes)?;
        self.buffer = bytes;
        Ok(())
    }

    fn write(
        &mut self,
        folder: &CaptureFolder,
        time: Instant,
        interface: InterfaceId,
        bytes: &[u8],
    ) -> Result<(), String> {
        folder.reserve(packet_block_length(bytes.len()) as u64)?;
        let number = self.interfaces.iter().position(|&known| known == interface).unwrap_or(0);
        self.writer.write_packet(number as u32, time.as_nanos(), bytes).map_err(|error| failed(folder, &error))
    }
}

fn failed(folder: &CaptureFolder, error: &io::Error) -> String {
    format!("cannot write a capture to {}: {error}{}", folder.directory().display(), remedy(error))
}

/// Bytes that are collected before the file is opened.
const BUFFER: usize = 16 << 10;

/// Appends to a file. What is not flushed is lost when this is dropped.
#[derive(Debug)]
pub(super) struct AppendedFile {
    path: PathBuf,
    buffer: Vec<u8>,
}

impl AppendedFile {
    /// Creates the file, or empties it.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { path: path.to_owned(), buffer: Vec::new() })
    }
}

impl Write for AppendedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            OpenOptions::new().append(true).open(&self.path)?.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_a_process_may_open_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |number: usize| folder.path().join(number.to_string());
        let mut files: Vec<_> = (0..5000).map(|number| AppendedFile::create(&path(number)).expect("created")).collect();
        for file in &mut files {
            file.write_all(b"first ")
                .and_then(|()| file.write_all(b"last"))
                .and_then(|()| file.flush())
                .expect("written");
        }
        assert!((0..5000).all(|number| std::fs::read(path(number)).expect("read") == b"first last"));
    }

    #[test]
    fn what_is_larger_than_the_buffer_follows_what_was_written_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = AppendedFile::create(&path).expect("created");
        let large = vec![7; 3 * BUFFER];
        file.write_all(b"first").and_then(|()| file.write_all(&large)).and_then(|()| file.flush()).expect("written");
        let written = std::fs::read(&path).expect("read");
        assert!(written.starts_with(b"first") && written[5..] == large);
    }
}
