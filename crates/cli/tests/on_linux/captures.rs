//! Captures of the kernel: `analyze` finds the figures of the run in them, and counts what tshark counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use subflow_prerequisite::Prerequisite;

use crate::support::{SCENARIO, machine_serves, results, scenario, subflow};

/// A variant of the scenario: what is replaced, and what is added to the flow, which is the end of the text.
struct Case {
    name: &'static str,
    replaced: &'static [(&'static str, &'static str)],
    added: &'static str,
    /// Subflows that were opened and that the run does not list, since they were refused.
    refused: u64,
}

const TCP: (&str, &str) =
    ("protocol = \"mptcp\"\ncongestion = \"cubic\"\nscheduler = \"linux-default\"", "protocol = \"tcp\"");
const SCTP: (&str, &str) =
    ("protocol = \"mptcp\"\ncongestion = \"cubic\"\nscheduler = \"linux-default\"", "protocol = \"sctp\"");
const TWO_SERVER_LINKS: [(&str, &str); 4] = [
    ("[routers]\ninternet = {}\n", ""),
    ("server = [\"eth\"]", "server = [\"eth0\", \"eth1\"]"),
    ("\"phone.wifi\", \"internet\"", "\"phone.wifi\", \"server.eth0\""),
    ("\"phone.lte\", \"internet\"", "\"phone.lte\", \"server.eth1\""),
];
const NO_CORE: (&str, &str) = ("[links.core]\nbetween = [\"internet\", \"server.eth\"]\nrate = \"1 Gbit/s\"\n", "");
const IPV6: (&str, &str) = (
    "phone = [\"wifi\", \"lte\"]\nserver = [\"eth\"]",
    "phone = { interfaces = [{ name = \"wifi\", address = \"2001:db8:1::2\" }, { name = \"lte\", address = \
     \"2001:db8:2::2\" }] }\nserver = { interfaces = [{ name = \"eth\", address = \"2001:db8:3::2\" }] }",
);
const LONGER: (&str, &str) = ("duration = \"2 s\"", "duration = \"4 s\"");

/// What is added to a link's table.
macro_rules! link {
    ($name:literal, $added:literal) => {
        (concat!("[links.", $name, "]\n"), concat!("[links.", $name, "]\n", $added, "\n"))
    };
}

const FAILS: &str = "a path that fails";

