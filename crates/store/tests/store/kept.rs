//! The store: what it gives back is what was put in, and what it cannot give back it says.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use subflow_lab::execute::{execute, run_job};
use subflow_lab::results::{RealTime, RunResult};
use subflow_lab::simulate::RunOptions;
use subflow_lab::{RunError, Stop};
use subflow_policy::queue::QueueDiscipline;
use subflow_scenario::CustomAlgorithms;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Job, Measure, Plan, SeriesKept};
use subflow_store::{
    Collected, Filled, Key, Record, Settings, Store, StoreError, UNIT, collect, export, fill, fill_with, tables,
    to_arrow, to_parquet,
};

const TEXT: &str = r#"duration = "300 ms"
sample_interval = "10 ms"
repeat = 2
[hosts]
client = ["a", "b"]
server = ["a", "b"]
[links.a]
between = ["client.a", "server.a"]
rate = "8 Mbit/s"
delay = "7 ms"
loss = "1 %"
[links.b]
between = ["client.b", "server.b"]
rate = "3 Mbit/s"
delay = "11 ms"
[flows.file]
from = "client"
to = "server"
protocol = "mptcp"
send = "150 kB"
[flows.voice]
from = "client"
to = "server"
protocol = "udp"
on_off = { rate = "100 kbit/s", packet = "160 bytes" }
[flows.messages]
from = "client"
to = "server"
protocol = "sctp"
send = "20 kB"
[sweep]
"flows.file.congestion" = ["lia", "olia"]
"#;

fn plan(text: &str) -> Plan {
    Plan::read(Document::parse(Path::new("study.toml"), text.to_owned()).expect("TOML")).expect("a scenario")
}

fn settings() -> Settings {
    Settings { options: RunOptions { series: true, ..RunOptions::default() }, ..Settings::default() }
}

fn filled(plan: &Plan, store: &Store) -> Filled {
    fill(plan, &plan.jobs(), store, &settings(), &|_| {}).expect("the store can be written")
}

fn collected(plan: &Plan, store: &Store) -> Result<Collected, StoreError> {
    collect(plan, true, |key| store.load(key))
}

fn file_of(store: &Store, key: Key) -> PathBuf {
    let key = key.to_string();
    store.path().join(&key[..2]).join(format!("{key}.run"))
}

/// An experiment without what may differ between equal runs.
fn timeless(mut experiment: subflow_lab::results::Experiment) -> subflow_lab::results::Experiment {
    experiment.runs.iter_mut().for_each(|run| run.result.engine.cpu_s = 0.0);
    experiment
}

#[test]
fn results_from_a_store_are_those_of_the_runs_to_the_last_bit() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path().join("deep/store")).expect("it can be created");
    assert_eq!(filled(&plan, &store), Filled { finished: 4, ..Filled::default() });
    let collected = collected(&plan, &store).expect("it can be read");
    assert!(collected.experiment.failed.is_empty() && collected.missing.is_empty());
    let options = RunOptions { series: true, ..RunOptions::default() };
    let direct = execute(&plan, 1, &options, &|_| {}).expect("the runs end well");
    let series = |experiment: &subflow_lab::results::Experiment| experiment.runs[0].result.series.len();
    assert!(series(&direct) > 5 && direct.runs[1].result.series.is_empty());
    // A rate that is sampled further has a rest that no result contains.
    let text = |experiment| format!("{:?}", timeless(experiment)).replace("pending: Some((0.0, 0))", "pending: None");
    let (stored, direct) = (text(collected.experiment), text(direct));
    let without_rest = |text: &str| {
        text.split("pending: ").map(|part| part.split_once(" }").map_or(part, |(_, rest)| rest)).collect::<String>()
    };
    assert_eq!(without_rest(&stored), without_rest(&direct));
}

