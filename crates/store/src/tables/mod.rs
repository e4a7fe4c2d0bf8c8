//! The tables of an experiment: which rows and columns they have. They are long: one row for each thing of each run.

mod differences;
mod runs;
mod series;
mod statistics;

pub use differences::differences;
pub use runs::{flows, links, runs, subflows};
pub use series::{all_series, metrics, series};
pub use statistics::statistics;

use subflow_lab::results::{Experiment, Run};
use subflow_lab::table::{Columns, Table};

/// Adds what tells a run from others.
fn identify<'r, R>(columns: &mut Columns<'r, R>, run: impl Fn(&'r R) -> &'r Run) {
    columns
        .counts(("run", "", "Number of the run, from 0."), |row| Some(run(row).run as u64))
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(run(row).point as u64))
        .counts(("seed", "", "Seed of the run."), |row| Some(run(row).result.seed))
        .measured_parameters(|row| &run(row).parameters);
}

/// All tables of an experiment by name: `runs`, `flows`, `subflows`, `links`, `statistics`, and `series` if metrics
/// over time were kept.
pub fn all(experiment: &Experiment) -> Vec<(&'static str, Table)> {
    let tables = [runs, flows, subflows, links, statistics].map(|table| table(experiment));
    let series = (!metrics(experiment).is_empty()).then(|| all_series(experiment));
    tables.into_iter().chain(series).map(|table| (table.name, table)).collect()
}
