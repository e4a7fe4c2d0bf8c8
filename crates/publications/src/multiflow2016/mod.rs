//! Sandri, Silva, Verdi 2016: MultiFlow, an OpenFlow controller that puts the subflows of an MPTCP connection on
//! disjoint paths, against ECMP; and what its authors did not try: a link cut in mid-transfer, and many pairs at once.

mod findings;
mod measurement;
mod modes;
mod on_linux;
mod report;
mod testbed;

use std::cell::RefCell;
use std::collections::BTreeMap;

use subflow_lab::execute::{Progress, run_cells};
use subflow_report::{Finding, Reproduction};

use super::alternatives::{compare_alternatives, sensitivity};
use super::{Emulation, Item, Measured, Paper, ReproduceError, Request};
use measurement::{Measurement, Measurements, Outcome};
use testbed::{ALTERNATIVES, Choices, Experiment, PAPER, cells};

/// The paper.
#[derive(Clone, Copy, Debug)]
pub struct Multiflow2016;

/// How many runs of each cell there are: for intervals narrow enough to tell a tenth of a link apart.
const FULL_RUNS: u64 = 20;
const QUICK_RUNS: u64 = 4;

const ITEMS: [Item; 7] = [
    Item { name: "fat-tree", title: "figure 6: files of 1, 10 and 100 MB over a fat tree (k = 4), beside UDP" },
    Item { name: "ring", title: "figure 7: the same over a ring with two paths" },
    Item { name: "resilience", title: "beyond the paper: a link is cut in mid-transfer" },
    Item { name: "load", title: "beyond the paper: 1 to 16 pairs of hosts at once" },
    Item {
        name: "inter-domain",
        title: "its future work: a transfer between sites with three providers, by values that are made, not measured",
    },
    Item { name: "diamond", title: "beyond the paper: one connection over two paths of 50 Mbit/s" },
    sensitivity("the verdicts on figures 6 and 7 where a choice is made otherwise"),
];

impl Paper for Multiflow2016 {
    fn name(&self) -> &'static str {
        "multiflow2016"
    }

    fn title(&self) -> &'static str {
        "Sandri, Silva, Verdi: MultiFlow, multipath routing of MPTCP subflows in OpenFlow networks (WPEIF/SBRC, 2016)"
    }

    fn items(&self) -> &'static [Item] {
        &ITEMS
    }

    fn emulations(&self, quick: bool) -> Vec<Emulation> {
        on_linux::emulations(quick)
    }

    fn findings_on_linux(&self, measured: &[Measured]) -> Vec<Finding> {
        on_linux::findings(measured)
    }

    fn reproduce(
        &self,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Reproduction, ReproduceError> {
        let mut cells: Vec<Experiment> = cells(request.quick);
        cells.retain(|cell| request.wants(cell.item()) || (request.is_only_sensitivity() && cell.is_published()));
        let runs = if request.quick { QUICK_RUNS } else { FULL_RUNS };
        let made = Made::default();
        let measurements = measure(cells.clone(), PAPER, &made, runs, request.jobs, progress)?;
        let mut findings = findings::findings(&measurements);
        compare_alternatives(&mut findings, request, &ALTERNATIVES, |choices| {
            let published = cells.iter().copied().filter(|cell| cell.is_published()).collect();
            Ok(findings::findings(&measure(published, choices, &made, runs, request.jobs, progress)?))
        })?;
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&measurements),
            readable: report::readable(&measurements),
            figures: report::figures(&measurements),
            findings,
            notes: notes(runs),
        })
    }
}

/// What has been run, by the scenario of the first run.
type Made = RefCell<BTreeMap<String, Vec<Outcome>>>;

/// Runs `cells`, but for those whose runs have been `made`: where the root of the spanning tree is makes no difference to
/// what ECMP routes.
fn measure(
    cells: Vec<Experiment>,
    choices: Choices,
    made: &Made,
    runs: u64,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Measurements, ReproduceError> {
    let key = |cell: &Experiment| testbed::text(*cell, choices, 1);
    let missing: Vec<Experiment> =
        cells.iter().copied().filter(|cell| !made.borrow().contains_key(&key(cell))).collect();
    let run = |&cell: &Experiment, seed| measurement::run(cell, choices, seed);
    let outcomes = run_cells(&missing, |_| runs, jobs, progress, run)?;
    let mut made = made.borrow_mut();
    made.extend(missing.iter().map(key).zip(outcomes));
    let of = |cell: Experiment| Measurement { runs: made[&key(&cell)].clone(), cell };
    Ok(Measurements(cells.into_iter().map(of).collect()))
}

fn notes(runs: u64) -> Vec<String> {
    let figures = format!("Figures are means of {runs} runs with 95 % intervals (Student's t).");
    std::iter::once(figures).chain(testbed::NOTES.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_quick_look_at_the_ring_has_all_modes_and_the_published_findings() {
        let request = Request { items: vec!["ring".to_owned()], quick: true, ..Request::default() };
        let reproduction = Multiflow2016.reproduce(&request, &|_| {}).expect("the runs succeed");
        assert_eq!(reproduction.table.rows().len(), 2 * modes::MODES.len());
        assert!(!reproduction.findings.is_empty());
    }

    #[test]
    fn a_choice_that_makes_no_difference_takes_no_run() {
        let cells: Vec<Experiment> = cells(true)
            .into_iter()
            .filter(|cell| cell.item() == "ring" && cell.case() == "1 MB" && cell.is_published())
            .collect();
        let (made, most) = (Made::default(), AtomicUsize::new(0));
        let runs_under = |choices| {
            most.store(0, Ordering::Relaxed);
            let progress = |progress: Progress| most.store(progress.total, Ordering::Relaxed);
            let measured = measure(cells.clone(), choices, &made, 1, 1, &progress).expect("the runs succeed");
            assert_eq!(measured.0.len(), cells.len());
            most.load(Ordering::Relaxed)
        };
        // Two modes of ECMP, two of MultiFlow.
        assert_eq!([PAPER, PAPER, ALTERNATIVES[0].1, ALTERNATIVES[1].1].map(runs_under), [4, 0, 2, 4]);
    }

    #[test]
    fn scenarios_that_stand_in_the_repository_are_those_that_run() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/papers/multiflow2016");
        for (name, cell) in testbed::EXAMPLES {
            let path = format!("{root}/{name}.toml");
            let written = std::fs::read_to_string(&path).expect("the file is there");
            assert!(
                written.ends_with(&testbed::text(cell, PAPER, 1)),
                "{path} should end with:\n{}",
                testbed::text(cell, PAPER, 1)
            );
        }
    }
}
