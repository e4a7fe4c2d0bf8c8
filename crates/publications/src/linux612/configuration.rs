//! From rows to configurations: the repetitions of one configuration come together, as the variables of a cell.

use serde::{Deserialize, Serialize};

use super::measurements::{ALL, PathSpec, Record};

/// Something that was measured, with all that the kernel did in its repetitions. `paper.toml` makes a scenario of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Configuration {
    pub(super) case: String,
    /// The letter that the case begins with: its item.
    pub(super) letter: String,
    pub(super) paths_text: String,
    pub(super) loss_text: String,
    pub(super) paths: Vec<PathSpec>,
    /// The flows in the order of their numbers.
    pub(super) flows: Vec<FlowSpec>,
    /// The links of the clients.
    accesses: Vec<Access>,
    /// A path that loses everything from 10 s to 20 s, if one does.
    pub(super) failures: Vec<Failure>,
    duration_s: f64,
    sample_interval_s: String,
    /// Whether a size is sent, so that the completion time counts.
    pub(super) transfer: bool,
    /// Whether packets get lost at random.
    pub(super) lossy: bool,
    equal_paths: bool,
    /// Whether several flows share the path.
    shared: bool,
    /// Whether the senders pace.
    paced: bool,
    /// The queue discipline of the senders' interfaces where these are the bottleneck, else empty.
    host_queue: String,
    /// Linux `tcp_limit_output_bytes`, in bytes.
    output_limit: u64,
    /// Whether all flows are SCTP's.
    sctp: bool,
    /// 1 where means of several runs are compared, else 0.
    random: u8,
    /// 1 where distributions of runs are compared, which the H at the start of the case says, else 0.
    chaotic: u8,
    /// 1 unless the measurements say too little to repeat it, as with SCTP over several paths: not how these were used; or
    /// hosts and bottleneck are of another kind than ours.
    supported: u8,
    /// What the kernel did: each flow, then all of them where a row says so.
    pub(super) references: Vec<Reference>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FlowSpec {
    /// Its number from 1.
    n: usize,
    /// The number of its host.
    client: usize,
    protocol: String,
    cc: String,
    congestion: String,
    /// The earliest start in any repetition, in microseconds.
    start_us: u64,
    /// 1 for flows after the first, whose starts are spread, else 0.
    later: u8,
    send_bytes: u64,
    message_bytes: u32,
    /// Those of MPTCP besides the initial one.
    subflows: Vec<Subflow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Subflow {
    from: String,
    to: String,
}

/// The link of an interface of a client to its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Access {
    client: usize,
    n: usize,
    path: usize,
    delay_ms: f64,
}

/// A path that fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The number of the path.
    pub(super) path: usize,
    /// Whether acknowledgments get lost, too.
    both: bool,
    /// The path's random loss before and after, in percent.
    loss_pct: f64,
}

/// What the kernel did with one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    pub(super) flow: u32,
    pub(super) protocol: String,
    pub(super) cc: String,
    /// By repetition.
    pub(super) goodput_mbps: Vec<f64>,
    /// By repetition, where a size was sent.
    pub(super) completion_s: Vec<f64>,
    /// IP bytes through the queue of each path, by path and repetition.
    pub(super) path_bytes: Vec<Vec<f64>>,
    /// Queue and round-trip time, by [`DELAYS`](super::measurements::DELAYS) and repetition.
    pub(super) delays: Vec<Vec<f64>>,
    /// Goodput of each second of the first repetition, in Mbit/s, where it was recorded.
    pub(super) per_second: Vec<f64>,
}

/// No transfer in a case's name is larger: a thousand terabytes.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// The message that fills a packet of 1500 bytes.
const FULL_MESSAGE: u32 = 1452;
/// More is no message.
const MOST_MESSAGE: u32 = 4 << 20;
/// The means of starts, in seconds after the nominal ones: of later flows, and of all where distributions are compared.
const LATER_S: f64 = 0.015;
const CHAOTIC_S: f64 = 0.002;

impl Configuration {
    pub(super) fn is_chaotic(&self) -> bool {
        self.chaotic == 1
    }

    /// How long it runs, in seconds, unless a size is sent.
    pub(super) fn duration_s(&self) -> Option<f64> {
        (!self.transfer).then_some(self.duration_s)
    }

    /// The mean start of a flow over the runs, in seconds.
    pub(super) fn start_s(&self, flow: u32) -> Option<f64> {
        let FlowSpec { start_us, later, .. } = self.flows.get((flow as usize).checked_sub(1)?)?;
        let late = if self.is_chaotic() { CHAOTIC_S } else { LATER_S * f64::from(*later) };
        Some(*start_us as f64 / 1e6 + late)
    }

