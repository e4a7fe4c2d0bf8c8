//! The CSV files of measurements: what was configured and what the kernel did, one row for each flow of each repetition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use subflow_policy::congestion::Algorithm;

/// The columns that a file must have, and those that it may have.
const REQUIRED: [&str; 9] =
    ["case", "protocol", "cc", "paths", "loss_pct", "duration_s", "rep", "flow", "goodput_mbps"];
const OPTIONAL: [&str; 11] = [
    "goodput_tail_mbps",
    COMPLETION,
    "retransmits",
    "drops",
    PATH_BYTES[0],
    PATH_BYTES[1],
    "queue_drops_path1",
    "queue_drops_path2",
    "loss_drops_path1",
    "loss_drops_path2",
    START,
];
pub(super) const COMPLETION: &str = "completion_s";
pub(super) const PATH_BYTES: [&str; 2] = ["path1_bytes", "path2_bytes"];
pub(super) const START: &str = "flow_start_s";

/// What queue and round-trip time were over time, in this order, and then what the bottlenecks dropped and marked.
pub(super) const DELAYS: [&str; 8] = [
    "backlog_mean_pkts",
    "backlog_median_pkts",
    "backlog_p95_pkts",
    "srtt_mean_ms",
    "srtt_median_ms",
    "srtt_p95_ms",
    "drops",
    "marks",
];
/// The place of the first of [`DELAYS`] that is a count of packets.
pub(super) const COUNTS: usize = 6;
/// What a file may say of the hosts and of the bottleneck, with what our runs have: a cell with anything else is a
/// configuration that is not run.
const SETTINGS: [(&str, &[&str]); 4] = [
    (
        "bottleneck",
        &["", "netem", AT_HOST, "fifo", "red", "redecn", "codel", "codelecn", "fqcodel", "fqcodelecn", "pie", "pieecn"],
    ),
    ("host_qdisc", &["", "fq", HOST_TBF, HOST_NETEM]),
    ("gso", &["", "off"]),
    ("ecn", &["", "0", "1"]),
];
/// The bottleneck is the sender's own interface, with one of these queue disciplines. netem takes packets away from TCP's
/// accounting (`skb_orphan_partial`), so that small queues do not limit what waits there.
const AT_HOST: &str = "host";
const HOST_TBF: &str = "tbf";
const HOST_NETEM: &str = "netem";
/// `net.ipv4.tcp_limit_output_bytes`, which is "default" or a number.
const OUTPUT_LIMIT: &str = "tcp_limit_output";
const DEFAULT_OUTPUT_LIMIT: f64 = 1_048_576.0;
/// What further columns begin with that a file may have and nothing reads.
const UNREAD: [&str; 8] = ["backlog", "srtt", "marks", "min_rtt_ms", "delivered_ce", "udp_", "guest_cpu_idle", "boot"];

const PROTOCOLS: [&str; 3] = ["tcp", "mptcp", "sctp"];

/// One path, written `R/D/Q`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PathSpec {
    /// Its number from 1.
    pub(super) n: usize,
    pub(super) rate_mbps: f64,
    /// The same in bit/s, for templates, which compute with whole numbers.
    pub(super) rate_bps: u64,
    /// One-way.
    pub(super) delay_ms: f64,
    /// Packets that the queue holds, the one in transmission included.
    pub(super) queue: u32,
    pub(super) loss_pct: f64,
}

/// One row, whose cells have been checked.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its line in the file.
    pub(super) line: u64,
    cells: BTreeMap<String, String>,
    pub(super) paths: Vec<PathSpec>,
    /// The flow's number from 1, or [`ALL`].
    pub(super) flow: u32,
}

/// The number of a row of all flows together.
pub(super) const ALL: u32 = u32::MAX;

/// The number of a flow, as rows have it.
pub(super) fn flow_name(flow: u32) -> String {
    if flow == ALL { "all".to_owned() } else { flow.to_string() }
}

