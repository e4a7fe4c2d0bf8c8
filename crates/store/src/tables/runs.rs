//! The tables `runs`, `flows`, `subflows`, `links` and `interfaces`: what runs are made of.

use subflow_lab::results::metrics::{DIRECTION, FLOW, IDENTITY, INTERFACE, RUN, SUBFLOW};
use subflow_lab::results::{DirectionResult, Experiment, FlowResult, InterfaceResult, LinkResult, Run, SubflowResult};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::tables::of_experiment;

/// A row for each run, with what made it. CPU time, which differs between equal runs, is not in it.
pub fn runs(experiment: &Experiment) -> Table {
    let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
    let mut columns = Columns::of(&experiment.runs);
    identify(&mut columns, |run| run);
    columns
        .words(("scenario", "", "Name of the scenario."), |_| Some(&scenario.name))
        .words(("scenario_sha256", "", "Hash of the scenario at all points, as in the JSON output."), |_| {
            Some(&scenario.sha256)
        })
        .words(("version", "", "Version of subflow."), |_| Some(&made_by.version))
        .words(("commit", "", "Commit that subflow was built from, if it is known."), |_| made_by.commit.as_deref())
        .counts(("schema", "", "Number of the form of results."), |_| Some(made_by.schema.into()));
    let results = || experiment.runs.iter().map(|run| &run.result);
    columns.metrics(RUN.iter().filter(|metric| metric.has_column(results())), |run| &run.result);
    of_experiment(columns.table("runs"), experiment)
}

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

/// A row for each interface of each run whose energy is counted.
pub fn interfaces(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &InterfaceResult)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.interfaces.iter().map(move |interface| (run, interface)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns.words(("interface", "", "The interface: host.interface."), |row| Some(&row.1.name));
    columns.metrics(INTERFACE, |row| row.1);
    of_experiment(columns.table("interfaces"), experiment)
}