const CASES: [Case; 23] = [
    Case { name: "two paths", replaced: &[], added: "", refused: 0 },
    Case { name: "loss on one path", replaced: &[link!("wifi", "loss = \"1 %\"")], added: "", refused: 0 },
    Case {
        name: "loss on both paths",
        replaced: &[link!("wifi", "loss = \"1 %\""), link!("lte", "loss = \"0.5 %\"")],
        added: "",
        refused: 0,
    },
    Case {
        name: "short queues",
        replaced: &[link!("wifi", "queue = \"20 packets\""), link!("lte", "queue = \"20 packets\"")],
        added: "",
        refused: 0,
    },
    Case {
        name: "a late join",
        replaced: &[],
        added: "start = \"100 ms\"\n[[timeline]]\nat = \"50 ms\"\ninterface = \"phone.lte\"\ndown = true\n\
                [[timeline]]\nat = \"300 ms\"\ninterface = \"phone.lte\"\nup = true\n",
        refused: 0,
    },
    Case {
        name: "fallback in the handshake",
        replaced: &[link!("wifi", "middlebox = { kind = \"strip-option\", option = \"mp-capable\" }")],
        added: "",
        refused: 0,
    },
    Case {
        name: "fallback with the first data",
        replaced: &[link!("wifi", "middlebox = { kind = \"strip-option\", option = \"mptcp\", on = \"data\" }")],
        added: "",
        refused: 0,
    },
    Case {
        name: "a join that is refused",
        replaced: &[link!("lte", "middlebox = { kind = \"strip-option\", option = \"mp-join\" }")],
        added: "",
        refused: 1,
    },
    Case { name: "checksums", replaced: &[], added: "[mptcp]\nchecksum = true\n", refused: 0 },
    Case {
        name: "a backup",
        replaced: &[("[\"wifi\", \"lte\"]", "{ interfaces = [\"wifi\", { name = \"lte\", backup = true }] }")],
        added: "",
        refused: 0,
    },
    Case {
        name: FAILS,
        replaced: &[LONGER],
        added: "[[timeline]]\nat = \"400 ms\"\nlink = \"wifi\"\ndown = true\n",
        refused: 0,
    },
    Case {
        name: "a path that fails for a while",
        replaced: &[LONGER],
        added: "[[timeline]]\nat = \"150 ms\"\nlink = \"wifi\"\ndown = true\n\
                [[timeline]]\nat = \"1500 ms\"\nlink = \"wifi\"\nup = true\n",
        refused: 0,
    },
    Case {
        name: "asymmetric paths",
        replaced: &[
            ("rate = \"20 Mbit/s\"", "rate = { up = \"20 Mbit/s\", down = \"1 Mbit/s\" }"),
            ("delay = \"10 ms\"", "delay = { up = \"30 ms\", down = \"5 ms\" }"),
        ],
        added: "",
        refused: 0,
    },
    Case { name: "IPv6", replaced: &[IPV6], added: "", refused: 0 },
    Case {
        name: "a smaller segment on one path",
        replaced: &[link!("wifi", "middlebox = { kind = \"mss-clamp\", mss = 1000 }")],
        added: "",
        refused: 0,
    },
    Case { name: "TCP with loss", replaced: &[TCP, link!("wifi", "loss = \"2 %\""), LONGER], added: "", refused: 0 },
    Case {
        name: "TCP without SACK",
        replaced: &[TCP, link!("wifi", "loss = \"1 %\""), LONGER],
        added: "[tcp]\nsack = false\n",
        refused: 0,
    },
    Case {
        name: "TCP without timestamps",
        replaced: &[TCP, link!("wifi", "loss = \"1 %\"")],
        added: "[tcp]\ntimestamps = false\n",
        refused: 0,
    },
    Case {
        name: "TCP with ECN",
        replaced: &[TCP, link!("wifi", "queue = { discipline = \"codel\", ecn = true }")],
        added: "[tcp]\necn = \"request\"\n",
        refused: 0,
    },
    Case {
        name: "TCP with lost acknowledgments",
        replaced: &[TCP, link!("wifi", "loss = { up = \"none\", down = \"10 %\" }")],
        added: "",
        refused: 0,
    },
    Case {
        name: "TCP over a path that is down for a while",
        replaced: &[TCP, LONGER],
        added: "[[timeline]]\nat = \"200 ms\"\nlink = \"wifi\"\ndown = true\n\
                [[timeline]]\nat = \"600 ms\"\nlink = \"wifi\"\nup = true\n",
        refused: 0,
    },
    Case { name: "SCTP with loss", replaced: &[SCTP, link!("wifi", "loss = \"1 %\"")], added: "", refused: 0 },
    Case {
        name: "SCTP over two paths",
        replaced: &[
            SCTP,
            TWO_SERVER_LINKS[0],
            TWO_SERVER_LINKS[1],
            TWO_SERVER_LINKS[2],
            TWO_SERVER_LINKS[3],
            NO_CORE,
            link!("wifi", "loss = \"0.5 %\""),
        ],
        added: "sctp = { cmt = true }\n",
        refused: 0,
    },
];

/// Runs on the kernel at once: they wait for most of their time.
const AT_ONCE: usize = 3;

#[test]
fn analyses_of_captures_have_the_figures_of_the_run_and_the_counts_of_tshark() {
    if !machine_serves() {
        return;
    }
    let has_tshark = Command::new("tshark").arg("-v").output().is_ok();
    if !has_tshark {
        Prerequisite::Tshark.missing("it is not installed");
    }
    let differences: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|worker| {
                let cases = CASES.iter().skip(worker).step_by(AT_ONCE);
                scope.spawn(move || cases.flat_map(|case| case.differences_at_last(has_tshark)).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("it ends")).collect()
    });
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

impl Case {
    fn scenario(&self) -> String {
        let replaced = self.replaced.iter().fold(SCENARIO.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{}: no {from:?}", self.name);
            text.replace(from, to)
        });
        replaced + self.added
    }

    /// What differs in each of four runs: on a busy machine a run may begin late, or its application read late.
    fn differences_at_last(&self, has_tshark: bool) -> Vec<String> {
        let mut attempts = (0..3).map(|_| self.differences(has_tshark));
        attempts.find(Vec::is_empty).unwrap_or_else(|| self.differences(has_tshark))
    }

    /// What differs between the run, the analysis of its two captures, and tshark's of the sender's.
    fn differences(&self, has_tshark: bool) -> Vec<String> {
        let (folder, path) = scenario(&self.scenario());
        let captures = folder.path().join("captures").to_string_lossy().into_owned();
        let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--pcap", &captures]));
        let [near, far] = ["phone", "server"].map(|host| format!("{captures}/0-{host}.pcapng"));
        let output = subflow(&["analyze", &near, &far, "--format", "json"]);
        let analysis: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let flow = &json["runs"][0]["flows"][0];
        let mut found = Compared { case: self.name, differences: Vec::new() };
        found.with_run(flow, &analysis, self.refused);
        if has_tshark {
            found.with_tshark(Path::new(&near), &analysis);
        }
        found.differences
    }
}

/// What differs in a case.
struct Compared {
    case: &'static str,
    differences: Vec<String>,
}

impl Compared {
    fn exact(&mut self, what: &str, expected: u64, found: u64) {
        if expected != found {
            self.differences.push(format!("{}: {what}: {found} instead of {expected}", self.case));
        }
    }

