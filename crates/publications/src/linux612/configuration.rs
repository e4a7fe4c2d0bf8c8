//! From rows to configurations: the repetitions of one configuration come together, as the variables of a cell, of which
//! `paper.toml` makes a scenario.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use subflow_quantity::Size;
use subflow_scenario::sweep::Parameters;

use super::measurements::{ALL, COMPLETION, COUNTS, DELAYS, PATH_BYTES, PathSpec, Record, START};
use crate::study::distinct;

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
    /// Queue, round-trip time, drops and marks, by [`DELAYS`] and repetition.
    pub(super) delays: Vec<Vec<f64>>,
}

/// No transfer in a case's name is larger: a thousand terabytes.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// The message that fills a packet of 1500 bytes.
const FULL_MESSAGE: u32 = 1452;
/// More is no message.
const MOST_MESSAGE: u32 = 4 << 20;

type Run<'r> = &'r [Record];

/// Groups the rows of the file called `name`. Rows that follow each other and tell of different flows of the same
/// repetition are one run; runs of the same case, paths, loss, length and flows are one configuration.
pub(super) fn group(name: &str, records: &[Record]) -> Result<Vec<Parameters>, String> {
    let mut configurations: Vec<Vec<Run<'_>>> = Vec::new();
    let mut rest = records;
    while let Some(first) = rest.first() {
        let further = (1..rest.len()).take_while(|&length| continues(&rest[..length], &rest[length]));
        let (run, later) = rest.split_at(1 + further.count());
        rest = later;
        check(run).map_err(|message| format!("{name}:{}: {message}", first.line))?;
        match configurations.iter_mut().find(|known| is_like(known[0], run)) {
            Some(known) => known.push(run),
            None => configurations.push(vec![run]),
        }
    }
    let of = |runs: &Vec<Run<'_>>| variables(runs).map_err(|message| format!("{name}:{}: {message}", runs[0][0].line));
    configurations.iter().map(of).collect()
}

/// Whether `next` is of the same run as `rows`, and of a later flow.
fn continues(rows: Run<'_>, next: &Record) -> bool {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let is_same = ["case", "paths", "loss_pct", "rep"].iter().all(|column| first.text(column) == next.text(column));
    is_same && next.flow > last.flow
}

/// The rows of single flows.
fn flows(run: Run<'_>) -> impl Iterator<Item = &Record> + Clone {
    run.iter().filter(|row| row.flow != ALL)
}

/// Whether the flows of a run are counted from 1, and may use its paths.
fn check(run: Run<'_>) -> Result<(), String> {
    if let Some((row, _)) = flows(run).zip(1..).find(|(row, n)| row.flow != *n) {
        let flow = row.flow;
        return Err(format!("flow: found \"{flow}\", expected the rows of a run to count their flows from 1"));
    }
    let first = &run[0];
    match flows(run).count() {
        0 => Err("flow: found a row of all flows without a row for each of them before it".to_owned()),
        2.. if first.paths.len() > 1 => {
            Err(format!("paths: found {}, expected one path where several flows share it", first.text("paths")))
        }
        _ => match flows(run).find(|row| row.text("protocol") == "tcp" && row.paths.len() > 1) {
            Some(row) => Err(format!("paths: found {}, expected one path for TCP", row.text("paths"))),
            None => Ok(()),
        },
    }
}

fn is_like(a: Run<'_>, b: Run<'_>) -> bool {
    let of_flows = |run| flows(run).map(|flow| [flow.text("protocol"), flow.text("cc")]);
    let is_same = |columns: &[&str]| columns.iter().all(|column| a[0].text(column) == b[0].text(column));
    let is_transfer = sent_size(a[0].text("case")).is_ok_and(|size| size.is_some());
    is_same(&["case", "paths", "loss_pct"])
        && (is_transfer || a[0].number("duration_s") == b[0].number("duration_s"))
        && of_flows(a).eq(of_flows(b))
}

