//! What a store tells whoever opens its folder without the file of the scenario: of which plans it has runs, and how many.
//!
//! `subflow-plan-ID.json` has the scenario with all changes, the traces in its directory, and of which runs metrics over
//! time are kept. ID is a digest of this, so a plan is noted once. A scenario with algorithms of another crate, or with
//! traces elsewhere, cannot be read again from it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subflow_scenario::file::{Document, Reach};
use subflow_scenario::sweep::{Plan, SeriesKept};

use crate::store::{MARKER, NOTE, note_id};
use crate::{Key, Store, StoreError};

/// Larger traces are not kept with their plan.
const LARGEST_TRACES: u64 = 8_000_000;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Noted {
    /// The scenario's name.
    name: String,
    /// The scenario with all changes of the command line.
    text: String,
    series: Kept,
    /// The contents of trace files, by the names in the scenario.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    traces: BTreeMap<String, String>,
    /// The digests of all points in hexadecimal digits, where the scenario alone does not decide on them
    /// ([`Plan::identify_by`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    digests: Vec<String>,
}

/// [`SeriesKept`] in words.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kept {
    None,
    First,
    All,
}

/// How many runs of a plan a store has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Runs with results.
    pub finished: usize,
    /// Runs that failed.
    pub failed: usize,
    /// All runs of the plan.
    pub total: usize,
}

impl Store {
    /// Notes `plan`, of which runs will be written, unless that was done before.
    pub fn note(&self, plan: &Plan) -> Result<(), StoreError> {
        let identified = plan.points.iter().filter(|_| plan.is_identified);
        let noted = Noted {
            name: plan.document.name.clone(),
            text: plan.document.text(),
            series: Kept::of(plan.series),
            traces: traces(plan),
            digests: identified.map(|point| hex(&point.digest)).collect(),
        };
        let bytes = serde_json::to_vec(&noted).expect("texts are JSON");
        let path = self.note_of(&hex(&Sha256::digest(&bytes)[..8]));
        if path.exists() { Ok(()) } else { self.write(&path, &bytes) }
    }

    /// Whether a folder looks like a store, of whatever version.
    pub fn is_at(path: &Path) -> bool {
        path.join(MARKER).is_file()
    }

    /// The IDs of the plans that were noted.
    pub fn noted(&self) -> Result<Vec<String>, StoreError> {
        let mut ids: Vec<String> =
            self.entries(self.path())?.iter().filter_map(|path| note_id(path)).map(str::to_owned).collect();
        ids.sort();
        Ok(ids)
    }

    /// The plan with this ID, whose runs [`collect`](crate::collect) finds in this store.
    pub fn plan(&self, id: &str) -> Result<Plan, StoreError> {
        let path = self.note_of(id);
        let unreadable = |reason: String| StoreError::UnreadablePlan { path: path.clone(), reason };
        let bytes = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
        let noted: Noted = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        noted.plan().map_err(unreadable)
    }

    fn note_of(&self, id: &str) -> PathBuf {
        self.path().join(format!("{}{id}{}", NOTE[0], NOTE[1]))
    }

    /// How many runs of `plan` it has.
    pub fn share(&self, plan: &Plan) -> Result<Share, StoreError> {
        let stored = self.outcomes()?;
        let jobs = plan.jobs();
        let mut share = Share { total: jobs.len(), ..Share::default() };
        for job in jobs {
            let outcomes = Key::all_of(plan, job, true).map(|key| stored.get(&key.to_string()));
            match outcomes.into_iter().flatten().max() {
                Some(true) => share.finished += 1,
                Some(false) => share.failed += 1,
                None => {}
            }
        }
        Ok(share)
    }
}

impl Noted {
    /// The plan, or why there is none.
    fn plan(self) -> Result<Plan, String> {
        if !is_below(&self.name) || Path::new(&self.name).components().count() != 1 {
            return Err(format!("found {:?}, expected the name of a scenario", self.name));
        }
        // A scenario reads its traces from files beside it, and no others.
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (name, content) in self.traces.iter().filter(|(name, _)| is_below(name)) {
            let file = folder.path().join(name);
            let written = std::fs::create_dir_all(file.parent().expect("it is below the folder"))
                .and_then(|()| std::fs::write(&file, content));
            written.map_err(|error| format!("the trace {name}: {error}"))?;
        }
        let path = folder.path().join(format!("{}.toml", self.name));
        let mut document = Document::parse(&path, self.text).map_err(|problem| problem.message)?;
        document.restrict(Reach::Directory);
        let mut plan = Plan::read(document).map_err(|problems| problems.first[0].message.clone())?;
        plan.series = self.series.kept();
        if !self.digests.is_empty() {
            let digests: Option<Vec<[u8; 32]>> = self.digests.iter().map(|text| of_hex(text)).collect();
            let digests = digests.filter(|digests| digests.len() == plan.points.len());
            let digests = digests.ok_or("its digests are not those of its points")?;
            plan.points.iter_mut().zip(digests).for_each(|(point, digest)| point.digest = digest);
            plan.is_identified = true;
        }
        Ok(plan)
    }
}

impl Kept {
    fn of(series: SeriesKept) -> Self {
        match series {
            SeriesKept::None => Self::None,
            SeriesKept::First => Self::First,
            SeriesKept::All => Self::All,
        }
    }

    fn kept(self) -> SeriesKept {
        match self {
            Self::None => SeriesKept::None,
            Self::First => SeriesKept::First,
            Self::All => SeriesKept::All,
        }
    }
}

/// The traces in the directory of the scenario, as far as they are texts that are not too large.
fn traces(plan: &Plan) -> BTreeMap<String, String> {
    let mut room = LARGEST_TRACES;
    let mut traces = BTreeMap::new();
    for (name, path) in &plan.traces {
        let size = path.metadata().map_or(u64::MAX, |metadata| metadata.len());
        if !is_below(name) || size > room {
            continue;
        }
        if let Ok(content) = std::fs::read_to_string(path) {
            room -= size;
            traces.insert(name.clone(), content);
        }
    }
    traces
}

/// Whether a name leads to a file below the directory that it is relative to.
fn is_below(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    digits.collect::<Option<Vec<u8>>>()?.try_into().ok()
}
