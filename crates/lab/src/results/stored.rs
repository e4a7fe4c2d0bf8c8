//! Results that a command has written, read back.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Provenance, Run, SCHEMA};

/// What cannot be read or compared, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// What was found and expected.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// Results from a file `results.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResults {
    /// The file, or the folder that it is in, as it was named.
    pub path: PathBuf,
    /// The scenario's name.
    pub scenario: String,
    /// Its hash ([`super::ScenarioSummary::sha256`]); absent in results of versions that did not write it.
    pub sha256: Option<String>,
    /// What made them; absent likewise.
    pub subflow: Option<Provenance>,
    /// The runs.
    pub runs: Vec<Run>,
}

#[derive(Deserialize)]
struct File {
    subflow: Option<Provenance>,
    scenario: Scenario,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Scenario {
    name: String,
    sha256: Option<String>,
}

impl StoredResults {
    /// Reads a folder of results, or a file with the JSON of `run --format json`.
    ///
    /// # Errors
    ///
    /// There is no such file, it has no runs of a scenario, or a later version has written it.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let file = if path.is_dir() { path.join("results.json") } else { path.to_owned() };
        let error = |reason: String, help: &str| InputError {
            message: format!("{}: {reason}", file.display()),
            help: help.to_owned(),
        };
        let expected = "expected a folder that `subflow run --out` has written, or the JSON of `run --format json`";
        let text = std::fs::read(&file).map_err(|reason| error(format!("cannot read results: {reason}"), expected))?;
        let read: File = serde_json::from_slice(&text)
            .map_err(|reason| error(format!("found no results of runs ({reason})"), expected))?;
        if read.runs.is_empty() {
            return Err(error("found results without a run".to_owned(), "each run failed; do them again"));
        }
        if let Some(found) = read.subflow.as_ref().map(|subflow| subflow.schema).filter(|schema| *schema > SCHEMA) {
            return Err(error(
                format!("found results of form {found}, expected at most {SCHEMA}"),
                "they are of a later version of subflow: compare them with that one",
            ));
        }
        let File { subflow, scenario: Scenario { name, sha256 }, runs } = read;
        Ok(Self { path: path.to_owned(), scenario: name, sha256, subflow, runs })
    }
}
