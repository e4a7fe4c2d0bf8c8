//! Experiments that also run in real time on Linux.

use subflow_report::Finding;

use super::Study;
use super::cell::Cell;
use super::effort::Effort;
use super::results::{Row, Sample};
use crate::Routers;
use crate::emulation::{Emulation, Measured, Quantity};

/// What of runs on Linux is no data.
pub(crate) struct Linux {
    /// What the routers become.
    pub(crate) routers: Routers,
    /// What distinguishes a cell from others of its item.
    pub(crate) case: fn(&Cell) -> String,
    /// The figures of a cell's runs.
    pub(crate) quantities: fn(&Cell) -> Vec<Quantity>,
    pub(crate) findings: OnKernel,
}

/// What the kernel's figures tell.
pub(crate) enum OnKernel {
    /// The paper's claims, checked against them; the function makes a sample of a run's quantities.
    Claims(fn(&[f64]) -> Sample),
    /// Findings of their own.
    Own(fn(&[Measured]) -> Vec<Finding>),
}

impl Study {
    /// The experiments that also run in real time on Linux, each of one of the items.
    pub(crate) fn emulations(&self, quick: bool) -> Vec<Emulation> {
        let Some(linux) = &self.code.linux else { return Vec::new() };
        let effort = if quick { Effort::Quick } else { Effort::Full };
        let emulation = |cell: Cell| Emulation {
            case: (linux.case)(&cell),
            routers: linux.routers,
            runs: cell.runs(),
            quantities: (linux.quantities)(&cell),
            cell,
        };
        self.cells_on_linux(effort).into_iter().map(emulation).collect()
    }

    /// What these tell about the publication's findings.
    pub(crate) fn findings_on_linux(&self, measured: &[Measured]) -> Vec<Finding> {
        let Some(linux) = &self.code.linux else { return Vec::new() };
        let sample = match linux.findings {
            OnKernel::Own(findings) => return findings(measured),
            OnKernel::Claims(sample) => sample,
        };
        let row = |measured: &Measured| {
            let runs: Vec<Sample> = measured.valid_values().map(sample).collect();
            (!runs.is_empty()).then(|| Row { cell: measured.emulation.cell.clone(), runs })
        };
        let rows = measured.iter().filter_map(row).collect();
        let results = self.results_of(rows);
        let claims = self.description.claims.iter().zip(&self.rules).filter(|(claim, _)| claim.on_linux);
        claims
            .filter_map(|(claim, rule)| claim.finding("On Linux: ", self.judge(claim, rule, &results), None))
            .collect()
    }
}
