//! Capture files, dissected by tshark.

use std::path::PathBuf;
use std::process::Command;

use subflow_prerequisite::Prerequisite;
use subflow_wire::{Packet, PayloadBytes, PcapngWriter};

use crate::common::emit;

pub(crate) const INTERFACES: [&str; 2] = ["wifi", "lte"];
/// Not a whole number of microseconds.
pub(crate) const START_NANOS: u64 = 1_700_000_000_123_456_789;

/// A capture file. It stays in the target directory so that a failure can be examined.
pub(crate) struct Capture(PathBuf);

impl Capture {
    pub(crate) fn write<'a>(name: &str, packets: impl Iterator<Item = (u32, &'a Packet)>) -> Self {
        let mut writer = PcapngWriter::new(Vec::new(), &INTERFACES).unwrap();
        for (index, (interface, packet)) in packets.enumerate() {
            let time = START_NANOS + index as u64 * 1_000_001;
            writer.write_packet(interface, time, &emit(packet, PayloadBytes::Zero)).unwrap();
        }
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
        std::fs::write(&path, writer.into_inner()).unwrap();
        Self(path)
    }

    /// The given fields of every packet. `None`, with a message, if tshark is not installed.
    pub(crate) fn dissect(&self, fields: &[&str]) -> Option<Vec<Vec<String>>> {
        let mut command = Command::new("tshark");
        // Two passes, because the keys that identify an MPTCP connection come after its first packet.
        command.args(["-2", "-n", "-o", "tcp.relative_sequence_numbers:FALSE"]);
        command.arg("-r").arg(&self.0).args(["-T", "fields"]);
        for protocol in ["ip", "tcp", "udp"] {
            command.args(["-o", &format!("{protocol}.check_checksum:TRUE")]);
        }
        command.args(["-o", "sctp.checksum:CRC 32c", "-o", "sctp.relative_tsns:FALSE"]);
        for field in fields {
            command.args(["-e", field]);
        }
        let output = match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Prerequisite::Tshark.missing("it is not installed, so it has not seen our captures");
                return None;
            }
            output => output.unwrap(),
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tshark: {errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
    }
}
