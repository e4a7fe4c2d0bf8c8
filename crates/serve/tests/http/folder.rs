//! A folder of results: its list, what can be read of it, and a sweep that is being done.

use std::path::Path;

use serde_json::{Value, json};
use subflow_lab::execute::{Progress, execute};
use subflow_lab::simulate::RunOptions;
use subflow_report::output::Folder;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;
use subflow_serve::{Limits, Source};
use subflow_store::{Settings, Store, fill};
use tempfile::TempDir;

use crate::WIFI_LTE;
use crate::client::Served;

fn plan(assignments: &[&str]) -> Plan {
    let mut document = Document::parse(Path::new("wifi-lte.toml"), WIFI_LTE.to_owned()).expect("TOML");
    for assignment in assignments {
        document.set("--set", assignment).expect("a value");
    }
    Plan::read(document).expect("a scenario")
}

/// A folder with results in `first`, beside a file that no command has written.
fn folder() -> TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(root.path().join("secret.html"), "secret").expect("written");
    let plan = plan(&["duration=200 ms"]);
    let experiment =
        execute(&plan, 1, &RunOptions { series: true, ..RunOptions::default() }, &|_| {}).expect("it runs");
    let first = Folder::for_plan(root.path().join("first"), &plan, false).expect("absent");
    first.write_experiment(&plan, &experiment, None).expect("written");
    std::fs::write(root.path().join("first/secret.html"), "secret").expect("written");
    root
}

#[test]
fn results_are_listed_and_shown_as_their_command_has_written_them() {
    let root = folder();
    let served = Served::start(Source::Folder(root.path().to_owned()), Limits::default());
    assert_eq!(served.get("start.json").json()["folder"], root.path().display().to_string());
    let list = served.get("folder.json").json();
    assert_eq!((&list[0]["path"], &list[0]["what"]), (&json!("first"), &json!("1 run of wifi-lte")));
    let report = served.get("folder/_first/report.html");
    let written = std::fs::read_to_string(root.path().join("first/report.html")).expect("a report");
    assert_eq!((report.status, &report.body), (200, &written));
    let policy = report.header("content-security-policy");
    assert!(policy.contains("sandbox allow-scripts") && !policy.contains("allow-same-origin"), "{policy}");
    let table = served.get("folder/_first/tables%2fflows.csv");
    assert_eq!((table.status, table.header("content-disposition")), (200, "attachment; filename=\"tablesflows.csv\""));
}

#[test]
fn a_report_that_is_missing_is_told_and_made_anew_of_what_is_there() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let plan = plan(&["duration=200 ms", "repeat=2", "sweep={\"links.lte.delay\"=[\"35 ms\", \"70 ms\"]}"]);
    let experiment = execute(&plan, 1, &RunOptions::default(), &|_| {}).expect("it runs");
    let folder = Folder::for_plan(root.path().join("first"), &plan, false).expect("absent");
    folder.write_experiment(&plan, &experiment, None).expect("written");
    let at = |name: &str| root.path().join("first").join(name);
    let served = Served::start(Source::Folder(root.path().to_owned()), Limits::default());
    let entry = || served.get("folder.json").json()[0].clone();
    assert_eq!((&entry()["missing"], &entry()["remade"]), (&json!([]), &json!(false)));
    std::fs::remove_file(at("report.html")).expect("removed");
    let found = entry();
    assert_eq!((&found["missing"], &found["remade"]), (&json!(["report.html"]), &json!(true)));
    assert!(!found["files"].to_string().contains("report.html"), "it cannot be saved: {found}");
    let open = || served.post("folder/open", &json!({ "path": "first", "plan": null }));
    let opened = open().json();
    assert_eq!((&opened["share"], &opened["name"]), (&Value::Null, &json!("wifi-lte")));
    let table = served.get(&format!("results/{}/results.csv", opened["number"]));
    assert_eq!(table.body, std::fs::read_to_string(at("results.csv")).expect("a table"), "the same runs");
    // The files beside each other are not of the same runs any more.
    let scenario = std::fs::read_to_string(at("scenario.toml")).expect("a scenario");
    std::fs::write(at("scenario.toml"), scenario.replace("70 ms", "71 ms")).expect("written");
    assert!(open().status == 409 && open().body.contains("run 2 is not one of scenario.toml"), "{}", open().body);
    std::fs::remove_file(at("results.json")).expect("removed");
    let found = entry();
    assert_eq!((&found["missing"], &found["remade"]), (&json!(["report.html", "results.json"]), &json!(false)));
    assert!(open().status == 409 && open().body.contains("results.json is not there any more"), "{}", open().body);
}

