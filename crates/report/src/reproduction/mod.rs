//! The results of a reproduced publication: its tables, figures, findings and notes, as text, JSON and a page.

mod finding;
mod page;
mod several;

use serde::Serialize;

use crate::{Figure, Table};
pub use finding::{Alternative, Finding, Measured, Verdict};
pub(crate) use finding::{count, counted};
pub(crate) use page::grouped;
pub use page::{of_reproduction, of_reproductions};
pub use several::Reproductions;

/// Description of a reproduction, for the head of a page and the command that repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduced {
    /// The publication's name on the command line.
    pub name: String,
    /// Author, title and year.
    pub title: String,
    /// Names of the requested items; all if empty.
    pub items: Vec<String>,
    /// Whether the runs were fewer and shorter.
    pub quick: bool,
    /// The command that repeats it.
    pub command: String,
}

/// The results of a reproduction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper's name.
    pub paper: String,
    /// Our figures next to the published ones.
    #[serde(rename = "rows")]
    pub table: Table,
    /// Tables for readers, each with a title; without any, the rows are shown.
    #[serde(skip)]
    pub readable: Vec<(String, Table)>,
    /// Figures for `report.html` and `--figures`; may be empty.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// The publication's findings, each checked.
    pub findings: Vec<Finding>,
    /// Notes: choices that were made, explanations of deviations.
    pub notes: Vec<String>,
}

impl Reproduction {
    /// One object with everything, and a line end.
    pub fn to_json(&self) -> String {
        json(self)
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
            text += &format!("\nFindings: {}\n", counted(&self.findings));
        }
        text.extend(self.findings.iter().map(Finding::to_text));
        if !self.notes.is_empty() {
            text += "\nNotes\n";
        }
        self.notes.iter().for_each(|note| text += &format!("  {note}\n"));
        text
    }
}

fn json(value: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(value).expect("figures are plain data");
    json.push('\n');
    json
}