#[test]
fn what_a_store_has_is_not_done_again() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("an empty folder is as good as none");
    let some = &plan.jobs()[1..3];
    assert!(store.is_empty().expect("it can be read"));
    fill(&plan, some, &store, &settings(), &|_| {}).expect("it can be written");
    assert!(!store.is_empty().expect("it can be read"));
    let collected = collected(&plan, &store).expect("it can be read");
    assert_eq!(collected.missing.iter().map(|job| job.run).collect::<Vec<_>>(), [0, 3]);
    let written = |job: Job| file_of(&store, Key::of(&plan, job, true)).metadata().expect("a file").modified().ok();
    let before: Vec<_> = some.iter().map(|job| written(*job)).collect();
    assert_eq!(filled(&plan, &store).finished, 4);
    assert_eq!(before, some.iter().map(|job| written(*job)).collect::<Vec<_>>());
    // Another title, more seeds and more values leave the runs what they are.
    let larger = TEXT.replace("repeat = 2", "repeat = 3\ntitle = \"More\"").replace("\"lia\"", "\"balia\", \"lia\"");
    let larger = self::plan(&larger);
    let missing = self::collected(&larger, &store).expect("it can be read").missing;
    let names: Vec<(usize, u64)> = missing.iter().map(|job| (job.point, job.seed)).collect();
    assert_eq!(names, [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]);
}

#[test]
fn equal_runs_have_equal_records_apart_from_their_cpu_time() {
    let plan = plan(TEXT);
    let job = plan.jobs()[0];
    let key = Key::of(&plan, job, true);
    let record = |cpu_s: f64| {
        let options = RunOptions { series: true, ..RunOptions::default() };
        let mut result = run_job(&plan, job, &options).expect("the run ends well");
        result.engine.cpu_s = cpu_s;
        Record::Finished(Box::new(result)).encode(&plan, job, key)
    };
    assert_eq!(record(0.25), record(0.25));
    let Ok(Record::Finished(result)) = Record::decode(&record(0.75), key) else { panic!("it was finished") };
    assert_eq!(result.engine.cpu_s, 0.75);
}

#[test]
fn a_damaged_file_is_named_whatever_is_wrong_with_it() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("it can be created");
    filled(&plan, &store);
    let [first, second] = [0, 1].map(|run| file_of(&store, Key::of(&plan, plan.jobs()[run], true)));
    let whole = std::fs::read(&first).expect("a file");
    let mut damaged = vec![Vec::new(), b"subflow-run\n".to_vec(), whole[..whole.len() / 2].to_vec(), vec![0xff; 5000]];
    damaged.push(std::fs::read(&second).expect("a file"));
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        damaged.push(flipped);
    }
    for bytes in damaged {
        std::fs::write(&first, &bytes).expect("written");
        let error = collected(&plan, &store).expect_err("it is damaged");
        let message = error.to_string();
        assert!(matches!(error, StoreError::Damaged { .. }), "{message}");
        assert!(message.contains(&first.display().to_string()) && message.contains("remove it"), "{message}");
    }
    std::fs::remove_file(&first).expect("removed");
    assert_eq!(filled(&plan, &store).finished, 4, "the way out works");
    assert_eq!(collected(&plan, &store).expect("it can be read").missing.len(), 0);
}

#[test]
fn runs_whose_files_were_cut_or_emptied_are_done_again() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("it can be created");
    assert_eq!(filled(&plan, &store).finished, 4);
    let before = collected(&plan, &store).expect("it can be read").experiment;
    let paths: Vec<PathBuf> = plan.jobs().iter().map(|job| file_of(&store, Key::of(&plan, *job, true))).collect();
    let whole = std::fs::read(&paths[0]).expect("a file");
    std::fs::write(&paths[0], &whole[..whole.len() - 1]).expect("written");
    std::fs::write(&paths[1], b"").expect("written");
    std::fs::write(&paths[2], b"subflow-run\n").expect("written");
    let is_there = |job: &Job| store.contains(Key::of(&plan, *job, true));
    assert_eq!(plan.jobs().iter().map(is_there).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(filled(&plan, &store), Filled { finished: 4, ..Filled::default() });
    assert_eq!(timeless(collected(&plan, &store).expect("it can be read").experiment), timeless(before));
}

