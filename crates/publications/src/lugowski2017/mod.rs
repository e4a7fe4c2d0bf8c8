//! Lugowski 2017: CMT/RPv2 against LIA, OLIA and wVegas in MPTCP, on a testbed of four computers. All of its tables A.1
//! to A.17, which stand in `crates/publications/data/lugowski2017/`.

mod figures;
mod findings;
mod grid;
mod measurement;
mod on_linux;
mod published;
mod report;
mod runs;
mod testbed;

use subflow_lab::execute::Progress;
use subflow_report::{Finding, Reproduction};

use super::alternatives::compare_alternatives;
use super::{Emulation, Item, Measured, Paper, ReproduceError, Request};
use grid::{ALTERNATIVES, TABLES, THESIS, TableOfThesis, cells};
use measurement::Effort;
use runs::Runs;

/// The thesis.
#[derive(Clone, Copy, Debug)]
pub struct Lugowski2017;

/// All capacities of the thesis, in Mbit/s.
const CAPACITIES: [u32; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
/// As many runs as the thesis's, each of a third of its 300 s.
const FULL: Effort = Effort { duration_s: 100, runs: 5 };

/// For a first look: all tables at two capacities, in short runs.
const QUICK_CAPACITIES: [u32; 2] = [20, 100];
const QUICK: Effort = Effort { duration_s: 40, runs: 3 };

/// For verdicts under other choices, at the capacities of a first look.
const ALTERNATIVE: Effort = QUICK;
const QUICK_ALTERNATIVE: Effort = Effort { duration_s: 15, runs: 1 };

impl Paper for Lugowski2017 {
    fn name(&self) -> &'static str {
        "lugowski2017"
    }

    fn title(&self) -> &'static str {
        "Lugowski: CMT/RPv2 congestion control in MPTCP in the Linux kernel (bachelor's thesis, HAW Hamburg, 2017)"
    }

    fn items(&self) -> &'static [Item] {
        &grid::ITEMS
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
        let (effort, alternative) = if request.quick { (QUICK, QUICK_ALTERNATIVE) } else { (FULL, ALTERNATIVE) };
        let capacities: &[u32] = if request.quick { &QUICK_CAPACITIES } else { &CAPACITIES };
        let wants = |table: &TableOfThesis| request.wants(table.name) || request.is_only_sensitivity();
        let tables: Vec<TableOfThesis> = TABLES.into_iter().filter(wants).collect();
        let of_tables = |capacities, choices| {
            tables.iter().flat_map(|&table| cells(table, capacities, choices)).collect::<Vec<_>>()
        };
        let runs = Runs::new(alternative, request.jobs, progress);
        let measurements = runs.measure(of_tables(capacities, THESIS), effort)?;
        let mut findings = findings::findings(&measurements);
        compare_alternatives(&mut findings, request, &ALTERNATIVES, |choices| {
            let cells = of_tables(&QUICK_CAPACITIES, choices);
            Ok(findings::findings(&runs.measure(cells, alternative)?))
        })?;
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&measurements),
            readable: report::readable(&measurements),
            figures: figures::figures(&measurements),
            findings,
            notes: notes(effort),
        })
    }
}

fn notes(effort: Effort) -> Vec<String> {
    let runs = format!(
        "A figure is the median of {} runs of {} simulated seconds, with its standard deviation and interval (of five \
         runs their extremes, which hold the median with 93.75 %). The thesis ran 300 s. Verdicts under other choices \
         rest on the capacities of 20 and 100 Mbit/s, and on less or shorter runs.",
        effort.runs, effort.duration_s,
    );
    std::iter::once(runs).chain(testbed::CHOICES.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_at_the_first_table_is_near_the_thesis() {
        let request = Request { items: vec!["A.1".to_owned()], quick: true, ..Request::default() };
        let reproduction = Lugowski2017.reproduce(&request, &|_| {}).expect("the runs succeed");
        // Four cases of two flows at two capacities.
        assert_eq!(reproduction.table.rows().len(), 16);
        let deviation = reproduction.findings[0].measured.as_ref().expect("it was run").value;
        assert!(deviation < 7.0, "{deviation} % of capacity");
    }
}
