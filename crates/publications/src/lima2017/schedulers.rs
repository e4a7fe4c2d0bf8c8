//! How our scheduler does in each cell against the best of the fixed ones, beside what these reach by the same measure.

use subflow_report::{Axis, Cell, Figure, Measured, Table};

use super::{ADAPTIVE, CONGESTED, CONGESTION, DESIGN, GOODPUT, SCHEDULERS, full};
use crate::study::{Claim, Outcome, Results, Row, distinct};

/// Below the best by no more than this, in percent, counts as near it.
const NEAR_PCT: f64 = 2.0;
/// Nowhere may it be further below.
const FAR_PCT: f64 = 5.0;

/// A cell in which all schedulers were run.
struct Contest<'r> {
    own: &'r Row,
    /// The best of the fixed ones, and its goodput in Mbit/s.
    best: (&'static str, f64),
    /// The mean goodput of each.
    goodputs: Vec<(&'static str, f64)>,
}

impl Contest<'_> {
    /// How far adaptive is below the best fixed one, in percent; negative above it.
    fn gap_pct(&self) -> f64 {
        self.gap_of(ADAPTIVE)
    }

    fn gap_of(&self, scheduler: &str) -> f64 {
        let goodput =
            self.goodputs.iter().find(|(name, _)| *name == scheduler).map_or(f64::NAN, |(_, goodput)| *goodput);
        (1.0 - goodput / self.best.1) * 100.0
    }
}

/// All cells of experiments 1 and 2 that were run.
fn contests(all: &Results) -> Vec<Contest<'_>> {
    let mut contests = Vec::new();
    for item in [CONGESTED, DESIGN] {
        let cases = distinct(all.of(item).map(|row| row.cell.integer("case"))).into_iter();
        for (case, congestion) in cases.flat_map(|case| CONGESTION.map(|cc| (case, cc))) {
            let row = |scheduler| full(all, item, case, congestion, scheduler);
            let goodput = |name| Some((name, row(name)?.mean(GOODPUT)));
            let goodputs: Option<Vec<_>> = SCHEDULERS.into_iter().chain([ADAPTIVE]).map(goodput).collect();
            let (Some(goodputs), Some(own)) = (goodputs, row(ADAPTIVE)) else { continue };
            let fixed = goodputs[..SCHEDULERS.len()].iter().copied();
            let Some(best) = fixed.max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            contests.push(Contest { own, best, goodputs });
        }
    }
    contests
}

/// How far below the best adaptive is, by item.
pub(super) fn gaps(all: &Results) -> Option<Figure> {
    let contests = contests(all);
    let of = |item| contests.iter().filter(move |contest| contest.own.cell.item == item).map(Contest::gap_pct);
    let mut gaps: Vec<(&str, Vec<f64>)> = [CONGESTED, DESIGN].map(|item| (item, of(item).collect())).to_vec();
    gaps.retain(|(_, gaps)| !gaps.is_empty());
    let axis = Axis::new("below the best", "%");
    let figure = |gaps| Figure::distributions("adaptive below the best fixed scheduler", axis, gaps);
    let of_cells = "One sample for each cell; below zero adaptive is the best.";
    (!gaps.is_empty()).then(|| figure(gaps).section(ADAPTIVE).caption(of_cells))
}