#[test]
fn a_store_of_another_version_and_a_folder_of_others_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    Store::open(path("old")).expect("it can be created");
    std::fs::write(path("old/subflow-store.json"), r#"{"format":1,"version":"0.0.9"}"#).expect("written");
    let message = Store::open(path("old")).expect_err("another version").to_string();
    assert!(message.contains("0.0.9") && message.contains("another store"), "{message}");
    let parquet = format!(r#"{{"format":3,"version":"{}"}}"#, env!("CARGO_PKG_VERSION"));
    std::fs::write(path("old/subflow-store.json"), parquet).expect("written");
    let message = Store::open(path("old")).expect_err("another format").to_string();
    assert!(message.contains("format 3 (Parquet files)") && message.contains("reads format 6"), "{message}");
    std::fs::write(path("old/subflow-store.json"), "{").expect("written");
    assert!(matches!(Store::open(path("old")), Err(StoreError::DamagedMarker { .. })));
    std::fs::remove_file(path("old/subflow-store.json")).expect("removed");
    std::fs::create_dir(path("old/ab")).expect("made");
    assert!(Store::open(path("old")).is_ok(), "the way out works");

    std::fs::create_dir(path("thesis")).expect("made");
    std::fs::write(path("thesis/chapter.tex"), "x").expect("written");
    assert!(matches!(Store::open(path("thesis")), Err(StoreError::NotAStore { .. })));
    assert!(matches!(Store::existing(path("nowhere")), Err(StoreError::Missing { .. })));
    std::fs::write(path("file"), "x").expect("written");
    assert!(matches!(Store::open(path("file")), Err(StoreError::NotAFolder { .. })));
}

#[test]
fn a_store_of_another_build_is_refused_and_a_journal_of_one_may_begin_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(TEXT);
    let stores = ["kept", "kept.runs"].map(|name| folder.path().join(name));
    filled(&plan, &Store::open(&stores[0]).expect("it can be created"));
    filled(&plan, &Store::open_journal(&stores[1]).expect("it can be created"));
    let other = r#"{"format":6,"version":"VERSION","build":"commit 0123","journal":JOURNAL}"#;
    for (store, journal) in stores.iter().zip(["false", "true"]) {
        let marker = store.join("subflow-store.json");
        let before = std::fs::read_to_string(&marker).expect("a file");
        assert!(before.contains("\"build\":\"program ") || before.contains("\"build\":\"commit "), "{before}");
        let other = other.replace("VERSION", env!("CARGO_PKG_VERSION")).replace("JOURNAL", journal);
        std::fs::write(marker, other).expect("written");
        let message = Store::existing(store).expect_err("another build").to_string();
        assert!(message.contains("another build of subflow (commit 0123; this is "), "{message}");
        assert_eq!(message.contains("--force"), journal == "true");
    }
    assert!(matches!(Store::open_journal_anew(&stores[0]), Err(StoreError::OtherBuild { .. })));
    let anew = Store::open_journal_anew(&stores[1]).expect("it is a journal");
    assert_eq!(anew.count().expect("it can be read"), 0);
    drop(anew);
    assert!(Store::open_journal(&stores[1]).is_ok(), "it is of this build now");
}

/// A queue that takes everything.
#[derive(Clone, Debug)]
struct Endless;

impl QueueDiscipline for Endless {}

#[test]
fn an_algorithm_of_another_crate_needs_an_identity_in_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it can be created");
    let mut custom = CustomAlgorithms::default();
    custom.queue("mine", Endless).expect("a good name");
    let mut document = Document::parse(Path::new("study.toml"), TEXT.to_owned()).expect("TOML");
    document.custom = custom;
    let mut plan = Plan::read(document).expect("a scenario");
    let error = fill(&plan, &plan.jobs(), &store, &settings(), &|_| {}).expect_err("only a name");
    assert!(matches!(error, StoreError::Unidentified) && error.to_string().contains("identify_by"), "{error}");
    assert!(store.is_empty().expect("it can be read"));
    plan.identify_by("mine, first form");
    assert_eq!(filled(&plan, &store).finished, 4);
}

#[test]
fn an_error_is_kept_until_the_run_succeeds_and_never_replaces_results() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("it can be created");
    let job = plan.jobs()[2];
    let key = Key::of(&plan, job, true);
    let failed = Record::Failed("the run \u{2014} \"failed\"".to_owned());
    let save = |record: &Record| store.save(key, record, &record.encode(&plan, job, key)).expect("it can be written");
    save(&failed);
    assert_eq!(store.load(key).expect("it can be read"), Some(failed.clone()));
    let collected = collected(&plan, &store).expect("it can be read");
    assert_eq!((collected.experiment.failed.len(), collected.missing.len()), (1, 3));
    let message = &collected.experiment.failed[0].error;
    assert!(message.contains("run 2 (seed 1, flows.file.congestion = \"olia\"): the run"), "{message}");
    assert_eq!(filled(&plan, &store).finished, 4);
    save(&failed);
    assert!(matches!(store.load(key), Ok(Some(Record::Finished(_)))));
}