    /// Completes what follows from the repetitions of all its flows.
    fn complete(&mut self) {
        if self.transfer {
            // A transfer gets ten times what the kernel took.
            let taken = self.references.iter().flat_map(|reference| &reference.completion_s);
            self.duration_s = 10.0 * taken.fold(3.0, |a: f64, &b| a.max(b));
        }
        // A sample after each third says what the last two thirds begin with. Where a path fails, there are three in each
        // second, so that thirds and seconds begin with one; where queue and round-trip time were measured, 21.
        let has_delays = self.references.iter().any(|reference| !reference.delays.concat().is_empty());
        let samples = match (has_delays, self.failures.is_empty()) {
            (true, _) => 21 * self.duration_s.ceil() as u32,
            (false, true) => 3,
            (false, false) => 3 * self.duration_s.ceil() as u32,
        };
        self.sample_interval_s = format!("{:.9}", self.duration_s / f64::from(samples));
    }

    fn is_like(&self, other: &Self) -> bool {
        let of_flows =
            |of: &Self| of.flows.iter().map(|flow| [flow.protocol.clone(), flow.cc.clone()]).collect::<Vec<_>>();
        let is_as_long = self.transfer || self.duration_s == other.duration_s;
        (&self.case, &self.paths_text, &self.loss_text) == (&other.case, &other.paths_text, &other.loss_text)
            && is_as_long
            && of_flows(self) == of_flows(other)
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.flows.iter_mut().zip(&other.flows) {
            mine.start_us = mine.start_us.min(theirs.start_us);
        }
        for theirs in other.references {
            match self.references.iter_mut().find(|mine| mine.flow == theirs.flow) {
                Some(mine) => {
                    mine.goodput_mbps.extend(theirs.goodput_mbps);
                    mine.completion_s.extend(theirs.completion_s);
                    for (mine, theirs) in mine.path_bytes.iter_mut().zip(theirs.path_bytes) {
                        mine.extend(theirs);
                    }
                    mine.delays.iter_mut().zip(theirs.delays).for_each(|(mine, theirs)| mine.extend(theirs));
                }
                None => self.references.push(theirs),
            }
        }
    }
}

/// Groups the rows of the file called `name`. Rows that follow each other and tell of different flows of the same
/// repetition are one run; runs of the same case, paths, loss, length and flows are one configuration.
pub(super) fn group(name: &str, records: &[Record]) -> Result<Vec<Configuration>, String> {
    let mut configurations: Vec<Configuration> = Vec::new();
    let mut rest = records;
    while let Some(first) = rest.first() {
        let mut length = 1;
        while length < rest.len() && continues(&rest[..length], &rest[length]) {
            length += 1;
        }
        let (rows, later) = rest.split_at(length);
        rest = later;
        let run = run(rows).map_err(|message| format!("{name}:{}: {message}", first.line))?;
        match configurations.iter_mut().find(|known| known.is_like(&run)) {
            Some(known) => known.merge(run),
            None => configurations.push(run),
        }
    }
    configurations.iter_mut().for_each(Configuration::complete);
    Ok(configurations)
}

/// Whether `next` is of the same run as `rows`, and of a later flow.
fn continues(rows: &[Record], next: &Record) -> bool {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let same = |a: &Record, b: &Record| {
        (&a.case, &a.paths_text, &a.loss_text, a.rep) == (&b.case, &b.paths_text, &b.loss_text, b.rep)
    };
    same(first, next) && next.flow > last.flow
}

/// The flows of a run, counted from 1.
fn numbered(rows: &[Record]) -> Result<Vec<&Record>, String> {
    let numbered: Vec<&Record> = rows.iter().filter(|row| row.flow != ALL).collect();
    if let Some((row, _)) = numbered.iter().zip(1..).find(|(row, n)| row.flow != *n) {
        let flow = row.flow;
        return Err(format!("flow: found \"{flow}\", expected the rows of a run to count their flows from 1"));
    }
    let first = &rows[0];
    match numbered.len() {
        0 => Err("flow: found a row of all flows without a row for each of them before it".to_owned()),
        2.. if first.paths.len() > 1 => {
            Err(format!("paths: found {}, expected one path where several flows share it", first.paths_text))
        }
        _ => match numbered.iter().find(|row| row.protocol == "tcp" && row.paths.len() > 1) {
            Some(row) => Err(format!("paths: found {}, expected one path for TCP", row.paths_text)),
            None => Ok(numbered),
        },
    }
}

