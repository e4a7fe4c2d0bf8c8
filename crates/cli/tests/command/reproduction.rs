//! `subflow reproduce` and the runs that it keeps.

use crate::desk::Desk;

const DIAMOND: [&str; 7] = ["reproduce", "multiflow2016", "--item", "diamond", "--quick", "--format", "json"];

fn with<'a>(further: &[&'a str]) -> Vec<&'a str> {
    DIAMOND.into_iter().chain(further.iter().copied()).collect()
}

#[test]
fn runs_in_a_store_are_used_and_missing_ones_are_done_with_the_same_results() {
    let desk = Desk::new("");
    let (code, plain, _) = desk.subflow(&with(&[]));
    assert_eq!(code, Some(0));
    let in_store = with(&["--store", "store"]);
    let (code, stdout, stderr) = desk.subflow(&in_store);
    assert!(code == Some(0) && stdout == plain, "{stderr}");
    let runs = || {
        let folders = desk.files_in("store").into_iter().filter(|name| name.len() == 2);
        let files = folders.flat_map(|folder| {
            let names = desk.files_in(&format!("store/{folder}"));
            names.into_iter().map(move |name| format!("store/{folder}/{name}"))
        });
        files.collect::<Vec<String>>()
    };
    let all = runs();
    // Eight modes, four runs of each.
    assert_eq!(all.len(), 32, "{all:?}");
    all.iter().step_by(2).for_each(|file| std::fs::remove_file(desk.path(file)).expect("it is there"));
    let (code, stdout, stderr) = desk.subflow(&in_store);
    assert!(code == Some(0) && stdout == plain, "{stderr}");
    assert_eq!(runs(), all);
}

#[test]
fn runs_beside_the_folder_for_the_results_are_removed_once_these_are_written() {
    let desk = Desk::new("");
    let (code, _, stderr) = desk.subflow(&with(&["--out", "out"]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(desk.path("out/report.html").exists() && !desk.path("out.runs").exists(), "{:?}", desk.files());
}

#[test]
fn what_keeps_no_runs_says_so() {
    let desk = Desk::new("");
    let (code, _, stderr) = desk.subflow(&with(&["--keep-going"]));
    assert!(code == Some(2) && stderr.contains("add --store DIR"), "{stderr}");
    let (code, _, stderr) = desk.subflow(&["reproduce", "red2018", "--quick", "--store", "store"]);
    assert!(code == Some(2) && stderr.contains("the runs of red2018 are not kept"), "{stderr}");
}

/// The folder that the book explains.
const STUDY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../publications/tests/two-paths");

#[test]
fn a_study_in_a_folder_is_run_and_its_claims_are_checked() {
    let desk = Desk::new("");
    let study = ["reproduce", "--folder", STUDY, "--quick", "--format", "json"];
    let (code, stdout, stderr) = desk.subflow(&study);
    assert_eq!(code, Some(0), "{stderr}");
    let found: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((found["paper"].as_str(), found["rows"].as_array().map(Vec::len)), (Some("two-paths"), Some(2 + 3)));
    let findings = found["findings"].as_array().expect("findings");
    assert!(findings.len() == 5 && findings.iter().all(|finding| finding["verdict"] == "confirmed"), "{stdout}");
    let (code, stored, stderr) = desk.subflow(&[study.as_slice(), &["--store", "store"]].concat());
    assert!(code == Some(0) && stored == stdout, "{stderr}");
}

#[test]
fn a_mistake_in_a_study_is_named_and_nothing_is_run() {
    let desk = Desk::new("");
    std::fs::create_dir(desk.path("study")).expect("a new folder");
    let text = |file: &str| std::fs::read_to_string(format!("{STUDY}/{file}")).expect("it is there");
    std::fs::write(desk.path("study/scenario.toml"), text("scenario.toml")).expect("a writable folder");
    for (right, wrong, named) in [
        ("column = \"goodput_mbps\"", "column = \"goodputs\"", "found \"goodputs\", expected the name of a metric"),
        ("check = \"falls\"", "check = \"fall\"", "there is no check \"fall\""),
        ("item = \"loss\"", "item = \"lost\"", "found \"lost\", expected one of gain, loss"),
        ("bounds = [15, 20]", "bounds = [20, 15]", "bounds: expected two numbers"),
        ("\"${loss} %\"", "\"${lost} %\"", "there is no variable \"lost\""),
        ("\"${loss} %\"", "\"${loss} packets\"", "links.wifi.loss"),
        ("runs = { full = 20, quick = 3 }", "runs = { full = 20, quick = \"3\" }", "expected a whole number"),
        ("title = ", "tilte = ", "did you mean \"title\"?"),
    ] {
        std::fs::write(desk.path("study/paper.toml"), text("paper.toml").replace(right, wrong)).expect("writable");
        let (code, _, stderr) = desk.subflow(&["reproduce", "--folder", "study", "--quick"]);
        let shown = stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(code == Some(2) && shown.contains(named), "{wrong}: {stderr}");
    }
}
