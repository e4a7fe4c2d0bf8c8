//! Felix et al. 2018 (red2018): RED, a redundant scheduler for MPTCP that keeps copies off paths that share a
//! bottleneck. The experiments are in `papers/red2018/`. Detectors read every sample of a run, which no store keeps: runs
//! are done here, and not as those of a sweep.

mod correlation;
mod coupling;
mod part;
mod replay;
mod scaling;
mod scheduler;

use std::sync::LazyLock;

use indexmap::IndexMap;
use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_all};
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_report::{Finding, Reproduction};

use super::{Done, Item, Paper, ReproduceError, Request};
use crate::study::{Cell, Choice, Code, Effort, Study};
use correlation::{BOUNDS, SKEWNESS, Verdicts};
use part::Part;
use replay::{VARIANTS, replay, replay_variant, replay_within};
use scheduler::{SCHEDULERS, SchedulerRun};

/// The paper.
#[derive(Clone, Copy, Debug)]
pub struct Red2018;

/// The subflows of the connection under study, in the order of their opening.
const PATHS: [&str; 3] = ["A", "B", "C"];
/// The pairs of them: the last one shares a bottleneck.
const PAIRS: [(&str, usize, usize, bool); 3] = [("A-B", 0, 1, false), ("A-C", 0, 2, false), ("B-C", 1, 2, true)];
/// How much the connection under study has to send: less than A carries, or as much as goes.
const LOADS: [&str; 2] = ["limited load", "bulk load"];
/// The items of the testbed, which the paper has.
const PUBLISHED: [&str; 3] = ["correlation", "roc", "scheduler"];
/// The item whose experiment is the testbed.
const TESTBED: &str = "scheduler";

/// The paper's folder.
pub(crate) static FOLDER: LazyLock<Study> = LazyLock::new(|| Study::in_program("red2018", Code::default()));

/// The cells of an item. Degrees are those of the plain redundant scheduler.
fn cells(item: &str, effort: Effort, choice: Option<&Choice>, wanted: &dyn Fn(&str) -> bool) -> Vec<Cell> {
    let is_wanted = |cell: &Cell| match cell.item.as_str() {
        _ if cell.item != item => false,
        TESTBED if wanted(TESTBED) => true,
        TESTBED => cell.is("scheduler", SCHEDULERS[0]) && (wanted("correlation") || wanted("roc")),
        _ => wanted(item),
    };
    FOLDER.cells(effort, choice, &[], &is_wanted).expect("tests read each cell of the program")
}

impl Paper for Red2018 {
    fn name(&self) -> &str {
        FOLDER.name()
    }

    fn title(&self) -> &str {
        FOLDER.title()
    }

    fn items(&self) -> &[Item] {
        FOLDER.items()
    }

    fn reproduce(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Done, ReproduceError> {
        let effort = Effort::of(request);
        let wanted = |name: &str| request.wants(name) || (request.is_only_sensitivity() && PUBLISHED.contains(&name));
        let run = |cells: Vec<Cell>, of_red: bool| testbed(cells, of_red, request.jobs, progress);
        let runs = run(cells(TESTBED, effort, None, &wanted), false)?;
        let of_load = |load: &str| runs.iter().filter(|(cell, ..)| cell.is("load", load)).collect::<TestbedRuns>();
        let of_testbed = LOADS.map(|load| {
            let parts = of_load(load).parts(&wanted);
            parts.into_iter().map(|part| part.under(load)).collect::<Vec<_>>()
        });
        let [mut findings, of_bulk] = of_testbed.each_ref().map(|parts| findings_of(parts));
        findings.iter_mut().for_each(|finding| finding.compare_with(LOADS[1], &of_bulk));
        if request.wants_alternatives() {
            for choice in &FOLDER.description.choices {
                let only_red = choice.variables.contains_key("only_red");
                let wanted = |name: &str| wanted(name) && !(only_red && name != TESTBED);
                let runs = run(cells(TESTBED, effort.alternatives(), Some(choice), &wanted), only_red)?;
                let others = findings_of(&runs.iter().collect::<TestbedRuns>().parts(&wanted));
                findings.iter_mut().for_each(|finding| finding.compare_with(&choice.name, &others));
            }
        }
        let mut others = Vec::new();
        if wanted("scaling") {
            others.push(scaling_of(&cells("scaling", effort, None, &wanted), request.jobs, progress)?);
        }
        if wanted("coupling") {
            let cells = cells("coupling", effort, None, &wanted);
            others.push(coupling::coupling(&FOLDER.run(cells, request, progress)?));
        }
        findings.extend(findings_of(&others));
        let parts: Vec<Part> = of_testbed.into_iter().flatten().chain(others).collect();
        let mut notes = FOLDER.description.notes(effort, IndexMap::default())?;
        notes.extend(parts.iter().flat_map(|part| part.notes.clone()));
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: part::table(&parts),
            readable: parts.iter().flat_map(|part| part.readable.clone()).collect(),
            findings,
            figures: parts.iter().flat_map(|part| part.figures.clone()).collect(),
            notes,
        }
        .into())
    }
}

