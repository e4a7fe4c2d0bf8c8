//! From rows to configurations: the repetitions of one configuration come together.

use super::cases::{FlowName, PathSpec, Record};

/// Something that was measured, with all that the kernel did in its repetitions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Configuration {
    pub(super) case: String,
    pub(super) paths_text: String,
    pub(super) paths: Vec<PathSpec>,
    pub(super) loss_text: String,
    pub(super) loss_pct: Vec<f64>,
    pub(super) workload: Workload,
    pub(super) failure: Option<Failure>,
    /// The flows in the order of their numbers.
    pub(super) flows: Vec<FlowSpec>,
    /// What the kernel did: each flow, then all of them where a row says so.
    pub(super) references: Vec<Reference>,
}

/// No transfer in a case's name is larger: a thousand terabytes.
const MOST_BYTES: u64 = 1_000_000_000_000_000;

/// What every flow of a configuration sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Workload {
    /// As much as goes in so many seconds.
    Seconds(f64),
    /// So many bytes; the completion time counts.
    Bytes(u64),
}

/// A path that loses everything from 10 s to 20 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Index of the path.
    pub(super) path: usize,
    /// Whether acknowledgments get lost, too.
    pub(super) both: bool,
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowSpec {
    pub(super) protocol: String,
    pub(super) cc: String,
    /// The earliest start in any repetition.
    pub(super) start_s: f64,
}

/// What the kernel did with one flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    pub(super) flow: FlowName,
    pub(super) protocol: String,
    pub(super) cc: String,
    /// By repetition.
    pub(super) goodput_mbps: Vec<f64>,
    /// By repetition, where a size was sent.
    pub(super) completion_s: Vec<f64>,
    /// IP bytes through the queue of each path, by path and repetition.
    pub(super) path_bytes: Vec<Vec<f64>>,
    /// Goodput of each second of the first repetition, in Mbit/s, where it was recorded.
    pub(super) per_second: Vec<f64>,
}

/// The message that fills a packet of 1500 bytes.
const FULL_MESSAGE: u32 = 1452;
/// More is no message.
const MOST_MESSAGE: u32 = 4 << 20;

impl Configuration {
    /// Whether the measurements say enough to repeat it: with SCTP over several paths they do not say how they were
    /// used.
    pub(super) fn is_supported(&self) -> bool {
        self.paths.len() == 1 || self.flows.iter().all(|flow| flow.protocol != "sctp")
    }

    /// The size of the messages that SCTP sends, in bytes, which the case's name ends with, as in `G-sctp-64k`; one
    /// full packet where it does not.
    pub(super) fn message_bytes(&self) -> u32 {
        let text = self.case.rsplit('-').next().unwrap_or_default();
        let (digits, unit) = text.strip_suffix('k').map_or((text, 1), |digits| (digits, 1024));
        let count = digits.parse::<u32>().ok().and_then(|count| count.checked_mul(unit));
        count.filter(|bytes| (1..=MOST_MESSAGE).contains(bytes)).unwrap_or(FULL_MESSAGE)
    }

    /// Whether packets get lost at random.
    pub(super) fn is_lossy(&self) -> bool {
        self.loss_pct.iter().any(|&loss| loss > 0.0)
    }

    /// Whether it is chaotic, which the H at the start of its name says: distributions of runs are compared.
    pub(super) fn is_chaotic(&self) -> bool {
        self.case.starts_with('H')
    }

