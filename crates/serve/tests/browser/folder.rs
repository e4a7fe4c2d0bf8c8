//! A folder of results: opened, watched while a sweep is done, and with ten thousand points.

use std::path::Path;

use subflow_lab::execute::{execute, run_job};
use subflow_lab::simulate::RunOptions;
use subflow_report::output::Folder;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::{Plan, SeriesKept};
use subflow_serve::Source;
use subflow_store::{Key, Record, Settings, Store, fill};

use crate::accessible::assert_usable;
use crate::browser;
use crate::desk::{Served, click, next_results, property, type_over, wait};
use crate::devtools::Page;
use crate::looks::screenshots;

fn plan(assignments: &[&str]) -> Plan {
    let text = include_str!("../../../../scenarios/wifi-lte.toml").to_owned();
    let mut document = Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML");
    for assignment in assignments {
        document.set("--set", assignment).expect("a value");
    }
    Plan::read(document).expect("a scenario")
}

fn settings() -> Settings {
    Settings { options: RunOptions { series: true, ..RunOptions::default() }, ..Settings::default() }
}

/// Writes the results of a plan to a folder.
fn write(plan: &Plan, folder: &Path) {
    let options = RunOptions { series: true, ..RunOptions::default() };
    let experiment = execute(plan, 1, &options, &|_| {}).expect("it runs");
    let folder = Folder::for_plan(folder, plan, false).expect("absent");
    folder.write_experiment(plan, &experiment, None).expect("written");
}

#[test]
fn results_are_shown_and_their_scenario_is_edited() {
    let Some(mut browser) = browser() else { return };
    let root = tempfile::tempdir().expect("a temporary folder");
    write(&plan(&["links.lte.delay=77 ms", "title=The slow one"]), &root.path().join("slow"));
    write(&plan(&["title=The usual one"]), &root.path().join("usual"));
    let served = Served::begin_with(Source::Folder(root.path().to_owned()));
    let mut page = browser.open_url(&served.address);
    wait(&mut page, "document.getElementById('frames').dataset.shown === 'written'");
    assert_eq!(page.evaluate("document.querySelectorAll('#view-folder li').length"), 2);
    assert_eq!(page.evaluate("document.querySelector('#view-folder [aria-current] button').textContent"), "usual");
    assert_eq!(page.evaluate("fetch('results/1/frame').then((answer) => answer.status)"), 404, "nothing was run");
    let text = property(&mut page, "text", "value");
    assert!(text.as_str().is_some_and(|text| text.contains("The usual one")), "the scenario that made it");
    assert_usable(&mut page, "folder");
    page.evaluate(
        "[...document.querySelectorAll('#view-folder button')].find((b) => b.textContent === 'slow').click()",
    );
    wait(&mut page, "document.querySelector('#folder-note b')?.textContent === 'slow'");
    click(&mut page, "#folder-edit");
    wait(&mut page, "document.getElementById('text').value.includes('77 ms')");
    next_results(&mut page, 0);
    assert_eq!(
        page.evaluate("document.getElementById('folder-note').hidden"),
        true,
        "what is shown is of this page now"
    );
    type_over(&mut page, "\"77 ms\"", "\"78 ms\"");
    next_results(&mut page, 1);
    // The page says nothing of results that are not there, which the test asked for.
    page.complaints();
}

