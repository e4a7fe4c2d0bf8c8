//! Published experiments that can be reproduced: each a [`Paper`] in the [`registry`].

mod batch;
mod leitner2019;
mod lima2017;
mod linux612;
mod lugowski2017;
mod multiflow2016;
mod red2018;
mod table;

use std::path::PathBuf;

use serde::Serialize;

use crate::execute::{Progress, RunError};
use crate::report::Figure;
pub use leitner2019::Leitner2019;
pub use lima2017::Lima2017;
pub use linux612::Linux612;
pub use lugowski2017::Lugowski2017;
pub use multiflow2016::Multiflow2016;
pub use red2018::Red2018;
pub use table::{Cell, Table};

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
}

impl Request {
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

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper's name.
    pub paper: String,
    /// Our figures next to the published ones.
    #[serde(rename = "rows")]
    pub table: Table,
    /// The same to read, table by table with a title each; without any, the rows themselves are shown.
    #[serde(skip)]
    pub readable: Vec<(String, Table)>,
    /// Pictures for `report.html` and `--figures`; may be empty.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// The publication's findings, each checked.
    pub findings: Vec<Finding>,
    /// What a reader should know: choices made, deviations explained.
    pub notes: Vec<String>,
}

impl Reproduction {
    /// One object with everything, and a line end.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("figures are plain data");
        json.push('\n');
        json
    }

    /// The tables, then the findings, then the notes.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (title, table) in &self.readable {
            text += &format!("{title}\n{}\n", table.to_text());
        }
        if self.readable.is_empty() {
            text += &self.table.to_text();
        }
        if !self.findings.is_empty() {
            text += "\nFindings\n";
        }
        for Finding { statement, confirmed, evidence } in &self.findings {
            let verdict = match confirmed {
                Some(true) => "confirmed",
                Some(false) => "not confirmed",
                None => "undecided",
            };
            text += &format!("  {verdict}: {statement}\n    {evidence}\n");
        }
        if !self.notes.is_empty() {
            text += "\nNotes\n";
        }
        self.notes.iter().for_each(|note| text += &format!("  {note}\n"));
        text
    }
}

/// One published finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was published.
    pub statement: String,
    /// Whether our figures say so, too; null where they cannot tell.
    pub confirmed: Option<bool>,
    /// Our figures.
    pub evidence: String,
}

/// All papers, in the order of lists.
pub fn registry() -> &'static [&'static dyn Paper] {
    &[&Lugowski2017, &Lima2017, &Leitner2019, &Red2018, &Multiflow2016, &Linux612]
}

/// The paper of this name.
pub fn find(name: &str) -> Option<&'static dyn Paper> {
    registry().iter().copied().find(|paper| paper.name() == name)
}