/// Reads `text`, which stands in the file called `name`.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Record>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| format!("{name}:1: {error}"))?.clone();
    let known = || REQUIRED.into_iter().chain(OPTIONAL).chain(DELAYS).chain(SETTINGS.map(|(name, _)| name));
    for column in &header {
        let is_known = known().chain([OUTPUT_LIMIT]).any(|known| known == column);
        if !is_known && !UNREAD.iter().any(|begin| column.starts_with(begin)) {
            let known = known().collect::<Vec<&str>>().join(", ");
            return Err(format!("{name}:1: found the column {column:?}, expected only columns of {known}"));
        }
    }
    for required in REQUIRED {
        if !header.iter().any(|column| column == required) {
            return Err(format!("{name}:1: the column {required:?} is missing"));
        }
    }
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            format!("{name}:{line}: {error}")
        })?;
        let line = row.position().map_or(0, csv::Position::line);
        let cells = header.iter().zip(&row).map(|(column, cell)| (column.to_owned(), cell.trim().to_owned()));
        let mut record = Record { line, cells: cells.collect(), paths: Vec::new(), flow: ALL };
        record.check().map_err(|problem| format!("{name}:{line}: {problem}"))?;
        records.push(record);
    }
    if records.is_empty() {
        return Err(format!("{name}:1: found no cases below the header, expected at least one"));
    }
    Ok(records)
}

impl Record {
    /// A cell as written; empty where the file has no such column.
    pub(super) fn text(&self, column: &str) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// A cell as a number; `None` where it is empty.
    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Whether hosts and bottleneck are as ours.
    pub(super) fn is_plain(&self) -> bool {
        let is_of_host = [HOST_TBF, HOST_NETEM].contains(&self.text("host_qdisc"));
        SETTINGS.iter().all(|(column, ours)| ours.contains(&self.text(column))) && self.is_at_host() == is_of_host
    }

    /// The queue discipline of the sender's interfaces where these are the bottleneck, else empty.
    pub(super) fn host_queue(&self) -> &str {
        if self.is_at_host() { self.text("host_qdisc") } else { "" }
    }

    /// The queue discipline of the bottlenecks, which is below a tbf, and whether it marks packets; empty for netem, and at
    /// the sender.
    pub(super) fn discipline(&self) -> (&str, bool) {
        let bottleneck = self.text("bottleneck");
        let discipline = if self.is_at_host() || bottleneck == "netem" { "" } else { bottleneck };
        discipline.strip_suffix("ecn").map_or((discipline, false), |discipline| (discipline, true))
    }

    pub(super) fn output_limit(&self) -> f64 {
        self.number(OUTPUT_LIMIT).unwrap_or(DEFAULT_OUTPUT_LIMIT)
    }

    fn is_at_host(&self) -> bool {
        self.text("bottleneck") == AT_HOST
    }

    /// Checks all cells that are read, and sets what several of them say.
    fn check(&mut self) -> Result<(), String> {
        let text = |column| self.text(column);
        let mut paths = text("paths").split(';').map(|path| self.path(path)).collect::<Result<Vec<_>, _>>()?;
        let mut loss_pct = Vec::new();
        for loss in text("loss_pct").split(';') {
            loss_pct.push(number_in("loss_pct", loss, "a percentage from 0 to 100", |x| x <= 100.0)?);
        }
        if loss_pct.len() == 1 {
            loss_pct.resize(paths.len(), loss_pct[0]);
        }
        if loss_pct.len() != paths.len() {
            let expected = format!("one, or one for each of the {} paths", paths.len());
            return Err(complaint("loss_pct", text("loss_pct"), &expected));
        }
        paths.iter_mut().zip(1..).for_each(|(path, n)| path.n = n);
        paths.iter_mut().zip(loss_pct).for_each(|(path, loss)| path.loss_pct = loss);
        let flow = match text("flow") {
            "all" => ALL,
            number => count("flow", number, "the number of a flow from 1, or \"all\"")?,
        };
        if text("case").is_empty() {
            return Err(complaint("case", "", "the name of a case"));
        }
        count("rep", text("rep"), "the number of a repetition from 1")?;
        number_in("duration_s", text("duration_s"), "seconds above 0, at most a day", |x| x > 0.0 && x <= 86_400.0)?;
        number_in("goodput_mbps", text("goodput_mbps"), "Mbit/s", |_| true)?;
        for column in [COMPLETION, START].into_iter().chain(PATH_BYTES).chain(DELAYS) {
            if !text(column).is_empty() {
                number_in(column, text(column), "a number, or nothing", |_| true)?;
            }
        }
        if !["", "default"].contains(&text(OUTPUT_LIMIT)) {
            number_in(OUTPUT_LIMIT, text(OUTPUT_LIMIT), "\"default\", or bytes from 1", |x| x >= 1.0)?;
        }
        let protocol = text("protocol");
        let is_known = protocol.split('+').all(|protocol| PROTOCOLS.contains(&protocol));
        if !is_known || (protocol.contains('+') && flow != ALL) {
            return Err(complaint("protocol", protocol, "tcp, mptcp or sctp (joined by + where flow is \"all\")"));
        }
        if !text("cc").split('+').all(|name| name == "-" || Algorithm::NAMES.contains(&name)) {
            let expected = format!("one of {} (- for SCTP)", Algorithm::NAMES.join(", "));
            return Err(complaint("cc", text("cc"), &expected));
        }
        (self.paths, self.flow) = (paths, flow);
        Ok(())
    }

