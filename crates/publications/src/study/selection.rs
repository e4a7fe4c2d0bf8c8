//! The cells that a claim is about, what of a cell it judges, and which cells it compares.

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean, mean_interval, median};
use subflow_report::Measured;
use subflow_scenario::sweep::Parameters;

use super::claims::Claim;
use super::metrics::Metric;
use super::results::{Results, Row, distinct};
use super::template::shown;

#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) claim: Claim,
    /// The place of the metric, and its name.
    pub(super) metric: usize,
    pub(super) name: String,
    pub(super) unit: String,
    /// The combinations of the values of `each`.
    each: Vec<Parameters>,
    pub(super) pairs: Vec<Pair>,
}

/// A variable, and the two values of it that are compared.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) variable: String,
    pub(super) values: [Value; 2],
}

impl Pair {
    /// The pairs of a claim: a list of two values, or a list of such lists.
    fn all(claim: &Claim) -> Option<Vec<Self>> {
        let Some(compare) = &claim.compare else { return Some(Vec::new()) };
        let pair = |values: &Value| {
            let [a, b] = values.as_array()?.as_slice() else { return None };
            Some(Self { variable: compare.name.clone(), values: [a.clone(), b.clone()] })
        };
        let values = compare.value.as_array()?;
        if values.iter().all(Value::is_array) {
            values.iter().map(pair).collect()
        } else {
            Some(vec![pair(&compare.value)?])
        }
    }

    pub(super) fn names(&self) -> [String; 2] {
        [0, 1].map(|which| shown(&self.values[which]))
    }
}

/// What is judged of a cell, or of several: its value, and the 95 % interval of the mean of its runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) interval: Option<Interval>,
}

impl Figure {
    /// The ends of its interval; twice the value where there is none.
    pub(super) fn ends(self) -> (f64, f64) {
        self.interval.map_or((self.value, self.value), |interval| (interval.low, interval.high))
    }

    /// To read, with half its interval: `9.26 ± 0.11`.
    pub(super) fn text(self) -> String {
        let half = |interval: Interval| format!(" ± {:.2}", (interval.high - interval.low) / 2.0);
        format!("{:.2}{}", self.value, self.interval.map_or_else(String::new, half))
    }

    /// The same as our figure of a claim. No share lies outside 0 to 100 %.
    pub(super) fn measured(self, unit: &str) -> Measured {
        let within =
            |Interval { low, high, confidence }| Interval { low: low.max(0.0), high: high.min(100.0), confidence };
        Measured::new(self.value, if unit == "%" { self.interval.map(within) } else { self.interval }, unit)
    }
}

/// Two cells, or two sets of cells, that differ in a variable.
pub(super) struct Compared<'r> {
    /// What the combination is called.
    pub(super) label: String,
    pub(super) names: [String; 2],
    /// One row of each, or all of which the claim takes the mean.
    pub(super) rows: [Vec<&'r Row>; 2],
}

impl Selection {
    pub(super) fn of(claim: &Claim, metrics: &[Metric]) -> Result<Self, String> {
        let wanted = claim.metric.as_ref();
        let known = metrics.iter().position(|metric| wanted.is_none_or(|wanted| metric.name == *wanted));
        let metric =
            known.ok_or_else(|| format!("metric: found {wanted:?}, expected the name of one of the metrics"))?;
        let usual = if claim.share { "%" } else { metrics[metric].unit() };
        let pairs = Pair::all(claim);
        Ok(Self {
            metric,
            name: metrics[metric].name.clone(),
            unit: claim.unit.clone().unwrap_or_else(|| usual.to_owned()),
            each: combinations(claim),
            pairs: pairs
                .ok_or("compare: expected one variable with a list of two values, or with a list of such lists")?,
            claim: claim.clone(),
        })
    }

    pub(super) fn subject(&self) -> String {
        let flow = |flow: &i64| if *flow < 0 { "the last flow".to_owned() } else { format!("flow {}", flow + 1) };
        let flows = self.claim.of_flows.iter().map(flow).collect::<Vec<_>>().join(" and ");
        match (self.claim.of_flows.is_empty(), self.claim.share) {
            (true, _) => self.name.clone(),
            (false, true) => format!("share of {flows}"),
            (false, false) => format!("{} of {flows}", self.name),
        }
    }