#[test]
fn runs_go_on_after_a_failure_if_they_may() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let run = |job: Job| match job.run {
        1 => Err(RunError::Result("out of luck".to_owned()).in_job(&plan, job)),
        _ => run_job(&plan, job, &settings().options),
    };
    let fill = |name: &str, keep_going: bool| {
        let store = Store::open(folder.path().join(name)).expect("it can be created");
        let settings = Settings { threads: 1, keep_going, ..settings() };
        let filled = fill_with(&plan, &plan.jobs(), &store, &settings, &|_| {}, run).expect("it can be written");
        (filled, store)
    };
    let (halted, _) = fill("halted", false);
    assert_eq!((halted.finished, halted.failed.len(), halted.missing), (1, 1, 2));
    let (through, store) = fill("through", true);
    assert_eq!((through.finished, through.failed.len(), through.missing), (3, 1, 0));
    let message = collected(&plan, &store).expect("it can be read").experiment.failed[0].error.clone();
    assert_eq!(message, "run 1 (seed 2, flows.file.congestion = \"lia\"): out of luck");
    assert_eq!(message, through.failed[0].to_string());
}

#[test]
fn results_that_are_not_valid_are_kept_until_the_run_is_done_again() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("it can be created");
    let done = |late: &[usize]| {
        let again = Mutex::new(Vec::new());
        let run = |job: Job| {
            again.lock().expect("a lock").push(job.run);
            let objections = late.contains(&job.run).then(|| "late".to_owned()).into_iter().collect();
            let real_time = Some(RealTime { objections, ..RealTime::default() });
            Ok(RunResult { real_time, ..run_job(&plan, job, &settings().options)? })
        };
        let one_by_one = Settings { threads: 1, ..settings() };
        let filled = fill_with(&plan, &plan.jobs(), &store, &one_by_one, &|_| {}, run).expect("it can be written");
        assert_eq!((filled.finished, filled.missing), (4, 0));
        let runs = collected(&plan, &store).expect("it can be read").experiment.runs;
        let invalid = runs.iter().filter(|run| !run.result.objections().is_empty()).count();
        (again.into_inner().expect("a lock"), invalid)
    };
    assert_eq!(done(&[1, 2]), (vec![0, 1, 2, 3], 2));
    assert_eq!(done(&[2]), (vec![1, 2], 1));
    assert_eq!(done(&[]), (vec![2], 0));
    assert_eq!(done(&[]), (vec![], 0));
    let keys = plan.jobs().into_iter().flat_map(|job| Key::all_of(&plan, job, true));
    store.remove(keys).expect("they can be removed");
    assert!(!folder.path().exists(), "nothing is left");
}

#[test]
fn a_request_to_stop_keeps_what_is_done() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(&TEXT.replace("repeat = 2", "repeat = 40")));
    let store = Store::open(folder.path()).expect("it can be created");
    let stop = Stop::default();
    let options = RunOptions { stop: Some(stop.clone()), ..RunOptions::default() };
    let settings = Settings { options, ..Settings::default() };
    let outcome = fill(&plan, &plan.jobs(), &store, &settings, &|progress| {
        if progress.done == 5 {
            stop.request();
        }
    });
    let outcome = outcome.expect("it can be written");
    assert!((5..20).contains(&outcome.finished), "{outcome:?}");
    assert_eq!((outcome.finished + outcome.missing, outcome.failed), (80, Vec::new()));
    let collected = collect(&plan, false, |key| store.load(key)).expect("it can be read");
    assert_eq!(collected.experiment.runs.len(), outcome.finished);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_part_of_a_file() {
    let plan = plan(TEXT);
    // No file can be made there, whoever asks.
    assert!(matches!(Store::open("/proc/subflow"), Err(StoreError::Io { .. })));
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it can be created");
    // The folder of the first run's file is a file: writing it fails as on a full disk.
    let key = Key::of(&plan, plan.jobs()[0], true).to_string();
    std::fs::write(folder.path().join(&key[..2]), "").expect("written");
    let error = fill(&plan, &plan.jobs(), &store, &settings(), &|_| {}).expect_err("it cannot be written");
    assert!(error.to_string().contains(&key), "{error}");
}

