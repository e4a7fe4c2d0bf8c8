//! Published experiments that can be reproduced: each a [`Study`] in the [`registry`].
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! ```
//! use subflow_publications::{Request, registry};
//!
//! let paper = registry().iter().find(|paper| paper.name() == "red2018").expect("it is one of them");
//! assert!(paper.items().iter().any(|item| item.name == "correlation"));
//! // Simulating an item takes a while: `paper.reproduce(&request, &|_| {})` returns tables, figures and findings.
//! let request = Request { items: vec!["correlation".to_owned()], quick: true, ..Request::default() };
//! assert_eq!(request.items.len(), 1);
//! ```

mod emulation;
mod lima2017;
mod linux612;
mod lugowski2017;
mod multiflow2016;
mod red2018;
mod study;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use subflow_lab::{RunError, Stop};
use subflow_report::{Reproduced, Reproduction};
use subflow_scenario::file::{Problem, Problems};
use subflow_store::{Store, StoreError};

pub use emulation::{Emulator, Routers, items_on_linux, reproduce_on_linux};
use lima2017::LIMA2017;
use linux612::LINUX612;
use lugowski2017::LUGOWSKI2017;
use multiflow2016::MULTIFLOW2016;
use red2018::RED2018;
pub use study::Study;
use study::{Code, Folder};

/// A paper's reproduction.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Its tables, figures, findings and notes.
    pub reproduction: Reproduction,
    /// The number of runs that failed and are left out, with [`Request::keep_going`].
    pub failed_runs: usize,
    /// The number of cases that no valid run on Linux is of, of those that were to run there.
    pub without_valid_runs: usize,
}

/// A part of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name on the command line.
    pub name: String,
    /// What it shows, in one line.
    pub title: String,
}

/// What to reproduce.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of items, each known to the paper; all where empty.
    pub items: Vec<String>,
    /// Fewer and shorter runs, for first results.
    pub quick: bool,
    /// Where the folder of the paper is, if the program does not contain it.
    pub folder: Option<PathBuf>,
    /// Threads; 0 takes one for each core.
    pub jobs: usize,
    /// A CSV file of configurations instead of the paper's own.
    pub cases: Option<PathBuf>,
    /// Whether it is for [`reproduce_on_linux`], in real time beside the simulator.
    pub on_linux: bool,
    /// Runs of each case and kind in place of the paper's own number, for [`reproduce_on_linux`].
    pub runs: Option<u64>,
    /// Where runs are kept, and found again, of a paper that [keeps them](Study::keeps_runs).
    pub store: Option<Store>,
    /// Whether other runs begin after one has failed; with a store.
    pub keep_going: bool,
    /// Ends the runs early, with an error.
    pub stop: Option<Stop>,
}

impl Request {
    /// What a reproduction of `paper` as requested is, for its page.
    pub fn describe(&self, paper: &Study) -> Reproduced {
        let named = self.folder.as_ref().map(|folder| format!("--folder {}", folder.display()));
        let mut command = format!("subflow reproduce {}", named.as_deref().unwrap_or(paper.name()));
        if self.on_linux {
            command += " --on linux";
        }
        for item in &self.items {
            command += &format!(" --item {item}");
        }
        if self.quick {
            command += " --quick";
        }
        if let Some(runs) = self.runs {
            command += &format!(" --repeat {runs}");
        }
        if let Some(cases) = &self.cases {
            command += &format!(" --cases {}", cases.display());
        }
        Reproduced {
            name: paper.name().to_owned(),
            title: paper.title().to_owned(),
            items: self.items.clone(),
            quick: self.quick,
            command,
        }
    }

    /// Whether the item of this name is asked for.
    fn wants(&self, item: &str) -> bool {
        self.items.is_empty() || self.items.iter().any(|name| name == item)
    }
}

/// Why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A file of the paper's folder is wrong, or that of `--cases`.
    #[error(transparent)]
    BadInput(#[from] Problems),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The store cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runs were ended early. Those that are finished are in the store.
    #[error("stopped: {finished} of {runs} runs are finished")]
    Stopped {
        /// Runs that are finished.
        finished: usize,
        /// All runs that were to be done at once.
        runs: usize,
    },
}

impl From<Problem> for ReproduceError {
    fn from(problem: Problem) -> Self {
        Self::BadInput(problem.into())
    }
}

/// All papers, in the order of lists: those with code and what stands between them, then others that are a folder alone.
pub fn registry() -> &'static [&'static Study] {
    static LEITNER2019: LazyLock<Study> = LazyLock::new(|| Study::in_program("leitner2019", Code::default()));
    static STUDIES: LazyLock<Vec<&'static Study>> = LazyLock::new(|| {
        let mut studies: Vec<&Study> =
            vec![&LUGOWSKI2017, &LIMA2017, &LEITNER2019, &RED2018, &MULTIFLOW2016, &LINUX612];
        for name in Folder::names_in_program() {
            if studies.iter().all(|study| study.folder.name != name) {
                // They live as long as the program.
                studies.push(Box::leak(Box::new(Study::in_program(name, Code::default()))));
            }
        }
        studies
    });
    &STUDIES
}

/// The paper of this name.
pub fn find(name: &str) -> Option<&'static Study> {
    registry().iter().copied().find(|paper| paper.name() == name)
}

/// The paper, or any study, whose folder is at `path`.
///
/// # Errors
///
/// `paper.toml` or a published table in it is wrong, or cannot be read. Scenarios are read when it is reproduced.
pub fn open(path: &Path) -> Result<Study, Problem> {
    Study::new(Folder::on_disk(path), Code::default())
}
