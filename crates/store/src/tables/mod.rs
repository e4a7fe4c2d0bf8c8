//! The tables of an experiment: which rows and columns they have. They are long: one row for each thing of each run.

mod flows;
mod links;
mod series;
mod statistics;
mod subflows;

pub use flows::flows;
pub use links::links;
pub use series::{metrics, series};
pub use statistics::statistics;
pub use subflows::subflows;

use subflow_lab::results::{Experiment, Run};

use crate::Table;
use crate::columns::Columns;

/// Adds what tells a run from others.
fn identify<'r, R>(columns: &mut Columns<'r, R>, run: impl Fn(&'r R) -> &'r Run) {
    columns
        .counts(("run", "", "Number of the run, from 0."), |row| Some(run(row).run as u64))
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(run(row).point as u64))
        .counts(("seed", "", "Seed of the run."), |row| Some(run(row).result.seed))
        .parameters(|row| &run(row).parameters);
}

/// All tables of an experiment by name: `flows`, `subflows`, `links`, `statistics`, and `series-METRIC` for each metric
/// over time.
pub fn all(experiment: &Experiment) -> Vec<(String, Table)> {
    let tables = [flows(experiment), subflows(experiment), links(experiment), statistics(experiment)];
    let series = metrics(experiment).into_iter().map(|metric| (format!("series-{metric}"), series(experiment, metric)));
    tables.into_iter().map(|table| (table.name.to_owned(), table)).chain(series).collect()
}