#[test]
fn tables_are_written_as_parquet_with_units() {
    let plan = plan(TEXT);
    let options = RunOptions { series: true, ..RunOptions::default() };
    let experiment = execute(&plan, 0, &options, &|_| {}).expect("the runs end well");
    let names: Vec<&str> = tables::all(&experiment).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["runs", "flows", "subflows", "links", "statistics", "series"]);
    for (name, table) in tables::all(&experiment) {
        let file = to_parquet(&table);
        assert_eq!(file, to_parquet(&table), "{name}");
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file));
        let reader = reader.expect("it is Parquet");
        assert_eq!(reader.schema().fields(), to_arrow(&table).schema().fields(), "{name}");
        let metadata = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
        let value = |key: &str| metadata.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.clone());
        assert_eq!(value(subflow_store::SCENARIO_SHA256), Some(plan.digest()), "{name}");
        assert_eq!(value(subflow_store::VERSION), Some(env!("CARGO_PKG_VERSION").to_owned()), "{name}");
        let rows: usize = reader.build().expect("it can be read").map(|batch| batch.expect("rows").num_rows()).sum();
        assert_eq!(rows, table.len(), "{name}");
    }
}

#[test]
fn metrics_over_time_of_all_runs_are_kept_only_if_that_is_wanted() {
    let options = RunOptions { series: true, ..RunOptions::default() };
    let first = plan(TEXT);
    let all = Plan { series: SeriesKept::All, ..plan(TEXT) };
    let seeds = |plan: &Plan| {
        let experiment = execute(plan, 0, &options, &|_| {}).expect("the runs end well");
        let text = tables::all_series(&experiment).to_csv();
        let seeds = text.lines().skip(1).filter_map(|line| line.split(',').nth(2));
        seeds.map(str::to_owned).collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(seeds(&first), ["1".to_owned()].into());
    assert_eq!(seeds(&all), ["1", "2"].map(str::to_owned).into());
    // The second run of the first point: with and without series it is another record.
    let second = first.jobs()[1];
    assert_ne!(Key::of(&first, second, true), Key::of(&all, second, true));
    assert_eq!(Key::of(&first, second, false), Key::of(&all, second, false));
}

#[test]
fn a_run_with_metrics_over_time_is_not_done_again_where_they_are_not_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it can be created");
    let (first, all) = (plan(TEXT), Plan { series: SeriesKept::All, ..plan(TEXT) });
    assert_eq!(filled(&all, &store).finished, 4);
    let never = |_: Job| Err(RunError::Result("done again".to_owned()));
    let jobs = first.jobs();
    let again = fill_with(&first, &jobs, &store, &settings(), &|_| {}, never).expect("nothing to do");
    assert_eq!(again, Filled { finished: 4, ..Filled::default() });
    let runs = collected(&first, &store).expect("it can be read").experiment.runs;
    let has_series: Vec<bool> = runs.iter().map(|run| !run.result.series.is_empty()).collect();
    assert_eq!(has_series, [true, false, true, false]);
    // Where they are wanted, a run without them is done.
    let (other, all) = (plan(&TEXT.replace("7 ms", "8 ms")), plan(&TEXT.replace("7 ms", "8 ms")));
    filled(&other, &store);
    let all = Plan { series: SeriesKept::All, ..all };
    assert_eq!(collected(&all, &store).expect("it can be read").missing, [all.jobs()[1], all.jobs()[3]]);
}