#[test]
fn results_without_their_report_are_shown_from_their_runs_or_say_what_is_missing() {
    let Some(mut browser) = browser() else { return };
    let root = tempfile::tempdir().expect("a temporary folder");
    for name in ["again", "lost"] {
        write(&plan(&["duration=1 s"]), &root.path().join(name));
        std::fs::remove_file(root.path().join(name).join("report.html")).expect("removed");
    }
    std::fs::remove_file(root.path().join("lost/results.json")).expect("removed");
    let served = Served::begin_with(Source::Folder(root.path().to_owned()));
    let mut page = browser.open_url(&served.address);
    let told = |page: &mut Page, name: &str| {
        let item = format!(
            "[...document.querySelectorAll('#view-folder li')].find((of) => of.textContent.startsWith({name:?}))"
        );
        wait(page, &format!("{item} !== undefined"));
        let told = page.evaluate(&format!("{item}.querySelector('.wrong').textContent"));
        let opens = page.evaluate(&format!("{item}.querySelector('button.plain') !== null"));
        (told.as_str().expect("a text").to_owned(), opens)
    };
    let (missing, opens) = told(&mut page, "lost");
    assert!(
        missing.starts_with("report.html, results.json are not there any more, so there is no report"),
        "{missing}"
    );
    assert_eq!(opens, false);
    let (missing, opens) = told(&mut page, "again");
    assert!(missing.contains("report.html is not there any more. The report is made anew"), "{missing}");
    assert_eq!(opens, true);
    page.evaluate(
        "[...document.querySelectorAll('#view-folder button')].find((b) => b.textContent === 'again').click()",
    );
    wait(&mut page, "Number(document.getElementById('frames').dataset.shown) > 0");
    wait(&mut page, "document.getElementById('headline').textContent.includes('file')");
    assert_eq!(property(&mut page, "folder-note", "textContent"), "againopen in the editor");
    assert_usable(&mut page, "folder-missing");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_sweep_is_watched_to_its_end_and_becomes_its_results() {
    let Some(mut browser) = browser() else { return };
    let root = tempfile::tempdir().expect("a temporary folder");
    let plan = plan(&["duration=300 ms", "sweep={\"links.wifi.loss\"=\"0 % .. 3.9 % step 0.1 %\"}"]);
    let jobs = plan.jobs();
    let store = Store::open_journal(root.path().join("study.runs")).expect("a new store");
    fill(&plan, &jobs[..10], &store, &settings(), &|_| {}).expect("it can be written");
    let served = Served::begin_with(Source::Folder(root.path().to_owned()));
    let mut page = browser.open_url(&served.address);
    let progress = "(document.getElementById('folder-progress')?.textContent ?? '')";
    wait(&mut page, &format!("{progress}.startsWith('10 of 40 runs so far')"));
    wait(&mut page, "Number(document.getElementById('frames').dataset.shown) > 0");
    assert_eq!(page.evaluate("document.querySelectorAll('#view-folder .badge').length"), 1);
    page.screenshot(&screenshots().join("folder-running.png"));
    fill(&plan, &jobs[..30], &store, &settings(), &|_| {}).expect("it can be written");
    wait(&mut page, &format!("{progress}.startsWith('30 of 40 runs')"));
    wait(&mut page, "Number(document.getElementById('frames').dataset.shown) > 1");
    click(&mut page, "#folder-stop");
    wait(&mut page, "document.getElementById('folder-stop').textContent.includes('was asked to end')");
    let ended = fill(&plan, &jobs, &store, &settings(), &|_| {}).expect("it can be written");
    assert!(ended.was_asked && ended.finished == 30, "{ended:?}");
    fill(&plan, &jobs, &store, &settings(), &|_| {}).expect("it can be written");
    // The command writes its results, and removes the runs.
    write(&plan, &root.path().join("study"));
    store.clear().expect("removed");
    store.remove([]).expect("removed");
    wait(&mut page, "document.querySelector('#folder-note b')?.textContent === 'study'");
    wait(&mut page, "document.getElementById('frames').dataset.shown === 'written'");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_sweep_of_ten_thousand_points_is_opened() {
    let Some(mut browser) = browser() else { return };
    let root = tempfile::tempdir().expect("a temporary folder");
    let sweep =
        "sweep={\"links.wifi.loss\"=\"0 % .. 0.99 % step 0.01 %\", \"links.lte.loss\"=\"0 % .. 0.99 % step 0.01 %\"}";
    let plan = Plan { series: SeriesKept::First, ..plan(&["duration=50 ms", sweep]) };
    let jobs = plan.jobs();
    assert_eq!(jobs.len(), 10_000);
    let store = Store::open(root.path().join("large")).expect("a new store");
    store.note(&plan).expect("written");
    // One run for all of them, with other figures: this is about their number.
    let run = run_job(&plan, jobs[0], &RunOptions::default()).expect("it runs");
    for job in jobs {
        let key = Key::of(&plan, job, true);
        let name = key.to_string();
        let folder = store.path().join(&name[..2]);
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut run = run.clone();
        run.flows[0].goodput_mbps += job.run as f64 / 1e3;
        let record = Record::from(Ok(run));
        std::fs::write(folder.join(format!("{name}.run")), record.encode(&plan, job, key)).expect("written");
    }
    let served = Served::begin_with(Source::Folder(root.path().to_owned()));
    let mut page = browser.open_url(&served.address);
    wait(&mut page, "document.getElementById('frames').dataset.shown === '1'");
    let progress = property(&mut page, "folder-progress", "textContent");
    assert!(progress.as_str().is_some_and(|of| of.starts_with("10000 of 10000 runs")), "{progress}");
    page.evaluate("new Promise((done) => setTimeout(done, 1000))");
    let height = page.evaluate("Number.parseFloat(document.querySelector('#frames .shown').style.height)");
    assert!(height.as_f64().is_some_and(|height| (500.0..60_000.0).contains(&height)), "{height} high");
    let file = screenshots().join("folder-10000.png");
    // The first picture makes the frame of the report draw itself.
    page.screenshot(&file);
    page.screenshot(&file);
    assert_eq!(page.complaints(), [""; 0]);
}
