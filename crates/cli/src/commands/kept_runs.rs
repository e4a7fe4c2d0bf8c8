//! Where `subflow reproduce` keeps its runs.

use subflow_lab::Stop;
use subflow_publications::{ReproduceError, Request, Study};
use subflow_report::output::Folder;
use subflow_store::Store;

use super::journal::store_beside;
use super::signals::{self, Said, stop_on_signals};
use crate::arguments::{Platform, Reproduce};
use crate::failure::Failure;

/// The store of a reproduction, if its runs are kept: one that the user has named, or a journal beside the folder for the
/// results.
pub(super) struct Kept(Option<Store>);

impl Kept {
    /// The store of the command that reproduces `papers`.
    pub(super) fn of(arguments: &Reproduce, papers: &[&Study]) -> Result<Self, Failure> {
        let options = [
            ("--store", arguments.store.is_some()),
            ("--resume", arguments.resume),
            ("--keep-going", arguments.keep_going),
        ];
        let asked = options.into_iter().find_map(|(option, given)| given.then_some(option));
        let keeps = papers.iter().any(|paper| paper.keeps_runs()) && arguments.on == Platform::Simulator;
        match (asked, &arguments.store, &arguments.out) {
            (Some(option), ..) if !keeps => {
                let what = match arguments.on {
                    Platform::Simulator => papers.iter().map(|paper| paper.name()).collect::<Vec<_>>().join(", "),
                    Platform::Linux => "a reproduction on Linux".to_owned(),
                };
                Err(Failure::bad_input(
                    format!("{option}: the runs of {what} are not kept"),
                    format!("remove {option}"),
                ))
            }
            (_, Some(store), _) => Ok(Self(Some(Store::open(store)?))),
            (_, None, Some(out)) if keeps => Ok(Self(Some(store_beside(out, arguments.resume, arguments.force)?))),
            (Some(option), None, None) => Err(Failure::bad_input(
                format!("{option} requires a folder in which runs are kept"),
                "add --store DIR, or --out DIR for results",
            )),
            _ => Ok(Self(None)),
        }
    }

    /// What of a request is about runs that are kept. Signals end them early, and lose only those under way.
    pub(super) fn request(&self, arguments: &Reproduce) -> Result<Request, Failure> {
        let stop: Option<Stop> = match &self.0 {
            Some(store) => {
                signals::say(Said::of_runs(None, Some(store.path())));
                Some(stop_on_signals()?)
            }
            None => None,
        };
        Ok(Request { store: self.0.clone(), keep_going: arguments.keep_going, stop, ..Request::default() })
    }

    /// The failure of a reproduction, with what is kept.
    pub(super) fn failure(&self, error: ReproduceError) -> Failure {
        let Some(store) = &self.0 else { return error.into() };
        let path = store.path().display();
        match error {
            ReproduceError::Stopped { finished, runs } => Failure::RunFailed(format!(
                "stopped: {finished} of {runs} runs are kept in {path}; the same command with --resume \
                 continues"
            )),
            ReproduceError::Run(error) => Failure::RunFailed(format!(
                "a run failed: {error}; the others are kept in {path}; the same command with --resume continues, with \
                 --keep-going past runs that fail"
            )),
            error => error.into(),
        }
    }

    /// Removes the runs of a journal, now that the results of all are in the folder.
    pub(super) fn forget(&self, failed_runs: usize, folder: Option<&Folder>) -> Result<(), Failure> {
        let (Some(store), 0) = (&self.0, failed_runs) else { return Ok(()) };
        if store.is_journal() {
            if let Some(folder) = folder {
                folder.sync()?;
            }
            store.clear()?;
            store.remove([])?;
        }
        Ok(())
    }

    /// Fails if runs have failed.
    pub(super) fn lacks(&self, failed_runs: usize) -> Result<(), Failure> {
        match failed_runs {
            0 => Ok(()),
            _ => Err(Failure::RunFailed(format!(
                "{failed_runs} runs failed; the results do not contain them, and --resume repeats them"
            ))),
        }
    }
}