    fn within_one_percent(&mut self, what: &str, expected: f64, found: f64) {
        let is_near = (found - expected).abs() <= 0.01 * expected;
        if !is_near {
            self.differences.push(format!("{}: {what}: {found} instead of {expected}", self.case));
        }
    }

    fn with_run(&mut self, flow: &Value, analysis: &Value, refused: u64) {
        let connections = analysis["connections"].as_array().expect("rows");
        self.exact("connections", 1, connections.len() as u64);
        let Some(row) = connections.first() else { return };
        let protocol = flow["protocol"].as_str().expect("a protocol");
        let is_tcp = flow["fallback"] == true && row["protocol"] == "tcp";
        self.exact("protocol", 1, u64::from(is_tcp || row["protocol"] == protocol));
        for (key, own) in [("bytes", "bytes_delivered"), ("goodput_mbps", "goodput_mbps"), ("done_s", "completion_s")] {
            let start = if key == "done_s" { row["start_s"].as_f64().unwrap_or(0.0) } else { 0.0 };
            let [expected, found] = [&flow[own], &row[key]].map(|value| value.as_f64().unwrap_or(f64::NAN));
            self.within_one_percent(key, expected, found - start);
        }
        let listed = flow["subflows"].as_array().expect("subflows");
        let rows = analysis["subflows"].as_array().expect("rows");
        self.exact("subflows", listed.len() as u64 + refused, rows.len() as u64);
        self.exact("retransmissions", count(&flow["retransmissions"]), count(&row["retransmissions"]));
        let [given, sent] = [flow, row].map(|it| it["reinjected_bytes"].as_f64().unwrap_or(0.0));
        if self.case == FAILS {
            // What the first subflow was given waits there for ever.
            self.exact("a bound of the reinjected bytes", 1, u64::from(sent <= given));
        } else if row["protocol"] == "mptcp" {
            self.within_one_percent("reinjected_bytes", given, sent);
        }
        self.exact("timeouts", count(&flow["timeouts"]), count(&row["timeouts"]));
        for (own, row) in listed.iter().zip(rows) {
            let name = own["name"].as_str().unwrap_or_default();
            let what = format!("retransmissions of {name}");
            let own_count = count(&own["retransmissions"]) + count(&own["copies"]);
            self.exact(&what, own_count, count(&row["retransmissions"]));
            if protocol == "sctp" {
                for (key, own_key) in [("fast", "fast"), ("after_timeout", "timeout")] {
                    let own_count = own["retransmitted"][own_key].as_u64().unwrap_or(0);
                    self.exact(&format!("{key} of {name}"), own_count, count(&row[key]));
                }
            }
            let [expected, found] = [own, row].map(|it| it["goodput_mbps"].as_f64().unwrap_or(0.0));
            if expected > 0.1 {
                self.within_one_percent(&format!("goodput of {name}"), expected, found);
            }
        }
    }

    /// tshark calls some retransmissions out of order; taken together they are those of `analyze`.
    fn with_tshark(&mut self, capture: &Path, analysis: &Value) {
        let rows = analysis["subflows"].as_array().expect("rows");
        let again: u64 = rows.iter().map(|row| count(&row["retransmissions"])).sum();
        let row = &analysis["connections"][0];
        let frames = frames(capture);
        let has = |frame: &[String], field: usize| frame.get(field).is_some_and(|value| !value.is_empty());
        let is_to_server =
            |frame: &&Vec<String>| PORTS.iter().any(|&port| frame.get(port).is_some_and(|it| it == "5001"));
        let to_server = frames.iter().filter(is_to_server);
        let marked = to_server.filter(|frame| AGAIN.into_iter().any(|field| has(frame, field))).count();
        self.exact("tshark's retransmissions", again, marked as u64);
        let numbers = |field: usize| {
            let all: BTreeSet<&String> =
                frames.iter().filter(|it| has(it, field)).filter_map(|it| it.get(field)).collect();
            all.len() as u64
        };
        if row["protocol"] != "sctp" {
            self.exact("tcp.stream", rows.len() as u64, numbers(TCP_STREAM));
            self.exact("mptcp.stream", u64::from(row["protocol"] == "mptcp"), numbers(MPTCP_STREAM));
        }
    }
}

/// The fields of a frame that tshark prints, by their places.
const FIELDS: [&str; 7] = [
    "tcp.stream",
    "mptcp.stream",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "sctp.retransmission",
    "tcp.dstport",
    "sctp.dstport",
];
const TCP_STREAM: usize = 0;
const MPTCP_STREAM: usize = 1;
const AGAIN: [usize; 3] = [2, 3, 4];
const PORTS: [usize; 2] = [5, 6];

/// The fields of each frame.
fn frames(capture: &Path) -> Vec<Vec<String>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(capture).args(["-T", "fields"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let output = tshark.output().expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}
