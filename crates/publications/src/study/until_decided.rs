//! As many runs as decide the findings, up to a bound.
//!
//! Each cell begins with `runs`. While a finding is undecided, the cells on which it rests get twice as many, but no more
//! than `most_runs`; both are variables of the paper, and without the second there are no further runs. Each look is at
//! 95 %: a finding that several looks may decide errs more often than once in 20, at most once for each look.

use serde_json::Value;
use subflow_scenario::sweep::Parameters;

use super::cell::Cell;
use super::claims::{Claim, System};
use super::results::{Results, Row};
use super::{Outcome, Study};
use crate::ReproduceError;

impl Study {
    /// `results` with further runs of the cells whose findings are undecided, which `run` does: it returns what it is given
    /// with its runs.
    pub(super) fn until_decided(
        &self,
        mut results: Results,
        mut run: impl FnMut(Vec<Cell>) -> Result<Results, ReproduceError>,
    ) -> Result<Results, ReproduceError> {
        loop {
            let open: Vec<Parameters> = self.undecided(&results).flat_map(rests_on).collect();
            let needs_more =
                |row: &&mut Row| row.cell.runs < most_runs(&row.cell) && open.iter().any(|wanted| row.cell.has(wanted));
            let mut cells = Vec::new();
            for row in results.rows.iter_mut().filter(needs_more) {
                row.cell.runs = (2 * row.cell.runs).min(most_runs(&row.cell));
                cells.push(row.cell.clone());
            }
            if cells.is_empty() {
                return Ok(results);
            }
            let found = run(cells)?;
            for row in found.rows {
                let is_it =
                    |known: &&mut Row| known.cell.item == row.cell.item && known.cell.variables == row.cell.variables;
                if let Some(known) = results.rows.iter_mut().find(is_it) {
                    *known = row;
                }
            }
            results.runs = found.runs;
        }
    }

    /// The claims that the figures leave open.
    fn undecided(&self, results: &Results) -> impl Iterator<Item = &Claim> {
        let is_open = |outcome: &Option<Outcome>| outcome.as_ref().is_some_and(|outcome| outcome.verdict.is_none());
        self.judged(results, System::Simulator).filter(move |(_, outcome)| is_open(outcome)).map(|(claim, _)| claim)
    }
}

/// The largest number of runs of a cell; 0 where the paper has none.
fn most_runs(cell: &Cell) -> u64 {
    u64::try_from(cell.integer("most_runs")).unwrap_or(0)
}

/// The cells on which a claim rests: those of its key `cells`, which claims with a check of the paper's code have, or of
/// `item`, `where`, `each` and `compare`, of its further criteria, too.
fn rests_on(claim: &Claim) -> Vec<Parameters> {
    if let Some(cells) = claim.arguments.get("cells") {
        let wanted = cells.as_array().into_iter().flatten().filter_map(Value::as_object);
        return wanted.map(|wanted| wanted.clone().into_iter().collect()).collect();
    }
    // Without cells, a check of code may rest on any.
    if !super::checks::NAMES.contains(&claim.check.as_str()) {
        return Vec::new();
    }
    std::iter::once(claim).chain(&claim.also).map(Claim::cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lima2017::LIMA2017;
    use crate::study::Effort;

    /// Goodputs of a cell of which single-mesh has `factor` times those of full-mesh, and so many runs.
    fn runs(cell: &Cell, factor: f64, scatter: f64) -> Vec<Vec<f64>> {
        let mean = if cell.is("path_manager", "single-mesh") { 100.0 * factor } else { 100.0 };
        let run = |number: u64| vec![mean + scatter * (number % 2) as f64, f64::NAN, f64::NAN];
        (0..cell.runs).map(run).collect()
    }

    /// How many runs the cells of a mesh under wVegas have in the end, and how often more were done.
    fn final_runs(factor: f64, scatter: f64) -> (u64, usize) {
        let all = LIMA2017.invented(Effort::Full, |cell| runs(cell, factor, scatter));
        let all = all.only(|row| row.cell.item == "mesh");
        let mut looks = 0;
        let more = |cells: Vec<Cell>| {
            looks += 1;
            let rows = cells.into_iter().map(|cell| Row { runs: runs(&cell, factor, scatter), cell }).collect();
            Ok(Results { rows, runs: looks, ..Results::default() })
        };
        let found = LIMA2017.until_decided(all, more).expect("nothing fails");
        let wvegas = found.of("mesh").find(|row| row.cell.is("congestion", "wvegas")).expect("it is there");
        assert_eq!(wvegas.runs.len() as u64, wvegas.cell.runs);
        (wvegas.cell.runs, looks)
    }

    #[test]
    fn undecided_findings_get_runs_until_they_are_decided_or_the_bound_is_reached() {
        let cells = LIMA2017.cells(Effort::Full, None, &[], &|cell| cell.item == "mesh").expect("good cells");
        let (first, most) = (cells[0].runs, most_runs(&cells[0]));
        assert!(0 < first && first < most);
        assert_eq!(final_runs(0.5, 1.0), (first, 0), "decided at once");
        let (runs, looks) = final_runs(0.99, 5.0);
        assert_eq!(runs, most, "undecided to the end");
        assert!(looks > 1);
    }

    #[test]
    fn each_claim_of_a_paper_with_such_a_bound_says_on_which_cells_it_rests() {
        let cells = LIMA2017.cells(Effort::Full, None, &[], &|_| true).expect("good cells");
        for claim in LIMA2017.description.claims.iter().filter(|claim| claim.check != "near the best") {
            let wanted = rests_on(claim);
            assert!(!wanted.is_empty(), "{}", claim.statement);
            for one in &wanted {
                assert!(cells.iter().any(|cell| cell.has(one)), "{}: {one:?}", claim.statement);
            }
        }
    }
}
