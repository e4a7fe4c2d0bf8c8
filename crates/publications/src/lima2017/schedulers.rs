//! How schedulers do over many cells: means (figures 14 and 16); and ours in each cell against the best of the fixed ones,
//! beside what the fixed ones reach by the same measure.

use subflow_lab::statistics::mean;
use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::{ADAPTIVE, CONGESTED, CONGESTION, DESIGN, GOODPUT, SCHEDULERS, at, cases, full};
use crate::study::{Ratio, Results, Row};

/// Below the best by no more than this, in percent, counts as near it.
pub(super) const NEAR_PCT: f64 = 2.0;
/// Nowhere may it be further below.
pub(super) const FAR_PCT: f64 = 5.0;

/// A cell in which all schedulers were run.
pub(super) struct Contest {
    item: &'static str,
    pub(super) case_name: String,
    pub(super) congestion: &'static str,
    /// The best of the fixed ones, and its goodput in Mbit/s.
    pub(super) best: (&'static str, f64),
    fixed: Vec<(&'static str, f64)>,
    adaptive: f64,
    /// Whether the 95 % interval of adaptive reaches the best one's mean.
    within_interval: bool,
}

impl Contest {
    /// How far adaptive is below the best fixed one, in percent; negative above it.
    pub(super) fn gap_pct(&self) -> f64 {
        gap_pct(self.adaptive, self.best.1)
    }

    pub(super) fn place(&self) -> String {
        format!("{}, {}", self.case_name, self.congestion)
    }
}

fn gap_pct(goodput: f64, best: f64) -> f64 {
    (1.0 - goodput / best) * 100.0
}

/// All cells of experiments 1 and 2 that were run.
pub(super) fn contests(all: &Results) -> Vec<Contest> {
    let mut contests = Vec::new();
    for item in [CONGESTED, DESIGN] {
        for (case, congestion) in cases(all, item).into_iter().flat_map(|case| CONGESTION.map(|cc| (case, cc))) {
            let fixed: Option<Vec<_>> =
                SCHEDULERS.into_iter().map(|name| Some((name, at(all, item, case, congestion, name)?))).collect();
            let own = full(all, item, case, congestion, ADAPTIVE);
            let (Some(fixed), Some(own)) = (fixed, own) else { continue };
            let Some(best) = fixed.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            contests.push(Contest {
                item,
                case_name: own.cell.text("case_name"),
                congestion,
                best,
                fixed,
                adaptive: own.mean(GOODPUT),
                within_interval: own.interval(GOODPUT).is_some_and(|interval| interval.high >= best.1),
            });
        }
    }
    contests
}

/// Means over cells, and how far below the best adaptive is.
pub(super) fn figures(all: &Results) -> Vec<Figure> {
    let congested = means(all, CONGESTED, 4, "mean goodput at 4 to 12 % loss (figure 14)");
    let design = means(all, DESIGN, 1, "mean goodput over all experiments (figure 16)");
    congested.into_iter().chain(design).chain(gaps(all)).collect()
}

/// Bars of the means over cases from the first one on, with intervals by the scatter within cells.
fn means(all: &Results, item: &str, first: i64, title: &str) -> Option<Figure> {
    let cases: Vec<i64> = cases(all, item).into_iter().filter(|case| *case >= first).collect();
    let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
    let mut shown = 0;
    for cc in CONGESTION {
        for scheduler in SCHEDULERS.into_iter().chain([ADAPTIVE]) {
            let rows: Option<Vec<&Row>> = cases.iter().map(|case| full(all, item, *case, cc, scheduler)).collect();
            let Some(rows) = rows.filter(|rows| !rows.is_empty()) else { continue };
            let mean = mean(&rows.iter().map(|row| row.mean(GOODPUT)).collect::<Vec<_>>())?;
            // The interval of the mean is that of its ratio to a number without error.
            let one = Row { runs: vec![vec![1.0]; 2], ..rows[0].clone() };
            let Ratio { low, high, .. } = Ratio::of_cells(&rows, &[&one], GOODPUT);
            bars.add(cc, scheduler, mean, high.is_finite().then_some((low, high)));
            shown += 1;
        }
    }
    let caption = "Means over cells with equal weights; 95 % intervals by the scatter of the runs within cells.";
    (shown > 0).then(|| Figure::bars(format!("{item}: {title}"), bars).section(item).caption(caption))
}

/// How far below the best adaptive is, by item.
fn gaps(all: &Results) -> Option<Figure> {
    let contests = contests(all);
    let of = |item| contests.iter().filter(move |contest| contest.item == item).map(Contest::gap_pct);
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
        cells.row([
            contest.case_name.as_str().into(),
            contest.congestion.into(),
            contest.best.0.into(),
            contest.best.1.into(),
            contest.adaptive.into(),
            contest.gap_pct().into(),
            if contest.within_interval { "yes" } else { "no" }.into(),
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

impl Contest {
    fn gap_of(&self, scheduler: &str) -> f64 {
        let fixed = self.fixed.iter().find(|(name, _)| *name == scheduler).map(|(_, goodput)| *goodput);
        gap_pct(fixed.unwrap_or(self.adaptive), self.best.1)
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(figures(&all).len(), 2, "means, and gaps");
    }
}
