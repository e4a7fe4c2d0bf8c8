//! The tables of an experiment: which rows and columns they have.

mod flows;
mod links;
mod series;
mod statistics;
mod subflows;

pub(crate) use flows::flows;
pub(crate) use links::links;
pub(crate) use series::{metrics, series};
pub(crate) use statistics::statistics;
pub(crate) use subflows::subflows;

use subflow_lab::results::Run;

use crate::columns::Columns;

/// Adds what tells a run from others.
fn identify<'r, R>(columns: &mut Columns<'r, R>, run: impl Fn(&'r R) -> &'r Run) {
    columns
        .counts(("run", "", "Number of the run, from 0."), |row| Some(run(row).run as u64))
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(run(row).point as u64))
        .counts(("seed", "", "Seed of the run."), |row| Some(run(row).result.seed))
        .parameters(|row| &run(row).parameters);
}
