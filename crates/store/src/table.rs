//! A table of results.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Metadata;
use subflow_lab::results::Experiment;

/// The key of a column's unit in the metadata of its field.
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

/// A table in Arrow's format. The metadata of each field has its unit ([`UNIT`]; absent for words and plain counts) and
/// its meaning ([`DESCRIPTION`]); that of the table says what made it of which scenario.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub batch: RecordBatch,
}

impl Table {
    /// The table with the metadata of this experiment.
    pub(crate) fn of(self, experiment: &Experiment) -> Self {
        let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
        let known = [
            (VERSION, made_by.version.clone()),
            (SCHEMA, made_by.schema.to_string()),
            (SCENARIO, scenario.name.clone()),
            (SCENARIO_SHA256, scenario.sha256.clone()),
        ];
        let commit = made_by.commit.clone().map(|commit| (COMMIT, commit));
        let metadata: Metadata = known.into_iter().chain(commit).map(|(key, value)| (key.to_owned(), value)).collect();
        let schema = (*self.batch.schema()).clone().with_metadata(metadata);
        let batch = self.batch.with_schema(Arc::new(schema)).expect("its fields are the same");
        Self { batch, ..self }
    }
}
