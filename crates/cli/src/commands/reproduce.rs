//! `subflow reproduce`.

use subflow_publications::{Done, Request, Study, items_on_linux};
use subflow_report::output::{Content, Folder};
use subflow_report::{Reproduction, Reproductions};
use subflow_scenario::file::{did_you_mean, list};

use super::kept_runs::Kept;
use super::on_linux;
use crate::arguments::{Format, Platform, Reproduce};
use crate::failure::Failure;
use crate::output::{figure_format, print};
use crate::progress::Bar;

/// The name that stands for all publications.
const ALL: &str = "all";

pub(crate) fn reproduce(arguments: &Reproduce) -> Result<(), Failure> {
    match (&arguments.folder, arguments.paper.as_deref()) {
        (Some(folder), _) => one(&subflow_publications::open(folder)?, arguments),
        (None, Some(ALL) | None) => all(arguments),
        (None, Some(name)) => one(find(name)?, arguments),
    }
}

fn one(paper: &Study, arguments: &Reproduce) -> Result<(), Failure> {
    check_items(paper, &arguments.item)?;
    if arguments.cases.is_some() && !paper.takes_cases() {
        return Err(Failure::bad_input(format!("{} defines its own configurations", paper.name()), "remove --cases"));
    }
    if arguments.on == Platform::Linux {
        check_on_linux(paper, arguments)?;
    } else if let Some((option, why)) = option_of_linux(arguments) {
        return Err(Failure::bad_input(
            format!("{option} requires --on linux"),
            format!("{why}: add --on linux, or remove {option}"),
        ));
    }
    let folder = folder(arguments, &[paper])?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let kept = Kept::of(arguments, &[paper])?;
    let request = Request {
        items: arguments.item.clone(),
        quick: arguments.quick,
        jobs: arguments.jobs.map_or(0, usize::from),
        folder: arguments.folder.clone(),
        cases: arguments.cases.clone(),
        on_linux: arguments.on == Platform::Linux,
        runs: arguments.repeat.map(u64::from),
        ..kept.request(arguments)?
    };

    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let outcome = match arguments.on {
        Platform::Simulator => paper.reproduce(&request, &progress).map_err(|error| kept.failure(error)),
        Platform::Linux => on_linux::reproduce(paper, &request, arguments.controller.as_deref(), &progress),
    };
    bar.finish();
    let Done { reproduction, failed_runs, without_valid_runs } = outcome?;

    if let Some(folder) = &folder {
        folder.write_reproduction(&request.describe(paper), &reproduction, figures)?;
    }
    kept.forget(failed_runs, folder.as_ref())?;
    match arguments.format {
        Format::Json => print(&reproduction.to_json())?,
        Format::Csv => print(&reproduction.table.to_csv())?,
        Format::Text => print(&text(paper, &reproduction, folder.as_ref()))?,
    }
    match without_valid_runs {
        0 => kept.lacks(failed_runs),
        cases => {
            Err(Failure::RunFailed(format!("{cases} cases have no valid run on Linux; the notes have the reasons")))
        }
    }
}

/// An option that has a meaning on Linux only, and why.
fn option_of_linux(arguments: &Reproduce) -> Option<(&'static str, &'static str)> {
    let controller = arguments.controller.as_ref().map(|_| ("--controller", "the simulator has routers"));
    let repeat = || arguments.repeat.map(|_| ("--repeat", "in the simulator each item has its own number of runs"));
    controller.or_else(repeat)
}

