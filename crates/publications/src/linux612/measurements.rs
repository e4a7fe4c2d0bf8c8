//! The CSV files of measurements: what was configured and what the kernel did, one row for each flow of each repetition.

use std::path::Path;

use serde::{Deserialize, Serialize};
use subflow_policy::congestion::Algorithm;
use subflow_scenario::input;

/// The columns that a file may have. Those that a configuration needs come first.
pub(super) const COLUMNS: [&str; 20] = [
    "case",
    "protocol",
    "cc",
    "paths",
    "loss_pct",
    "duration_s",
    "rep",
    "flow",
    "goodput_mbps",
    "goodput_tail_mbps",
    "completion_s",
    "retransmits",
    "drops",
    "path1_bytes",
    "path2_bytes",
    "queue_drops_path1",
    "queue_drops_path2",
    "loss_drops_path1",
    "loss_drops_path2",
    "flow_start_s",
];

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
/// What the name of a bottleneck's queue discipline ends with if it marks packets.
const MARKS: &str = "ecn";
/// The bottleneck is the sender's own interface, with one of these queue disciplines. netem takes packets away from TCP's
/// accounting (`skb_orphan_partial`), so that small queues do not limit what waits there.
const AT_HOST: &str = "host";
pub(super) const HOST_TBF: &str = "tbf";
pub(super) const HOST_NETEM: &str = "netem";
/// `net.ipv4.tcp_limit_output_bytes`, which is "default" or a number.
const OUTPUT_LIMIT: &str = "tcp_limit_output";
const DEFAULT_OUTPUT_LIMIT: f64 = 1_048_576.0;
/// What further columns begin with that a file may have and nothing reads.
const UNREAD: [&str; 8] = ["backlog", "srtt", "marks", "min_rtt_ms", "delivered_ce", "udp_", "guest_cpu_idle", "boot"];

/// How many of [`COLUMNS`] a file must have.
const REQUIRED: usize = 9;

const PROTOCOLS: [&str; 3] = ["tcp", "mptcp", "sctp"];

/// One path, written `R/D/Q`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PathSpec {
    /// Its number from 1.
    pub(super) n: usize,
    /// Rate in Mbit/s.
    pub(super) rate_mbps: f64,
    /// The same in bit/s, for templates, which compute with whole numbers.
    pub(super) rate_bps: u64,
    /// One-way delay in milliseconds.
    pub(super) delay_ms: f64,
    /// Packets that the queue holds, the one in transmission included.
    pub(super) queue: u32,
    /// Random loss in percent.
    pub(super) loss_pct: f64,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// Its line in the file.
    pub(super) line: u64,
    pub(super) case: String,
    /// As written: a row of all flows together joins theirs with `+`.
    pub(super) protocol: String,
    pub(super) cc: String,
    /// As written.
    pub(super) paths_text: String,
    pub(super) paths: Vec<PathSpec>,
    /// As written.
    pub(super) loss_text: String,
    pub(super) duration_s: f64,
    pub(super) rep: u32,
    /// The flow's number from 1, or [`ALL`].
    pub(super) flow: u32,
    pub(super) goodput_mbps: f64,
    pub(super) completion_s: Option<f64>,
    /// IP bytes through the queue of each path, as far as the row has them.
    pub(super) path_bytes: Vec<Option<f64>>,
    pub(super) start_s: f64,
    /// By [`DELAYS`], as far as the row has them.
    pub(super) delays: Vec<Option<f64>>,
    /// Whether hosts and bottleneck are as ours.
    pub(super) is_plain: bool,
    /// Whether the sender's packets leave at the pacing rate, from the queue discipline `fq`.
    pub(super) is_paced: bool,
    /// The queue discipline of the sender's interfaces where these are the bottleneck, else empty.
    pub(super) host_queue: String,
    /// Linux `tcp_limit_output_bytes`.
    pub(super) output_limit: f64,
    /// The queue discipline of the bottlenecks, which is below a tbf; empty for netem, and at the sender.
    pub(super) discipline: String,
    /// Whether it marks packets.
    pub(super) marks: bool,
    /// Whether all hosts negotiate ECN.
    pub(super) has_ecn: bool,
}

/// The number of a row of all flows together.
pub(super) const ALL: u32 = u32::MAX;

