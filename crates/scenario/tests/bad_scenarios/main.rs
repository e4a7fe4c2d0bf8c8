//! Everything that can be wrong with a scenario, and what is said about it.

mod limits;
mod network;
mod programs;
mod sweeps;
mod traffic;

use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use subflow_policy::catalogue::Catalogue;
use subflow_policy::congestion::Algorithm;
use subflow_scenario::file::{Document, Problem, Problems};
use subflow_scenario::sweep::Plan;

/// A good scenario, to be spoiled one line at a time.
const GOOD: &str = r#"title = "Two paths"
duration = "30 s"

[hosts]
phone = ["wifi", "lte"]
server = ["eth"]

[routers]
internet = {}

[links.wifi]
between = ["phone.wifi", "internet"]
rate = "50 Mbit/s"
delay = "10 ms"
queue = "100 packets"
loss = "0.5 %"

[links.lte]
between = ["phone.lte", "internet"]
rate = "20 Mbit/s"

[links.core]
between = ["internet", "server.eth"]
rate = "1 Gbit/s"

[flows.album]
from = "phone"
to = "server"
protocol = "mptcp"
congestion = "lia"
send = "100 MB"

[[timeline]]
at = "10 s"
link = "wifi"
down = true
"#;

fn read(text: &str, sets: &[&str]) -> Result<Plan, Problems> {
    let mut document = Document::parse(Path::new("bad.toml"), text.to_owned())?;
    for set in sets {
        document.set("--set", set)?;
    }
    Plan::read(document)
}

fn rendered(name: &str, outcome: Result<Plan, Problems>) -> String {
    wrapped(100, name, outcome)
}

fn wrapped(width: usize, name: &str, outcome: Result<Plan, Problems>) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let handler = handler.with_width(width).with_links(false).with_context_lines(1);
    let mut text = format!("=== {name}\n");
    for problem in outcome.err().unwrap_or_else(|| panic!("{name}: no problem was found")).first {
        handler.render_report(&mut text, &shortened(problem)).expect("spans lie within the text");
    }
    text
}

/// Lists of names and keys end after the first: a snapshot is not to change with each new algorithm or option.
fn shortened(mut problem: Problem) -> Problem {
    for begin in ["there are: ", "the keys here are "] {
        if let Some((first, _)) = problem.help.strip_prefix(begin).and_then(|names| names.split_once(", ")) {
            problem.help = format!("{begin}{first}, …");
        }
    }
    problem
}

#[test]
fn the_help_lists_all_names_and_all_keys() {
    let help = |to| read(&spoiled("congestion = \"lia\"", to), &[]).expect_err("it is spoiled").first[0].help.clone();
    let names = help("congestion = \"lya\"");
    assert!(Algorithm::NAMES.iter().all(|name| names.contains(name)), "{names}");
    let keys = help("congestion = { name = \"lia\", bata = 1 }");
    let has_keys = |algorithm: &Algorithm| algorithm.options().iter().all(|option| keys.contains(option.key));
    assert!(Algorithm::prototypes().iter().all(has_keys), "{keys}");
}

fn spoiled(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} stands once in the good scenario");
    GOOD.replacen(from, to, 1)
}

#[test]
fn the_good_scenario_is_good() {
    assert_eq!(read(GOOD, &[]).map(|plan| plan.jobs().len()).map_err(|p| p.to_string()), Ok(1));
}

fn all_rendered(cases: &[(&str, &str, &str)]) -> String {
    let messages = cases.iter().map(|(name, from, to)| rendered(name, read(&spoiled(from, to), &[])));
    messages.collect::<Vec<_>>().join("\n")
}

#[test]
fn bad_networks() {
    insta::assert_snapshot!(all_rendered(network::CASES));
}

#[test]
fn bad_traffic() {
    insta::assert_snapshot!(all_rendered(traffic::CASES));
}

