//! The runs of a store as a table, also while a sweep is under way.

use subflow_lab::results::FlowResult;

use crate::columns::Columns;
use crate::record::Identity;
use crate::{Record, Store, StoreError, Table};

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
        .words(("flow", "", "Name of the flow."), |row| row.flow.map(|flow| flow.name.as_str()))
        .numbers(("goodput_mbps", "Mbit/s", "Payload that the receiving application read, per time."), |row| {
            row.flow.map(|flow| flow.goodput_mbps)
        })
        .counts(("bytes_delivered", "bytes", "Payload that the receiving application read."), |row| {
            row.flow.map(|flow| flow.bytes_delivered)
        })
        .numbers(("completion_s", "s", "Time from the flow's start to the last byte."), |row| {
            row.flow.and_then(|flow| flow.completion_s)
        });
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
