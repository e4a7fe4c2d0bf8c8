//! Checks of claims that need no code of a paper: what a claim's keys say of the means of its cells.
//! The book has the checks and the keys of claims (`docs/src/study-folder.md`).
//!
//! Intervals are those of 95 %. One cell that fails refutes a claim; those that hold confirm it only where all were run,
//! and none is undecided, as where intervals overlap.

use std::ops::RangeInclusive;

use serde_json::Value;
use subflow_lab::statistics::Interval;
use subflow_report::Measured;
use subflow_scenario::sweep::Parameters;

use super::claims::{Bounds, Claim};
use super::metrics::Metric;
use super::ratio::{Ratio, all, is_between, with_doubt};
use super::results::{Outcome, Results, Row};
use super::template::shown;

/// The names of all.
pub(super) const NAMES: [&str; 7] = ["ahead", "equal", "ratio", "within", "rises", "falls", "near published"];

/// A claim's check.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    kind: Kind,
    metric: usize,
    /// The metric's name.
    name: String,
    unit: String,
    item: String,
    only: Parameters,
    /// The combinations of the values of `each`.
    each: Vec<Parameters>,
}

#[derive(Clone, Debug)]
enum Kind {
    Ahead(Pair),
    /// How far apart the means may be, as a share of the larger.
    Equal(Pair, f64),
    Ratio(Pair, RangeInclusive<f64>, String),
    Within(RangeInclusive<f64>),
    /// Along a variable, upwards or downwards.
    Moves(String, bool),
    Near(f64),
}

/// A variable, and the two values of it that are compared.
#[derive(Clone, Debug)]
struct Pair {
    variable: String,
    values: [Value; 2],
}

impl Rule {
    /// The check of a claim; `None` where its name is none of these.
    pub(super) fn of(claim: &Claim, metrics: &[Metric]) -> Result<Option<Self>, String> {
        let name = claim.check.as_str();
        if !NAMES.contains(&name) {
            return Ok(None);
        }
        if let Some(key) = claim.arguments.keys().next() {
            return Err(format!("{key}: there is no such key"));
        }
        let missing = |key: &str| format!("{key}: it is missing; {name} needs it");
        let pair = || Pair::of(claim).ok_or_else(|| missing("compare, one variable with a list of two values"));
        let share = || claim.percent.map(|percent| percent / 100.0).ok_or_else(|| missing("percent"));
        let range = |Bounds(low, high)| low..=high;
        let kind = match name {
            "ahead" => Kind::Ahead(pair()?),
            "equal" => Kind::Equal(pair()?, share()?),
            "ratio" => {
                let pair = pair()?;
                let words = claim.words.clone().unwrap_or_else(|| format!("{} over {}", pair.name(0), pair.name(1)));
                Kind::Ratio(pair, claim.times.map(range).ok_or_else(|| missing("times"))?, words)
            }
            "within" => Kind::Within(claim.bounds.map(range).ok_or_else(|| missing("bounds"))?),
            "rises" | "falls" => Kind::Moves(claim.along.clone().ok_or_else(|| missing("along"))?, name == "rises"),
            _ => Kind::Near(share()?),
        };
        let wanted = claim.metric.as_ref();
        let known = metrics.iter().position(|metric| wanted.is_none_or(|wanted| metric.name == *wanted));
        let metric =
            known.ok_or_else(|| format!("metric: found {wanted:?}, expected the name of one of the metrics"))?;
        let unit = claim.unit.clone().unwrap_or_else(|| metrics[metric].unit().to_owned());
        let (item, only, name) = (claim.item.clone(), claim.only.clone(), metrics[metric].name.clone());
        Ok(Some(Self { kind, metric, name, unit, item, only, each: combinations(claim) }))
    }

