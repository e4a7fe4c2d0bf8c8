//! Felix et al. 2018 (red2018): RED, a redundant scheduler for MPTCP that keeps copies off paths that share a
//! bottleneck. Its figures 6 to 10, its future work, and a study of what detection does for coupled congestion control.

mod correlation;
mod coupling;
mod part;
mod replay;
mod scaling;
mod scheduler;
mod testbed;

use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_all};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_policy::bottleneck::Parameters;
use subflow_report::{Finding, Reproduction};

use super::alternatives::{compare_alternatives, sensitivity};
use super::{Done, Item, Paper, ReproduceError, Request};
use correlation::{BOUNDS, SKEWNESS, Verdicts};
use coupling::{Paths, Shares};
use part::Part;
use replay::{VARIANTS, replay, replay_variant, replay_within};
use scaling::Score;
use scheduler::{SCHEDULERS, SchedulerRun};
use testbed::{ALTERNATIVES, Choices, LOADS, PAPER};

/// The paper.
#[derive(Clone, Copy, Debug)]
pub struct Red2018;

const ITEMS: [Item; 6] = [
    Item { name: "correlation", title: "the degree of each pair of paths, by detector (fig. 6)" },
    Item { name: "roc", title: "false positives against the threshold, and hits against errors (fig. 7)" },
    Item {
        name: "scheduler",
        title: "delay, throughput, retransmissions and copies against plain redundancy (figs 8-10)",
    },
    Item { name: "scaling", title: "cost and accuracy of detection from 2 to 32 paths (its future work)" },
    Item { name: "coupling", title: "coupling only subflows that share a bottleneck (a study of ours)" },
    sensitivity("the verdicts on figures 6 to 10 where a choice is made otherwise"),
];

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effort {
    /// Simulated seconds and runs for each scheduler.
    testbed: (u32, u64),
    sizes: &'static [usize],
    /// The same for each number of paths.
    scaling: (u32, u64),
    /// The same for each way of coupling.
    coupling: (u32, u64),
}

/// As the paper: 35 repetitions of 60 s.
const FULL: Effort = Effort { testbed: (60, 35), sizes: &[2, 4, 8, 16, 32], scaling: (60, 5), coupling: (135, 10) };
/// For a first look; not shorter than what RFC 8382 takes to know its paths.
const QUICK: Effort = Effort { testbed: (20, 3), sizes: &[2, 8], scaling: (15, 2), coupling: (35, 2) };

/// One run.
#[derive(Clone, Copy, Debug)]
enum Job {
    Testbed { choices: Choices, scheduler: usize, seed: u64 },
    Scaling { paths: usize, seed: u64 },
    Coupling { paths: Paths, way: usize, seed: u64 },
}

/// What it gave.
enum Outcome {
    /// The verdicts are of the redundant scheduler's runs only.
    Testbed(Choices, usize, SchedulerRun, Option<Verdicts>),
    Scaling(Vec<Score>),
    Coupling(Shares),
}

impl Paper for Red2018 {
    fn name(&self) -> &'static str {
        "red2018"
    }

    fn title(&self) -> &'static str {
        "Felix et al.: RED, a redundant MPTCP scheduler that selects uncorrelated paths (2018)"
    }

    fn items(&self) -> &'static [Item] {
        &ITEMS
    }

    fn reproduce(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Done, ReproduceError> {
        let effort = if request.quick { QUICK } else { FULL };
        let wanted = |name: &str| request.wants(name) || (request.is_only_sensitivity() && PUBLISHED.contains(&name));
        let run_jobs = |jobs: &[Job]| run_all(jobs, request.jobs, progress, |&job| run(job, effort));
        let outcomes = run_jobs(&jobs(effort, &wanted))?;
        let (of_testbed, others) = parts(effort, &wanted, outcomes);
        let [mut findings, of_bulk] = of_testbed.each_ref().map(|parts| findings_of(parts));
        findings.iter_mut().for_each(|finding| finding.compare_with(LOADS[1].name(), &of_bulk));
        compare_alternatives(&mut findings, request, &ALTERNATIVES, |choices| {
            let wanted = |name: &str| wanted(name) && !(choices.only_red && name != "scheduler");
            let outcomes = run_jobs(&testbed_jobs(effort, choices, &wanted))?;
            Ok(findings_of(&TestbedRuns::of(choices, &outcomes).parts(&wanted)))
        })?;
        findings.extend(findings_of(&others));
        let parts: Vec<Part> = of_testbed.into_iter().flatten().chain(others).collect();
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: part::table(&parts),
            readable: parts.iter().flat_map(|part| part.readable.clone()).collect(),
            findings,
            figures: parts.iter().flat_map(|part| part.figures.clone()).collect(),
            notes: notes(effort, &parts),
        }
        .into())
    }
}