/// Each cell in which adaptive is not near the best, and how the fixed schedulers do by the same measure.
pub(super) fn readable(all: &Results) -> Vec<(String, Table)> {
    let contests = contests(all);
    if contests.is_empty() {
        return Vec::new();
    }
    let mut cells =
        Table::new(["case", "congestion", "best fixed", "Mbit/s", "adaptive Mbit/s", "below %", "in its interval"]);
    for contest in contests.iter().filter(|contest| contest.gap_pct() > NEAR_PCT) {
        let Contest { own, best: (best, goodput), .. } = contest;
        let is_within = own.interval(GOODPUT).is_some_and(|interval| interval.high >= *goodput);
        cells.row([
            own.cell.text("case_name").into(),
            own.cell.text("congestion").into(),
            (*best).into(),
            (*goodput).into(),
            own.mean(GOODPUT).into(),
            contest.gap_pct().into(),
            if is_within { "yes" } else { "no" }.into(),
        ]);
    }
    let mut schedulers = Table::new(["scheduler", "cells", "within 2 %", "more than 5 % below", "furthest below %"]);
    for name in SCHEDULERS.into_iter().chain([ADAPTIVE]) {
        let gaps: Vec<f64> = contests.iter().map(|contest| contest.gap_of(name)).collect();
        let count = |test: &dyn Fn(f64) -> bool| Cell::Integer(gaps.iter().filter(|&&gap| test(gap)).count() as i64);
        schedulers.row([
            name.into(),
            Cell::Integer(gaps.len() as i64),
            count(&|gap| gap <= NEAR_PCT),
            count(&|gap| gap > FAR_PCT),
            gaps.iter().copied().fold(0.0, f64::max).into(),
        ]);
    }
    let mut tables = vec![("each scheduler against the best fixed one of its cell".to_owned(), schedulers)];
    if !cells.rows().is_empty() {
        tables.push(("cells in which adaptive is more than 2 % below the best fixed scheduler".to_owned(), cells));
    }
    tables
}

/// Whether ours is within a few percent of the best of the others.
pub(super) fn near_the_best(measured: &Results, _: &Claim) -> Option<Outcome> {
    let contests = contests(measured);
    let near = contests.iter().filter(|contest| contest.gap_pct() <= NEAR_PCT).count();
    let below = contests.iter().filter(|contest| contest.gap_pct() > FAR_PCT).count();
    let worst = contests.iter().max_by(|a, b| a.gap_pct().total_cmp(&b.gap_pct()))?;
    let evidence = format!(
        "criterion: within {NEAR_PCT} % of the best in most cells, and nowhere more than {FAR_PCT} % below; ours: within in \
         {near} of {} cells, further below in {below}; furthest below by {:.1} % ({})",
        contests.len(),
        worst.gap_pct(),
        worst.own.cell.fill("${case_name}, ${congestion}"),
    );
    let holds = 2 * near > contests.len() && below == 0;
    Some(Outcome::new(Some(holds), Measured::new(worst.gap_pct(), None, "% below"), evidence))
}

#[cfg(test)]
mod tests {
    use super::super::LIMA2017;
    use super::super::tests::made;
    use super::*;

    #[test]
    fn all_schedulers_are_measured_against_the_best_fixed_one() {
        let all = made(DESIGN, |cell| match (cell.text("scheduler").as_str(), cell.integer("case")) {
            ("hsr", _) => 99.0,
            (ADAPTIVE, 3) => 89.0,
            (ADAPTIVE, _) => 109.0,
            _ => 79.0,
        });
        let tables = readable(&all);
        let [(_, schedulers), (_, cells)] = tables.as_slice() else { panic!("two tables") };
        let csv = schedulers.to_csv();
        assert!(csv.contains("\nll,32,0,32,20.0\n"), "{csv}");
        assert!(csv.contains("\nadaptive,32,28,4,10.0\n"), "{csv}");
        assert_eq!(cells.rows().len(), 4, "one for each congestion control in Exp 3");
        assert!(gaps(&all).is_some());
    }

    #[test]
    fn adaptive_is_held_to_the_best_of_each_cell() {
        let all = |own: f64| {
            made(DESIGN, move |cell| match cell.text("scheduler").as_str() {
                ADAPTIVE => own,
                "hsr" => 100.0,
                _ => 90.0,
            })
        };
        let confirmed = |own| {
            let found = LIMA2017.findings(&all(own)).into_iter();
            let mut ours = found.filter(|finding| finding.statement.starts_with("Ours: adaptive"));
            ours.next().expect("it is checked").verdict.confirmed()
        };
        assert_eq!([99.0, 93.0].map(confirmed), [Some(true), Some(false)]);
    }
}
