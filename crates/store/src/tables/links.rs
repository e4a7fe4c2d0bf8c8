//! The table `links`.

use subflow_lab::results::metrics::DIRECTION;
use subflow_lab::results::{DirectionResult, Experiment, LinkResult, Run};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::metadata::of_experiment;

/// A row for each direction of each link of each run.
pub fn links(experiment: &Experiment) -> Table {
    let directions = |link: &LinkResult| [("up", link.up), ("down", link.down)];
    let rows: Vec<(&Run, &LinkResult, (&str, DirectionResult))> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.links.iter().map(move |link| (run, link)))
        .flat_map(|(run, link)| directions(link).map(|direction| (run, link, direction)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .words(("link", "", "Name of the link."), |row| Some(&row.1.name))
        .words(("direction", "", "up: from the link's first end to its second; down: back."), |row| Some(row.2.0));
    columns.metrics(DIRECTION, |row| &row.2.1);
    of_experiment(columns.table("links"), experiment)
}
