//! A run as a file of a store.
//!
//! | bytes | content |
//! |---|---|
//! | 12 | `subflow-run` and a line end |
//! | 8 | length of the body, little-endian |
//! | length | body: [`Stored`] in CBOR, compressed with Snappy |
//! | 32 | SHA-256 of all before |
//!
//! The result in it is exact. Its CPU time, which differs between equal runs, stands beside it.

use std::io::Read;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use snap::raw::{Decoder, Encoder};
use subflow_lab::RunError;
use subflow_lab::results::{ConnectionResult, ExchangeResult, RunResult, Sequence, Series};
use subflow_scenario::sweep::{Job, Parameters, Plan};

use crate::Key;

const MAGIC: &[u8; 12] = b"subflow-run\n";
/// The length of what is before the body, and of what is after it.
const HEADER: usize = MAGIC.len() + 8;
const CHECKSUM: usize = 32;

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Its measurements.
    Finished(Box<RunResult>),
    /// The reason why it failed.
    Failed(String),
}

/// What the body of a file contains.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) run: Identity,
    cpu_s: f64,
    outcome: Outcome,
}

/// Which run it is, for readers that do not know its scenario.
#[derive(Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Its key, which is also the name of its file.
    pub(crate) key: String,
    /// The version of the program that did it.
    pub(crate) version: String,
    /// The name of the scenario.
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    /// The swept values.
    pub(crate) parameters: Parameters,
}

#[derive(Serialize, Deserialize)]
enum Outcome {
    /// The result has neither its series, sequences and exchanges nor its connections when it is serialised.
    Finished {
        result: Box<RunResult>,
        series: Vec<Series>,
        sequences: Vec<Sequence>,
        exchanges: Vec<ExchangeResult>,
        #[serde(default)]
        connections: Vec<ConnectionResult>,
    },
    Failed(String),
}

impl From<Result<RunResult, RunError>> for Record {
    fn from(outcome: Result<RunResult, RunError>) -> Self {
        match outcome {
            Ok(result) => Self::Finished(Box::new(result)),
            Err(error) => Self::Failed(error.cause().to_string()),
        }
    }
}

impl Record {
    /// The run of `plan` as a file. `key` is its key.
    pub fn encode(&self, plan: &Plan, job: Job, key: Key) -> Vec<u8> {
        let (outcome, cpu_s) = match self {
            Self::Failed(error) => (Outcome::Failed(error.clone()), 0.0),
            Self::Finished(result) => {
                let mut result = result.clone();
                let (series, sequences) = (std::mem::take(&mut result.series), std::mem::take(&mut result.sequences));
                let exchanges = std::mem::take(&mut result.exchanges);
                let connections = std::mem::take(&mut result.connections);
                let cpu_s = std::mem::take(&mut result.engine.cpu_s);
                (Outcome::Finished { result, series, sequences, exchanges, connections }, cpu_s)
            }
        };
        let run = Identity {
            key: key.to_string(),
            version: crate::PROGRAM_VERSION.to_owned(),
            scenario: plan.document.name.clone(),
            seed: job.seed,
            parameters: plan.points[job.point].parameters.clone(),
        };
        let mut plain = Vec::new();
        ciborium::into_writer(&Stored { run, cpu_s, outcome }, &mut plain).expect("results can be written to memory");
        framed(&Encoder::new().compress_vec(&plain).expect("a result has less than 4 GiB"))
    }

    /// Reads what [`Record::encode`] wrote for `key`. The error says what is wrong with the file.
    pub fn decode(file: &[u8], key: Key) -> Result<Self, String> {
        let stored = Stored::decode(file)?;
        match stored.run.key == key.to_string() {
            true => Ok(stored.into_parts().1),
            false => Err(format!("it is the run {}", stored.run.key)),
        }
    }
}

impl Stored {
    /// Reads a file. The error says what is wrong with it.
    pub(crate) fn decode(file: &[u8]) -> Result<Self, String> {
        let (header, rest) = file.split_at_checked(HEADER).ok_or("it is too short")?;
        if body_length(header).and_then(|length| length.checked_add(CHECKSUM as u64)) != Some(rest.len() as u64) {
            return Err("it is not the file of a run, or was cut".to_owned());
        }
        let (signed, checksum) = file.split_at(file.len() - CHECKSUM);
        if Sha256::digest(signed).as_slice() != checksum {
            return Err("its checksum differs".to_owned());
        }
        let plain = Decoder::new().decompress_vec(&signed[HEADER..]).map_err(|error| error.to_string())?;
        ciborium::from_reader(&plain[..]).map_err(|error| format!("its result cannot be read: {error}"))
    }

    /// Which run it is, and its outcome.
    pub(crate) fn into_parts(self) -> (Identity, Record) {
        let record = match self.outcome {
            Outcome::Failed(error) => Record::Failed(error),
            Outcome::Finished { mut result, series, sequences, exchanges, connections } => {
                result.engine.cpu_s = self.cpu_s;
                (result.series, result.sequences, result.exchanges) = (series, sequences, exchanges);
                result.connections = connections;
                Record::Finished(result)
            }
        };
        (self.run, record)
    }
}

/// Whether a file of this length is complete, as far as its header says. Its content is not read.
pub(crate) fn is_complete(mut file: impl Read, length: u64) -> bool {
    let mut header = [0; HEADER];
    let expected = |header: &[u8]| body_length(header)?.checked_add((HEADER + CHECKSUM) as u64);
    file.read_exact(&mut header).is_ok() && expected(&header) == Some(length)
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER + body.len() + CHECKSUM);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&(body.len() as u64).to_le_bytes());
    file.extend_from_slice(body);
    let checksum = Sha256::digest(&file);
    file.extend_from_slice(&checksum);
    file
}

/// The length of the body that a header announces.
fn body_length(header: &[u8]) -> Option<u64> {
    let length = header.strip_prefix(MAGIC)?.try_into().ok()?;
    Some(u64::from_le_bytes(length))
}