#[test]
fn bad_programs() {
    let added = |(name, lines): &(&str, &str)| rendered(name, read(&format!("{GOOD}\n[programs.one]\n{lines}\n"), &[]));
    insta::assert_snapshot!(programs::CASES.iter().map(added).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_program_needs_a_host_with_the_kernels_stack() {
    let ours = "phone = { interfaces = [\"wifi\", \"lte\"], stack = \"subflow\" }";
    let text = spoiled("phone = [\"wifi\", \"lte\"]", ours) + "\n[programs.one]\non = \"phone\"\nrun = [\"true\"]\n";
    let problems = read(&text, &[]).expect_err("it has no kernel");
    assert!(problems.to_string().contains("programs.one.on: this host has `stack = \"subflow\"`"), "{problems}");
}

#[test]
fn bad_limits() {
    assert_eq!(read(limits::PLAIN, &[]).map(|plan| plan.jobs().len()).map_err(|p| p.to_string()), Ok(1));
    let messages = limits::CASES.iter().map(|(name, changes)| {
        let text = changes.iter().fold(limits::PLAIN.to_owned(), |text, (from, to)| {
            assert_eq!(text.matches(from).count(), 1, "{name}: {from:?} stands once in the scenario");
            text.replacen(from, to, 1)
        });
        rendered(name, read(&text, &[]))
    });
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"));
}

/// A mistake in a generated file is made as often as there are lines in it.
#[test]
fn of_very_many_problems_the_first_are_kept_and_all_counted() {
    let hosts: String = (0..2000).map(|n| format!("h{n} = [\"x\"]\n")).collect();
    let links: String =
        (0..2000).map(|n| format!("[links.l{n}]\nbetween = [\"h{n}\", \"r\"]\nrate = \"1 Gbit/s\"\n")).collect();
    let flows: String =
        (0..20_000).map(|n| format!("[flows.f{n}]\nfrom = \"h{}\"\nto = \"nobody\"\n", n % 2000)).collect();
    let text = format!("[hosts]\n{hosts}[routers]\nr = {{}}\n{links}{flows}");
    let problems = read(&text, &[]).expect_err("nobody is nobody");
    assert_eq!((problems.count, problems.first.len()), (20_000, Problems::MOST_KEPT));
    assert!(problems.first[0].message.starts_with("flows.f0.to: there is no host"), "{problems}");
    assert!(problems.to_string().ends_with("\nand 19980 more"));
}

#[test]
fn a_sweep_of_very_many_points_is_refused_before_they_are_read() {
    let values: Vec<String> = (1..=1000).map(|value| format!("\"{value} Mbit/s\"")).collect();
    let values = values.join(", ");
    let text = format!("{GOOD}[sweep]\n\"links.wifi.rate\" = [{values}]\n\"links.lte.rate\" = [{values}]\n");
    let problems = read(&text, &[]).expect_err("a million points");
    assert!(problems.to_string().contains("found 1000000 combinations, expected at most 100000"), "{problems}");
}

#[test]
fn of_a_very_long_line_the_part_around_the_mistake_is_shown() {
    let rates: Vec<String> = (1..600).map(|rate| format!("\"{rate} Mbit/s\"")).collect();
    let rates = rates.join(", ").replace("300 Mbit/s", "300 µbit");
    let text = format!("{GOOD}[sweep]\n\"links.wifi.rate\" = [{rates}]\n");
    let shown = rendered("", read(&text, &[]));
    assert!(shown.contains("299 Mbit/s") && shown.contains("301 Mbit/s"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
    let column = text.lines().last().and_then(|line| line.find("\"300")).expect("it is there") + 1;
    assert!(shown.contains(&format!("bad.toml:38:{column}")), "{shown}");
}

/// Ports without a number count up with the flows, as long as there are numbers.
#[test]
fn a_host_takes_as_many_flows_as_there_are_ports() {
    let flows = |n: usize| -> String { (0..n).map(|n| format!("[flows.f{n}]\nfrom = \"a\"\nto = \"b\"\n")).collect() };
    let plain = limits::PLAIN.replace("[flows.f]\nfrom = \"a\"\nto = \"b\"\n", "");
    let plan =
        read(&format!("{plain}{}", flows(65_535)), &[]).map_err(|problems| problems.to_string()).expect("they fit");
    let ports: std::collections::BTreeSet<u16> = plan.points[0].scenario.flows.iter().map(|flow| flow.port).collect();
    assert_eq!(ports.len(), 65_535);
    let problems = read(&format!("{plain}{}", flows(65_537)), &[]).expect_err("two too many");
    assert_eq!(problems.count, 2);
    assert!(problems.to_string().contains("flows.f65535: all 65535 ports of b are taken"), "{problems}");
}

#[test]
fn bad_sweeps() {
    let messages: Vec<String> =
        sweeps::SWEEPS.iter().map(|(name, lines)| rendered(name, read(&format!("{GOOD}\n{lines}"), &[]))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_sets() {
    let swept = format!("{GOOD}[sweep]\n\"links.wifi.loss, links.lte.loss\" = [\"1 %\"]\n");
    let messages: Vec<String> = sweeps::SETS.iter().map(|(name, set)| rendered(name, read(&swept, &[set]))).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_traces() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let traces: [(&str, &[u8]); 5] = [
        ("truncated", b"10\n1240\n124"),
        ("falling", b"10\n1240\n1239\n"),
        ("words", b"10\nfast\n"),
        ("empty", b""),
        ("not text", b"10\n\xff\n"),
    ];
    let text = spoiled("rate = \"50 Mbit/s\"", "rate = { up = \"wifi.up\", down = \"50 Mbit/s\" }");
    let mut messages = String::new();
    for (name, bytes) in traces {
        std::fs::write(folder.path().join("wifi.up"), bytes).expect("written");
        let document = Document::parse(&folder.path().join("bad.toml"), text.clone()).expect("TOML");
        // The folder's name has some length or other: nothing is wrapped.
        messages += &wrapped(1000, name, Plan::read(document)).replace(&folder.path().display().to_string(), "DIR");
    }
    insta::assert_snapshot!(messages);
}