fn run(rows: &[Record]) -> Result<Configuration, String> {
    let (first, numbered) = (&rows[0], numbered(rows)?);
    let paths = &first.paths;
    let (sent, failure) = (sent_size(&first.case)?, failure(&first.case, paths)?);
    let letter: String = first.case.chars().take(1).collect();
    let (lossy, is_chaotic) = (paths.iter().any(|path| path.loss_pct > 0.0), letter == "H");
    let shape = |path: &PathSpec| (path.rate_mbps, path.delay_ms, path.queue);
    let sctp = numbered.iter().all(|row| row.protocol == "sctp");
    let is_sctp = |row: &&Record| row.protocol == "sctp";
    // Its cycle begins at random.
    let is_bbr = |row: &&Record| row.cc == "bbr";
    Ok(Configuration {
        case: first.case.clone(),
        paths_text: first.paths_text.clone(),
        loss_text: first.loss_text.clone(),
        paths: paths.clone(),
        flows: numbered.iter().zip(1..).map(|(row, n)| flow(row, n, numbered.len() > 1, sent)).collect(),
        failures: failure.into_iter().collect(),
        duration_s: first.duration_s,
        sample_interval_s: String::new(),
        transfer: sent.is_some(),
        lossy,
        equal_paths: paths.iter().all(|path| shape(path) == shape(&paths[0])),
        shared: numbered.len() > 1,
        paced: first.is_paced,
        host_queue: first.host_queue.clone(),
        output_limit: first.output_limit as u64,
        sctp,
        random: u8::from((numbered.len() > 1 || lossy || numbered.iter().any(is_bbr)) && !is_chaotic),
        chaotic: u8::from(is_chaotic),
        supported: u8::from(first.is_plain && (paths.len() == 1 || !numbered.iter().any(is_sctp))),
        references: rows.iter().map(reference).collect(),
        accesses: accesses(&numbered, paths),
        letter,
    })
}

fn reference(row: &Record) -> Reference {
    Reference {
        flow: row.flow,
        protocol: row.protocol.clone(),
        cc: row.cc.clone(),
        goodput_mbps: vec![row.goodput_mbps],
        completion_s: row.completion_s.into_iter().collect(),
        path_bytes: row.path_bytes.iter().map(|bytes| bytes.iter().copied().collect()).collect(),
        delays: row.delays.iter().map(|delay| delay.iter().copied().collect()).collect(),
        per_second: Vec::new(),
    }
}

fn flow(row: &Record, n: usize, is_shared: bool, sent: Option<u64>) -> FlowSpec {
    let subflow = |(interface, path): (usize, usize)| Subflow {
        from: format!("client{n}.c{interface}"),
        to: format!("server.s{path}"),
    };
    let further: Vec<(usize, usize)> =
        if is_shared { vec![(2, 1)] } else { row.paths.iter().skip(1).map(|path| (path.n, path.n)).collect() };
    FlowSpec {
        n,
        client: n,
        protocol: row.protocol.clone(),
        cc: row.cc.clone(),
        congestion: if row.protocol == "sctp" { "sctp".to_owned() } else { row.cc.clone() },
        start_us: (row.start_s * 1e6).round() as u64,
        later: u8::from(n > 1),
        send_bytes: sent.unwrap_or(0),
        message_bytes: message_bytes(&row.case),
        subflows: further.into_iter().map(subflow).collect(),
    }
}

/// The links of the clients. Flows that share a path have a client each, and an MPTCP flow on a shared path a second
/// interface of it there.
fn accesses(flows: &[&Record], paths: &[PathSpec]) -> Vec<Access> {
    let access = |client, n, path: &PathSpec| Access { client, n, path: path.n, delay_ms: path.delay_ms };
    if flows.len() == 1 {
        return paths.iter().map(|path| access(1, path.n, path)).collect();
    }
    let interfaces = |row: &Record| 1..=if row.protocol == "mptcp" { 2 } else { 1 };
    let of_client = |(row, client): (&&Record, usize)| interfaces(row).map(move |n| access(client, n, &paths[0]));
    flows.iter().zip(1..).flat_map(of_client).collect()
}

/// The size of the messages that SCTP sends, in bytes, which the case's name ends with, as in `G-sctp-64k`; one full packet
/// where it does not.
fn message_bytes(case: &str) -> u32 {
    let text = case.rsplit('-').next().unwrap_or_default();
    let (digits, unit) = text.strip_suffix('k').map_or((text, 1), |digits| (digits, 1024));
    let count = digits.parse::<u32>().ok().and_then(|count| count.checked_mul(unit));
    count.filter(|bytes| (1..=MOST_MESSAGE).contains(bytes)).unwrap_or(FULL_MESSAGE)
}

/// The size in a case's name, as in `F-100kB` and `K7-10MB-netem`. A part from a digit to a B is meant as one.
fn sent_size(case: &str) -> Result<Option<u64>, String> {
    let is_size = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with('B');
    let Some(text) = case.split('-').skip(1).find(|text| is_size(text)) else { return Ok(None) };
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "B" => Some(1),
        "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        _ => None,
    };
    let count = text[..digits].parse::<u64>().ok().filter(|&n| n > 0);
    let bytes = unit.zip(count).and_then(|(unit, count)| count.checked_mul(unit)).filter(|&bytes| bytes <= MOST_BYTES);
    bytes.map(Some).ok_or_else(|| format!("case: found {case:?}, expected a size in B, kB, MB or GB, as in F-100kB"))
}

