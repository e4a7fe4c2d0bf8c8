//! Experiments that also run in real time on Linux.

use subflow_report::Finding;

use super::Study;
use super::cell::Cell;
use super::claims::System;
use super::effort::Effort;
use super::results::{Row, Sample};
use crate::Routers;
use crate::emulation::{Emulation, Measured, Quantity};

/// What of runs on Linux is no data.
pub(crate) struct Linux {
    pub(crate) routers: Routers,
    /// What distinguishes a cell from others of its item.
    pub(crate) case: fn(&Cell) -> String,
    /// The figures of a cell's runs.
    pub(crate) quantities: fn(&Cell) -> Vec<Quantity>,
    /// The sample of a run, of the values of its quantities: what the claims of the paper's file are checked against.
    pub(crate) sample: fn(&[f64]) -> Sample,
    /// Findings beside those of claims.
    pub(crate) further_findings: fn(&[Measured]) -> Vec<Finding>,
}

impl Study {
    /// The experiments that also run in real time on Linux, each of one of the items.
    pub(crate) fn emulations(&self, quick: bool) -> Vec<Emulation> {
        let Some(linux) = &self.code.linux else { return Vec::new() };
        let effort = if quick { Effort::Quick } else { Effort::Full };
        let emulation = |cell: Cell| Emulation {
            case: (linux.case)(&cell),
            routers: linux.routers,
            runs: cell.runs,
            quantities: (linux.quantities)(&cell),
            cell,
        };
        self.cells_on_linux(effort).into_iter().map(emulation).collect()
    }

    /// What these tell about the publication's findings.
    pub(crate) fn findings_on_linux(&self, measured: &[Measured]) -> Vec<Finding> {
        let Some(linux) = &self.code.linux else { return Vec::new() };
        let row = |measured: &Measured| {
            let runs: Vec<Sample> = measured.emulated.runs.iter().map(|run| (linux.sample)(run)).collect();
            (!runs.is_empty()).then(|| Row { cell: measured.emulation.cell.clone(), runs })
        };
        let results = self.results_of(measured.iter().filter_map(row).collect());
        let judged = self.judged(&results, System::Linux);
        let findings = judged.filter_map(|(claim, outcome)| claim.finding(claim.prefix_on_linux(), outcome, None));
        findings.chain((linux.further_findings)(measured)).collect()
    }
}