#[test]
fn tables_as_csv_have_the_same_rows_and_the_same_names_of_subflows() {
    let plan = plan(TEXT);
    let options = RunOptions { series: true, ..RunOptions::default() };
    let experiment = execute(&plan, 0, &options, &|_| {}).expect("the runs end well");
    let read = |name: &str| {
        let (_, table) = tables::all(&experiment).into_iter().find(|(known, _)| *known == name).expect("a table");
        let text = table.to_csv();
        let lines: Vec<Vec<String>> = text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        assert_eq!(lines.len(), table.len() + 1, "{name}");
        assert!(lines.iter().all(|line| line.len() == table.columns.len()), "{name}");
        lines
    };
    let column = |lines: &[Vec<String>], name: &str| {
        let index = lines[0].iter().position(|column| column == name).expect("a column");
        lines[1..].iter().map(|line| line[index].clone()).collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(column(&read("runs"), "seed"), ["1", "2"].map(str::to_owned).into());
    let subflows = read("subflows");
    let known = column(&subflows, "subflow");
    let sampled = column(&read("series"), "of");
    let of_subflows: Vec<&str> = sampled.iter().filter_map(|of| of.split_once('/')).map(|(_, name)| name).collect();
    assert!(of_subflows.len() >= 3, "{sampled:?}");
    assert!(of_subflows.iter().all(|name| known.contains(*name)), "{sampled:?}, {known:?}");
}

#[test]
fn swept_quantities_are_numbers_in_the_unit_that_their_column_names() {
    let swept = "[sweep]\n\"links.a.rate\" = [\"500 kbit/s\", \"8 Mbit/s\"]\n\
                 \"links.a.loss, links.b.loss\" = [\"none\", \"1 %\"]\n\"flows.file.congestion\" = [\"lia\"]\n";
    let text = TEXT.split("[sweep]").next().expect("there is a first part").to_owned() + swept;
    let experiment = execute(&plan(&text), 0, &RunOptions::default(), &|_| {}).expect("the runs end well");
    for (name, table) in tables::all(&experiment) {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let first = names.iter().position(|name| *name == "links.a.rate").expect("a column");
        let swept = ["links.a.rate", "links.a.rate_mbps", "links.a.loss", "links.a.loss_percent"];
        assert_eq!(names[first..first + 4], swept, "{name}");
        assert!(names.contains(&"links.b.loss_percent"), "{name}");
        assert!(!names.iter().any(|name| name.starts_with("flows.file.congestion_")), "{name}");
        assert_eq!((&*table.columns[first + 1].unit, &*table.columns[first + 3].unit), ("Mbit/s", "%"), "{name}");
        assert_eq!(to_arrow(&table).schema().field(first + 1).metadata()[UNIT], "Mbit/s", "{name}");
    }
    for csv in [tables::runs(&experiment).to_csv(), subflow_lab::output::to_csv(&experiment)] {
        let values = "500 kbit/s,0.5,none,0.0,none,0.0,lia,";
        assert!(csv.lines().nth(1).is_some_and(|line| line.contains(values)), "{csv}");
        assert!(csv.contains(",8 Mbit/s,8.0,1 %,1.0,1 %,1.0,lia,"), "{csv}");
    }
}

#[test]
fn the_manual_has_the_unit_and_the_name_of_each_column_of_a_swept_quantity() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/python.md");
    let manual = std::fs::read_to_string(manual).expect("the manual");
    for measure in Measure::ALL {
        let row = format!(" | {} | `…_{}` | ", measure.unit(), measure.suffix());
        assert!(manual.contains(&row), "{row}");
    }
}

#[test]
fn a_store_that_is_being_filled_can_be_looked_at_as_a_table() {
    let (folder, plan) = (tempfile::tempdir().expect("a folder"), plan(TEXT));
    let store = Store::open(folder.path()).expect("it can be created");
    assert_eq!(export(&store).expect("it is empty").to_csv().lines().count(), 1);
    let jobs = plan.jobs();
    fill(&plan, &jobs[..2], &store, &settings(), &|_| {}).expect("it can be written");
    let (key, failed) = (Key::of(&plan, jobs[2], true), Record::Failed("out of luck".to_owned()));
    store.save(key, &failed, &failed.encode(&plan, jobs[2], key)).expect("it can be written");
    let table = export(&store).expect("it can be read");
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let head = ["key", "version", "scenario", "seed", "flows.file.congestion", "error", "flow", "goodput_mbps"];
    assert_eq!(names[..8], head);
    assert_eq!((names[8..].len(), table.len()), (2, 2 * 3 + 1), "three flows of two runs, and an error");
    let lines = table.to_csv();
    let failed: Vec<&str> = lines.lines().filter(|line| line.contains("out of luck")).collect();
    assert_eq!(failed.len(), 1, "{lines}");
    assert!(failed[0].starts_with(&key.to_string()) && failed[0].ends_with("1,olia,out of luck,,,,"), "{failed:?}");
    std::fs::write(file_of(&store, Key::of(&plan, jobs[0], true)), b"x").expect("written");
    assert!(matches!(export(&store), Err(StoreError::Damaged { .. })));
}