/// The failure that a case's name tells of, as in `G-fail-path1-data`.
fn failure(case: &str, paths: &[PathSpec]) -> Result<Option<Failure>, String> {
    let Some((_, text)) = case.split_once("-fail-") else { return Ok(None) };
    let (path, direction) = text.strip_prefix("path").and_then(|rest| rest.split_once('-')).unwrap_or(("", ""));
    let path = path.parse().ok().and_then(|n: usize| paths.iter().find(|path| path.n == n));
    match (path, direction) {
        (Some(path), "data" | "both") => {
            Ok(Some(Failure { path: path.n, both: direction == "both", loss_pct: path.loss_pct }))
        }
        _ => Err(format!(
            "case: found {case:?}, expected …-fail-pathN-data or …-fail-pathN-both with N up to {}",
            paths.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measurements::parse;
    use super::*;

    const HEADER: &str = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps,completion_s,flow_start_s\n";

    fn grouped(rows: &str) -> Result<Vec<Configuration>, String> {
        group("x.csv", &parse("x.csv", &format!("{HEADER}{rows}")).expect("good rows"))
    }

    #[test]
    fn repetitions_come_together_and_flows_stay_apart() {
        let configurations = grouped(
            "C,tcp,reno,20/10/50,0,60,1,1,9,,0\nC,tcp,cubic,20/10/50,0,60,1,2,10,,1.001\n\
             C,tcp+tcp,reno+cubic,20/10/50,0,60,1,all,19,,\nA,tcp,reno,20/10/50,0,60,1,1,19,,0\n\
             C,tcp,reno,20/10/50,0,60,2,1,8,,0\nC,tcp,cubic,20/10/50,0,60,2,2,11,,1.0\n",
        );
        let configurations = configurations.expect("good");
        assert_eq!(configurations.len(), 2);
        let two = &configurations[0];
        assert_eq!(
            two.flows.iter().map(|flow| (flow.cc.as_str(), flow.start_us)).collect::<Vec<_>>(),
            [("reno", 0), ("cubic", 1_000_000)]
        );
        assert_eq!(two.references[0].goodput_mbps, [9.0, 8.0]);
        assert_eq!(two.references[2].flow, ALL);
    }

    #[test]
    fn a_transfers_completion_does_not_part_its_repetitions() {
        let configurations =
            grouped("F-100kB,tcp,reno,10/20/50,0,0.19,1,1,4,0.19,0\nF-100kB,tcp,reno,10/20/50,0,0.2,2,1,4,0.2,0\n");
        let configurations = configurations.expect("good");
        assert_eq!(configurations.len(), 1);
        assert!(configurations[0].transfer && configurations[0].flows[0].send_bytes == 100_000);
        assert_eq!(configurations[0].references[0].completion_s, [0.19, 0.2]);
    }

    #[test]
    fn names_of_cases_say_how_large_messages_are() {
        let of = ["G-sctp-64k", "G-sctp-1452", "G-sctp", "G-sctp-9999999k"].map(message_bytes);
        assert_eq!(of, [65_536, 1452, 1452, 1452]);
    }

    #[test]
    fn names_of_cases_say_sizes_and_failures() {
        assert_eq!(sent_size("F-1MB"), Ok(Some(1_000_000)));
        assert_eq!(
            ["C-reno-reno", "A", "G-sctp-64k", "G-sctp-1452"].map(sent_size),
            [Ok(None), Ok(None), Ok(None), Ok(None)]
        );
        assert!(["F-10XB", "F-0B", "F-99999999999GB"].iter().all(|case| sent_size(case).is_err()));
        let paths = [1, 2].map(|n| PathSpec {
            n,
            rate_mbps: 20.0,
            rate_bps: 20_000_000,
            delay_ms: 10.0,
            queue: 50,
            loss_pct: 0.0,
        });
        assert_eq!(failure("G-fail-path2-both", &paths), Ok(Some(Failure { path: 2, both: true, loss_pct: 0.0 })));
        assert!(failure("G-fail-path3-data", &paths).is_err());
        assert_eq!(failure("A", &paths), Ok(None));
    }

    #[test]
    fn a_run_counts_its_flows_from_one() {
        let complaint = grouped("C,tcp,reno,20/10/50,0,60,1,2,9,,0\n").expect_err("flow 1 is missing");
        assert!(complaint.starts_with("x.csv:2: flow: found \"2\""), "{complaint}");
    }
}
