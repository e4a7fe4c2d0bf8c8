//! `subflow check`: validates a scenario and prints the runs that it describes, with what they cost.

use std::path::Path;
use std::sync::OnceLock;

use subflow_scenario::file::{Document, Problem};
use subflow_scenario::sweep::{Design, Plan, Sampling};
use subflow_scenario::{FlowGroup, Period};

use super::prediction::prediction;
use super::sweep_options;
use crate::arguments::{Check, Source};
use crate::failure::{Failure, warn};
use crate::output::print;

pub(crate) fn check(arguments: &Check) -> Result<(), Failure> {
    let plan = read_source(&arguments.source)?;
    warn(&plan.without_effect);
    print(&summary(&plan))?;
    if arguments.probe { print(&prediction(&plan)?) } else { Ok(()) }
}

/// The plan of a scenario file with all changes of the command line: `--set`, and options that are abbreviations of it.
pub(crate) fn read_source(source: &Source) -> Result<Plan, Failure> {
    sweep_options::refuse_repetition(source)?;
    let mut document = load(&source.scenario)?;
    if let Some(design) = &source.design {
        document.set("--design", &sweep_options::design(design))?;
    }
    for assignment in &source.set {
        document.set("--set", assignment)?;
    }
    for text in &source.sweep {
        sweep_options::sweep(&mut document, text)?;
    }
    let seed = source.seed.map(|seed| ("--seed", format!("seed={seed}")));
    let repeat = source.repeat.map(|repeat| ("--repeat", format!("repeat={repeat}")));
    for (option, assignment) in seed.into_iter().chain(repeat) {
        document.set(option, &assignment)?;
    }
    let plan = Plan::read(document)?;
    let runs = plan.jobs().len();
    Ok(Plan { series: source.series.of(runs), ..plan })
}

/// The scenario at `path`; `-` is standard input, which is there once.
pub(super) fn load(path: &Path) -> Result<Document, Problem> {
    static STANDARD_INPUT: OnceLock<Result<Document, Problem>> = OnceLock::new();
    if path != Path::new("-") {
        return Document::load(path);
    }
    STANDARD_INPUT.get_or_init(|| Document::load_from(Path::new("stdin"), std::io::stdin().lock())).clone()
}

fn summary(plan: &Plan) -> String {
    let scenario = &plan.points[0].scenario;
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    // The number of flows of a group that goes on arriving at random is drawn for each run.
    let is_random = |group: &FlowGroup| matches!(group.arrivals, Some(Period::Exponential(_)));
    let is_drawn = scenario.groups.iter().any(|group| group.open_end.is_some() && is_random(group));
    let flows = count(scenario.drawn(scenario.seed).flows.len(), "flow");
    let mut text = format!(
        "{}: good\n{}\n{}, {}, {}, {}{flows}; a run lasts {}\n",
        plan.document.path.display(),
        scenario.title,
        count(scenario.hosts.len(), "host"),
        count(scenario.routers.len(), "router"),
        count(scenario.links.len(), "link"),
        if is_drawn { "about " } else { "" },
        scenario.duration,
    );
    let runs = count(plan.jobs().len(), "run");
    text += &match (plan.points.len(), scenario.repeat) {
        (1, _) => format!("{runs} in all\n"),
        (points, _) => {
            format!("{runs} in all: {points} {} of {}\n", combinations(plan.design), plan.parameters().join(", "))
        }
    };
    text
}

fn combinations(design: Design) -> &'static str {
    match design {
        Design::Full => "combinations",
        Design::Drawn { sampling: Sampling::Random, .. } => "random combinations",
        Design::Drawn { sampling: Sampling::LatinHypercube, .. } => "points of a Latin hypercube",
    }
}
