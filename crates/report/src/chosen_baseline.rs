//! The differences of points to any baseline that a reader may choose.

use std::collections::BTreeMap;

use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Baseline, Difference, Experiment};
use subflow_scenario::sweep::Parameters;

use super::grid::Grid;

/// A baseline: a value of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) dimension: usize,
    pub(super) value: usize,
}

/// A number and its 95 % interval, where there are enough runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
}

/// How a flow at a point differs from the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Change {
    /// In the unit of the metric.
    pub(super) difference: Option<Estimate>,
    /// In percent of the baseline.
    pub(super) percent: Option<Estimate>,
}

/// The changes of a metric, by point and flow.
pub(super) type Changes = BTreeMap<(usize, Option<String>), Change>;

/// All baselines of a grid.
pub(super) fn choices(grid: &Grid) -> Vec<Choice> {
    let values = |(dimension, of): (usize, &super::grid::Dimension)| {
        (0..of.values.len()).map(move |value| Choice { dimension, value })
    };
    grid.dimensions.iter().enumerate().flat_map(values).collect()
}

/// The baseline of the command line.
pub(super) fn chosen(experiment: &Experiment, grid: &Grid) -> Option<Choice> {
    let baseline = experiment.baseline.as_ref()?;
    let point =
        experiment.statistics.iter().position(|point| point.parameters.get(&baseline.path) == Some(&baseline.value))?;
    let dimension = grid.dimensions.iter().position(|of| of.paths.contains(&baseline.path))?;
    Some(Choice { dimension, value: grid.place(point, dimension) })
}

/// The changes of `metric` to the points of a baseline, which are compared with themselves, too.
pub(super) fn changes(experiment: &Experiment, grid: &Grid, choice: Choice, metric: ComparedMetric) -> Changes {
    let dimension = &grid.dimensions[choice.dimension];
    let (value, _) = &dimension.values[choice.value];
    let baseline = Baseline::of(experiment, dimension.path.clone(), value.clone(), &[metric]);
    let points: BTreeMap<String, usize> =
        experiment.statistics.iter().enumerate().map(|(number, point)| (key(&point.parameters), number)).collect();
    let change = |row: Difference| Some(((*points.get(&key(&row.parameters))?, row.flow.clone()), Change::of(&row)));
    baseline.differences.into_iter().filter_map(change).collect()
}

fn key(parameters: &Parameters) -> String {
    parameters.values().map(|value| format!("{value}\n")).collect()
}

impl Change {
    /// The change of the baseline itself.
    pub(super) fn none() -> Self {
        let zero = Some(Estimate { value: 0.0, interval: None });
        Self { difference: zero, percent: zero }
    }

    fn of(row: &Difference) -> Self {
        let estimate = |value: Option<f64>, low: Option<f64>, high: Option<f64>| {
            Some(Estimate { value: value?, interval: low.zip(high) })
        };
        Self {
            difference: estimate(row.difference, row.difference_ci95_low, row.difference_ci95_high),
            percent: estimate(row.change_percent, row.change_percent_ci95_low, row.change_percent_ci95_high),
        }
    }
}