/// All publications, on one page.
fn all(arguments: &Reproduce) -> Result<(), Failure> {
    if arguments.on == Platform::Linux {
        let message = format!("--on linux requires one publication: {}", papers_on_linux());
        return Err(Failure::bad_input(message, "name one publication"));
    }
    if let Some((option, why)) = option_of_linux(arguments) {
        return Err(Failure::bad_input(format!("{option} cannot be used with all publications in the simulator"), why));
    }
    let option =
        if arguments.cases.is_some() { Some("--cases") } else { (!arguments.item.is_empty()).then_some("--item") };
    if let Some(option) = option {
        let message = format!("{option} requires one publication: each has its own items and cases");
        return Err(Failure::bad_input(message, format!("name one publication, or remove {option}")));
    }
    let folder = folder(arguments, subflow_publications::registry())?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let jobs = arguments.jobs.map_or(0, usize::from);
    let kept = Kept::of(arguments, subflow_publications::registry())?;
    let request = Request { quick: arguments.quick, jobs, ..kept.request(arguments)? };

    let mut failed_runs = 0;
    let mut reproductions = Reproductions::default();
    for paper in subflow_publications::registry() {
        let bar = Bar::new();
        let reproduction = paper.reproduce(&request, &|progress| bar.show(progress));
        bar.finish();
        let done = reproduction.map_err(|error| kept.failure(error))?;
        failed_runs += done.failed_runs;
        reproductions.0.push((request.describe(paper), done.reproduction));
    }

    if let Some(folder) = &folder {
        let command = format!("subflow reproduce {ALL}{}", if request.quick { " --quick" } else { "" });
        folder.write_reproductions(&reproductions, &command, figures)?;
    }
    kept.forget(failed_runs, folder.as_ref())?;
    match arguments.format {
        Format::Json => print(&reproductions.to_json())?,
        Format::Csv => print(&reproductions.findings().to_csv())?,
        Format::Text => print(&format!("{}{}", reproductions.to_text(), place(folder.as_ref())))?,
    }
    kept.lacks(failed_runs)
}

/// The folder for the results of these publications, if there is one.
fn folder(arguments: &Reproduce, papers: &[&Study]) -> Result<Option<Folder>, Failure> {
    let suffix = if arguments.on == Platform::Linux { " on Linux" } else { "" };
    let content = Content::Reproductions {
        publications: papers.iter().map(|paper| format!("{}{suffix}", paper.name())).collect(),
        items: arguments.item.clone(),
        quick: arguments.quick,
        own_cases: arguments.cases.is_some(),
    };
    let out = arguments.out.as_ref();
    Ok(out.map(|out| Folder::for_reproductions(out, content, arguments.force)).transpose()?)
}

fn find(name: &str) -> Result<&'static Study, Failure> {
    subflow_publications::find(name).ok_or_else(|| {
        let names = || subflow_publications::registry().iter().map(|paper| paper.name());
        let hint = did_you_mean(name, names(), "`subflow list papers` says more");
        let message = format!("found {name:?}, expected the name of a publication, or {ALL:?}: {}", list(names()));
        Failure::bad_input(message, hint)
    })
}

fn check_items(paper: &Study, items: &[String]) -> Result<(), Failure> {
    let names = || paper.items().iter().map(|item| item.name.as_str());
    match items.iter().find(|item| !names().any(|name| name == item.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Failure::bad_input(
            format!("--item: found {unknown:?}, expected an item of {}: {}", paper.name(), list(names())),
            did_you_mean(unknown, names(), "without --item, all are reproduced"),
        )),
    }
}

/// Checks that what is asked for can run in real time.
fn check_on_linux(paper: &Study, arguments: &Reproduce) -> Result<(), Failure> {
    let items = items_on_linux(paper);
    if items.is_empty() {
        return Err(Failure::bad_input(
            format!("--on linux: {} has no items that run on Linux; these have: {}", paper.name(), papers_on_linux()),
            "remove --on linux",
        ));
    }
    if arguments.cases.is_some() {
        return Err(Failure::bad_input("--cases cannot be used with --on linux", "remove one of them"));
    }
    match arguments.item.iter().find(|item| !items.contains(item)) {
        None => Ok(()),
        Some(other) => Err(Failure::bad_input(
            format!("--item: {other} of {} does not run on Linux; these do: {}", paper.name(), items.join(", ")),
            "without --item, all that do are run",
        )),
    }
}

/// The publications with items that run on Linux, with these.
fn papers_on_linux() -> String {
    let papers = subflow_publications::registry().iter().filter_map(|paper| {
        let items = items_on_linux(paper);
        (!items.is_empty()).then(|| format!("{} ({})", paper.name(), items.join(", ")))
    });
    papers.collect::<Vec<_>>().join("; ")
}

fn text(paper: &Study, reproduction: &Reproduction, folder: Option<&Folder>) -> String {
    format!("{}\n\n{}{}", paper.title(), reproduction.to_text(), place(folder))
}

fn place(folder: Option<&Folder>) -> String {
    folder.map_or_else(String::new, |folder| format!("\nResults are in {}\n", folder.path().display()))
}
