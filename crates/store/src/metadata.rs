//! What the metadata of tables say: what made them of which scenario.

use subflow_lab::results::Experiment;
use subflow_lab::table::Table;

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
