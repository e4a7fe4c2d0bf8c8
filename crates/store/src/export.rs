//! The runs of a store as a table, also during a sweep.

use subflow_lab::results::FlowResult;
use subflow_lab::results::metrics::{FLOW, Metric};
use subflow_lab::table::{Columns, Table};

use crate::record::Identity;
use crate::{Record, Store, StoreError};

/// The metrics of a flow that the table has.
const EXPORTED: [&str; 3] = ["goodput_mbps", "bytes_delivered", "completion_s"];

/// A flow of a run, or the error of the run.
struct Row<'r> {
    run: &'r Identity,
    flow: Option<&'r FlowResult>,
    error: Option<&'r str>,
}

/// A row for each flow of each run that `store` has, in the order of their keys, with the swept values; for a run that
/// failed, a row with its error. A scenario is not needed.
///
/// # Errors
///
/// The store cannot be read, or a file in it is damaged.
pub fn export(store: &Store) -> Result<Table, StoreError> {
    let mut runs = Vec::new();
    store.for_each_run(|run, record| {
        let without_series = |mut record: Record| {
            if let Record::Finished(result) = &mut record {
                result.series.clear();
                result.sequences.clear();
            }
            record
        };
        runs.push((run, without_series(record)));
    })?;
    let rows: Vec<Row<'_>> = runs.iter().flat_map(|(run, record)| rows(run, record)).collect();
    let mut columns = Columns::of(&rows);
    columns
        .words(("key", "", "Hash of what was run."), |row| Some(&row.run.key))
        .words(("version", "", "Version of subflow."), |row| Some(&row.run.version))
        .words(("scenario", "", "Name of the scenario."), |row| Some(&row.run.scenario))
        .counts(("seed", "", "Seed of the run."), |row| Some(row.run.seed))
        .parameters(|row| &row.run.parameters)
        .words(("error", "", "Why the run failed."), |row| row.error)
        .words(("flow", "", "Name of the flow."), |row| row.flow.map(|flow| flow.name.as_str()));
    let exported = |metric: &&Metric<FlowResult>| EXPORTED.contains(&metric.column);
    for metric in FLOW.iter().copied().flatten().filter(exported) {
        columns.metric(metric, |row| row.flow);
    }
    Ok(columns.table("store"))
}

fn rows<'r>(run: &'r Identity, record: &'r Record) -> Vec<Row<'r>> {
    match record {
        Record::Finished(result) => {
            result.flows.iter().map(|flow| Row { run, flow: Some(flow), error: None }).collect()
        }
        Record::Failed(error) => vec![Row { run, flow: None, error: Some(error) }],
    }
}