    /// The rows of each combination, with what it is called.
    pub(super) fn groups<'r>(&self, results: &'r Results) -> Vec<(String, Vec<&'r Row>)> {
        let Claim { item, only, .. } = &self.claim;
        let rows = |each: &Parameters| {
            let of_item = results.rows.iter().filter(|row| item.is_empty() || row.cell.item == *item);
            of_item.filter(|row| row.cell.is_among(only) && row.cell.has(each)).collect()
        };
        let label = |each: &Parameters| each.values().map(shown).collect::<Vec<_>>().join(" ");
        self.each.iter().map(|each| (label(each), rows(each))).collect()
    }

    /// The pairs of which both cells were run, and whether these are all.
    pub(super) fn compared<'r>(&self, results: &'r Results) -> (Vec<Compared<'r>>, bool) {
        let mut found = Vec::new();
        for (label, rows) in self.groups(results) {
            for pair in &self.pairs {
                let at = |value: &Value| -> Vec<&Row> {
                    let wanted = Parameters::from([(pair.variable.clone(), value.clone())]);
                    let most = if self.claim.average { usize::MAX } else { 1 };
                    rows.iter().copied().filter(|row| row.cell.has(&wanted)).take(most).collect()
                };
                let both = [at(&pair.values[0]), at(&pair.values[1])];
                if both.iter().all(|rows| !rows.is_empty()) {
                    found.push(Compared { label: label.clone(), names: pair.names(), rows: both });
                }
            }
        }
        let is_complete = found.len() == self.each.len() * self.pairs.len();
        (found, is_complete)
    }

    pub(super) fn figure(&self, row: &Row) -> Figure {
        let Claim { of_flows, share, .. } = &self.claim;
        if of_flows.is_empty() {
            return Figure { value: row.mean(self.metric), interval: row.interval(self.metric) };
        }
        let of = |figures: &[f64]| {
            let place = |flow: i64| usize::try_from(if flow < 0 { figures.len() as i64 + flow } else { flow }).ok();
            let sum: f64 = of_flows.iter().filter_map(|flow| figures.get(place(*flow)?)).sum();
            if *share { 100.0 * sum / figures.iter().sum::<f64>() } else { sum }
        };
        let number = row.runs.first().map_or(0, Vec::len);
        let medians: Vec<f64> = (0..number).map(|flow| median(&row.samples(flow)).unwrap_or(0.0)).collect();
        let by_run: Vec<f64> = row.runs.iter().map(|run| of(run)).collect();
        Figure { value: of(&medians), interval: mean_interval(&by_run, 0.95) }
    }

    /// The mean of what is judged of rows, with its interval where it is one row; `None` without any.
    pub(super) fn figure_of(&self, rows: &[&Row]) -> Option<Figure> {
        match rows {
            [row] => Some(self.figure(row)),
            rows => {
                let values: Vec<f64> = rows.iter().map(|row| self.figure(row).value).collect();
                Some(Figure { value: mean(&values)?, interval: None })
            }
        }
    }

    /// From the smallest to the largest of the runs.
    pub(super) fn range(&self, rows: &[&Row]) -> Option<Interval> {
        let runs: Vec<f64> = rows.iter().flat_map(|row| row.samples(self.metric)).collect();
        let (low, high) = (runs.iter().copied().reduce(f64::min)?, runs.iter().copied().reduce(f64::max)?);
        Some(Interval { low, high, confidence: 1.0 })
    }

    /// Figures with their unit, and before them what they are of.
    pub(super) fn told(&self, label: &str, figures: &str) -> String {
        let before = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let behind = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        format!("{before}{figures}{behind}")
    }

    pub(super) fn published(&self, results: &Results, row: &Row) -> Option<f64> {
        results.published.of_metric(&row.cell, self.metric, &self.name)
    }
}

/// What tells a row from the others of `rows`: its item, and the variables that differ.
pub(super) fn name_among(row: &Row, rows: &[&Row]) -> String {
    let cell = &row.cell;
    let differs = |name: &&String| rows.iter().any(|row| row.cell.variables.get(*name) != cell.variables.get(*name));
    let is_plain = |name: &&String| cell.variables.get(*name).is_some_and(|value| !value.is_object());
    let item = rows.iter().any(|row| row.cell.item != cell.item).then(|| cell.item.clone());
    let values = cell.swept().filter(is_plain).filter(differs).map(|name| cell.text(name));
    distinct(item.into_iter().chain(values)).join(", ")
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
