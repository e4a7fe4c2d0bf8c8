//! Claims about two cells, or two sets of cells: which one has more, by how much, and whether they can be told apart.

use std::ops::RangeInclusive;

use subflow_lab::statistics::Interval;
use subflow_report::Measured;

use super::claims::{Claim, Shown};
use super::ratio::Ratio;
use super::results::{Part, Results, Row};
use super::selection::{Figure, Selection};

/// Means that surely differ by no more than this share are those of equals, of which neither is the best.
const EQUAL: f64 = 0.01;

/// What has to hold of two figures.
#[derive(Clone, Debug)]
pub(super) enum Comparison {
    /// The interval of the first lies above that of the second, by this share of it.
    Ahead(f64),
    /// Each run of the first lies above each of the second.
    AheadInEachRun,
    /// The interval of the first lies below that of the second.
    Behind,
    /// How far apart the means may be, as a share of the larger.
    Equal(f64),
    /// How many times the second the first is.
    Ratio { times: RangeInclusive<f64>, decided: Decided },
    /// The same of all pairs, none of which is surely equal.
    Best(RangeInclusive<f64>),
    /// The first less the second.
    Apart(RangeInclusive<f64>),
}

/// What decides that a ratio is in a range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decided {
    ByInterval,
    /// The value decides that it is, and the interval that it is not.
    About,
    ByValue,
}

impl Decided {
    pub(super) fn of(claim: &Claim) -> Self {
        match (claim.about, claim.by_values) {
            (true, _) => Self::About,
            (false, true) => Self::ByValue,
            (false, false) => Self::ByInterval,
        }
    }
}

impl Comparison {
    fn admits(&self, [a, b]: [Figure; 2], ratio: Ratio) -> Option<bool> {
        match self {
            Self::Ahead(by) => {
                let (low, high) = b.ends();
                is_above(a.ends(), ((1.0 + by) * low, (1.0 + by) * high))
            }
            Self::AheadInEachRun => is_above(a.ends(), b.ends()),
            Self::Behind => is_above(b.ends(), a.ends()),
            Self::Equal(share) => Some((a.value - b.value).abs() <= share * a.value.max(b.value)),
            Self::Ratio { times, decided: Decided::About } => ratio.is_about(times),
            Self::Ratio { times, decided: Decided::ByValue } => Some(times.contains(&ratio.value)),
            Self::Ratio { times, .. } | Self::Best(times) => ratio.is_in(times),
            Self::Apart(bounds) => Some(bounds.contains(&(a.value - b.value))),
        }
    }

    /// What is told of a claim about each pair, and whether all pairs were run.
    pub(super) fn parts(&self, of: &Selection, results: &Results) -> (Vec<Part>, bool) {
        let (pairs, is_complete) = of.compared(results);
        let mut found: Vec<(Ratio, Part)> = Vec::new();
        for pair in pairs {
            let is_of_runs = matches!(self, Self::AheadInEachRun);
            let figures = [&pair.rows[0], &pair.rows[1]].map(|rows| {
                let figure = of.figure_of(rows)?;
                Some(if is_of_runs { Figure { interval: of.range(rows), ..figure } } else { figure })
            });
            let [Some(a), Some(b)] = figures else { continue };
            let ratio = Ratio::of_cells(&pair.rows[0], &pair.rows[1], of.metric);
            let holds = self.admits([a, b], ratio);
            let unknown = if holds.is_none() { ", not told apart" } else { "" };
            let shown = |figure: Figure| match figure.interval.filter(|_| is_of_runs) {
                Some(Interval { low, high, .. }) => format!("{:.2} ({low:.2} to {high:.2})", figure.value),
                None => figure.text(),
            };
            let figures = format!("{} {}, {} {}", pair.names[0], shown(a), pair.names[1], shown(b));
            let text = format!("{}{unknown}", of.told(&pair.label, &figures));
            let measured = match of.claim.shows {
                Shown::First => a.measured(&of.unit),
                Shown::Second => b.measured(&of.unit),
                Shown::Ratio => of.claim.told.measured(self.ratio([a, b], ratio)),
            };
            found.push((ratio, Part { holds, measured, text }));
        }
        if matches!(self, Self::Best(_)) {
            refute_equals(&mut found);
        }
        (found.into_iter().map(|(_, part)| part).collect(), is_complete)
    }

    fn ratio(&self, [a, b]: [Figure; 2], ratio: Ratio) -> Measured {
        if let Self::Ratio { .. } | Self::Best(_) = self {
            return ratio.measured();
        }
        // With the ends of both intervals: it leaves out 1 where they lie apart.
        let ((low, high), (least, most)) = (a.ends(), b.ends());
        let interval = (least > 0.0).then(|| Interval { low: low / most, high: high / least, confidence: 0.95 });
        Measured::new(a.value / b.value, interval, "times")
    }
}

/// What is surely equal to another one is not the best.
fn refute_equals(found: &mut [(Ratio, Part)]) {
    for (_, part) in found.iter_mut().filter(|(ratio, _)| ratio.is_in(&(1.0 - EQUAL..=1.0 + EQUAL)) == Some(true)) {
        part.holds = Some(false);
        part.text += ", equal within 1 %";
    }
}

/// The largest of each combination over the smallest, which is to be at most `1 + share` by its value; the widest first.
pub(super) fn spreads(of: &Selection, share: f64, results: &Results) -> (Vec<Part>, bool) {
    let groups = of.groups(results);
    let is_complete = groups.iter().all(|(_, rows)| rows.len() > 1);
    let by_mean = |a: &&&Row, b: &&&Row| a.mean(of.metric).total_cmp(&b.mean(of.metric));
    let spread = |(label, rows): (String, Vec<&Row>)| {
        let [least, most] = [rows.iter().min_by(by_mean)?, rows.iter().max_by(by_mean)?];
        let ratio = Ratio::of_cells(&[*most], &[*least], of.metric);
        let [low, high] = [least, most].map(|row| of.figure(row).text());
        let part = Part {
            holds: ratio.is_about(&(0.0..=1.0 + share)),
            measured: of.claim.told.measured(ratio.measured()),
            text: of.told(&label, &format!("from {low} to {high}")),
        };
        Some((ratio.value, part))
    };
    let mut spreads: Vec<(f64, Part)> = groups.into_iter().filter_map(spread).collect();
    spreads.sort_by(|a, b| b.0.total_cmp(&a.0));
    (spreads.into_iter().map(|(_, part)| part).collect(), is_complete)
}

/// Whether one interval lies above another; `None` where they overlap.
pub(super) fn is_above((low, high): (f64, f64), (least, most): (f64, f64)) -> Option<bool> {
    match () {
        () if low > most => Some(true),
        () if high <= least => Some(false),
        () => None,
    }
}
