//! The table `series`: metrics over time.

use subflow_lab::results::{Experiment, Run, Series, SeriesPoint};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::tables::of_experiment;

/// A sample: its run, the name of what it is of, its series, and the point.
type Row<'r> = (&'r Run, String, &'r Series, &'r SeriesPoint);

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
    let rows = rows(experiment, |series| series.metric == metric);
    let unit = rows.first().map_or("", |(_, _, series, _)| series.unit.as_str());
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    of(&mut columns);
    sample(&mut columns, unit);
    of_experiment(columns.table("series"), experiment)
}

/// A row for each sample of all metrics.
pub fn all_series(experiment: &Experiment) -> Table {
    let rows = rows(experiment, |_| true);
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .categories(("metric", "", "The metric."), |row| &row.2.metric)
        .categories(("unit", "", "Unit of the number in this row."), |row| &row.2.unit);
    of(&mut columns);
    sample(&mut columns, "see unit");
    of_experiment(columns.table("series"), experiment)
}

fn rows(experiment: &Experiment, is_wanted: impl Fn(&Series) -> bool) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for run in &experiment.runs {
        for series in run.result.series.iter().filter(|series| is_wanted(series)) {
            let name = run.result.sampled_name(&series.of);
            rows.extend(series.points().iter().map(|point| (run, name.clone(), series, point)));
        }
    }
    rows
}

fn of<'r>(columns: &mut Columns<'r, Row<'r>>) {
    columns.categories(
        ("of", "", "What was sampled: a flow, flow/subflow, link.up, link.down or host.interface."),
        |row| row.1.as_str(),
    );
}

fn sample<'r>(columns: &mut Columns<'r, Row<'r>>, unit: &str) {
    columns
        .numbers(("time_s", "s", "Time since the start of the run."), |row| Some(row.3.time_s))
        .numbers(("value", unit, "The sample. Of a rate: the mean since the sample before."), |row| Some(row.3.value));
}
