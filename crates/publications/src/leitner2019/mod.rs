//! Leitner 2019: CMT-SCTP without the CUC algorithm, with fast recovery for each destination. Both of the thesis's
//! experiments, and what it left as future work.

mod causes;
mod comparison;
mod figures;
mod findings;
mod grid;
mod measurement;
mod report;
mod testbed;

use subflow_lab::execute::{Progress, run_cells};
use subflow_report::Reproduction;

use super::alternatives::compare_alternatives;
use super::{Item, Paper, ReproduceError, Request};
use grid::{ALTERNATIVES, Cell, Extent};
use measurement::{Measurement, Measurements};

/// The thesis.
#[derive(Clone, Copy, Debug)]
pub struct Leitner2019;

impl Paper for Leitner2019 {
    fn name(&self) -> &'static str {
        "leitner2019"
    }

    fn title(&self) -> &'static str {
        "Leitner: congestion control of CMT-SCTP without CUC (2019)"
    }

    fn items(&self) -> &'static [Item] {
        &grid::ITEMS
    }

    fn reproduce(
        &self,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Reproduction, ReproduceError> {
        let extent = Extent::of(request.quick);
        let hurried = request.quick && request.items.is_empty();
        let is_asked_for =
            |cell: &Cell| request.wants(cell.item) || (request.is_only_sensitivity() && cell.item != grid::BEYOND);
        let is_wanted = |cell: &Cell| is_asked_for(cell) && !(hurried && cell.is_left_out_in_a_hurry());
        let cells: Vec<Cell> = grid::cells(&extent).into_iter().filter(is_wanted).collect();
        let measurements = measure(cells, &extent, request.jobs, progress)?;
        let mut findings = findings::findings(&measurements);
        compare_alternatives(&mut findings, request, &ALTERNATIVES, |choices| {
            let extent = Extent::of_alternatives(request.quick);
            let cells = grid::experiments(&extent, choices);
            Ok(findings::findings(&measure(cells, &extent, request.jobs, progress)?))
        })?;
        Ok(Reproduction {
            paper: self.name().to_owned(),
            table: report::rows(&measurements),
            readable: report::readable(&measurements),
            figures: figures::figures(&measurements),
            findings,
            notes: notes(&extent, &measurements, hurried),
        })
    }
}

fn measure(
    cells: Vec<Cell>,
    extent: &Extent,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Measurements, ReproduceError> {
    let samples = run_cells(&cells, |cell| extent.runs(cell), jobs, progress, measurement::run)?;
    let of_cells = cells.into_iter().zip(&samples).map(|(cell, samples)| Measurement::of(cell, samples));
    Ok(Measurements(of_cells.collect()))
}

/// The item beyond, where a quick look takes only a part of it.
const PART_OF_BEYOND: &str =
    "This quick look takes of the item beyond only what the last finding rests on; --item beyond has the rest.";

/// How to read the figures, the cause that several findings share, and what was chosen.
fn notes(extent: &Extent, measurements: &Measurements, is_hurried: bool) -> Vec<String> {
    let words = "In the tables rtx are chunks sent again, and timeout those of them after a timeout. A ratio is that \
        to the reference. For certain means that its 95 % interval leaves 1 out.";
    let runs = format!(
        "A figure is the mean of {} runs ({} in the item {}, but for its rows of growth and recovery) with the 95 % \
         interval by Student's t; a ratio is that of two means, its interval by the delta method. The thesis prints \
         its figures as plots; the numbers in its text are what ours are held against.",
        extent.runs,
        extent.runs_beyond,
        grid::BEYOND
    );
    let cuts = causes::note_on_window_cuts(measurements);
    let part = is_hurried.then(|| PART_OF_BEYOND.to_owned());
    let choices = testbed::CHOICES.map(str::to_owned);
    [words.to_owned(), runs, cuts].into_iter().chain(part).chain(choices).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_has_a_row_for_each_point_and_mode() {
        let request = Request { items: vec!["equal-loss".to_owned()], quick: true, ..Request::default() };
        let reproduction = Leitner2019.reproduce(&request, &|_| {}).expect("the runs succeed");
        let extent = Extent::of(true);
        let points = extent.rtts_ms.len() * extent.losses_pct.len();
        assert_eq!(reproduction.table.rows().len(), 2 * points);
        assert!(reproduction.findings.iter().any(|finding| finding.verdict.confirmed().is_some()));
    }
}
