//! Two results, point by point: the differences at the points that both have.

use std::collections::{BTreeMap, BTreeSet};

use subflow_scenario::sweep::{Parameters, canonical};

use super::difference::{adjust, differences};
use super::samples::are_pairs;
use crate::results::metrics::ComparedMetric;
use crate::results::{Difference, Run, flows_and_groups};

/// The differences of one result to another.
#[derive(Clone, Debug, PartialEq)]
pub struct PointDifferences {
    /// The differences, point by point in the order of the second result.
    pub differences: Vec<Difference>,
    /// Points of the first result that the second lacks.
    pub only_first: usize,
    /// Points of the second result that the first lacks.
    pub only_second: usize,
    /// Flows that only the first result has, in points that both have.
    pub flows_only_first: Vec<String>,
    /// Flows that only the second result has, likewise.
    pub flows_only_second: Vec<String>,
    /// Runs of the first result without a counterpart, in points that both have: those whose seed the second lacks, or,
    /// where runs are not compared by seed, as many as the second has fewer.
    pub runs_only_first: usize,
}

/// The reason why two results cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingToCompare {
    /// They have no point in common.
    Points,
    /// No flow of the points in common has one of the metrics in both.
    Metrics,
}

type ByPoint<'r> = BTreeMap<String, Vec<&'r Run>>;

/// The differences of `metrics` in the runs of `second` to those of `first`, at all points that both have: those with
/// the same swept values, however these are written.
pub fn compare(
    first: &[Run],
    second: &[Run],
    metrics: &[ComparedMetric],
) -> Result<PointDifferences, NothingToCompare> {
    let [before, after] = [first, second].map(by_point);
    let mut order: Vec<&Vec<&Run>> = after.values().collect();
    order.sort_by_key(|runs| runs[0].point);
    let mut compared = PointDifferences {
        differences: Vec::new(),
        only_first: before.keys().filter(|key| !after.contains_key(*key)).count(),
        only_second: after.keys().filter(|key| !before.contains_key(*key)).count(),
        flows_only_first: Vec::new(),
        flows_only_second: Vec::new(),
        runs_only_first: 0,
    };
    if compared.only_second == after.len() {
        return Err(NothingToCompare::Points);
    }
    for runs in order {
        let Some(baseline) = before.get(&key(&runs[0].parameters)) else { continue };
        compared.differences.extend(differences(metrics, &runs[0].parameters, baseline, runs));
        add_only_first(&mut compared.flows_only_first, baseline[0], runs[0]);
        add_only_first(&mut compared.flows_only_second, runs[0], baseline[0]);
        compared.runs_only_first += runs_only_first(baseline, runs);
    }
    if compared.differences.is_empty() {
        return Err(NothingToCompare::Metrics);
    }
    adjust(&mut compared.differences);
    Ok(compared)
}

fn by_point(runs: &[Run]) -> ByPoint<'_> {
    let mut points = ByPoint::new();
    runs.iter().for_each(|run| points.entry(key(&run.parameters)).or_default().push(run));
    points
}

/// The same for the same values in any order and notation.
fn key(parameters: &Parameters) -> String {
    let sorted: BTreeMap<&String, String> = parameters.iter().map(|(path, value)| (path, canonical(value))).collect();
    format!("{sorted:?}")
}

/// Adds the flows that `first` has and `second` lacks.
fn add_only_first(found: &mut Vec<String>, first: &Run, second: &Run) {
    let names = |run: &Run| flows_and_groups(&run.result).iter().map(|flow| flow.name.clone()).collect::<Vec<_>>();
    let others = names(second);
    for name in names(first) {
        if !others.contains(&name) && !found.contains(&name) {
            found.push(name);
        }
    }
}

fn runs_only_first(first: &[&Run], second: &[&Run]) -> usize {
    let [first, second] = [first, second].map(|runs| runs.iter().map(|run| run.result.seed).collect::<BTreeSet<_>>());
    let shared = first.intersection(&second).count();
    if are_pairs(shared, first.len(), second.len()) {
        first.len() - shared
    } else {
        first.len().saturating_sub(second.len())
    }
}