/// The items of the testbed, which the paper has.
const PUBLISHED: [&str; 3] = ["correlation", "roc", "scheduler"];

fn findings_of(parts: &[Part]) -> Vec<Finding> {
    parts.iter().flat_map(|part| part.findings.clone()).collect()
}

/// The runs of the testbed under `choices`, those of both schedulers in turn.
fn testbed_jobs(effort: Effort, choices: Choices, wanted: &dyn Fn(&str) -> bool) -> Vec<Job> {
    let degrees = wanted("correlation") || wanted("roc");
    let schedulers = (0..SCHEDULERS.len()).filter(|&index| wanted("scheduler") || (degrees && index == 0));
    schedulers
        .flat_map(|scheduler| (1..=effort.testbed.1).map(move |seed| Job::Testbed { choices, scheduler, seed }))
        .collect()
}

fn jobs(effort: Effort, wanted: &dyn Fn(&str) -> bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for load in LOADS {
        jobs.extend(testbed_jobs(effort, Choices { load, ..PAPER }, wanted));
    }
    if wanted("scaling") {
        let sizes = effort.sizes.iter();
        jobs.extend(sizes.flat_map(|&paths| (1..=effort.scaling.1).map(move |seed| Job::Scaling { paths, seed })));
    }
    if wanted("coupling") {
        for paths in coupling::PATHS {
            for way in 0..coupling::WAYS {
                jobs.extend((1..=effort.coupling.1).map(|seed| Job::Coupling { paths, way, seed }));
            }
        }
    }
    jobs
}

fn run(job: Job, effort: Effort) -> Result<Outcome, RunError> {
    Ok(match job {
        Job::Testbed { choices, scheduler, seed } => {
            let scenario = testbed::scenario(choices, scheduler > 0, effort.testbed.0, seed);
            let result = simulate(&scenario, seed, &RunOptions { paths: true, ..RunOptions::default() })?;
            let asked = scheduler == 0 && !choices.only_red;
            let verdicts = asked.then(|| verdicts(&result.paths[0]));
            Outcome::Testbed(choices, scheduler, SchedulerRun::of(&result), verdicts)
        }
        Job::Scaling { paths, seed } => Outcome::Scaling(scaling::run(paths, effort.scaling.0, seed)?),
        Job::Coupling { paths, way, seed } => Outcome::Coupling(coupling::run(paths, way, effort.coupling.0, seed)?),
    })
}

/// What every detector says of a run.
fn verdicts(records: &[subflow_transport::mptcp::PathRecord]) -> Verdicts {
    let pairs = testbed::PAIRS.map(|(_, a, b, _)| (a, b));
    let rfc8382 = VARIANTS[VARIANTS.len() - 1];
    let skewed = |threshold: f64| rfc8382.build(Parameters { threshold, ..rfc8382.parameters() });
    Verdicts {
        degrees: VARIANTS.map(|variant| replay_variant(variant, records, &pairs)).to_vec(),
        by_skewness: SKEWNESS.map(|threshold| replay(skewed(threshold), records, &pairs)).to_vec(),
        by_bounds: replay_within(rfc8382.parameters(), &BOUNDS, records, &pairs),
    }
}

