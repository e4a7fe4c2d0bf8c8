//! Published experiments that can be reproduced: each a [`Paper`] in the [`registry`].
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

mod alternatives;
mod emulation;
mod leitner2019;
mod lima2017;
mod linux612;
mod lugowski2017;
mod multiflow2016;
mod red2018;

use std::path::PathBuf;

use subflow_lab::RunError;
use subflow_lab::execute::Progress;
use subflow_report::{Finding, Reproduced, Reproduction};

pub use emulation::{
    ATTEMPTS, Emulation, Emulator, Measured, OnLinux, Quantity, Routers, items_on_linux, reproduce_on_linux,
};
pub use leitner2019::Leitner2019;
pub use lima2017::Lima2017;
pub use linux612::Linux612;
pub use lugowski2017::Lugowski2017;
pub use multiflow2016::Multiflow2016;
pub use red2018::Red2018;

/// A publication (or a set of measurements) with experiments that we repeat.
pub trait Paper: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
    /// Author, title and year, for lists.
    fn title(&self) -> &'static str;
    /// The parts that can be reproduced on their own.
    fn items(&self) -> &'static [Item];
    /// Whether `--cases` makes sense: the paper's configurations come from a CSV file.
    fn takes_cases(&self) -> bool {
        false
    }
    /// The experiments that also run in real time on Linux, each of one of the items; none by default.
    fn emulations(&self, _quick: bool) -> Vec<Emulation> {
        Vec::new()
    }
    /// What the emulations tell about the publication's findings.
    fn findings_on_linux(&self, _measured: &[Measured]) -> Vec<Finding> {
        Vec::new()
    }
    /// Repeats what `request` asks for.
    fn reproduce(
        &self,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Reproduction, ReproduceError>;
}

/// A part of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub title: &'static str,
}

/// What to reproduce.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Names of items, each known to the paper; all where empty.
    pub items: Vec<String>,
    /// Fewer and shorter runs, for a first look.
    pub quick: bool,
    /// Threads; 0 takes one for each core.
    pub jobs: usize,
    /// A CSV file of configurations instead of the paper's own.
    pub cases: Option<PathBuf>,
    /// Whether it is for [`reproduce_on_linux`], in real time beside the simulator.
    pub on_linux: bool,
    /// Runs of each case and kind in place of the paper's own number, for [`reproduce_on_linux`].
    pub runs: Option<u64>,
}

impl Request {
    /// What a reproduction of `paper` as requested is, for its page.
    pub fn describe(&self, paper: &dyn Paper) -> Reproduced {
        let mut command = format!("subflow reproduce {}", paper.name());
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReproduceError {
    /// The request is wrong: a bad file of cases.
    #[error("{0}")]
    BadInput(String),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// All papers, in the order of lists.
pub fn registry() -> &'static [&'static dyn Paper] {
    &[&Lugowski2017, &Lima2017, &Leitner2019, &Red2018, &Multiflow2016, &Linux612]
}

/// The paper of this name.
pub fn find(name: &str) -> Option<&'static dyn Paper> {
    registry().iter().copied().find(|paper| paper.name() == name)
}
