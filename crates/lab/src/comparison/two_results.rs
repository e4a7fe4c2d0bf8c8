//! Two results, point by point.

use std::collections::BTreeMap;

use serde_json::Value;
use subflow_scenario::sweep::Parameters;

use super::difference::{Difference, adjust, differences};
use super::metric::Metric;
use crate::results::{Run, flows_and_groups};

/// The differences of one result to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The differences, point by point in the order of the second result.
    pub differences: Vec<Difference>,
    /// Points of the first result that the second lacks.
    pub only_first: usize,
    /// Points of the second result that the first lacks.
    pub only_second: usize,
    /// Flows that only one of the results has, in points that both have.
    pub only_one: Vec<String>,
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
/// the same swept values.
pub fn compare(first: &[Run], second: &[Run], metrics: &[Metric]) -> Result<Compared, NothingToCompare> {
    let [before, after] = [first, second].map(by_point);
    let mut order: Vec<&Vec<&Run>> = after.values().collect();
    order.sort_by_key(|runs| runs[0].point);
    let mut compared = Compared {
        differences: Vec::new(),
        only_first: before.keys().filter(|key| !after.contains_key(*key)).count(),
        only_second: after.keys().filter(|key| !before.contains_key(*key)).count(),
        only_one: Vec::new(),
    };
    if compared.only_second == after.len() {
        return Err(NothingToCompare::Points);
    }
    for runs in order {
        let Some(baseline) = before.get(&key(&runs[0].parameters)) else { continue };
        compared.differences.extend(differences(metrics, &runs[0].parameters, baseline, runs));
        for name in only_one(baseline[0], runs[0]) {
            if !compared.only_one.contains(&name) {
                compared.only_one.push(name);
            }
        }
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

/// The same for the same values in any order.
fn key(parameters: &Parameters) -> String {
    let sorted: BTreeMap<&String, &Value> = parameters.iter().collect();
    serde_json::to_string(&sorted).expect("values are JSON")
}

fn only_one(first: &Run, second: &Run) -> Vec<String> {
    let names = |run: &Run| flows_and_groups(&run.result).iter().map(|flow| flow.name.clone()).collect::<Vec<_>>();
    let lacks = |of: &Run, other: &Run| {
        let others = names(other);
        names(of).into_iter().filter(|name| !others.contains(name)).collect::<Vec<_>>()
    };
    [lacks(first, second), lacks(second, first)].concat()
}
