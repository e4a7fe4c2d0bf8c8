//! Lima 2017: packet schedulers and a path manager for MPTCP, on two hosts with five links. Its experiments, the two
//! studies that it announces, and our scheduler `adaptive` next to its own.

mod adaptive;
mod checks;
mod figures;
mod findings;
mod grid;
mod measurement;
mod on_linux;
mod report;
mod testbed;
mod verdict;

use subflow_lab::execute::{Progress, run_cells};
use subflow_report::{Finding, Reproduction};

use super::alternatives::{compare_alternatives, sensitivity};
use super::{Emulation, Item, Measured, Paper, ReproduceError, Request};
use grid::{ALTERNATIVES, Cell, Setup, Study, THESIS};
use measurement::{Effort, Measurement, Measurements};

/// The thesis.
#[derive(Clone, Copy, Debug)]
pub struct Lima2017;

/// Long enough for slow start to matter as little as in the thesis's transfers; the item `transfer` has those
/// themselves.
const FULL: Effort = Effort { duration_s: 20, runs: 3 };
/// For a first look: some cells, short runs.
const QUICK: Effort = Effort { duration_s: 5, runs: 2 };

/// For a verdict under other choices.
const ALTERNATIVE: Effort = Effort { duration_s: 10, runs: 2 };

const ITEMS: [Item; 6] = [
    Item { name: "congested", title: "experiment 1: five links, the same loss on all, 0 to 12 %" },
    Item { name: "design", title: "experiment 2: loss, rate and latency alike or different, 2³" },
    Item { name: "mesh", title: "experiment 3: single-mesh against full-mesh" },
    Item { name: "background", title: "announced studies: schedulers and meshes against background TCP and UDP" },
    Item { name: "transfer", title: "1.5 GB as the thesis uploads them, at 0 and 1 % loss (figure 9)" },
    sensitivity("the verdicts of the items above where a choice is made otherwise"),
];

impl Paper for Lima2017 {
    fn name(&self) -> &'static str {
        "lima2017"
    }

    fn title(&self) -> &'static str {
        "Lima: alternative schedulers and path management for MPTCP (master's thesis, UNIFEI, 2017)"
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
        let [effort, alternative] = if request.quick { [QUICK; 2] } else { [FULL, ALTERNATIVE] };
        let wants = |study: &Study| request.wants(study.name()) || request.is_only_sensitivity();
        let cells: Vec<Cell> =
            Study::ALL.into_iter().filter(wants).flat_map(|study| grid::cells(study, request.quick, THESIS)).collect();
        let (measurements, runs) = measure(cells, effort, request.jobs, progress)?;
        let mut findings = findings::findings(&measurements);
        compare_alternatives(&mut findings, request, &ALTERNATIVES, |choices| {
            let published = |study: &Study| [Study::Congested, Study::Design, Study::Mesh].contains(study);
            let studies = Study::ALL.into_iter().filter(published).filter(wants);
            let cells = studies.flat_map(|study| grid::cells(study, request.quick, choices));
            let judged = cells.filter(Cell::is_judged).collect();
            Ok(findings::findings(&measure(judged, alternative, request.jobs, progress)?.0))
        })?;
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&measurements),
            readable: report::readable(&measurements),
            figures: figures::figures(&measurements),
            findings,
            notes: notes(effort, alternative, runs),
        })
    }
}

/// Runs `cells`, and says how many runs that were. What belongs to two experiments is run once.
fn measure(
    cells: Vec<Cell>,
    effort: Effort,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Measurements, usize), ReproduceError> {
    let mut setups: Vec<&Setup> = Vec::new();
    for cell in &cells {
        if !setups.contains(&&cell.setup) {
            setups.push(&cell.setup);
        }
    }
    let run = |setup: &&Setup, seed| measurement::run(setup, effort, seed);
    let runs = run_cells(&setups, |_| effort.runs, jobs, progress, run)?;
    let by_setup: Vec<_> = setups.iter().zip(&runs).collect();
    let measured = |cell: &Cell| {
        let (_, runs) = by_setup.iter().find(|(setup, _)| **setup == &cell.setup).expect("every setup was run");
        Measurement::of(cell.clone(), runs)
    };
    let count = setups.len() * effort.runs as usize;
    Ok((Measurements(cells.iter().map(measured).collect()), count))
}

fn notes(effort: Effort, alternative: Effort, runs: usize) -> Vec<String> {
    let figures = format!(
        "A figure is the mean goodput of {} runs of {} simulated seconds from the first SYN on, with the 95 % \
         interval of that mean (Student's t); {runs} runs in all. The thesis has one transfer of 1.5 GB for each \
         cell, and shows curves and bars without numbers or intervals. Verdicts under other choices rest on {} runs of \
         {} s for each cell.",
        effort.runs, effort.duration_s, alternative.runs, alternative.duration_s,
    );
    std::iter::once(figures).chain(testbed::CHOICES.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_at_the_meshes_has_a_row_for_each_cell_and_checks_its_findings() {
        let request = Request { items: vec!["mesh".to_owned()], quick: true, ..Request::default() };
        let reproduction = Lima2017.reproduce(&request, &|_| {}).expect("the runs succeed");
        assert_eq!(reproduction.table.rows().len(), grid::cells(Study::Mesh, true, THESIS).len());
        let checked = reproduction.findings.iter().filter(|finding| finding.evidence.starts_with("single over full: "));
        assert_eq!(checked.count(), 4, "those of the meshes");
        let confirmed = reproduction.findings.iter().find(|finding| finding.verdict.confirmed() == Some(true));
        assert_eq!(confirmed, None, "some of the cells of a finding confirm nothing");
    }
}
