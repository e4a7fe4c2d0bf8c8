//! Captures as results: the connections, subflows and flows of pcap and pcapng files, and what the packets tell of them.
//!
//! | to find | look in |
//! |---|---|
//! | the formats of files, compression, damage | `capture/` |
//! | link layers and tunnels | `link_layer.rs`; the headers behind them: `packet.rs` |
//! | which packet belongs to which connection | `tracker.rs` |
//! | TCP: sequence numbers, retransmissions, round-trip times | `tcp/` |
//! | MPTCP: tokens, mappings | `mptcp.rs`; data sequence numbers, reinjections: `data_level.rs` |
//! | MPTCP: the scheduler's choices, shared bottlenecks | `multipath.rs`, `choices.rs`, `bottlenecks.rs` |
//! | SCTP: paths, chunks | `sctp.rs` |
//! | several points of capture brought together | `summary/`; the same packet at two points: `passages.rs` |
//! | tables, text, JSON | `tables.rs` |
//! | captures to give away | `anonymise/` |
//! | the report | `observation.rs`; sentences: `inferred.rs` |
//! | a scenario that replays what was captured | `replay/` |
//! | the rate over time as a trace | `rate_trace.rs` |
//!
//! Files are read at once, in the order of their packets' times. Memory depends on the number of connections, of which
//! [`MOST_FLOWS`] are followed, and not on the length of files.

mod anonymise;
mod bottlenecks;
mod capture;
mod choices;
mod data_level;
mod inferred;
mod link_layer;
mod mptcp;
mod multipath;
mod observation;
mod over_time;
mod packet;
mod passages;
mod ranges;
mod rate_trace;
mod replay;
mod sctp;
mod summary;
mod tables;
mod tcp;
mod tracker;

use std::path::PathBuf;

pub use anonymise::{AnonymisationKey, Anonymised, anonymise};
pub use bottlenecks::BottleneckRow;
pub use capture::{Capture, CaptureError, Damage, Record};
pub use choices::ObservedScheduler;
pub use link_layer::Unread;
pub use rate_trace::{RateTrace, rate_trace};
pub use replay::{MOST_REPLAYED, Replay, ReplayError, replay};
pub use summary::{ClockRow, Clocks, ConnectionRow, DirectionRow, SubflowRow};
pub use tables::{bottlenecks, connections, subflows};
pub use tcp::Family;
pub use tracker::MOST_FLOWS;

use over_time::Seen;
use tracker::Tracker;

/// What captures show.
#[derive(Debug)]
pub struct Analysis {
    /// The files, in the order in which they were given.
    pub files: Vec<CapturedFile>,
    /// From the first packet to the last, in seconds.
    pub duration_s: f64,
    /// The connections, in the order of their first packets.
    pub connections: Vec<ConnectionRow>,
    /// The subflows and paths of the connections: a row for each direction with data.
    pub subflows: Vec<SubflowRow>,
    /// What detectors say of pairs of subflows, if they say something.
    pub bottlenecks: Vec<BottleneckRow>,
    /// The clocks of the files after the first one, against that of the first.
    pub clocks: Vec<ClockRow>,
    /// Numbers of packets that belong to no connection, by reason.
    pub unread: Vec<(Unread, u64)>,
    /// Packets of connections beyond [`MOST_FLOWS`].
    pub beyond: u64,
    seen: Seen,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Packets in it.
    pub packets: u64,
    /// Its length after decompression, in bytes, up to the damage if it is damaged.
    pub bytes: u64,
    /// Why reading ended before the end.
    pub damage: Option<Damage>,
}

/// Reads captures. Packets of one connection may be in several files, from several hosts: give the files of all of them,
/// and merge those of one host's interfaces first. `clocks` says whether their times can be compared.
///
/// # Errors
///
/// A file cannot be read, or is no capture. A damaged one is read up to the damage.
pub fn analyze(paths: &[PathBuf], clocks: Clocks) -> Result<Analysis, CaptureError> {
    let captures = paths.iter().map(|path| Capture::open(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(analyze_captures(captures, clocks))
}

/// The same with captures that are open.
pub fn analyze_captures(mut captures: Vec<Capture>, clocks: Clocks) -> Analysis {
    let mut packets = vec![0; captures.len()];
    let mut tracker = Tracker::new(captures.len());
    let mut times: Option<(u64, u64)> = None;
    let mut has_more: Vec<bool> = captures.iter_mut().map(Capture::advance).collect();
    let earliest = |captures: &[Capture], has_more: &[bool]| {
        let open = (0..captures.len()).filter(|&at| has_more[at]);
        open.min_by_key(|&at| captures[at].record().time)
    };
    while let Some(at) = earliest(&captures, &has_more) {
        let record = captures[at].record();
        let (first, last) = times.unwrap_or((record.time, record.time));
        times = Some((first.min(record.time), last.max(record.time)));
        packets[at] += 1;
        tracker.observe(at as u16, &record);
        has_more[at] = captures[at].advance();
    }
    let (first, last) = times.unwrap_or_default();
    let files = captures.iter().zip(packets).map(|(capture, packets)| CapturedFile {
        path: capture.path().to_owned(),
        packets,
        bytes: capture.offset(),
        damage: capture.damage().cloned(),
    });
    let files = files.collect();
    let unread = tracker.unread.iter().map(|(&unread, &packets)| (unread, packets)).collect();
    let summary = summary::summarise(&tracker, first, clocks);
    Analysis {
        files,
        duration_s: (last - first) as f64 / 1e9,
        connections: summary.connections,
        subflows: summary.subflows,
        bottlenecks: summary.bottlenecks,
        clocks: summary.clocks,
        unread,
        beyond: tracker.beyond,
        seen: summary.seen,
    }
}
