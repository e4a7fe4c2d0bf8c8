//! Comparisons of results, and runs that are repeated until intervals are narrow.

use serde_json::Value;

use crate::desk::{Desk, QUICK};

/// Losses make seeds differ.
fn lossy() -> String {
    QUICK.replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = \"2 %\"")
}

fn run(desk: &Desk, more: &[&str]) -> (Option<i32>, String, String) {
    desk.subflow(&[&["run", "quick.toml"], more].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one object")
}

/// All files of a folder of results with their content, without the lines with CPU time, and without the page that says
/// where results are.
fn content(desk: &Desk, folder: &str) -> Vec<(String, Vec<u8>)> {
    let files = desk
        .files_in(folder)
        .into_iter()
        .chain(desk.files_in(&format!("{folder}/tables")).into_iter().map(|name| format!("tables/{name}")));
    files
        .filter(|name| name != "tables")
        .map(|name| {
            let bytes = std::fs::read(desk.path(folder).join(&name)).expect("a file");
            let lines = bytes.split(|&byte| byte == b'\n');
            let timeless: Vec<&[u8]> = lines.filter(|line| !line.windows(7).any(|part| part == b"\"cpu_s\"")).collect();
            (name, timeless.join(&b'\n'))
        })
        .collect()
}

#[test]
fn equal_runs_have_equal_files_apart_from_cpu_time() {
    let desk = Desk::new(&lossy());
    for out in ["one", "two"] {
        assert_eq!(run(&desk, &["--repeat", "3", "--out", out]).0, Some(0));
    }
    let (one, two) = (content(&desk, "one"), content(&desk, "two"));
    assert!(one.len() > 10, "{:?}", one.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (one, two) in one.iter().zip(&two) {
        assert!(one == two, "{} differs from {}", one.0, two.0);
    }
    assert_eq!(run(&desk, &["--repeat", "3", "--seed", "2", "--out", "three"]).0, Some(0));
    assert_ne!(one, content(&desk, "three"));
}

#[test]
fn two_results_are_compared_by_point_and_seed() {
    let desk = Desk::new(&lossy());
    let sweep = ["--sweep", "flows.short.congestion=reno,cubic", "--repeat", "6", "--out"];
    assert_eq!(run(&desk, &[&sweep[..], &["before"]].concat()).0, Some(0));
    assert_eq!(run(&desk, &[&sweep[..], &["after", "--set", "links.cable.delay=40 ms"]].concat()).0, Some(0));
    let (code, same, stderr) = desk.subflow(&["compare", "before", "before", "--bound", "goodput 0 %"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{same}");
    assert!(!same.contains("note:"), "{same}");
    let (code, stdout, stderr) =
        desk.subflow(&["compare", "before", "after", "--bound", "goodput 5 %", "--bound", "completion 5000 %"]);
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stderr.contains("2 differences are beyond their bounds"), "{stderr}");
    assert!(stdout.contains("note: the scenarios are not the same") && stdout.contains("6 pairs"), "{stdout}");
    assert!(stdout.contains("WORSE: goodput_mbps of short at"), "{stdout}");
    let asked = ["compare", "before/results.json", "after", "--format", "json", "--metric", "goodput"];
    let (code, stdout, _) = desk.subflow(&asked);
    assert_eq!(code, Some(0), "without a bound nothing is too bad");
    let found = json(&stdout);
    assert_eq!((&found["baseline"]["runs"], &found["results"]["scenario"]), (&12.into(), &"quick".into()));
    let page = include_str!("../../../../docs/src/json.md");
    for object in [&found, &found["baseline"]] {
        let keys = object.as_object().expect("an object").keys();
        keys.for_each(|key| assert!(page.contains(&format!("`{key}")), "the page lacks {key}"));
    }
    let row = &found["differences"][1];
    assert_eq!((&row["pairing"], &row["n"], &row["metric"]), (&"paired".into(), &6.into(), &"goodput_mbps".into()));
    assert_eq!(row["parameters"]["flows.short.congestion"], "cubic");
    assert!(row["difference_ci95_high"].as_f64() < Some(0.0) && row["p_value_holm"].as_f64() < Some(0.05), "{row}");
}

#[test]
fn results_that_are_missing_do_not_pass_a_bound() {
    let desk = Desk::new(&lossy());
    let sweep = |values: &str, repeat: &str, out: &str| {
        let sweep = format!("links.cable.loss={values}");
        assert_eq!(run(&desk, &["--sweep", &sweep, "--repeat", repeat, "--out", out]).0, Some(0));
    };
    sweep("1 %,2 %", "3", "before");
    sweep("1.0 %", "2", "after");
    let (code, stdout, stderr) = desk.subflow(&["compare", "before", "after", "--bound", "goodput 1 %"]);
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("WORSE: missing of the baseline: 1 point, 1 run; no bound allows that\n"), "{stdout}");
    assert!(
        stderr.contains("error: missing of the baseline: 1 point, 1 run") && stdout.contains("2 pairs"),
        "{stderr}"
    );
    assert_eq!(desk.subflow(&["compare", "before", "after"]).0, Some(0), "without a bound there are notes");
    assert_eq!(desk.subflow(&["compare", "after", "before", "--bound", "goodput 1 %"]).0, Some(0), "more is no loss");
}

#[test]
fn a_run_is_compared_with_the_results_that_it_replaces() {
    let desk = Desk::new(&lossy());
    assert_eq!(run(&desk, &["--repeat", "2", "--out", "out"]).0, Some(0));
    let slower = ["--repeat", "2", "--out", "out", "--set", "links.cable.delay=40 ms", "--compare", "out"];
    let (code, stdout, stderr) = run(&desk, &[&slower[..], &["--bound", "goodput 5 %"]].concat());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stdout.contains("2 pairs") && stdout.contains("Results are in out"), "{stdout}");
    let (code, stdout, stderr) = run(&desk, &[&slower[..], &["--bound", "goodput 5 %", "--format", "json"]].concat());
    assert_eq!(code, Some(0), "now the slower ones are there: {stderr}");
    assert!(json(&stdout)["runs"].is_array() && stderr.contains("2 pairs"), "{stderr}");
}

#[test]
fn a_baseline_is_in_text_json_and_report() {
    let desk = Desk::new(&lossy());
    let asked = ["--sweep", "flows.short.congestion=reno,cubic", "--repeat", "5", "--baseline", "congestion=reno"];
    let (code, stdout, stderr) = run(&desk, &[&asked[..], &["--out", "out"]].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("Differences to flows.short.congestion = reno") && stdout.contains("5 pairs"), "{stdout}");
    let results = json(&std::fs::read_to_string(desk.path("out/results.json")).expect("results"));
    let differences = results["baseline"]["differences"].as_array().expect("differences");
    assert_eq!(differences.len(), 2, "goodput and completion of one flow at one other point");
    let report = std::fs::read_to_string(desk.path("out/report.html")).expect("a report");
    assert!(report.contains("Differences to the baseline") && report.contains("p (Holm)"));
}

#[test]
fn repeating_until_an_interval_is_narrow_gives_the_results_of_that_number_of_runs() {
    let desk = Desk::new(&lossy());
    let until = ["--until", "goodput +- 25 %", "--max-repeat", "60", "--out"];
    let (code, _, stderr) = run(&desk, &[&until[..], &["until"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let repeat =
        json(&std::fs::read_to_string(desk.path("until/results.json")).expect("results"))["scenario"]["repeat"].clone();
    assert!(stderr.contains(&format!("after {repeat} runs of each point the widest 95 % interval")), "{stderr}");
    assert_eq!(run(&desk, &["--repeat", &repeat.to_string(), "--out", "repeat"]).0, Some(0));
    assert!(content(&desk, "until") == content(&desk, "repeat"));
    assert_eq!(run(&desk, &[&until[..], &["until"]].concat()).0, Some(0), "as many runs replace them");
    assert_eq!(desk.files(), ["quick.toml", "repeat", "until"], "the journal is removed");
}

#[test]
fn seeds_that_do_not_matter_are_said_instead_of_a_width_of_zero() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = run(&desk, &["--until", "goodput ± 2 %", "--out", "until"]);
    assert_eq!(code, Some(0), "{stderr}");
    let said = "after 10 runs of each point goodput is the same in all of them: the seeds do not matter";
    assert!(stderr.contains(said) && !stderr.contains("0.00 %"), "{stderr}");
    let sweep = ["--sweep", "links.cable.rate=10 Mbit/s,9.99 Mbit/s", "--baseline", "rate=10 Mbit/s"];
    let (code, stdout, _) = run(&desk, &[&sweep[..], &["--repeat", "5", "--out", "out"]].concat());
    assert_eq!((code, stdout.matches("All runs of each point are the same").count()), (Some(0), 1), "{stdout}");
    assert!(stdout.contains("No interval in 2 of 2 rows") && !stdout.contains("< 0.0001"), "{stdout}");
    let report = std::fs::read_to_string(desk.path("out/report.html")).expect("a report");
    assert!(report.contains("All runs of each point are the same") && report.contains("No interval in 2 of 2 rows"));
}

#[test]
fn the_most_runs_end_the_repetition_and_the_next_command_goes_on_with_the_kept_ones() {
    let desk = Desk::new(&lossy());
    let until = |most: &str| {
        let (code, _, stderr) =
            run(&desk, &["--until", "goodput ± 0.01 %", "--max-repeat", most, "--store", "runs", "--out", "out"]);
        (code, stderr)
    };
    let (code, stderr) = until("12");
    assert!(
        code == Some(1) && stderr.contains("--max-repeat is reached before goodput ± 0.01 %: after 12 runs"),
        "{stderr}"
    );
    assert!(stderr.contains("error: --max-repeat ended the runs before goodput ± 0.01 %"), "{stderr}");
    let (code, stderr) = until("13");
    assert!(code == Some(1) && stderr.contains("after 13 runs"), "{stderr}");
    assert!(desk.files_in("out").contains(&"results.json".to_owned()), "results are written nevertheless");
    let kept: usize = desk
        .files_in("runs")
        .iter()
        .filter(|name| name.len() == 2)
        .map(|name| desk.files_in(&format!("runs/{name}")).len())
        .sum();
    assert_eq!(kept, 13);
}

#[test]
fn a_comparison_of_what_is_not_there_exits_with_2() {
    let desk = Desk::new(QUICK);
    assert_eq!(run(&desk, &["--out", "out"]).0, Some(0));
    assert_eq!(run(&desk, &["--out", "swept", "--sweep", "links.cable.delay=1 ms,2 ms"]).0, Some(0));
    std::fs::write(desk.path("other.json"), "{\"rows\": []}").expect("written");
    let results = std::fs::read_to_string(desk.path("out/results.json")).expect("results");
    std::fs::write(desk.path("later.json"), results.replace("\"schema\": 1", "\"schema\": 2")).expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "out", "later.json"], "found results of form 2, expected at most 1"),
        (&["compare", "out", "nowhere"], "nowhere: cannot read results"),
        (&["compare", "out", "other.json"], "found no results of runs"),
        (&["compare", "out", "swept"], "have no point in common"),
        (&["compare", "out", "out", "--metric", "exchange"], "has one of the metrics"),
        (&["compare", "out", "out", "--bound", "exchange 5 %"], "has the metric exchange"),
        (&["compare", "out", "out", "--bound", "speed 5 %"], "expected a metric: goodput"),
        (&["compare", "out", "out", "--bound", "goodput 5"], "expected a percentage such as 5 %"),
        (&["run", "quick.toml", "--compare", "nowhere"], "--compare: nowhere"),
        (&["run", "quick.toml", "--baseline", "delay=1 ms"], "nothing is swept"),
        (&["run", "quick.toml", "--store", "s", "--shard", "1/2", "--compare", "out"], "cannot be used with"),
        (&["run", "quick.toml", "--metric", "goodput"], "--metric requires --baseline or --compare"),
        (&["run", "quick.toml", "--until", "goodput"], "--until"),
        (&["run", "quick.toml", "--until", "goodput ± 2 %", "--max-repeat", "9"], "must be at least 10"),
        (&["run", "quick.toml", "--until", "goodput ± 2 %", "--format", "json"], "add --store DIR, or --out DIR"),
        (&["run", "quick.toml", "--until", "exchange ± 2 %", "--out", "new"], "no run has the metric exchange"),
        (&["run", "quick.toml", "--max-repeat", "20"], "--until"),
    ];
    for (arguments, expected) in cases {
        let (code, stdout, stderr) = desk.subflow(arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}\n{stderr}");
        let message = stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains(expected), "{arguments:?}\n{stderr}");
    }
    assert_eq!(desk.files(), ["later.json", "other.json", "out", "quick.toml", "swept"]);
}
