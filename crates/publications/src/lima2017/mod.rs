//! Lima 2017: packet schedulers and a path manager for MPTCP, on two hosts with five links. Its experiments, the two studies
//! that it announces, and our scheduler `adaptive` next to its own.

mod adaptive;
mod figures;
mod findings;
mod grid;
mod measurement;
mod report;
mod testbed;
mod verdict;

use subflow_lab::execute::{Progress, run_cells};
use subflow_report::Reproduction;

use super::{Item, Paper, ReproduceError, Request};
use grid::{Cell, Setup, Study};
use measurement::{Effort, Measurement, Measurements};

/// The thesis.
#[derive(Clone, Copy, Debug)]
pub struct Lima2017;

/// As long as the thesis's transfer of 1.5 GB takes at the full rate of all links.
const FULL: Effort = Effort { duration_s: 45, runs: 3 };
/// For a first look: some cells, short runs.
const QUICK: Effort = Effort { duration_s: 5, runs: 2 };

const ITEMS: [Item; 4] = [
    Item { name: "congested", title: "experiment 1: five links, the same loss on all, 0 to 12 %" },
    Item { name: "design", title: "experiment 2: loss, rate and latency alike or different, 2³" },
    Item { name: "mesh", title: "experiment 3: single-mesh against full-mesh" },
    Item { name: "background", title: "announced studies: schedulers and meshes against background TCP and UDP" },
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

    fn reproduce(
        &self,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Reproduction, ReproduceError> {
        let effort = if request.quick { QUICK } else { FULL };
        let wanted = Study::ALL.into_iter().filter(|study| request.wants(study.name()));
        let cells: Vec<Cell> = wanted.flat_map(|study| grid::cells(study, request.quick)).collect();
        // Full-mesh with ll belongs to two experiments and is run once.
        let mut setups: Vec<&Setup> = Vec::new();
        for cell in &cells {
            if !setups.contains(&&cell.setup) {
                setups.push(&cell.setup);
            }
        }
        let run = |setup: &&Setup, seed| measurement::run(setup, effort, seed);
        let runs = run_cells(&setups, |_| effort.runs, request.jobs, progress, run)?;

        let by_setup: Vec<_> = setups.iter().zip(&runs).collect();
        let measure = |cell: &Cell| {
            let (_, runs) = by_setup.iter().find(|(setup, _)| **setup == &cell.setup).expect("every setup was run");
            Measurement::of(cell.clone(), runs)
        };
        let measurements = Measurements(cells.iter().map(measure).collect());
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&measurements),
            readable: report::readable(&measurements),
            figures: figures::figures(&measurements),
            findings: findings::findings(&measurements),
            notes: notes(effort, setups.len() * effort.runs as usize),
        })
    }
}

fn notes(effort: Effort, runs: usize) -> Vec<String> {
    let figures = format!(
        "A figure is the mean goodput of {} runs of {} simulated seconds from the first SYN on, with the 95 % interval of \
         that mean (Student's t); {runs} runs in all. The thesis has one transfer of 1.5 GB for each cell, and shows curves \
         and bars without numbers or intervals.",
        effort.runs, effort.duration_s,
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
        assert_eq!(reproduction.table.rows().len(), grid::cells(Study::Mesh, true).len());
        let checked = reproduction.findings.iter().filter(|finding| finding.evidence.starts_with("single over full: "));
        assert_eq!(checked.count(), 4, "those of the meshes");
        let confirmed = reproduction.findings.iter().find(|finding| finding.verdict.confirmed() == Some(true));
        assert_eq!(confirmed, None, "some of the cells of a finding confirm nothing");
    }
}
