//! `subflow reproduce`.

use subflow_publications::{Paper, Request};
use subflow_report::Reproduction;
use subflow_report::output::Folder;
use subflow_scenario::file::{did_you_mean, list};

use crate::arguments::{Format, Reproduce};
use crate::failure::Failure;
use crate::output::{figure_format, print};
use crate::progress::Bar;

pub(crate) fn reproduce(arguments: &Reproduce) -> Result<(), Failure> {
    let paper = find(&arguments.paper)?;
    check_items(paper, &arguments.item)?;
    if arguments.cases.is_some() && !paper.takes_cases() {
        return Err(Failure::bad_input(
            format!("--cases: {} has its own configurations, expected none", paper.name()),
            "drop --cases",
        ));
    }
    let folder = arguments.out.as_ref().map(Folder::new).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let request = Request {
        items: arguments.item.clone(),
        quick: arguments.quick,
        jobs: arguments.jobs.map_or(0, usize::from),
        cases: arguments.cases.clone(),
    };

    let bar = Bar::new();
    let reproduction = paper.reproduce(&request, &|progress| bar.show(progress));
    bar.finish();
    let reproduction = reproduction?;

    if let Some(folder) = &folder {
        folder.write_reproduction(&request.describe(paper), &reproduction, figures)?;
    }
    match arguments.format {
        Format::Json => print(&reproduction.to_json()),
        Format::Csv => print(&reproduction.table.to_csv()),
        Format::Text => print(&text(paper, &reproduction, folder.as_ref())),
    }
}

fn find(name: &str) -> Result<&'static dyn Paper, Failure> {
    subflow_publications::find(name).ok_or_else(|| {
        let names = || subflow_publications::registry().iter().map(|paper| paper.name());
        let hint = did_you_mean(name, names(), "`subflow list papers` says more");
        let message = format!("found {name:?}, expected the name of a publication: {}", list(names()));
        Failure::bad_input(message, hint)
    })
}

fn check_items(paper: &dyn Paper, items: &[String]) -> Result<(), Failure> {
    let names = || paper.items().iter().map(|item| item.name);
    match items.iter().find(|item| !names().any(|name| name == item.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Failure::bad_input(
            format!("--item: found {unknown:?}, expected an item of {}: {}", paper.name(), list(names())),
            did_you_mean(unknown, names(), "without --item, all are reproduced"),
        )),
    }
}

fn text(paper: &dyn Paper, reproduction: &Reproduction, folder: Option<&Folder>) -> String {
    let place = folder.map(|folder| format!("\nResults are in {}\n", folder.path().display()));
    format!("{}\n\n{}{}", paper.title(), reproduction.to_text(), place.unwrap_or_default())
}