/// The number of a flow, as rows have it.
pub(super) fn flow_name(flow: u32) -> String {
    if flow == ALL { "all".to_owned() } else { flow.to_string() }
}

/// More is no table of cases but a mistake.
const LARGEST_FILE_MIB: u64 = 64;

/// Reads the file at `path`.
pub(super) fn load(path: &Path) -> Result<Vec<Record>, String> {
    let shown = path.display();
    let bytes =
        input::read(path, LARGEST_FILE_MIB).map_err(|error| format!("{shown}: cannot read the cases: {error}"))?;
    let text =
        String::from_utf8(bytes).map_err(|error| format!("{shown}: cannot read the cases: {}", error.utf8_error()))?;
    parse(&shown.to_string(), &text)
}

/// Reads `text`, which stands in the file called `name`.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Record>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| format!("{name}:1: {error}"))?.clone();
    for column in &header {
        let is_setting = SETTINGS.iter().any(|(name, _)| *name == column);
        if !COLUMNS.contains(&column)
            && !is_setting
            && column != OUTPUT_LIMIT
            && !UNREAD.iter().any(|begin| column.starts_with(begin))
        {
            let known = COLUMNS.into_iter().chain(DELAYS).chain(SETTINGS.map(|(name, _)| name));
            let known = known.collect::<Vec<&str>>().join(", ");
            return Err(format!("{name}:1: found the column {column:?}, expected only columns of {known}"));
        }
    }
    for required in &COLUMNS[..REQUIRED] {
        if !header.iter().any(|column| column == *required) {
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
        records.push(Row { name, line, header: &header, cells: &row }.read()?);
    }
    if records.is_empty() {
        return Err(format!("{name}:1: found no cases below the header, expected at least one"));
    }
    Ok(records)
}

/// A row that is being read.
struct Row<'a> {
    name: &'a str,
    line: u64,
    header: &'a csv::StringRecord,
    cells: &'a csv::StringRecord,
}

