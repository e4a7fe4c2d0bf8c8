//! The rate of captured packets over time, as a trace that a link of a scenario follows.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::capture::{Capture, CaptureError};
use crate::packet;

/// The length of an interval, in nanoseconds.
const INTERVAL: u64 = 100_000_000;
/// The longest trace, in intervals: a day.
const MOST: u64 = 864_000;
/// Senders that are counted, at most.
const MOST_SENDERS: usize = 10_000;

/// Bytes of IP packets by tenths of a second, of one sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// The sender.
    pub from: IpAddr,
    /// The bytes of each interval since its first packet, for a day at most.
    pub bytes: Vec<u64>,
    /// Intervals after that day, which are left out.
    pub cut: u64,
}

/// The rate at which packets of a sender were captured: of `from`, else of the one that sent most. Several files may have
/// the same packets: the one with most bytes of the sender counts. IP packets of all protocols count, of tunnels the
/// innermost ones; fragments do not.
///
/// Without `from` the first 10,000 senders are compared; further ones are ignored.
///
/// # Errors
///
/// A file cannot be read, or is no capture.
///
/// # Returns
///
/// `None` if there are no such packets.
pub fn rate_trace(paths: &[PathBuf], from: Option<IpAddr>) -> Result<Option<RateTrace>, CaptureError> {
    let mut senders: BTreeMap<IpAddr, BTreeMap<usize, Sent>> = BTreeMap::new();
    for (file, path) in paths.iter().enumerate() {
        let mut capture = Capture::open(path)?;
        while capture.advance() {
            let record = capture.record();
            let Ok(packet) = packet::innermost(&record) else { continue };
            if from.is_some_and(|from| from != packet.source) {
                continue;
            }
            let is_full = senders.len() >= MOST_SENDERS;
            let files = match senders.entry(packet.source) {
                Entry::Vacant(_) if is_full => continue,
                sender => sender.or_default(),
            };
            let length = (packet.header_length + packet.length) as u64;
            files.entry(file).or_default().add(record.time / INTERVAL, length);
        }
    }
    let all = senders.into_iter().flat_map(|(from, files)| files.into_iter().map(move |(file, it)| (from, file, it)));
    let most = all.max_by_key(|(_, file, sent)| (sent.bytes, Reverse(*file)));
    Ok(most.and_then(|(from, _, sent)| {
        let first = *sent.intervals.first_key_value()?.0;
        let last = sent.end.min(first + MOST - 1);
        let bytes = (first..=last).map(|at| sent.intervals.get(&at).copied().unwrap_or(0)).collect();
        Some(RateTrace { from, bytes, cut: sent.end - last })
    }))
}

/// What a sender's packets in a file have in bytes, in all and by interval.
#[derive(Debug, Default)]
struct Sent {
    bytes: u64,
    /// Those up to a day after the first packet.
    intervals: BTreeMap<u64, u64>,
    /// The last interval.
    end: u64,
}

impl Sent {
    fn add(&mut self, interval: u64, bytes: u64) {
        self.bytes += bytes;
        self.end = self.end.max(interval);
        let first = self.intervals.first_key_value().map_or(interval, |(first, _)| *first);
        if interval < first + MOST {
            *self.intervals.entry(interval).or_default() += bytes;
        }
    }
}

