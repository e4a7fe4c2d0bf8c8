//! The tables of an experiment: which rows and columns they have, and their metadata, which say what made them of which
//! scenario. They are long: one row for each thing of each run.

mod connections;
mod exchanges;
mod runs;
mod series;
mod statistics;

use subflow_lab::results::{Experiment, Run};
use subflow_lab::table::{Columns, Table};

pub use connections::connections;
pub use exchanges::exchanges;
pub use runs::{flows, interfaces, links, runs, subflows};
pub use series::{all_series, metrics, series};
pub use statistics::{differences, statistics};

/// Adds what tells a run from others.
fn identify<'r, R>(columns: &mut Columns<'r, R>, run: impl Fn(&'r R) -> &'r Run) {
    columns
        .counts(("run", "", "Number of the run, from 0."), |row| Some(run(row).run as u64))
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(run(row).point as u64))
        .counts(("seed", "", "Seed of the run."), |row| Some(run(row).result.seed))
        .measured_parameters(|row| &run(row).parameters);
}

/// All tables of an experiment by name: `runs`, `flows`, `subflows`, `links`, `statistics`, `interfaces`, `exchanges` and
/// `connections` of programs if there are any, and `series` if metrics over time were kept.
pub fn all(experiment: &Experiment) -> Vec<(&'static str, Table)> {
    let tables = [runs, flows, subflows, links, statistics].map(|table| table(experiment));
    let series = (!metrics(experiment).is_empty()).then(|| all_series(experiment));
    let has_interfaces = experiment.runs.iter().any(|run| !run.result.interfaces.is_empty());
    let interfaces = has_interfaces.then(|| interfaces(experiment));
    let has_exchanges = experiment.runs.iter().any(|run| !run.result.exchanges.is_empty());
    let exchanges = has_exchanges.then(|| exchanges(experiment));
    let has_connections = experiment.runs.iter().any(|run| !run.result.connections.is_empty());
    let connections = has_connections.then(|| connections(experiment));
    tables
        .into_iter()
        .chain(interfaces)
        .chain(exchanges)
        .chain(connections)
        .chain(series)
        .map(|table| (table.name, table))
        .collect()
}

/// The key of a column's unit in the metadata of its field in Arrow's format.
pub const UNIT: &str = "unit";
/// The key of a column's description there.
pub const DESCRIPTION: &str = "description";
/// The key of the program's version in the metadata of a table.
pub const VERSION: &str = "subflow.version";
/// The key of the commit that the program was built from, if it is known.
pub const COMMIT: &str = "subflow.commit";
/// The key of the number of the form of results.
pub const SCHEMA: &str = "subflow.schema";
/// The key of the scenario's name.
pub const SCENARIO: &str = "subflow.scenario";
/// The key of the scenario's hash.
pub const SCENARIO_SHA256: &str = "subflow.scenario_sha256";

/// The table with the metadata of this experiment.
pub(crate) fn of_experiment(table: Table, experiment: &Experiment) -> Table {
    let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
    let known = [
        (VERSION, made_by.version.clone()),
        (SCHEMA, made_by.schema.to_string()),
        (SCENARIO, scenario.name.clone()),
        (SCENARIO_SHA256, scenario.sha256.clone()),
    ];
    let commit = made_by.commit.clone().map(|commit| (COMMIT, commit));
    Table { metadata: known.into_iter().chain(commit).collect(), ..table }
}
