//! Runs with their captures and event logs, and captures made of others' packets.

use std::path::{Path, PathBuf};

use serde_json::Value;
use subflow_analyze::{Capture, Record};
use subflow_lab::capture::CaptureFolder;
use subflow_lab::event_log::EventFolder;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_quantity::Size;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A run, with the folder of its captures and its event log.
pub(crate) struct Captured {
    pub(crate) run: RunResult,
    folder: tempfile::TempDir,
}

/// A packet as it was captured.
pub(crate) struct Packet {
    pub(crate) time: u64,
    /// From the IP header on.
    pub(crate) bytes: Vec<u8>,
}

impl Captured {
    /// Runs a scenario.
    pub(crate) fn of(text: &str) -> Self {
        let document = Document::parse(Path::new("captured.toml"), text.to_owned()).expect("it is TOML");
        let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(u64::MAX)));
        let events = Some(EventFolder::new(folder.path()));
        let run = simulate(&scenario, 1, &RunOptions { pcap, events, series: true, ..RunOptions::default() })
            .expect("it runs");
        Self { run, folder }
    }

    /// The capture of a host.
    pub(crate) fn file(&self, host: &str) -> PathBuf {
        self.folder.path().join(CaptureFolder::file_name(0, host))
    }

    /// The packets of a host's capture. No two have the same time, so that they have one order in several files, too.
    pub(crate) fn packets(&self, host: &str) -> Vec<Packet> {
        let mut capture = Capture::open(&self.file(host)).expect("a capture");
        let mut packets: Vec<Packet> = Vec::new();
        while capture.advance() {
            let Record { time, bytes, .. } = capture.record();
            let time = packets.last().map_or(time, |last| time.max(last.time + 1));
            packets.push(Packet { time, bytes: bytes.to_vec() });
        }
        packets
    }

    /// Writes packets to a file of this name, beside the run's own captures.
    pub(crate) fn write<'a>(&self, name: &str, packets: impl Iterator<Item = &'a Packet>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, pcap(101, packets.map(|packet| (packet.time, packet.bytes.clone())))).expect("written");
        path
    }

    /// The lines of the event log behind the first.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join(EventFolder::file_name(0))).expect("a log");
        text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Packet {
    /// Whether an end of an IPv4 packet has this address.
    pub(crate) fn has(&self, address: [u8; 4]) -> bool {
        self.bytes[12..16] == address || self.bytes[16..20] == address
    }

    pub(crate) fn is_from(&self, address: [u8; 4]) -> bool {
        self.bytes[12..16] == address
    }
}

/// A pcap file with nanoseconds: packets of a link type, each with its time.
pub(crate) fn pcap(link_type: u32, packets: impl Iterator<Item = (u64, Vec<u8>)>) -> Vec<u8> {
    let mut file: Vec<u8> = Vec::new();
    let mut numbers = |numbers: &[u32], bytes: &[u8]| {
        file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        file.extend(bytes);
    };
    numbers(&[0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 262_144, link_type], &[]);
    for (time, bytes) in packets {
        let length = bytes.len() as u32;
        numbers(&[(time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32, length, length], &bytes);
    }
    file
}