impl RateTrace {
    /// CSV with the columns `time_s` and `rate_mbit_s`, as `trace` of a scenario's timeline takes it: a line for each
    /// change, and one at the end.
    pub fn to_csv(&self) -> String {
        let mut text =
            format!("# The rate of packets of {} in a capture: at most what the link could carry.\n", self.from);
        text += "time_s,rate_mbit_s\n";
        let mut before = None;
        let last = self.bytes.len().saturating_sub(1);
        for (at, bytes) in self.bytes.iter().enumerate() {
            if before != Some(bytes) || at == last {
                let (seconds, tenth) = (at / 10, at % 10);
                let _ = writeln!(text, "{seconds}.{tenth},{:.4}", *bytes as f64 * 8.0 / 1e5);
            }
            before = Some(bytes);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A packet of 10.0.0.1 on Ethernet: 140 bytes of IP, of which 40 were captured.
    fn packet() -> Vec<u8> {
        let mut packet: Vec<u8> = vec![0; 12];
        packet.extend([8, 0, 0x45, 0, 0, 140, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x50, 16, 0xff, 0xff, 0, 0, 0, 0]);
        packet
    }

    /// Such packets at these tenths of a second.
    fn capture(tenths: &[u32]) -> tempfile::NamedTempFile {
        capture_of(tenths.iter().map(|&at| (at, packet())))
    }

    /// Packets, each with its tenth of a second.
    fn capture_of(packets: impl IntoIterator<Item = (u32, Vec<u8>)>) -> tempfile::NamedTempFile {
        let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let mut bytes = numbers(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 1]);
        for (at, packet) in packets {
            bytes.extend(numbers(&[1000 + at / 10, at % 10 * 100_000, packet.len() as u32, 154]));
            bytes.extend(packet);
        }
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&bytes).expect("written");
        file
    }

    #[test]
    fn packets_that_two_files_have_count_once_and_without_their_links() {
        let files = [capture(&[0, 0]), capture(&[0, 0, 1])];
        let paths = files.each_ref().map(|file| file.path().to_owned());
        let trace = rate_trace(&paths, None).expect("captures").expect("it has packets");
        assert_eq!(trace, RateTrace { from: "10.0.0.1".parse().expect("an address"), bytes: vec![280, 140], cut: 0 });
    }

    #[test]
    fn packets_of_all_protocols_count_also_without_their_transport_headers() {
        let with = |protocol: u8, captured: usize| {
            let mut packet = packet();
            packet[23] = protocol;
            packet.truncate(14 + captured);
            (0, packet)
        };
        let file = capture_of([with(1, 28), with(6, 20), with(17, 22), with(89, 20)]);
        let trace = rate_trace(&[file.path().to_owned()], None).expect("a capture").expect("it has packets");
        assert_eq!(trace.bytes, [4 * 140]);
    }

    #[test]
    fn further_senders_are_ignored_unless_they_are_named() {
        let from = |sender: usize| {
            let mut packet = packet();
            packet[28..30].copy_from_slice(&(sender as u16).to_be_bytes());
            (0, packet)
        };
        let file = capture_of((0..=MOST_SENDERS).chain([MOST_SENDERS, 7]).map(from));
        let rate = |named: Option<&str>| {
            let named = named.map(|address| address.parse().expect("an address"));
            let trace = rate_trace(&[file.path().to_owned()], named).expect("a capture").expect("it has packets");
            (trace.from.to_string(), trace.bytes)
        };
        assert_eq!(rate(None), ("10.0.0.7".to_owned(), vec![280]));
        // 10,000 is 39 times 256 and 16.
        assert_eq!(rate(Some("10.0.39.16")), ("10.0.39.16".to_owned(), vec![280]));
    }

    #[test]
    fn what_comes_after_a_day_is_counted() {
        let file = capture(&[0, MOST as u32 + 5]);
        let trace = rate_trace(&[file.path().to_owned()], None).expect("a capture").expect("it has packets");
        assert_eq!((trace.bytes.len() as u64, trace.cut), (MOST, 6));
    }

    #[test]
    fn a_trace_has_a_line_for_each_change() {
        let from = "10.0.0.1".parse().expect("an address");
        let trace = RateTrace { from, bytes: vec![125_000, 125_000, 0, 0, 250_000, 250_000], cut: 0 };
        let csv = trace.to_csv();
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(lines, ["time_s,rate_mbit_s", "0.0,10.0000", "0.2,0.0000", "0.4,20.0000", "0.5,20.0000"]);
    }
}
