//! Captures as results: the connections, subflows and flows of pcap and pcapng files, and what the packets tell of them.
//!
//! | to find | look in |
//! |---|---|
//! | the formats of files, compression, damage | `capture/` |
//! | link layers and tunnels | `link_layer.rs`; the headers behind them: `network_layer.rs`, `packet.rs` |
//! | packets that were cut into fragments | `fragments.rs` |
//! | which files are of one host | `hosts.rs` |
//! | which packet belongs to which connection | `tracker/`; packets that come twice: `duplicates.rs` |
//! | connections of which only totals are kept | `tracker/folding.rs` |
//! | TCP: sequence numbers, retransmissions, round-trip times | `tcp/` |
//! | MPTCP: tokens, mappings | `mptcp.rs`; subflows without a token: `positions.rs`; data sequence numbers, reinjections: `data_level.rs` |
//! | MPTCP: the scheduler's choices, shared bottlenecks | `multipath.rs`, `choices.rs`, `bottlenecks.rs` |
//! | SCTP: paths, chunks | `sctp/` |
//! | requests, responses and pauses | `exchanges.rs` |
//! | UDP | `datagrams.rs` |
//! | several points of capture brought together | `summary/`; the same packet at two points: `passages.rs` |
//! | tables, text, JSON | `tables.rs` |
//! | captures to give away | `anonymise/` |
//! | the report | `observation.rs`; sentences: `inferred.rs`; packet by packet: `sequence.rs` |
//! | a scenario that replays what was captured | `replay/` |
//! | the rate over time as a trace | `rate_trace.rs` |
//!
//! Files are read at once, in the order of their packets' times. Memory depends on the number of connections that are open
//! at a time, of which [`MOST_FLOWS`] are followed, and not on the length of files.

mod anonymise;
mod bottlenecks;
mod capture;
mod choices;
mod data_level;
mod datagrams;
mod duplicates;
mod exchanges;
mod fragments;
mod hosts;
mod inferred;
mod link_layer;
mod mptcp;
mod multipath;
mod network_layer;
mod observation;
mod over_time;
mod packet;
mod passages;
mod positions;
mod ranges;
mod rate_trace;
mod replay;
mod sctp;
mod sequence;
mod summary;
mod tables;
mod tcp;
mod totals;
mod tracker;

use std::path::PathBuf;

pub use anonymise::{AnonymisationKey, Anonymised, anonymise};
pub use bottlenecks::BottleneckRow;
pub use capture::{Capture, CaptureError, Damage, Record};
pub use choices::ObservedScheduler;
pub use link_layer::Unread;
pub use rate_trace::{RateTrace, rate_trace};
pub use replay::{MOST_REPLAYED, Replay, ReplayError, replay};
pub use sequence::{Sending, SentSequence};
pub use summary::{ClockRow, Clocks, ConnectionRow, DirectionRow, SubflowRow};
pub use tables::{bottlenecks, connections, subflows, totals};
pub use tcp::{Cause, Family};
pub use totals::TotalRow;
pub use tracker::MOST_FLOWS;

use exchanges::ConnectionExchanges;
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
    /// The clocks of the hosts after the first one, against that of the first.
    pub clocks: Vec<ClockRow>,
    /// Numbers of packets that belong to no connection, by reason.
    pub unread: Vec<(Unread, u64)>,
    /// Packets that were put together from fragments.
    pub put_together: u64,
    /// Connections of which only totals are kept, by protocol and outcome: there are some if [`MOST_FLOWS`] were followed.
    pub totals: Vec<TotalRow>,
    /// Packets that the captures have twice: copies are in no figure.
    pub duplicates: u64,
    /// TCP packets of which options were not captured.
    pub cut_headers: u64,
    /// Packets with data, by what they are, of the first subflows.
    pub sequences: Vec<SentSequence>,
    /// The requests and responses of connections with several, in the order of the connections.
    exchanges: Vec<ConnectionExchanges>,
    seen: Seen,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFile {
    /// Where it is.
    pub path: PathBuf,
    /// The host that it was captured at: files of the same number were read as one capture.
    pub host: u16,
    /// Packets in it.
    pub packets: u64,
    /// Its length after decompression, in bytes, up to the damage if it is damaged.
    pub bytes: u64,
    /// Why reading ended before the end.
    pub damage: Option<Damage>,
}

