//! What all requests share: the limits, the turns of runs, the folder that was opened, and the last results.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use subflow_lab::results::{Experiment, Run};
use subflow_scenario::sweep::Plan;
use tokio::sync::Semaphore;

use crate::assets::CARDS;
use crate::check::Opened;
use crate::folder::Folder;
use crate::jobs::{Jobs, MOST_KNOWN};
use crate::limits::Limits;
use crate::live::Live;
use crate::variants::Request;

/// The number of results that are kept: those in sight, and some before them.
const MOST_KEPT: usize = MOST_KNOWN;
/// The most samples over time and packets in all results that are kept, of 16 bytes each; the last results are kept in any
/// case.
const MOST_SAMPLES: usize = 30_000_000;

/// How many requests run or check scenarios at the same time; others wait.
const TURNS: usize = 2;

/// What the page begins with.
#[derive(Clone, Debug)]
pub enum Source {
    /// An example.
    Example,
    /// A scenario.
    Scenario(Opened),
    /// A folder in which results and stores are.
    Folder(PathBuf),
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The scenario that the page shows first.
    pub(crate) opened: Opened,
    pub(crate) limits: Limits,
    /// The folder of results that the command was given.
    pub(crate) folder: Option<Folder>,
    pub(crate) jobs: Jobs,
    pub(crate) live: Arc<Live>,
    /// The turns of runs.
    pub(crate) turns: Arc<Semaphore>,
    /// The turns of checks.
    pub(crate) checks: Arc<Semaphore>,
    kept: Mutex<Kept>,
}

impl Shared {
    pub(crate) fn new(source: Source, limits: Limits) -> Self {
        let example = || Opened::without_file(CARDS[0].name, CARDS[0].text);
        let (opened, folder) = match source {
            Source::Example => (example(), None),
            Source::Scenario(opened) => (opened, None),
            Source::Folder(path) => (example(), Some(Folder::new(path))),
        };
        Self {
            opened,
            limits,
            folder,
            jobs: Jobs::default(),
            live: Arc::default(),
            turns: Arc::new(Semaphore::new(TURNS)),
            checks: Arc::new(Semaphore::new(TURNS)),
            kept: Mutex::default(),
        }
    }

    /// Keeps results, and returns their number.
    pub(crate) fn keep(&self, finished: Finished) -> u64 {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).keep(finished)
    }

    /// The results with this number, if they are still kept.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Finished>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).find(number)
    }
}

/// Finished runs.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What was run.
    pub(crate) plan: Plan,
    /// Its results.
    pub(crate) experiment: Experiment,
    /// What asked for them; `None` of runs in a store.
    pub(crate) request: Option<Request>,
}

/// The last results, by number.
#[derive(Debug, Default)]
struct Kept {
    last: u64,
    finished: VecDeque<(u64, Arc<Finished>)>,
}

impl Kept {
    /// Keeps results, and returns their number. The oldest ones are dropped for them.
    fn keep(&mut self, finished: Finished) -> u64 {
        self.last += 1;
        self.finished.push_back((self.last, Arc::new(finished)));
        let samples = |kept: &VecDeque<(u64, Arc<Finished>)>| kept.iter().map(|(_, of)| of.samples()).sum::<usize>();
        while self.finished.len() > MOST_KEPT || self.finished.len() > 1 && samples(&self.finished) > MOST_SAMPLES {
            self.finished.pop_front();
        }
        self.last
    }

    /// The results with this number, if they are still kept.
    fn find(&self, number: u64) -> Option<Arc<Finished>> {
        self.finished.iter().find(|(known, _)| *known == number).map(|(_, finished)| Arc::clone(finished))
    }
}

impl Finished {
    /// The number of its samples over time and of its packets.
    fn samples(&self) -> usize {
        let of_run = |run: &Run| {
            let series = run.result.series.iter().map(|series| series.points().len());
            let packets = run.result.sequences.iter().map(|sequence| sequence.points().len());
            series.chain(packets).sum::<usize>()
        };
        self.experiment.runs.iter().map(of_run).sum()
    }
}

/// Results for tests.
#[cfg(test)]
pub(crate) mod made {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    /// Those of no run.
    pub(crate) fn finished() -> Finished {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let document = Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML");
        let plan = Plan::read(document).expect("a scenario");
        let experiment = Experiment::new(&plan, Vec::new());
        Finished { plan, experiment, request: None }
    }
}

#[cfg(test)]
mod tests {
    use super::made::finished;
    use super::*;

    #[test]
    fn the_last_results_are_kept_and_earlier_ones_dropped() {
        let mut kept = Kept::default();
        let numbers: Vec<u64> = (0..MOST_KEPT + 2).map(|_| kept.keep(finished())).collect();
        let found: Vec<bool> = numbers.iter().map(|number| kept.find(*number).is_some()).collect();
        assert_eq!(found.iter().filter(|found| **found).count(), MOST_KEPT);
        assert!(!found[0] && !found[1] && found[2]);
        assert!(kept.find(99).is_none());
    }
}
