//! The table `flows`.

use subflow_lab::results::metrics::{FLOW, IDENTITY};
use subflow_lab::results::{Experiment, FlowResult, Run};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::metadata::of_experiment;

/// A row for each flow of each run.
pub fn flows(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &FlowResult)> =
        experiment.runs.iter().flat_map(|run| run.result.flows.iter().map(move |flow| (run, flow))).collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns.metrics(IDENTITY, |row| row.1);
    columns.metrics(FLOW.iter().copied().flatten(), |row| row.1);
    of_experiment(columns.table("flows"), experiment)
}