/// The variables of the configuration with these runs. Those that are 1 or 0 are for sums in templates.
fn variables(runs: &[Run<'_>]) -> Result<Parameters, String> {
    let first = &runs[0][0];
    let flows: Vec<&Record> = flows(runs[0]).collect();
    let (case, paths) = (first.text("case"), &first.paths);
    let (sent, failure) = (sent_size(case)?, failure(case, paths)?);
    let numbers = distinct(runs.concat().iter().map(|row| row.flow));
    let references: Vec<Reference> = numbers.into_iter().map(|flow| reference(flow, runs)).collect();
    // A transfer gets ten times what the kernel took.
    let taken = references.iter().flat_map(|reference| &reference.completion_s);
    let duration_s =
        sent.map_or(first.number("duration_s").unwrap_or(0.0), |_| 10.0 * taken.fold(3.0, |a: f64, &b| a.max(b)));
    // A sample after each third says what the last two thirds begin with. Where a path fails, there are three in each
    // second, so that thirds and seconds begin with one; where queue and round-trip time were measured, 21.
    let has_delays = references.iter().any(|reference| !reference.delays[..COUNTS].concat().is_empty());
    let samples = match (has_delays, failure.is_some()) {
        (true, _) => 21 * duration_s.ceil() as u32,
        (false, false) => 3,
        (false, true) => 3 * duration_s.ceil() as u32,
    };
    let shape = |path: &PathSpec| (path.rate_mbps, path.delay_ms, path.queue);
    let (is_shared, is_chaotic) = (flows.len() > 1, case.starts_with('H'));
    let is_lossy = paths.iter().any(|path| path.loss_pct > 0.0);
    let has = |protocol: &str| flows.iter().any(|row| row.text("protocol") == protocol);
    // BBR's cycle begins at random, and RED and PIE drop at random.
    let (discipline, marks) = first.discipline();
    let is_random = is_shared
        || is_lossy
        || flows.iter().any(|row| row.text("cc") == "bbr")
        || ["red", "pie"].contains(&discipline);
    let flow = |n: usize| {
        let start_s = runs.iter().map(|run| run[n - 1].number(START).unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
        flow(flows[n - 1], n, is_shared, start_s, sent)
    };
    let variables = json!({
        "case": case,
        // The item.
        "letter": case.chars().take(1).collect::<String>(),
        "paths_text": first.text("paths"),
        "loss_text": first.text("loss_pct"),
        "paths": paths,
        "flows": (1..=flows.len()).map(flow).collect::<Vec<Value>>(),
        "accesses": accesses(&flows, paths),
        "failures": failure.into_iter().collect::<Vec<Value>>(),
        "duration_s": duration_s,
        "sample_interval_s": format!("{:.9}", duration_s / f64::from(samples)),
        // The completion time counts.
        "transfer": sent.is_some(),
        "lossy": is_lossy,
        "equal_paths": paths.iter().all(|path| shape(path) == shape(&paths[0])),
        "shared": is_shared,
        // The sender's packets leave at the pacing rate, from the queue discipline `fq`.
        "paced": first.text("host_qdisc") == "fq",
        "host_queue": first.host_queue(),
        "output_limit": first.output_limit() as u64,
        "discipline": discipline,
        "below_tbf": !discipline.is_empty(),
        "marks": marks,
        // All hosts negotiate it.
        "ecn": first.text("ecn") == "1",
        "sctp": flows.iter().all(|row| row.text("protocol") == "sctp"),
        // Means of several runs are compared, or distributions of runs.
        "random": u8::from(is_random && !is_chaotic),
        "chaotic": u8::from(is_chaotic),
        // The measurements do not say how SCTP used several paths; hosts or bottleneck may be of another kind than ours.
        "supported": u8::from(first.is_plain() && (paths.len() == 1 || !has("sctp"))),
        "references": references,
        // The goodput of each second of the first repetition, in Mbit/s, where it was recorded.
        "per_second": [],
    });
    match variables {
        Value::Object(fields) => Ok(fields.into_iter().collect()),
        other => unreachable!("a configuration is a table, not {other:?}"),
    }
}

fn reference(flow: u32, runs: &[Run<'_>]) -> Reference {
    let rows: Vec<&Record> = runs.iter().copied().flatten().filter(|row| row.flow == flow).collect();
    let numbers = |column: &str| rows.iter().filter_map(|row| row.number(column)).collect();
    Reference {
        flow,
        protocol: rows[0].text("protocol").to_owned(),
        cc: rows[0].text("cc").to_owned(),
        goodput_mbps: numbers("goodput_mbps"),
        completion_s: numbers(COMPLETION),
        path_bytes: PATH_BYTES.map(numbers).to_vec(),
        delays: DELAYS.map(numbers).to_vec(),
    }
}

/// A flow, whose earliest start in any repetition is `start_s`. `subflows` are those of MPTCP besides the initial one; the
/// starts of flows after the first are spread (`later`).
fn flow(row: &Record, n: usize, is_shared: bool, start_s: f64, sent: Option<u64>) -> Value {
    let subflow = |(interface, path): (usize, usize)| json!({ "from": format!("client{n}.c{interface}"), "to": format!("server.s{path}") });
    let further: Vec<(usize, usize)> =
        if is_shared { vec![(2, 1)] } else { row.paths.iter().skip(1).map(|path| (path.n, path.n)).collect() };
    let [protocol, cc] = ["protocol", "cc"].map(|column| row.text(column));
    json!({
        "n": n,
        "client": n,
        "protocol": protocol,
        "cc": cc,
        "congestion": if protocol == "sctp" { "sctp" } else { cc },
        "start_us": (start_s * 1e6).round() as u64,
        "later": u8::from(n > 1),
        "send_bytes": sent.unwrap_or(0),
        "message_bytes": message_bytes(row.text("case")),
        "subflows": further.into_iter().map(subflow).collect::<Vec<Value>>(),
    })
}

/// The links of the clients. Flows that share a path have a client each, and an MPTCP flow on a shared path a second
/// interface of it there.
fn accesses(flows: &[&Record], paths: &[PathSpec]) -> Vec<Value> {
    let access = |client: usize, n: usize, path: &PathSpec| json!({ "client": client, "n": n, "path": path.n, "delay_ms": path.delay_ms });
    if flows.len() == 1 {
        return paths.iter().map(|path| access(1, path.n, path)).collect();
    }
    let interfaces = |row: &Record| 1..=if row.text("protocol") == "mptcp" { 2 } else { 1 };
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
    let is_size = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with('B');
    let Some(text) = case.split('-').skip(1).find(is_size) else { return Ok(None) };
    let bytes = text.parse::<Size>().ok().map(Size::as_bytes).filter(|bytes| (1..=MOST_BYTES).contains(bytes));
    bytes.map(Some).ok_or_else(|| format!("case: found {case:?}, expected a size in B, kB, MB or GB, as in F-100kB"))
}

/// The failure that a case's name tells of, as in `G-fail-path1-data`: a path that loses everything from 10 s to 20 s, with
/// its acknowledgments or without, and the path's random loss before and after.
fn failure(case: &str, paths: &[PathSpec]) -> Result<Option<Value>, String> {
    let Some((_, text)) = case.split_once("-fail-") else { return Ok(None) };
    let (path, direction) = text.strip_prefix("path").and_then(|rest| rest.split_once('-')).unwrap_or(("", ""));
    let path = path.parse().ok().and_then(|n: usize| paths.iter().find(|path| path.n == n));
    match (path, direction) {
        (Some(path), "data" | "both") => {
            Ok(Some(json!({ "path": path.n, "both": direction == "both", "loss_pct": path.loss_pct })))
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

    fn grouped(rows: &str) -> Result<Vec<Parameters>, String> {
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
        let of_flows = |key: &str| [0, 1].map(|flow| two["flows"][flow][key].clone());
        assert_eq!(
            (of_flows("cc"), of_flows("start_us")),
            (["reno", "cubic"].map(Value::from), [0, 1_000_000].map(Value::from))
        );
        assert_eq!(two["references"][0]["goodput_mbps"], json!([9.0, 8.0]));
        assert_eq!(two["references"][2]["flow"], ALL);
    }

    #[test]
    fn a_transfers_completion_does_not_part_its_repetitions() {
        let configurations =
            grouped("F-100kB,tcp,reno,10/20/50,0,0.19,1,1,4,0.19,0\nF-100kB,tcp,reno,10/20/50,0,0.2,2,1,4,0.2,0\n");
        let configurations = configurations.expect("good");
        assert_eq!(configurations.len(), 1);
        assert!(configurations[0]["transfer"] == true && configurations[0]["flows"][0]["send_bytes"] == 100_000);
        assert_eq!(configurations[0]["references"][0]["completion_s"], json!([0.19, 0.2]));
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
        assert_eq!(failure("G-fail-path2-both", &paths), Ok(Some(json!({ "path": 2, "both": true, "loss_pct": 0.0 }))));
        assert!(failure("G-fail-path3-data", &paths).is_err());
        assert_eq!(failure("A", &paths), Ok(None));
    }

    #[test]
    fn a_run_counts_its_flows_from_one() {
        let complaint = grouped("C,tcp,reno,20/10/50,0,60,1,2,9,,0\n").expect_err("flow 1 is missing");
        assert!(complaint.starts_with("x.csv:2: flow: found \"2\""), "{complaint}");
    }
}