/// What the testbed gave under one set of choices.
#[derive(Default)]
struct TestbedRuns {
    /// By scheduler.
    runs: [Vec<SchedulerRun>; 2],
    said: Vec<Verdicts>,
}

impl TestbedRuns {
    /// Those of `outcomes` that were made under `choices`.
    fn of(choices: Choices, outcomes: &[Outcome]) -> Self {
        let mut runs = Self::default();
        for outcome in outcomes {
            if let Outcome::Testbed(made_under, scheduler, run, verdicts) = outcome
                && *made_under == choices
            {
                runs.runs[*scheduler].push(run.clone());
                runs.said.extend(verdicts.clone());
            }
        }
        runs
    }

    fn parts(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Part> {
        let [correlation, roc, scheduler] = PUBLISHED.map(wanted);
        let mut parts = Vec::new();
        parts.extend(correlation.then(|| correlation::correlation(&self.said)));
        parts.extend(roc.then(|| correlation::roc(&self.said)));
        parts.extend(scheduler.then(|| scheduler::scheduler(&self.runs)));
        parts
    }
}

/// The parts of the testbed by load, as in [`LOADS`], and the others.
fn parts(effort: Effort, wanted: &dyn Fn(&str) -> bool, outcomes: Vec<Outcome>) -> ([Vec<Part>; 2], Vec<Part>) {
    let of_testbed = LOADS.map(|load| {
        let parts = TestbedRuns::of(Choices { load, ..PAPER }, &outcomes).parts(wanted);
        parts.into_iter().map(|part| part.under(load.name())).collect()
    });
    let (mut scores, mut shares) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Testbed(..) => {}
            Outcome::Scaling(score) => scores.push(score),
            Outcome::Coupling(share) => shares.push(share),
        }
    }
    let mut others = Vec::new();
    if wanted("scaling") {
        let by_size = scores.chunks(effort.scaling.1 as usize).map(<[_]>::to_vec);
        others.push(scaling::scaling(&effort.sizes.iter().copied().zip(by_size).collect::<Vec<_>>()));
    }
    if wanted("coupling") {
        let by_way: Vec<Vec<Shares>> = shares.chunks(effort.coupling.1 as usize).map(<[_]>::to_vec).collect();
        others.push(coupling::coupling(&by_way.chunks(coupling::WAYS).map(<[_]>::to_vec).collect::<Vec<_>>()));
    }
    (of_testbed, others)
}

fn notes(effort: Effort, parts: &[Part]) -> Vec<String> {
    let ((seconds, runs), (scaling_s, scaling_runs), (coupling_s, coupling_runs)) =
        (effort.testbed, effort.scaling, effort.coupling);
    let lengths = format!(
        "Testbed: {runs} runs of {seconds} simulated seconds for each load and scheduler; scaling: {scaling_runs} of \
         {scaling_s} s for each number of paths; coupling: {coupling_runs} of {coupling_s} s for each way, goodput \
         after the first 15 s. Values are means over runs with 95 % intervals (Student's t). CPU times differ from \
         run to run; all else is the same for the same version."
    );
    let of_parts = parts.iter().flat_map(|part| part.notes.clone());
    std::iter::once(lengths).chain(testbed::NOTES.map(str::to_owned)).chain(of_parts).collect()
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
            let other = |alternative: &&(&str, Choices)| choices.contains(&alternative.0);
            let tried = ALTERNATIVES.iter().filter(other).count();
            assert_eq!(tried, if about_red { ALTERNATIVES.len() } else { 2 }, "{}", finding.statement);
        }
    }

    #[test]
    fn items_ask_for_the_runs_they_need() {
        let count = |item: &'static str| jobs(QUICK, &|name| name == item).len();
        assert_eq!(count("roc"), 6);
        assert_eq!(count("scheduler"), 12);
        assert_eq!(count("scaling"), 4);
        assert_eq!(count("coupling"), 24);
        assert_eq!(jobs(QUICK, &|_| true).len(), 40);
    }
}