fn findings_of(parts: &[Part]) -> Vec<Finding> {
    parts.iter().flat_map(|part| part.findings.clone()).collect()
}

/// A run of the testbed. The verdicts are of the redundant scheduler's runs only.
type TestbedRun = (Cell, SchedulerRun, Option<Verdicts>);

/// The runs of cells of the testbed. Nothing is asked of detectors where RED alone is `of_red`.
fn testbed(
    cells: Vec<Cell>,
    of_red: bool,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<TestbedRun>, RunError> {
    let verdicts_of = |cell: &Cell, result: &RunResult| {
        let asked = cell.is("scheduler", SCHEDULERS[0]) && !of_red;
        (SchedulerRun::of(result), asked.then(|| verdicts(&result.paths[0])))
    };
    let runs = recorded(&cells, threads, progress, verdicts_of)?;
    Ok(runs.into_iter().map(|(cell, (run, verdicts))| (cell.clone(), run, verdicts)).collect())
}

fn scaling_of(cells: &[Cell], threads: usize, progress: &(dyn Fn(Progress) + Sync)) -> Result<Part, RunError> {
    let size = |cell: &Cell| cell.integer("size") as usize;
    let scores = recorded(cells, threads, progress, |cell, result| scaling::scores(size(cell), &result.paths[0]))?;
    let of_cell = |cell| {
        let own = scores.iter().filter(|(other, _)| size(other) == size(cell));
        (size(cell), own.map(|(_, scores)| scores.clone()).collect())
    };
    Ok(scaling::scaling(&cells.iter().map(of_cell).collect::<Vec<_>>()))
}

/// Does the runs of cells, each with the samples that its connection recorded, which `measure` reads.
fn recorded<'c, T: Send>(
    cells: &'c [Cell],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    measure: impl Fn(&Cell, &RunResult) -> T + Sync,
) -> Result<Vec<(&'c Cell, T)>, RunError> {
    let runs_of = |cell: &'c Cell| (1..=cell.runs()).map(move |seed| (cell, seed));
    let jobs: Vec<(&Cell, u64)> = cells.iter().flat_map(runs_of).collect();
    run_all(&jobs, threads, progress, |&(cell, seed)| {
        let scenario = cell.scenario(&FOLDER.folder, seed).expect("tests read each scenario of the program");
        let result = simulate(&scenario, seed, &RunOptions { paths: true, ..RunOptions::default() })?;
        Ok((cell, measure(cell, &result)))
    })
}

/// What every detector says of a run.
fn verdicts(records: &[subflow_transport::mptcp::PathRecord]) -> Verdicts {
    let pairs = PAIRS.map(|(_, a, b, _)| (a, b));
    let rfc8382 = VARIANTS[VARIANTS.len() - 1];
    let skewed =
        |threshold: f64| rfc8382.build().with("threshold", Value::Fraction(threshold)).expect("it has a threshold");
    Verdicts {
        degrees: VARIANTS.map(|variant| replay_variant(variant, records, &pairs)).to_vec(),
        by_skewness: SKEWNESS.map(|threshold| replay(skewed(threshold), records, &pairs)).to_vec(),
        by_bounds: replay_within(&BOUNDS, records, &pairs),
    }
}

