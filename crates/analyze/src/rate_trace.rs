//! The rate of captured packets over time, as a trace that a link of a scenario follows.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::capture::{Capture, CaptureError};
use crate::packet;

/// The length of an interval, in nanoseconds.
const INTERVAL: u64 = 100_000_000;
/// The longest trace, in intervals: a day.
const MOST: u64 = 864_000;

/// Bytes of IP packets by tenths of a second, of one sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// The sender.
    pub from: IpAddr,
    /// The bytes of each interval since its first packet.
    pub bytes: Vec<u64>,
}

/// The rate at which packets of a sender were captured: of `from`, else of the one that sent most.
///
/// # Errors
///
/// A file cannot be read, or is no capture.
///
/// # Returns
///
/// `None` if there are no such packets.
pub fn rate_trace(paths: &[PathBuf], from: Option<IpAddr>) -> Result<Option<RateTrace>, CaptureError> {
    let mut senders: BTreeMap<IpAddr, BTreeMap<u64, u64>> = BTreeMap::new();
    for path in paths {
        let mut capture = Capture::open(path)?;
        while capture.advance() {
            let record = capture.record();
            let Ok(packet) = packet::read(&record) else { continue };
            let sender = packet.source.ip();
            if from.is_none_or(|from| from == sender) {
                let length = u64::from(record.original_length);
                *senders.entry(sender).or_default().entry(record.time / INTERVAL).or_default() += length;
            }
        }
    }
    let most = senders.into_iter().max_by_key(|(_, intervals)| intervals.values().sum::<u64>());
    Ok(most.and_then(|(from, intervals)| {
        let (first, last) = (*intervals.first_key_value()?.0, *intervals.last_key_value()?.0);
        let last = last.min(first + MOST - 1);
        let bytes = (first..=last).map(|at| intervals.get(&at).copied().unwrap_or(0)).collect();
        Some(RateTrace { from, bytes })
    }))
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
    use super::*;

    #[test]
    fn a_trace_has_a_line_for_each_change() {
        let from = "10.0.0.1".parse().expect("an address");
        let trace = RateTrace { from, bytes: vec![125_000, 125_000, 0, 0, 250_000, 250_000] };
        let csv = trace.to_csv();
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(lines, ["time_s,rate_mbit_s", "0.0,10.0000", "0.2,0.0000", "0.4,20.0000", "0.5,20.0000"]);
    }
}
