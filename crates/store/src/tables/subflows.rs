//! The table `subflows`.

use subflow_lab::results::metrics::{IDENTITY, SUBFLOW};
use subflow_lab::results::{Experiment, FlowResult, Run, SubflowResult};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::metadata::of_experiment;

/// A row for each subflow of each flow of each run.
pub fn subflows(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &FlowResult, &SubflowResult)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.flows.iter().map(move |flow| (run, flow)))
        .flat_map(|(run, flow)| flow.subflows.iter().map(move |subflow| (run, flow, subflow)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns.metrics(&IDENTITY[..1], |row| row.1);
    columns.words(("subflow", "", "The subflow's ends: host.interface-host.interface."), |row| Some(&row.2.name));
    columns.metrics(&IDENTITY[1..], |row| row.1);
    columns.metrics(SUBFLOW.iter().copied().flatten(), |row| row.2);
    of_experiment(columns.table("subflows"), experiment)
}
