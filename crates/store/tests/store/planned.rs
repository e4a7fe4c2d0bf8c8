//! What a store tells whoever opens it without the file of the scenario.

use std::path::Path;

use subflow_lab::simulate::RunOptions;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Plan, SeriesKept};
use subflow_store::{Collected, Key, Settings, Share, Store, collect, fill};

const TEXT: &str = r#"duration = "100 ms"
repeat = 2
[hosts]
client = ["a"]
server = ["a"]
[links.a]
between = ["client.a", "server.a"]
rate = "8 Mbit/s"
delay = "7 ms"
[flows.file]
from = "client"
to = "server"
send = "10 kB"
[sweep]
"flows.file.congestion" = ["reno", "cubic"]
"#;

fn settings() -> Settings {
    Settings { options: RunOptions { series: true, ..RunOptions::default() }, ..Settings::default() }
}

#[test]
fn a_plan_is_read_from_the_store_that_has_its_runs_and_its_share_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("wifi.trace"), "1\n2\n").expect("written");
    let text = TEXT.replace("\"8 Mbit/s\"", "\"./wifi.trace\"");
    let mut document = Document::parse(&folder.path().join("study.toml"), text).expect("TOML");
    document.set("--set", "repeat=3").expect("a value");
    let plan = Plan { series: SeriesKept::None, ..Plan::read(document).expect("a scenario") };
    let store = Store::open_journal(folder.path().join("runs")).expect("a new store");
    let jobs = plan.jobs();
    fill(&plan, &jobs[..2], &store, &settings(), &|_| {}).expect("it can be written");
    // The trace is not needed any more.
    std::fs::remove_file(folder.path().join("wifi.trace")).expect("removed");
    let other = Store::existing(store.path()).expect("it is there");
    let [id] = &other.noted().expect("a list")[..] else { panic!("one plan") };
    let read = other.plan(id).expect("it can be read");
    assert_eq!((read.digest(), read.jobs(), read.series), (plan.digest(), jobs.clone(), plan.series));
    assert_eq!(other.share(&read).expect("counted"), Share { finished: 2, failed: 0, total: 6 });
    let Collected { experiment, missing } = collect(&read, true, |key| other.load(key)).expect("read");
    assert_eq!((experiment.runs.len(), missing.len(), experiment.scenario.name.as_str()), (2, 4, "study"));
    assert_eq!(other.user(), Some(std::process::id().to_string()), "the journal is in use by this process");
    std::fs::write(folder.path().join("wifi.trace"), "1\n2\n").expect("written");
    fill(&plan, &jobs, &store, &settings(), &|_| {}).expect("it can be written");
    assert_eq!(other.noted().expect("a list").len(), 1, "the same plan is noted once");
    drop(store);
    assert_eq!(other.user(), None);
    other.remove(jobs.iter().flat_map(|job| Key::all_of(&plan, *job, true))).expect("removed");
    assert!(!other.path().exists(), "a note alone keeps no store");
}

#[test]
fn a_plan_with_an_identity_is_told_from_the_scenario_and_a_damaged_note_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path()).expect("a new store");
    let document = Document::parse(Path::new("study.toml"), TEXT.to_owned()).expect("TOML");
    let mut plan = Plan::read(document).expect("a scenario");
    plan.identify_by("a kernel");
    fill(&plan, &plan.jobs(), &store, &settings(), &|_| {}).expect("it can be written");
    let id = store.noted().expect("a list").remove(0);
    assert_eq!(store.plan(&id).expect("it can be read").digest(), plan.digest());
    assert_eq!(store.share(&store.plan(&id).expect("a plan")).expect("counted").finished, 4);
    let note = folder.path().join(format!("subflow-plan-{id}.json"));
    let text = serde_json::Value::from(TEXT);
    let elsewhere = format!(r#"{{"name":"../study","text":{text},"series":"all"}}"#);
    for damage in ["{", r#"{"name":"study","text":"x = ","series":"all"}"#, &elsewhere] {
        std::fs::write(&note, damage).expect("written");
        let error = store.plan(&id).expect_err("it cannot be read").to_string();
        assert!(error.contains(&id) && error.contains("subflow merge"), "{error}");
    }
}

#[test]
fn a_store_that_the_user_has_named_tells_who_does_runs_for_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let document = Document::parse(Path::new("study.toml"), TEXT.to_owned()).expect("TOML");
    let plan = Plan::read(document).expect("a scenario");
    let store = Store::open(folder.path().join("named")).expect("a new store");
    let other = Store::existing(store.path()).expect("it is there");
    assert_eq!(other.user(), None, "nobody does runs yet");
    let seen = std::sync::Mutex::new(Vec::new());
    let look = |_| seen.lock().expect("no thread panics").push(other.user());
    let jobs = plan.jobs();
    fill(&plan, &jobs, &store, &settings(), &look).expect("it can be written");
    let seen = seen.into_inner().expect("no thread panics");
    let own = Some(std::process::id().to_string());
    assert!(seen.len() > jobs.len() && seen.iter().all(|user| *user == own), "{seen:?}");
    assert_eq!(other.user(), None, "all runs are done");
    other.remove(jobs.iter().flat_map(|job| Key::all_of(&plan, *job, true))).expect("removed");
    assert!(!other.path().exists(), "the file of the lock alone keeps no store");
}