    /// What our figures say of the claim; `None` where none of its cells was run.
    pub(super) fn judge(&self, results: &Results) -> Option<Outcome> {
        match &self.kind {
            Kind::Ahead(pair) => self.compare(results, pair, |a, b| is_above(a.ends(self.metric), b.ends(self.metric))),
            Kind::Equal(pair, share) => self.compare(results, pair, |a, b| {
                let (a, b) = (a.mean(self.metric), b.mean(self.metric));
                Some((a - b).abs() <= share * a.max(b))
            }),
            Kind::Ratio(pair, times, words) => self.ratios(results, pair, times, words),
            Kind::Within(bounds) => self.within(results, bounds),
            Kind::Moves(along, is_up) => self.moves(results, along, *is_up),
            Kind::Near(share) => self.near(results, *share),
        }
    }

    /// The rows of a combination.
    fn rows<'r>(&'r self, results: &'r Results, each: &'r Parameters) -> impl Iterator<Item = &'r Row> {
        results.of(&self.item).filter(move |row| row.cell.has(&self.only) && row.cell.has(each))
    }

    /// The combinations of which both values of a pair were run.
    fn pairs<'r>(&'r self, results: &'r Results, pair: &Pair) -> Vec<(String, [&'r Row; 2])> {
        let of = |each: &'r Parameters| {
            let at = |value: &Value| self.rows(results, each).find(|row| row.cell.is(&pair.variable, value.clone()));
            Some((label(each), [at(&pair.values[0])?, at(&pair.values[1])?]))
        };
        self.each.iter().filter_map(of).collect()
    }

    fn compare(&self, results: &Results, pair: &Pair, holds: impl Fn(&Row, &Row) -> Option<bool>) -> Option<Outcome> {
        let pairs = self.pairs(results, pair);
        let compared = pairs.iter().map(|(label, rows)| {
            let [a, b] = rows.map(|row| self.shown(row));
            let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
            format!("{label}{} {a}, {} {b}", pair.name(0), pair.name(1))
        });
        let evidence = self.with_unit(compared.collect::<Vec<_>>().join("; "));
        let verdicts: Vec<Option<bool>> = pairs.iter().map(|(_, [a, b])| holds(a, b)).collect();
        let confirmed = all(verdicts.iter().copied(), verdicts.len() == self.each.len());
        let (_, [a, b]) = pairs.get(verdicts.iter().position(|verdict| *verdict == confirmed).unwrap_or(0))?;
        // With the ends of both intervals: it leaves out 1 where they lie apart.
        let ((low, high), (least, most)) = (a.ends(self.metric), b.ends(self.metric));
        let interval = (least > 0.0).then(|| Interval { low: low / most, high: high / least, confidence: 0.95 });
        let ratio = a.mean(self.metric) / b.mean(self.metric);
        Some(Outcome::new(confirmed, Measured::new(ratio, interval, "times"), evidence))
    }

    fn ratios(&self, results: &Results, pair: &Pair, times: &RangeInclusive<f64>, words: &str) -> Option<Outcome> {
        let of = |(label, [a, b]): (String, [&Row; 2])| (label, Ratio::of(a, b, self.metric));
        let ratios: Vec<(String, Ratio)> = self.pairs(results, pair).into_iter().map(of).collect();
        let figures: Vec<String> =
            ratios.iter().map(|(label, ratio)| format!("{label} {:.2}", ratio.value).trim_start().to_owned()).collect();
        let evidence = format!("{words}: {}", figures.join(", "));
        let values: Vec<Ratio> = ratios.iter().map(|(_, ratio)| *ratio).collect();
        let complete = values.len() == self.each.len();
        (!values.is_empty()).then(|| Ratio::judge(&values, times, Ratio::is_in, complete, evidence))
    }

    fn within(&self, results: &Results, bounds: &RangeInclusive<f64>) -> Option<Outcome> {
        let of_each = || self.each.iter().map(|each| self.rows(results, each));
        let complete = of_each().all(|mut rows| rows.next().is_some());
        let rows: Vec<&Row> = of_each().flatten().collect();
        let holds = |row: &&Row| is_between(row.ends(self.metric), bounds);
        let parts: Vec<Option<bool>> = rows.iter().map(holds).collect();
        let verdict = all(parts.iter().copied(), complete);
        let deciding = rows.get(parts.iter().position(|part| *part == verdict).unwrap_or(0))?;
        let figures = rows.iter().map(|row| format!("{} {}", row.cell.name(), self.shown(row)).trim_start().to_owned());
        let evidence = self.with_unit(figures.collect::<Vec<_>>().join(", "));
        Some(Outcome::new(verdict, self.measured(deciding), with_doubt(verdict, complete, evidence)))
    }

    fn moves(&self, results: &Results, along: &str, is_up: bool) -> Option<Outcome> {
        let (mut parts, mut figures, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for each in &self.each {
            let mut rows: Vec<&Row> = self.rows(results, each).collect();
            rows.sort_by(|a, b| a.cell.number(along).total_cmp(&b.cell.number(along)));
            let moves = |[one, next]: [&Row; 2]| match is_up {
                true => is_above(next.ends(self.metric), one.ends(self.metric)),
                false => is_above(one.ends(self.metric), next.ends(self.metric)),
            };
            parts.extend(rows.windows(2).map(|pair| moves([pair[0], pair[1]])));
            let shown = rows.iter().map(|row| format!("{} at {}", self.shown(row), row.cell.text(along)));
            figures.push(format!("{} {}", label(each), shown.collect::<Vec<_>>().join(", ")).trim_start().to_owned());
            last.extend(rows.last().copied());
        }
        let complete = last.len() == self.each.len() && !parts.is_empty();
        let verdict = all(parts, complete);
        let evidence = with_doubt(verdict, complete, self.with_unit(figures.join("; ")));
        last.first().map(|row| Outcome::new(verdict, self.measured(row), evidence))
    }

    fn near(&self, results: &Results, share: f64) -> Option<Outcome> {
        let published = |row: &Row| results.published.of_metric(&row.cell, self.metric, &self.name);
        let rows = self.each.iter().flat_map(|each| self.rows(results, each));
        let found: Vec<(&Row, f64)> = rows.filter_map(|row| Some((row, published(row)?))).collect();
        let deviation = |(row, published): &(&Row, f64)| row.mean(self.metric) / published - 1.0;
        let worst = found.iter().max_by(|a, b| deviation(a).abs().total_cmp(&deviation(b).abs()))?;
        let met = found.iter().filter(|one| deviation(one).abs() <= share).count();
        let evidence = format!(
            "{met} of {} figures; the worst is {:+.1} % ({}, {:.2} instead of {:.2})",
            found.len(),
            100.0 * deviation(worst),
            worst.0.cell.name(),
            worst.0.mean(self.metric),
            worst.1,
        );
        let measured = Measured::new(100.0 * deviation(worst), None, "% off");
        Some(Outcome::new(Some(met == found.len()), measured, evidence))
    }

    fn shown(&self, row: &Row) -> String {
        row.shown(self.metric, 2, " ± ")
    }

    fn with_unit(&self, figures: String) -> String {
        if self.unit.is_empty() { figures } else { format!("{figures} {}", self.unit) }
    }

    fn measured(&self, row: &Row) -> Measured {
        Measured::new(row.mean(self.metric), row.interval(self.metric), &self.unit)
    }
}