    fn path(&self, text: &str) -> Result<PathSpec, String> {
        const EXPECTED: &str = "R/D/Q: Mbit/s above 0, milliseconds and packets above 0, as in 50/20/100";
        // Most queue disciplines have limits of their own.
        let has_own_limit = !matches!(self.text("bottleneck"), "" | "netem" | "fifo" | AT_HOST);
        let complaint = || complaint("paths", text, EXPECTED);
        let parts: Vec<&str> = text.split('/').collect();
        let &[rate, delay, queue] = parts.as_slice() else {
            return Err(complaint());
        };
        let rate_mbps = number_in("paths", rate, EXPECTED, |x| (0.001..=100_000.0).contains(&x))?;
        Ok(PathSpec {
            n: 0,
            loss_pct: 0.0,
            rate_mbps,
            rate_bps: (rate_mbps * 1e6).round() as u64,
            delay_ms: number_in("paths", delay, EXPECTED, |x| x <= 100_000.0)?,
            queue: queue
                .trim()
                .parse::<u32>()
                .ok()
                .filter(|&queue| queue > 0 || has_own_limit)
                .ok_or_else(complaint)?
                .max(1),
        })
    }
}

fn complaint(column: &str, found: &str, expected: &str) -> String {
    format!("{column}: found {found:?}, expected {expected}")
}

fn number_in(column: &str, text: &str, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    let number = number.filter(|x| x.is_finite() && *x >= 0.0 && fits(*x));
    number.ok_or_else(|| complaint(column, text, expected))
}

fn count(column: &str, text: &str, expected: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| complaint(column, text, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps,flow_start_s\n";

    fn complaint(row: &str) -> String {
        parse("x.csv", &format!("{HEADER}{row}\n")).expect_err("the row is bad")
    }

    #[test]
    fn a_row_is_read() {
        let text = format!("{HEADER}D,mptcp,reno,20/10/50;10/2.5/40,0;1,60,2,1,28.4,0.5\n");
        let records = parse("x.csv", &text).expect("good");
        let record = &records[0];
        let rate_bps = 10_000_000;
        assert_eq!(
            record.paths[1],
            PathSpec { n: 2, rate_mbps: 10.0, rate_bps, delay_ms: 2.5, queue: 40, loss_pct: 1.0 }
        );
        assert_eq!((record.line, record.text("rep"), record.flow, record.number(START)), (2, "2", 1, Some(0.5)));
    }

    #[test]
    fn errors_name_file_line_and_what_was_expected() {
        let bad = complaint("A,tcp,reno,10/5,0,30,1,1,9.6,0");
        assert!(bad.starts_with("x.csv:2: paths: found \"10/5\", expected R/D/Q"), "{bad}");
        assert!(complaint("A,udp,reno,10/5/50,0,30,1,1,9.6,0").contains("expected tcp, mptcp or sctp"));
        assert!(complaint("A,tcp,renoo,10/5/50,0,30,1,1,9.6,0").contains("expected one of reno, cubic"));
        assert!(complaint("A,tcp,reno,10/5/50,0;0;0,30,1,1,9.6,0").contains("each of the 1 paths"));
        assert!(complaint("A,tcp,reno,10/5/50,0,30,1,first,9.6,0").contains("number of a flow"));
        assert!(complaint("A,tcp,reno,0/5/50,0,30,1,1,9.6,0").contains("R/D/Q"));
    }

    #[test]
    fn columns_are_known_and_complete() {
        let unknown = parse("x.csv", "case,colour\nA,red\n").expect_err("no such column");
        assert!(unknown.starts_with("x.csv:1: found the column \"colour\""), "{unknown}");
        let missing = parse("x.csv", "case,protocol\nA,tcp\n").expect_err("columns are missing");
        assert!(missing.contains("\"cc\" is missing"), "{missing}");
        assert!(parse("x.csv", HEADER).expect_err("empty").contains("no cases"));
    }
}