impl Row<'_> {
    fn read(&self) -> Result<Record, String> {
        let paths_text = self.cell("paths").to_owned();
        let mut paths = paths_text.split(';').map(|path| self.path(path)).collect::<Result<Vec<_>, _>>()?;
        let loss_text = self.cell("loss_pct").to_owned();
        let mut loss_pct = Vec::new();
        for loss in loss_text.split(';') {
            loss_pct.push(self.number_in("loss_pct", loss, "a percentage from 0 to 100", |x| x <= 100.0)?);
        }
        if loss_pct.len() == 1 {
            loss_pct.resize(paths.len(), loss_pct[0]);
        }
        if loss_pct.len() != paths.len() {
            let expected = format!("one, or one for each of the {} paths", paths.len());
            return Err(self.complaint("loss_pct", &loss_text, &expected));
        }
        paths.iter_mut().zip(1..).for_each(|(path, n)| path.n = n);
        paths.iter_mut().zip(loss_pct).for_each(|(path, loss)| path.loss_pct = loss);
        let flow = match self.cell("flow") {
            "all" => ALL,
            number => self.count("flow", number, "the number of a flow from 1, or \"all\"")?,
        };
        let bottleneck = self.cell("bottleneck");
        let is_at_host = bottleneck == AT_HOST;
        let discipline = if is_at_host || bottleneck == "netem" { "" } else { bottleneck };
        let case = self.cell("case").to_owned();
        if case.is_empty() {
            return Err(self.complaint("case", "", "the name of a case"));
        }
        let duration_s = self.number_in("duration_s", self.cell("duration_s"), "seconds above 0", |x| x > 0.0)?;
        if duration_s > 86_400.0 {
            return Err(self.complaint("duration_s", self.cell("duration_s"), "at most a day"));
        }
        Ok(Record {
            line: self.line,
            case,
            protocol: self.protocols(flow)?,
            cc: self.algorithms()?,
            paths_text,
            paths,
            loss_text,
            duration_s,
            rep: self.count("rep", self.cell("rep"), "the number of a repetition from 1")?,
            flow,
            goodput_mbps: self.number_in("goodput_mbps", self.cell("goodput_mbps"), "Mbit/s", |_| true)?,
            completion_s: self.optional("completion_s", "seconds, or nothing")?,
            path_bytes: vec![
                self.optional("path1_bytes", "bytes, or nothing")?,
                self.optional("path2_bytes", "bytes, or nothing")?,
            ],
            start_s: self.optional("flow_start_s", "seconds, or nothing")?.unwrap_or(0.0),
            delays: DELAYS
                .iter()
                .map(|column| self.optional(column, "a number, or nothing"))
                .collect::<Result<_, _>>()?,
            is_plain: SETTINGS.iter().all(|(column, ours)| ours.contains(&self.cell(column)))
                && is_at_host == [HOST_TBF, HOST_NETEM].contains(&self.cell("host_qdisc")),
            is_paced: self.cell("host_qdisc") == "fq",
            host_queue: if is_at_host { self.cell("host_qdisc").to_owned() } else { String::new() },
            output_limit: match self.cell(OUTPUT_LIMIT) {
                "" | "default" => DEFAULT_OUTPUT_LIMIT,
                bytes => self.number_in(OUTPUT_LIMIT, bytes, "\"default\", or bytes from 1", |x| x >= 1.0)?,
            },
            discipline: discipline.strip_suffix(MARKS).unwrap_or(discipline).to_owned(),
            marks: discipline.ends_with(MARKS),
            has_ecn: self.cell("ecn") == "1",
        })
    }

    /// The cell in `column`, empty where the file has no such column.
    fn cell(&self, column: &str) -> &str {
        let index = self.header.iter().position(|name| name == column);
        index.and_then(|index| self.cells.get(index)).unwrap_or("").trim()
    }

    fn complaint(&self, column: &str, found: &str, expected: &str) -> String {
        format!("{}:{}: {column}: found {found:?}, expected {expected}", self.name, self.line)
    }

    fn number_in(&self, column: &str, text: &str, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
        let number = text.trim().parse::<f64>().ok();
        let number = number.filter(|x| x.is_finite() && *x >= 0.0 && fits(*x));
        number.ok_or_else(|| self.complaint(column, text, expected))
    }

    fn optional(&self, column: &str, expected: &str) -> Result<Option<f64>, String> {
        match self.cell(column) {
            "" => Ok(None),
            text => self.number_in(column, text, expected, |_| true).map(Some),
        }
    }

    fn count(&self, column: &str, text: &str, expected: &str) -> Result<u32, String> {
        let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        number.ok_or_else(|| self.complaint(column, text, expected))
    }

    fn path(&self, text: &str) -> Result<PathSpec, String> {
        const EXPECTED: &str = "R/D/Q: Mbit/s above 0, milliseconds and packets above 0, as in 50/20/100";
        // Most queue disciplines have limits of their own.
        let has_own_limit = !matches!(self.cell("bottleneck"), "" | "netem" | "fifo" | AT_HOST);
        let complaint = || self.complaint("paths", text, EXPECTED);
        let parts: Vec<&str> = text.split('/').collect();
        let &[rate, delay, queue] = parts.as_slice() else {
            return Err(complaint());
        };
        let rate_mbps = self.number_in("paths", rate, EXPECTED, |x| (0.001..=100_000.0).contains(&x))?;
        Ok(PathSpec {
            n: 0,
            loss_pct: 0.0,
            rate_mbps,
            rate_bps: (rate_mbps * 1e6).round() as u64,
            delay_ms: self.number_in("paths", delay, EXPECTED, |x| x <= 100_000.0)?,
            queue: queue
                .trim()
                .parse::<u32>()
                .ok()
                .filter(|&queue| queue > 0 || has_own_limit)
                .ok_or_else(complaint)?
                .max(1),
        })
    }

    fn protocols(&self, flow: u32) -> Result<String, String> {
        let text = self.cell("protocol");
        let known = text.split('+').all(|protocol| PROTOCOLS.contains(&protocol));
        if !known || (text.contains('+') && flow != ALL) {
            return Err(self.complaint("protocol", text, "tcp, mptcp or sctp (joined by + where flow is \"all\")"));
        }
        Ok(text.to_owned())
    }

    fn algorithms(&self) -> Result<String, String> {
        let text = self.cell("cc");
        if !text.split('+').all(|name| name == "-" || Algorithm::NAMES.contains(&name)) {
            let expected = format!("one of {} (- for SCTP)", Algorithm::NAMES.join(", "));
            return Err(self.complaint("cc", text, &expected));
        }
        Ok(text.to_owned())
    }
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
        assert_eq!((record.line, record.rep, record.flow, record.start_s), (2, 2, 1, 0.5));
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