/// What the testbed gave under one set of choices.
#[derive(Default)]
struct TestbedRuns {
    /// By scheduler.
    runs: [Vec<SchedulerRun>; 2],
    said: Vec<Verdicts>,
}

impl<'a> FromIterator<&'a TestbedRun> for TestbedRuns {
    fn from_iter<I: IntoIterator<Item = &'a TestbedRun>>(runs: I) -> Self {
        let mut all = Self::default();
        for (cell, run, verdicts) in runs {
            all.runs[usize::from(!cell.is("scheduler", SCHEDULERS[0]))].push(run.clone());
            all.said.extend(verdicts.clone());
        }
        all
    }
}

impl TestbedRuns {
    fn parts(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Part> {
        let [correlation, roc, scheduler] = PUBLISHED.map(wanted);
        let mut parts = Vec::new();
        parts.extend(correlation.then(|| correlation::correlation(&self.said)));
        parts.extend(roc.then(|| correlation::roc(&self.said)));
        parts.extend(scheduler.then(|| scheduler::scheduler(&self.runs)));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_at_the_characteristic_has_rates_and_curves_under_both_loads() {
        let request = Request { items: vec!["roc".to_owned()], quick: true, ..Request::default() };
        let reproduction = Red2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        let value = |row: &Vec<subflow_report::Cell>| match row[4] {
            subflow_report::Cell::Number(value) => value,
            _ => f64::NAN,
        };
        assert!(reproduction.table.rows().iter().all(|row| (0.0..=1.0).contains(&value(row))));
        assert_eq!((reproduction.figures.len(), reproduction.findings.len()), (4, 2));
        for finding in &reproduction.findings {
            assert!(
                finding.evidence.contains("every 0.01 s: ") && finding.evidence.contains("every 0.01 ms, as printed: ")
            );
            assert!(finding.alternatives.iter().any(|alternative| alternative.choice == "bulk load"));
        }
    }

    #[test]
    fn sensitivity_judges_the_findings_that_a_choice_can_change_under_it() {
        let request = Request { items: vec!["sensitivity".to_owned()], quick: true, ..Request::default() };
        let findings = Red2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction.findings;
        assert_eq!(findings.len(), 9);
        for finding in &findings {
            let choices: Vec<_> = finding.alternatives.iter().map(|alternative| alternative.choice.as_str()).collect();
            let about_red = ["fig. 8a, b", "fig. 8c, d", "fig. 9", "fig. 10"].contains(&finding.source.as_str());
            let all = &FOLDER.description.choices;
            let tried = all.iter().filter(|choice| choices.contains(&choice.name.as_str())).count();
            assert_eq!(tried, if about_red { all.len() } else { 2 }, "{}", finding.statement);
        }
    }

    #[test]
    fn items_ask_for_the_runs_they_need() {
        let runs = |item: &str, wanted: &'static str| {
            let cells = cells(item, Effort::Quick, None, &|name| name == wanted);
            cells.iter().map(Cell::runs).sum::<u64>()
        };
        assert_eq!(runs("scheduler", "roc"), 6);
        assert_eq!(runs("scheduler", "scheduler"), 12);
        assert_eq!(runs("coupling", "coupling"), 24);
    }

    #[test]
    fn on_the_full_mesh_two_paths_share_the_bottleneck_and_the_others_nothing() {
        let mesh = FOLDER.description.choices.iter().find(|choice| choice.scenario.is_some());
        let cells = cells("scheduler", Effort::QuickAlternatives, mesh, &|_| true);
        let mut scenario = cells[0].scenario(&FOLDER.folder, 1).expect("a good scenario");
        scenario.duration = subflow_quantity::Duration::from_secs(3);
        let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
        let carried: Vec<bool> = result.flows[0].subflows.iter().map(|subflow| subflow.packets_sent > 10).collect();
        assert_eq!(carried, [true; 4]);
        let packets = |name: &str| {
            let link = result.links.iter().find(|link| link.name == name).expect("a link's name");
            [link.up.packets > 10, link.down.packets > 10]
        };
        for used in ["r1-r5", "r2-r6", "r3-r4", "r4-r5", "r4-r6", "r1-r3", "r2-r3"] {
            assert_eq!(packets(used), [true; 2], "{used}");
        }
    }
}
