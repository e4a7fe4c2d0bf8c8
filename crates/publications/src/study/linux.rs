//! Experiments that also run in real time on Linux.

use subflow_report::Finding;

use super::Study;
use super::cell::Cell;
use super::effort::Effort;
use super::results::{Row, Sample};
use crate::{Emulation, Measured, Quantity, Routers};

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
    /// The experiments, for [`crate::Paper::emulations`].
    pub(super) fn emulations_of(&self, linux: &Linux, quick: bool) -> Vec<Emulation> {
        let effort = if quick { Effort::Quick } else { Effort::Full };
        let emulation = |cell: Cell| Emulation {
            item: cell.item.clone(),
            case: (linux.case)(&cell),
            routers: linux.routers,
            runs: cell.runs(),
            series: cell.series,
            quantities: (linux.quantities)(&cell),
            scenario: {
                let folder = self.folder.clone();
                Box::new(move |seed| cell.scenario(&folder, seed).expect("tests read each scenario of the program"))
            },
        };
        self.cells_on_linux(effort).into_iter().map(emulation).collect()
    }

    /// The findings, for [`crate::Paper::findings_on_linux`].
    pub(super) fn findings_of(&self, linux: &Linux, measured: &[Measured]) -> Vec<Finding> {
        let sample = match linux.findings {
            OnKernel::Own(findings) => return findings(measured),
            OnKernel::Claims(sample) => sample,
        };
        let row = |cell: Cell| {
            let case = (linux.case)(&cell);
            let found = measured.iter().find(|m| m.emulation.item == cell.item && m.emulation.case == case)?;
            let runs: Vec<Sample> = found.valid_values().map(sample).collect();
            (!runs.is_empty()).then_some(Row { cell, runs })
        };
        let rows = self.cells_on_linux(Effort::Full).into_iter().filter_map(row).collect();
        let results = self.results_of(rows);
        let claims = self.description.claims.iter().zip(&self.rules).filter(|(claim, _)| claim.on_linux);
        claims
            .filter_map(|(claim, rule)| claim.finding("On Linux: ", self.judge(claim, rule, &results), None))
            .collect()
    }
}