/// Reads captures. Packets of one connection may be in several files: of both ends, of several interfaces of a host, of a
/// capture that was cut in time. What the files contain tells which are of one host; if some are, all files are read
/// twice, unless one is standard input: then each is taken for a point of capture of its own. `clocks` says whether the
/// times of several hosts can be compared.
///
/// # Errors
///
/// A file cannot be read, or is no capture. A damaged one is read up to the damage.
pub fn analyze(paths: &[PathBuf], clocks: Clocks) -> Result<Analysis, CaptureError> {
    let separately = Reading::of(opened(paths)?, (0..paths.len() as u16).collect());
    let is_standard_input = |path: &PathBuf| path.as_os_str() == "-";
    let hosts = hosts::hosts(&separately.tracker, paths.len());
    if hosts == separately.hosts || paths.iter().any(is_standard_input) {
        return Ok(separately.analysis(clocks));
    }
    drop(separately);
    Ok(Reading::of(opened(paths)?, hosts).analysis(clocks))
}

/// The same with the files of each host: they are read once.
///
/// # Errors
///
/// As [`analyze`].
pub fn analyze_hosts(hosts: &[Vec<PathBuf>], clocks: Clocks) -> Result<Analysis, CaptureError> {
    let paths: Vec<PathBuf> = hosts.iter().flatten().cloned().collect();
    let numbers = (0..).zip(hosts).flat_map(|(number, files)| std::iter::repeat_n(number, files.len())).collect();
    Ok(Reading::of(opened(&paths)?, numbers).analysis(clocks))
}

/// The same with captures that are open, each of a host of its own.
pub fn analyze_captures(captures: Vec<Capture>, clocks: Clocks) -> Analysis {
    let hosts = (0..captures.len() as u16).collect();
    Reading::of(captures, hosts).analysis(clocks)
}

fn opened(paths: &[PathBuf]) -> Result<Vec<Capture>, CaptureError> {
    paths.iter().map(|path| Capture::open(path)).collect()
}

/// Captures that were read.
struct Reading {
    captures: Vec<Capture>,
    /// The host of each, which is its point of capture.
    hosts: Vec<u16>,
    packets: Vec<u64>,
    /// Of the first packet and of the last.
    times: (u64, u64),
    tracker: Tracker,
}

impl Reading {
    /// Reads captures to their ends, in the order of their packets' times.
    fn of(mut captures: Vec<Capture>, hosts: Vec<u16>) -> Self {
        let mut packets = vec![0; captures.len()];
        let mut tracker = Tracker::new(hosts.iter().max().map_or(0, |last| usize::from(*last) + 1));
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
            tracker.observe(hosts[at], &record);
            has_more[at] = captures[at].advance();
        }
        Self { captures, hosts, packets, times: times.unwrap_or_default(), tracker }
    }

    fn analysis(&self, clocks: Clocks) -> Analysis {
        let Self { captures, hosts, packets, times: (first, last), tracker } = self;
        let files = captures.iter().zip(hosts).zip(packets).map(|((capture, host), packets)| CapturedFile {
            path: capture.path().to_owned(),
            host: *host,
            packets: *packets,
            bytes: capture.offset(),
            damage: capture.damage().cloned(),
        });
        let summary = summary::summarise(tracker, *first, clocks);
        let first_file = |point: usize| hosts.iter().position(|host| usize::from(*host) == point).unwrap_or(0);
        let clocks = summary.clocks.into_iter().map(|row| ClockRow { file: first_file(row.file - 1) + 1, ..row });
        Analysis {
            files: files.collect(),
            duration_s: (last - first) as f64 / 1e9,
            connections: summary.connections,
            subflows: summary.subflows,
            bottlenecks: summary.bottlenecks,
            clocks: clocks.collect(),
            unread: tracker.unread(),
            put_together: tracker.fragments.packets,
            totals: tracker.totals.values().copied().collect(),
            duplicates: tracker.duplicates.count,
            cut_headers: tracker.cut_headers,
            sequences: summary.sequences,
            exchanges: summary.exchanges,
            seen: summary.seen,
        }
    }
}