    fn is_like(&self, other: &Self) -> bool {
        let same_flow = |a: &FlowSpec, b: &FlowSpec| (&a.protocol, &a.cc) == (&b.protocol, &b.cc);
        (&self.case, &self.paths_text, &self.loss_text) == (&other.case, &other.paths_text, &other.loss_text)
            && self.workload == other.workload
            && self.flows.len() == other.flows.len()
            && self.flows.iter().zip(&other.flows).all(|(a, b)| same_flow(a, b))
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.flows.iter_mut().zip(&other.flows) {
            mine.start_s = mine.start_s.min(theirs.start_s);
        }
        for theirs in other.references {
            match self.references.iter_mut().find(|mine| mine.flow == theirs.flow) {
                Some(mine) => {
                    mine.goodput_mbps.extend(theirs.goodput_mbps);
                    mine.completion_s.extend(theirs.completion_s);
                    for (mine, theirs) in mine.path_bytes.iter_mut().zip(theirs.path_bytes) {
                        mine.extend(theirs);
                    }
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

fn run(rows: &[Record]) -> Result<Configuration, String> {
    let first = &rows[0];
    let numbered: Vec<&Record> = rows.iter().filter(|row| row.flow != FlowName::All).collect();
    for (index, row) in numbered.iter().enumerate() {
        if row.flow != FlowName::Number(index as u32 + 1) {
            return Err(format!(
                "flow: found \"{}\", expected the rows of a run to count their flows from 1",
                row.flow
            ));
        }
    }
    if numbered.is_empty() {
        return Err("flow: found a row of all flows without a row for each of them before it".to_owned());
    }
    if numbered.len() > 1 && first.paths.len() > 1 {
        return Err(format!("paths: found {}, expected one path where several flows share it", first.paths_text));
    }
    if let Some(row) = numbered.iter().find(|row| row.protocol == "tcp" && row.paths.len() > 1) {
        return Err(format!("paths: found {}, expected one path for TCP", row.paths_text));
    }
    let workload = match sent_size(&first.case)? {
        Some(bytes) => Workload::Bytes(bytes),
        None => Workload::Seconds(first.duration_s),
    };
    let reference = |row: &Record| Reference {
        flow: row.flow,
        protocol: row.protocol.clone(),
        cc: row.cc.clone(),
        goodput_mbps: vec![row.goodput_mbps],
        completion_s: row.completion_s.into_iter().collect(),
        path_bytes: row.path_bytes.iter().map(|bytes| bytes.iter().copied().collect()).collect(),
        per_second: Vec::new(),
    };
    let spec = |row: &&Record| FlowSpec { protocol: row.protocol.clone(), cc: row.cc.clone(), start_s: row.start_s };
    Ok(Configuration {
        case: first.case.clone(),
        paths_text: first.paths_text.clone(),
        paths: first.paths.clone(),
        loss_text: first.loss_text.clone(),
        loss_pct: first.loss_pct.clone(),
        workload,
        failure: failure(&first.case, first.paths.len())?,
        flows: numbered.iter().map(spec).collect(),
        references: rows.iter().map(reference).collect(),
    })
}

/// The size that a case's name ends with, as in `F-100kB`. A last part from a digit to a B is meant as one.
fn sent_size(case: &str) -> Result<Option<u64>, String> {
    let is_size = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with('B');
    let Some((_, text)) = case.rsplit_once('-').filter(|(_, text)| is_size(text)) else { return Ok(None) };
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
    bytes
        .map(Some)
        .ok_or_else(|| format!("case: found {case:?}, expected a size at its end in B, kB, MB or GB, as in F-100kB"))
}

/// The failure that a case's name tells of, as in `G-fail-path1-data`.
fn failure(case: &str, paths: usize) -> Result<Option<Failure>, String> {
    let Some((_, text)) = case.split_once("-fail-") else {
        return Ok(None);
    };
    let (path, direction) = text.strip_prefix("path").and_then(|rest| rest.split_once('-')).unwrap_or(("", ""));
    let path = path.parse().ok().filter(|path| (1..=paths).contains(path));
    match (path, direction) {
        (Some(path), "data" | "both") => Ok(Some(Failure { path: path - 1, both: direction == "both" })),
        _ => Err(format!("case: found {case:?}, expected …-fail-pathN-data or …-fail-pathN-both with N up to {paths}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::parse;
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
            two.flows.iter().map(|flow| (flow.cc.as_str(), flow.start_s)).collect::<Vec<_>>(),
            [("reno", 0.0), ("cubic", 1.0)]
        );
        assert_eq!(two.references[0].goodput_mbps, [9.0, 8.0]);
        assert_eq!(two.references[2].flow, FlowName::All);
    }

    #[test]
    fn a_transfers_completion_does_not_part_its_repetitions() {
        let configurations =
            grouped("F-100kB,tcp,reno,10/20/50,0,0.19,1,1,4,0.19,0\nF-100kB,tcp,reno,10/20/50,0,0.2,2,1,4,0.2,0\n");
        let configurations = configurations.expect("good");
        assert_eq!(configurations.len(), 1);
        assert_eq!(configurations[0].workload, Workload::Bytes(100_000));
        assert_eq!(configurations[0].references[0].completion_s, [0.19, 0.2]);
    }

    #[test]
    fn names_of_cases_say_how_large_messages_are() {
        let of = |case: &str| {
            let rows = format!("{case},sctp,-,50/20/250,0,30,1,1,46,,0\n");
            grouped(&rows).expect("good")[0].message_bytes()
        };
        assert_eq!(["G-sctp-64k", "G-sctp-1452", "G-sctp", "G-sctp-9999999k"].map(of), [65_536, 1452, 1452, 1452]);
    }

    #[test]
    fn names_of_cases_say_sizes_and_failures() {
        assert_eq!(sent_size("F-1MB"), Ok(Some(1_000_000)));
        assert_eq!(
            ["C-reno-reno", "A", "G-sctp-64k", "G-sctp-1452"].map(sent_size),
            [Ok(None), Ok(None), Ok(None), Ok(None)]
        );
        assert!(["F-10XB", "F-0B", "F-99999999999GB"].iter().all(|case| sent_size(case).is_err()));
        assert_eq!(failure("G-fail-path2-both", 2), Ok(Some(Failure { path: 1, both: true })));
        assert!(failure("G-fail-path3-data", 2).is_err());
        assert_eq!(failure("A", 1), Ok(None));
    }

    #[test]
    fn a_run_counts_its_flows_from_one() {
        let complaint = grouped("C,tcp,reno,20/10/50,0,60,1,2,9,,0\n").expect_err("flow 1 is missing");
        assert!(complaint.starts_with("x.csv:2: flow: found \"2\""), "{complaint}");
    }
}
