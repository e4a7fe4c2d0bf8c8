//! The table `series`: metrics over time.

use subflow_lab::results::{Experiment, Run, Series, SeriesPoint};

use super::identify;
use crate::Table;
use crate::columns::Columns;

/// The metrics that were kept, in alphabetical order.
pub fn metrics(experiment: &Experiment) -> Vec<&str> {
    let all = experiment.runs.iter().flat_map(|run| run.result.series.iter().map(|series| series.metric.as_str()));
    let mut names: Vec<&str> = all.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A row for each sample of `metric`.
pub fn series(experiment: &Experiment, metric: &str) -> Table {
    let rows: Vec<(&Run, &Series, &SeriesPoint)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.series.iter().map(move |series| (run, series)))
        .filter(|(_, series)| series.metric == metric)
        .flat_map(|(run, series)| series.points().iter().map(move |point| (run, series, point)))
        .collect();
    let unit = rows.first().map_or("", |(_, series, _)| series.unit.as_str());
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .categories(("of", "", "What was sampled: a flow, flow/subflow, link.up or link.down."), |row| &row.1.of)
        .numbers(("time_s", "s", "Time since the start of the run."), |row| Some(row.2.time_s))
        .numbers(("value", unit, "The sample. Of a rate: the mean since the sample before."), |row| Some(row.2.value))
        .table("series")
}
