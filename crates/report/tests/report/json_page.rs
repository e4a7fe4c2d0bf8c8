//! The page about the JSON output names every field that there is, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use subflow_lab::execute::execute;
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{
    Baseline, ConnectionResult, Detection, Experiment, FailedRun, Pair, ProgramResult, RealTime, SwitchPortBytes,
    SwitchReport,
};
use subflow_lab::simulate::RunOptions;
use subflow_report::output::to_json;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// All kinds of flows, over a link that loses packets.
const TEXT: &str = r#"duration = "3 s"
repeat = 2
[hosts]
client = ["a", { name = "b", energy = "lte-huang2012" }]
server = ["a", "b"]
[links.a]
between = ["client.a", "server.a"]
rate = "2 Mbit/s"
delay = "7 ms"
loss = "5 %"
[links.b]
between = ["client.b", "server.b"]
rate = "3 Mbit/s"
[flows.file]
from = "client"
to = "server"
protocol = "mptcp"
[flows.plain]
from = "client"
to = "server"
protocol = "tcp"
requests = { response = "5 kB", deadline = "100 ms" }
[flows.voice]
from = "client"
to = "server"
protocol = "udp"
on_off = { rate = "100 kbit/s", packet = "160 bytes" }
[flows.messages]
from = "client"
to = "server"
protocol = "sctp"
send = "100 kB"
sctp = { lifetime = "50 ms" }
[flows.film]
from = "client"
to = "server"
video = { ladder = ["100 kbit/s", "300 kbit/s"], chunk = "400 ms", buffer = "2 s", abr = "rate" }
[flows.web]
from = "client"
to = "server"
count = 2
send = "10 kB"
[sweep]
"flows.file.scheduler" = ["ll", "rr"]
"#;

/// The sections of the page, and the objects that they describe with all objects inside that have no section.
const SECTIONS: [(&str, &str); 8] = [
    ("The object", ""),
    ("`runs[]`", "runs[]"),
    ("`runs[].flows[]`", "runs[].flows[]"),
    ("`runs[].flows[].subflows[]`", "runs[].flows[].subflows[]"),
    ("`runs[].links[]`", "runs[].links[]"),
    ("`runs[].interfaces[]`", "runs[].interfaces[]"),
    ("`statistics[]`", "statistics[]"),
    ("`baseline`", "baseline"),
];

/// Words of the page that are values, not fields.
const VALUES: [&str; 15] = [
    "tcp",
    "mptcp",
    "sctp",
    "quic",
    "mpquic",
    "udp",
    "tun",
    "veth",
    "others",
    "gracefully",
    "reset",
    "refused",
    "aborted",
    "paired",
    "unpaired",
];

/// An experiment with a baseline, and with what only runs on Linux, very many subflows and ECN have.
fn experiment() -> Experiment {
    let document = Document::parse(Path::new("all.toml"), TEXT.to_owned()).expect("TOML");
    let plan = Plan::read(document).expect("a scenario");
    let mut experiment =
        execute(&plan, 0, &RunOptions { series: true, ..RunOptions::default() }, &|_| {}).expect("the runs end well");
    experiment.baseline =
        Some(Baseline::of(&experiment, "flows.file.scheduler".to_owned(), "ll".into(), &ComparedMetric::usual()));
    let run = &mut experiment.runs[0].result;
    run.flows[0].unlisted_subflows = 1;
    let pairs = vec![Pair::default()];
    let shared_bottlenecks = vec![Detection { pairs, ..Detection::default() }];
    run.flows[0].connection = Some(ConnectionResult { shared_bottlenecks, ..ConnectionResult::default() }.into());
    run.flows[0].subflows[1].opened_again = true;
    run.links[0].up.marks = 1;
    let ports = vec![SwitchPortBytes::default()];
    let switches = Some(SwitchReport { ports, ..SwitchReport::default() });
    let programs = vec![ProgramResult::default()];
    run.real_time = Some(RealTime { switches, programs, ..RealTime::default() });
    experiment.failed.push(FailedRun { run: 99, point: 0, seed: 1, error: "out of luck".to_owned() });
    experiment
}

/// The names of all fields in `value`, which is at `path`, by section. The names of swept values and of the kernel's
/// counters are the user's and the kernel's.
fn fields(value: &Value, path: &str, found: &mut BTreeMap<&str, BTreeSet<String>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, &format!("{path}[]"), found)),
        Value::Object(entries) => {
            let is_inside = |of: &str| of.is_empty() || path == of || path.starts_with(&format!("{of}."));
            let section = SECTIONS.into_iter().rev().find(|(_, of)| is_inside(of)).expect("all are in the object");
            for (name, value) in entries {
                found.entry(section.0).or_default().insert(name.clone());
                if !["parameters", "mptcp_counters"].contains(&name.as_str()) {
                    fields(value, format!("{path}.{name}").trim_start_matches('.'), found);
                }
            }
        }
        _ => {}
    }
}

/// The words in backticks of a section of the page that have the form of a field.
fn named(page: &str, section: &str) -> BTreeSet<String> {
    let heading = format!("\n## {section}\n");
    let text = &page[page.find(&heading).expect("the section") + heading.len()..];
    let text = &text[..text.find("\n## ").unwrap_or(text.len())];
    let of_field = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let words = text.split('`').skip(1).step_by(2).map(|word| word.trim_end_matches("[]"));
    words.filter(of_field).map(str::to_owned).collect()
}

#[test]
fn each_section_of_the_page_names_every_field_of_its_object_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/json.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let mut found = BTreeMap::new();
    fields(&serde_json::from_str(&to_json(&experiment())).expect("JSON"), "", &mut found);
    let of_flows = &found["`runs[].flows[]`"];
    assert!(
        ["abandoned", "retransmitted", "exchanges", "datagrams", "group"].iter().all(|name| of_flows.contains(*name))
    );
    for (section, _) in SECTIONS {
        let named = named(&page, section);
        let missing: Vec<&String> = found[section].difference(&named).collect();
        assert!(missing.is_empty(), "{section} lacks {missing:?}");
        let is_value = |name: &&String| VALUES.contains(&name.as_str());
        let others: Vec<&String> = named.difference(&found[section]).filter(|name| !is_value(name)).collect();
        assert!(others.is_empty(), "{section} names {others:?}, which the output does not have");
    }
}
