//! `subflow check`: validates a scenario and prints the runs that it describes.

use std::path::Path;

use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

use crate::arguments::{Check, Source};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn check(arguments: &Check) -> Result<(), Failure> {
    let plan = read(&arguments.scenario, &arguments.set, &[])?;
    print(&summary(&plan))
}

/// The plan of a scenario file with the command line's changes: `--set`, and options that are abbreviations of it.
pub(crate) fn read(path: &Path, set: &[String], options: &[(&str, String)]) -> Result<Plan, Failure> {
    let mut document = Document::load(path)?;
    for assignment in set {
        document.set("--set", assignment)?;
    }
    for (option, assignment) in options {
        document.set(option, assignment)?;
    }
    Ok(Plan::read(document)?)
}

/// The plan of a scenario file with all changes of the command line.
pub(crate) fn read_source(source: &Source) -> Result<Plan, Failure> {
    let seed = source.seed.map(|seed| ("--seed", format!("seed={seed}")));
    let repeat = source.repeat.map(|repeat| ("--repeat", format!("repeat={repeat}")));
    let options: Vec<(&str, String)> = seed.into_iter().chain(repeat).collect();
    read(&source.scenario, &source.set, &options)
}

fn summary(plan: &Plan) -> String {
    let scenario = &plan.points[0].scenario;
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "{}: good\n{}\n{}, {}, {}, {}; a run lasts {}\n",
        plan.document.path.display(),
        scenario.title,
        count(scenario.hosts.len(), "host"),
        count(scenario.routers.len(), "router"),
        count(scenario.links.len(), "link"),
        count(scenario.flows.len(), "flow"),
        scenario.duration,
    );
    let runs = count(plan.jobs().len(), "run");
    text += &match (plan.points.len(), scenario.repeat) {
        (1, _) => format!("{runs} in all\n"),
        (points, _) => format!("{runs} in all: {points} combinations of {}\n", plan.parameters().join(", ")),
    };
    text
}
