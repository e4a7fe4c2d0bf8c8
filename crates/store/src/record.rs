//! A run as a Parquet file.
//!
//! It is a table with a row for each flow, so that the files of a store can be queried while a sweep goes on. The first
//! row also has the whole result, exactly, in CBOR. The CPU time, which differs between equal runs, is in a column of
//! its own and not in the result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subflow_lab::RunError;
use subflow_lab::results::{FlowResult, RunResult, Sequence, Series};
use subflow_scenario::sweep::{Job, Plan};

use crate::columns::Columns;
use crate::{Key, to_parquet};

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Its measurements.
    Finished(Box<RunResult>),
    /// The reason why it failed.
    Failed(String),
}

/// The result as it is stored.
#[derive(Serialize, Deserialize)]
struct Content<R, S, Q> {
    result: R,
    series: S,
    sequences: Q,
}

impl From<Result<RunResult, RunError>> for Record {
    fn from(outcome: Result<RunResult, RunError>) -> Self {
        match outcome {
            Ok(result) => Self::Finished(Box::new(result)),
            Err(error) => Self::Failed(error.message),
        }
    }
}

impl Record {
    /// The run of `plan` as a Parquet file. `key` is its key.
    pub fn encode(&self, plan: &Plan, job: Job, key: Key) -> Vec<u8> {
        let (result, error) = match self {
            Self::Finished(result) => (Some(&**result), None),
            Self::Failed(error) => (None, Some(error.as_str())),
        };
        let content = result.map(content).unwrap_or_default();
        let cpu_s = result.map_or(0.0, |result| result.engine.cpu_s);
        let (key, digest) = (key.to_string(), digest(&content, error.unwrap_or_default(), cpu_s));
        let none = || vec![(0, None)];
        let flows = result.map(|result| result.flows.iter().map(Some).enumerate().collect());
        let rows: Vec<(usize, Option<&FlowResult>)> =
            flows.filter(|flows: &Vec<_>| !flows.is_empty()).unwrap_or_else(none);
        let parameters = &plan.points[job.point].parameters;
        let mut columns = Columns::of(&rows);
        columns
            .words(("key", "", "Hash of what was run."), |_| Some(&key))
            .words(("version", "", "Version of subflow."), |_| Some(crate::key::VERSION))
            .words(("scenario", "", "Name of the scenario."), |_| Some(&plan.document.name))
            .counts(("seed", "", "Seed of the run."), |_| Some(job.seed))
            .parameters(|_| parameters)
            .words(("error", "", "Why the run failed."), |_| error)
            .words(("flow", "", "Name of the flow."), |row| row.1.map(|flow| flow.name.as_str()))
            .numbers(("goodput_mbps", "Mbit/s", "Payload that the receiving application read, per time."), |row| {
                row.1.map(|flow| flow.goodput_mbps)
            })
            .counts(("bytes_delivered", "bytes", "Payload that the receiving application read."), |row| {
                row.1.map(|flow| flow.bytes_delivered)
            })
            .numbers(("completion_s", "s", "Time from the flow's start to the last byte."), |row| {
                row.1.and_then(|flow| flow.completion_s)
            })
            .exact(("subflow.cpu_s", "s", "CPU time of the run."), |_| Some(cpu_s))
            .words(("subflow.digest", "", "SHA-256 of error, result and CPU time."), |_| Some(&digest))
            .bytes(("subflow.result", "", "In the first row: the whole result in CBOR."), |row| {
                (row.0 == 0).then_some(&content[..])
            });
        to_parquet(&columns.table("run"))
    }

    /// Reads what [`Record::encode`] wrote for `key`. The error says what is wrong with the file.
    pub fn decode(file: Vec<u8>, key: Key) -> Result<Self, String> {
        // Whatever a damaged file makes of the reader, it is an error and not the end of the program.
        let batch = catch_unwind(AssertUnwindSafe(|| first_row(file)));
        let batch = batch.map_err(|_| "it cannot be read as Parquet".to_owned())??;
        let found = text(&batch, "key")?.unwrap_or_default();
        if found != key.to_string() {
            return Err(format!("it is the run {found}"));
        }
        let error = text(&batch, "error")?;
        let content = column(&batch, "subflow.result")?.as_binary_opt::<i32>().ok_or("the result is not binary")?;
        let cpu_s = column(&batch, "subflow.cpu_s")?.as_primitive_opt::<Float64Type>().ok_or("no CPU time")?.value(0);
        if text(&batch, "subflow.digest")? != Some(&digest(content.value(0), error.unwrap_or_default(), cpu_s)) {
            return Err("its checksum differs".to_owned());
        }
        if let Some(error) = error {
            return Ok(Self::Failed(error.to_owned()));
        }
        let content: Content<RunResult, Vec<Series>, Vec<Sequence>> =
            ciborium::from_reader(content.value(0)).map_err(|error| format!("its result cannot be read: {error}"))?;
        let mut result = content.result;
        result.engine.cpu_s = cpu_s;
        result.series = content.series;
        result.sequences = content.sequences;
        Ok(Self::Finished(Box::new(result)))
    }
}

fn content(result: &RunResult) -> Vec<u8> {
    let mut timeless = result.clone();
    timeless.engine.cpu_s = 0.0;
    let series = std::mem::take(&mut timeless.series);
    let sequences = std::mem::take(&mut timeless.sequences);
    let mut content = Vec::new();
    ciborium::into_writer(&Content { result: timeless, series, sequences }, &mut content)
        .expect("results can be written to memory");
    content
}

fn digest(content: &[u8], error: &str, cpu_s: f64) -> String {
    let mut hash = Sha256::new();
    hash.update(cpu_s.to_le_bytes());
    hash.update((error.len() as u64).to_le_bytes());
    hash.update(error);
    hash.update(content);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn first_row(file: Vec<u8>) -> Result<RecordBatch, String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file));
    let mut rows = reader.and_then(|reader| reader.with_batch_size(1).build()).map_err(|error| error.to_string())?;
    rows.next().ok_or("it has no rows")?.map_err(|error| error.to_string())
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b dyn Array, String> {
    batch.column_by_name(name).map(|column| &**column).ok_or_else(|| format!("it has no column {name}"))
}

fn text<'b>(batch: &'b RecordBatch, name: &str) -> Result<Option<&'b str>, String> {
    let words = column(batch, name)?.as_string_opt::<i32>().ok_or_else(|| format!("{name} is not text"))?;
    Ok(words.is_valid(0).then(|| words.value(0)))
}
