//! Event logs that stay from one command to the next, beside the runs that a store keeps.
//!
//! The manifest has the key of the run for the name of each log. A log has its name once it is complete, so that a file
//! with that name is the whole log of the run with that key. Runs have other numbers when there are more of each point:
//! then the log gets its new name and number. The steps are in such an order that a command may be killed between any
//! two of them; the next one finds each log under its old name, under that of its key, or under its new name.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use subflow_lab::event_log::EventFolder;
use subflow_scenario::sweep::{Job, Plan};
use subflow_store::Key;

use super::manifest::Manifest;
use super::{Content, OutputError, RunFiles};

/// Which log goes where.
#[derive(Default)]
struct Moves {
    /// Runs whose logs have their names.
    in_place: BTreeSet<usize>,
    /// Runs whose logs have other names: those, and the keys.
    elsewhere: BTreeMap<usize, (String, String)>,
}

impl RunFiles {
    /// Makes the folder ready for the event logs of `plan`, in place of [`begin`](Self::begin). Returns the numbers of
    /// the runs whose logs are there and complete, none if `keep` is not set. All other files of an earlier command are
    /// removed.
    ///
    /// # Errors
    ///
    /// A file cannot be moved, written or removed.
    pub fn keep_logs(&self, plan: &Plan, keep: bool) -> Result<BTreeSet<usize>, OutputError> {
        let previous = self.directory.manifest()?;
        let failed = |source| OutputError::Io { path: self.path().to_owned(), source };
        self.keep(plan, previous.clone().filter(|_| keep), previous).map_err(failed)
    }

    fn keep(&self, plan: &Plan, kept: Option<Manifest>, previous: Option<Manifest>) -> io::Result<BTreeSet<usize>> {
        let content = Content::of_run_files(plan);
        let keys: BTreeMap<usize, String> = plan.jobs().into_iter().map(|job| (job.run, key(plan, job))).collect();
        let moves = kept.as_ref().map(|kept| self.moves(&keys, kept)).unwrap_or_default();
        let hidden: BTreeMap<String, String> =
            moves.elsewhere.values().map(|(_, key)| (hidden_name(key), key.clone())).collect();
        let wanted: BTreeMap<String, String> =
            keys.iter().map(|(run, key)| (EventFolder::file_name(*run), key.clone())).collect();
        let parts = keys.keys().map(|run| EventFolder::part_name(*run));
        let own: BTreeSet<String> = wanted.keys().cloned().chain(parts).collect();

        // Until all files are in place, the manifest lists those of both commands.
        let (held, old_files) = previous.map(|previous| (previous.content, previous.files)).unzip();
        let old_files = old_files.unwrap_or_default();
        let all = own.iter().chain(&old_files).chain(hidden.keys()).cloned().collect();
        let old_keys = kept.map(|kept| kept.keys).unwrap_or_default();
        let manifest = |content, files, keys| self.directory.write_manifest_with_keys(content, files, keys);
        manifest(held.as_ref().unwrap_or(&content), all, old_keys.into_iter().chain(hidden.clone()).collect())?;
        for (name, key) in moves.elsewhere.values() {
            std::fs::rename(self.path().join(name), self.path().join(hidden_name(key)))?;
        }
        let in_place: BTreeSet<String> = moves.in_place.iter().map(|run| EventFolder::file_name(*run)).collect();
        for name in old_files.iter().filter(|name| !in_place.contains(*name) && !hidden.contains_key(*name)) {
            remove(self.path().join(name))?;
        }
        let both = own.iter().chain(hidden.keys()).cloned().collect();
        manifest(&content, both, wanted.clone().into_iter().chain(hidden).collect())?;
        let folder = EventFolder::of_whole_logs(self.path());
        for (run, (_, key)) in &moves.elsewhere {
            let from = self.path().join(hidden_name(key));
            folder.renumber(&from, *run)?;
            remove(from)?;
        }
        manifest(&content, own, wanted)?;
        Ok(moves.in_place.into_iter().chain(moves.elsewhere.into_keys()).collect())
    }

    /// Where the logs of the runs with these keys are.
    fn moves(&self, keys: &BTreeMap<usize, String>, kept: &Manifest) -> Moves {
        let is_there = |name: &&String| self.path().join(name).is_file();
        let (mut moves, mut elsewhere) = (Moves::default(), BTreeMap::new());
        for (name, key) in kept.keys.iter().filter(|(name, _)| is_there(name)) {
            elsewhere.insert(key, name);
        }
        for (run, key) in keys {
            let name = EventFolder::file_name(*run);
            if kept.keys.get(&name) == Some(key) && is_there(&&name) {
                moves.in_place.insert(*run);
                elsewhere.remove(key);
            }
        }
        // A key that several runs have is that of the first one; the others are done again.
        for (run, key) in keys.iter().filter(|(run, _)| !moves.in_place.contains(run)) {
            if let Some(name) = elsewhere.remove(key) {
                moves.elsewhere.insert(*run, (name.clone(), key.clone()));
            }
        }
        moves
    }
}

/// What identifies the run whose log it is. Whether metrics over time are kept does not change the log.
fn key(plan: &Plan, job: Job) -> String {
    Key::of(plan, job, false).to_string()
}

/// The name of a complete log while it is renamed.
fn hidden_name(key: &str) -> String {
    format!(".{key}.jsonl")
}

fn remove(path: std::path::PathBuf) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
