//! The table `flows`.

use subflow_lab::results::metrics::{FLOW, IDENTITY};
use subflow_lab::results::{Experiment, FlowResult, Run};

use super::{add_metrics, identify};
use crate::Table;
use crate::columns::Columns;

/// A row for each flow of each run.
pub fn flows(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &FlowResult)> =
        experiment.runs.iter().flat_map(|run| run.result.flows.iter().map(move |flow| (run, flow))).collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    add_metrics(&mut columns, IDENTITY, |row| row.1);
    add_metrics(&mut columns, FLOW.iter().copied().flatten(), |row| row.1);
    columns.table("flows").of(experiment)
}