#[test]
fn a_sweep_is_ended_by_a_request_in_its_folder_and_nothing_else_is() {
    let root = folder();
    let served = Served::start(Source::Folder(root.path().to_owned()), Limits::default());
    let plan = plan(&["duration=200 ms", "repeat=50"]);
    let store = Store::open_journal(root.path().join("study.runs")).expect("a new store");
    let stop = |path: &str| served.post("folder/stop", &json!({ "path": path }));
    let settings = Settings { threads: 1, ..Settings::default() };
    // The page asks while the second run is done.
    let ask = |progress: Progress| {
        if progress.done == 2 {
            let answer = stop("study.runs");
            assert_eq!(answer.json()["process"], std::process::id().to_string());
        }
    };
    let filled = fill(&plan, &plan.jobs(), &store, &settings, &ask).expect("it can be written");
    assert!(filled.was_asked && filled.finished >= 2 && filled.missing >= 45, "{filled:?}");
    let again = fill(&plan, &plan.jobs(), &store, &settings, &|_| {}).expect("it can be written");
    assert_eq!((again.was_asked, again.finished, again.missing), (false, 50, 0), "the request was for the runs before");
    drop(store);
    for path in ["study.runs", "first", "..", "../first", "gone.runs"] {
        let answer = stop(path);
        assert!(answer.status == 409, "{path}: {} {}", answer.status, answer.body);
    }
    let left = std::fs::read_dir(root.path().join("study.runs")).expect("a folder").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("stop")), "nothing is left");
}

#[test]
fn no_file_is_read_but_those_that_commands_have_written() {
    let root = folder();
    let served = Served::start(Source::Folder(root.path().join("first")), Limits::default());
    assert_eq!(served.get("folder/_./report.html").status, 200);
    for path in [
        "folder/./report.html",
        "folder/_./secret.html",
        "folder/_./%2e%2e%2fsecret.html",
        "folder/_%2e%2e/secret.html",
        "folder/_./.subflow-results",
        "folder/_%2fetc/passwd",
        "folder/_./%2fetc%2fpasswd",
    ] {
        let answer = served.get(path);
        assert!(answer.status == 404 && !answer.body.contains("secret"), "{path}: {}", answer.status);
    }
    let served = Served::start(Source::Example, Limits::default());
    for path in ["folder.json", "folder/_first/report.html"] {
        assert_eq!(served.get(path).status, 404, "{path}: no folder was opened");
    }
    assert_eq!(served.post("folder/open", &json!({ "path": ".", "plan": "0" })).status, 404);
}

#[test]
fn a_sweep_that_is_being_done_is_opened_with_the_runs_that_are_there() {
    let root = folder();
    let plan = plan(&["duration=100 ms", "sweep={\"links.wifi.loss\"=[\"none\", \"1 %\", \"2 %\", \"3 %\"]}"]);
    let store = Store::open_journal(root.path().join("study.runs")).expect("a new store");
    let settings = Settings { options: RunOptions { series: true, ..RunOptions::default() }, ..Settings::default() };
    fill(&plan, &plan.jobs()[..1], &store, &settings, &|_| {}).expect("it can be written");
    let served = Served::start(Source::Folder(root.path().to_owned()), Limits::default());
    let list = served.get("folder.json").json();
    let sweep = &list[0];
    assert_eq!([&sweep["finished"], &sweep["total"]], [1, 4], "{sweep}");
    assert_eq!(sweep["user"], std::process::id().to_string());
    let asked = json!({ "path": sweep["path"], "plan": sweep["plan"] });
    let open = || served.post("folder/open", &asked).json();
    let first = open();
    assert_eq!((&first["share"]["finished"], &first["flows"][0]["flow"]), (&json!(1), &json!("file")));
    assert!(first["text"].as_str().is_some_and(|text| text.contains("links.wifi.loss")), "the scenario that made it");
    fill(&plan, &plan.jobs(), &store, &settings, &|_| {}).expect("it can be written");
    let opened = open();
    assert_eq!(opened["share"]["finished"], 4);
    let results: Value = served.get(&format!("results/{}/results.json", opened["number"])).json();
    assert_eq!(results["runs"].as_array().map(Vec::len), Some(4));
    drop(store);
    std::fs::remove_dir_all(root.path().join("study.runs")).expect("removed");
    let gone = served.post("folder/open", &asked);
    assert!(gone.status == 409 && gone.body.contains("not there any more"), "{}", gone.body);
}