impl Pair {
    fn of(claim: &Claim) -> Option<Self> {
        let compare = claim.compare.as_ref()?;
        let [a, b] = compare.value.as_array()?.as_slice() else { return None };
        Some(Self { variable: compare.name.clone(), values: [a.clone(), b.clone()] })
    }

    fn name(&self, which: usize) -> String {
        shown(&self.values[which])
    }
}

/// Whether one interval lies above another; `None` where they overlap.
fn is_above((low, high): (f64, f64), (least, most): (f64, f64)) -> Option<bool> {
    match () {
        () if low > most => Some(true),
        () if high <= least => Some(false),
        () => None,
    }
}

/// All combinations of the values of `each`; one that is empty without any.
fn combinations(claim: &Claim) -> Vec<Parameters> {
    let mut all = vec![Parameters::new()];
    for (name, values) in &claim.each {
        let with =
            |one: &Parameters, value: &Value| one.clone().into_iter().chain([(name.clone(), value.clone())]).collect();
        all = all.iter().flat_map(|one| values.iter().map(|value| with(one, value))).collect();
    }
    all
}

/// What a combination is called.
fn label(each: &Parameters) -> String {
    each.values().map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::multiflow2016::MULTIFLOW2016;
    use crate::study::{Cell, Code, Effort, Folder, Study};

    /// Results of the ring in which MultiFlow has 9.1 Mbit/s and ECMP by flow 7.1, but for files of 10 MB what `ecmp` says.
    fn ring(ecmp: [f64; 3], sizes: &[&str]) -> Results {
        let mut all = MULTIFLOW2016.invented(Effort::Full, |cell| {
            let goodputs = match cell.text("mode").as_str() {
                "multiflow, two joins" => [9.0, 9.1, 9.2],
                _ if cell.is("case", "10 MB") => ecmp,
                _ => [7.0, 7.1, 7.2],
            };
            goodputs.map(|goodput| vec![goodput, 0.0, 0.0, 0.0, 0.0]).to_vec()
        });
        let is_wanted = |row: &Row| sizes.iter().any(|size| row.cell.is("case", *size));
        let compared = |row: &Row| ["multiflow, two joins", "ecmp-flow"].iter().any(|mode| row.cell.is("mode", *mode));
        all.rows.retain(|row| row.cell.item == "ring" && is_wanted(row) && compared(row));
        all
    }

    #[test]
    fn ahead_or_behind_takes_intervals_that_lie_apart() {
        let verdict = |ecmp| MULTIFLOW2016.findings(&ring(ecmp, &["1 MB", "10 MB", "100 MB"]))[0].verdict.confirmed();
        assert_eq!(verdict([7.0, 7.1, 7.2]), Some(true));
        assert_eq!(verdict([8.0, 9.0, 9.5]), None);
        assert_eq!(verdict([9.5, 9.6, 9.7]), Some(false));
        let apart = ring([7.0, 7.1, 7.2], &["1 MB", "10 MB", "100 MB"]);
        let ratio = MULTIFLOW2016.findings(&apart)[0].measured.clone().expect("two means");
        assert!(ratio.low.is_some_and(|low| low > 1.0 && low < ratio.value) && ratio.high > Some(ratio.value));
    }

    #[test]
    fn a_case_that_was_not_run_leaves_it_undecided() {
        let findings = MULTIFLOW2016.findings(&ring([7.0, 7.1, 7.2], &["1 MB"]));
        assert_eq!(findings[0].verdict.confirmed(), None);
    }

    /// The verdicts of the study that the book explains, where the goodput of its cells is what `goodput` says.
    fn verdicts(goodput: impl Fn(&Cell) -> f64) -> Vec<Option<bool>> {
        let folder = Folder::on_disk(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two-paths")));
        let study = Study::new(folder, Code::default()).expect("a good folder");
        let runs = |cell: &Cell| [0.99, 1.0, 1.0, 1.01].map(|x| vec![x * goodput(cell), 0.0]).to_vec();
        study.findings(&study.invented(Effort::Full, runs)).iter().map(|finding| finding.verdict.confirmed()).collect()
    }

    #[test]
    fn claims_of_a_folder_alone_are_confirmed_refuted_or_left_open() {
        let with = |tcp: f64, mptcp: f64, slope: f64| {
            verdicts(move |cell| match cell.text("protocol").as_str() {
                "tcp" => tcp,
                _ if cell.item == "gain" => mptcp,
                _ => 25.0 / (1.0 + slope * cell.number("loss")),
            })
        };
        assert_eq!(with(18.0, 27.0, 10.0), [Some(true); 5]);
        assert_eq!(with(27.0, 18.0, -0.05), [Some(false); 5]);
        assert_eq!(with(19.9, 24.0, 0.1), [Some(true), None, None, Some(true), None]);
    }
}
