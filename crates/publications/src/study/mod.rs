//! A paper as a folder: scenarios, published tables, and a file that says which experiments there are and what is
//! claimed (`description.rs` has an example). Its runs are those of sweeps, and go to a store if there is one; what is
//! said of them are functions over a results table.
//!
//! | to find | look in |
//! |---|---|
//! | the files of a folder, published tables | `folder.rs`; what `paper.toml` may contain: `description.rs` |
//! | values that depend on variables | `template.rs`; on how much is run: `effort.rs` |
//! | the cells of an experiment, and their scenarios | `grid.rs` |
//! | how runs are done | `runs.rs` |
//! | cells with their runs | `results.rs` |
//! | claims and their verdicts | `claims.rs`; checks that several papers may use: `checks.rs` |
//! | runs on Linux | `linux.rs` |

mod checks;
mod claims;
mod description;
mod effort;
mod folder;
mod grid;
mod linux;
mod results;
mod runs;
mod template;

use subflow_lab::execute::Progress;
use subflow_report::{Figure, Finding, Reproduction, Table};

pub(crate) use claims::{Check, Outcome};
pub(crate) use description::{Choice, Claim, Description};
pub(crate) use effort::Effort;
pub(crate) use folder::{Folder, folder};
pub(crate) use grid::{Cell, cells};
pub(crate) use linux::{Linux, OnKernel};
pub(crate) use results::{Results, Row, Sample, distinct};
pub(crate) use runs::{Measure, Runs};

use crate::{Done, Emulation, Item, Measured, Paper, ReproduceError, Request};
use description::Experiment;
use folder::Published;

/// A paper that is a folder.
pub(crate) struct Study {
    pub(crate) folder: Folder,
    description: Description,
    title: &'static str,
    items: &'static [Item],
    published: Vec<Published>,
    code: Code,
}

/// What of a paper is no data.
pub(crate) struct Code {
    /// What is measured of a run.
    pub(crate) measure: Measure,
    /// The functions that check claims, by name.
    pub(crate) checks: &'static [(&'static str, Check)],
    /// Whether a verdict under other choices rests on this cell of a published experiment.
    pub(crate) is_judged: fn(&Cell) -> bool,
    /// All rows.
    pub(crate) rows: fn(&Results) -> Table,
    /// Tables to read, with their titles.
    pub(crate) readable: fn(&Results) -> Vec<(String, Table)>,
    pub(crate) figures: fn(&Results) -> Vec<Figure>,
    /// Variables of the notes.
    pub(crate) notes: fn(&Results) -> Vec<(&'static str, String)>,
    /// Its experiments on Linux, if it has any.
    pub(crate) linux: Option<Linux>,
}

impl Study {
    /// The paper in `folder`.
    ///
    /// # Panics
    ///
    /// A file of the folder is wrong. A test reads each.
    pub(crate) fn new(folder: Folder, code: Code) -> Self {
        let description = Description::read(&folder);
        let items = description.leaked_items();
        let published = Published::all(&folder);
        Self { title: description.title.clone().leak(), items, folder, description, published, code }
    }

    /// The cells of the experiments that `wanted` says.
    fn cells(&self, effort: Effort, choice: Option<&Choice>, wanted: &dyn Fn(&Experiment) -> bool) -> Vec<Cell> {
        let experiments = self.description.experiments.iter().filter(|experiment| !experiment.on_linux);
        let wanted = experiments.filter(|experiment| wanted(experiment));
        wanted.flat_map(|experiment| grid::cells(&self.description, experiment, effort, choice)).collect()
    }

    /// The published figure of a cell, with the values of further columns.
    pub(crate) fn published(&self, cell: &Cell, further: &[(&str, &str)]) -> Option<f64> {
        self.published.iter().find_map(|table| table.value(cell, further))
    }

    /// The findings, as far as cells were run.
    pub(crate) fn findings(&self, results: &Results) -> Vec<Finding> {
        claims::findings(&self.description.claims, self.code.checks, results)
    }

    /// Adds the verdicts under each of the choices.
    fn compare_choices(
        &self,
        findings: &mut [Finding],
        request: &Request,
        runs: &Runs<'_>,
    ) -> Result<(), ReproduceError> {
        let is_only_this = request.is_only_sensitivity();
        let wanted =
            |experiment: &Experiment| experiment.is_published && (is_only_this || request.wants(&experiment.item));
        for choice in &self.description.choices {
            let mut cells = self.cells(Effort::of(request).alternatives(), Some(choice), &wanted);
            cells.retain(|cell| cell.is_published && (self.code.is_judged)(cell));
            let others = self.findings(&runs.of(cells)?);
            findings.iter_mut().for_each(|finding| finding.compare_with(&choice.name, &others));
        }
        Ok(())
    }

    /// Results of all experiments in which the runs of a cell gave what `runs` says.
    #[cfg(test)]
    pub(crate) fn invented(&self, effort: Effort, runs: impl Fn(&Cell) -> Vec<Sample>) -> Results {
        let cells = self.cells(effort, None, &|_| true);
        let row = |cell: Cell| Row { runs: runs(&cell), cell };
        Results { rows: cells.into_iter().map(row).collect(), runs: 0 }
    }

    fn notes(&self, effort: Effort, results: &Results) -> Vec<String> {
        let mut further = vec![("all_runs", results.runs.to_string())];
        further.extend((self.code.notes)(results));
        self.description.notes(effort, &further)
    }
}

impl Paper for Study {
    fn name(&self) -> &'static str {
        self.folder.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn items(&self) -> &'static [Item] {
        self.items
    }

    fn emulations(&self, quick: bool) -> Vec<Emulation> {
        self.code.linux.as_ref().map_or_else(Vec::new, |linux| self.emulations_of(linux, quick))
    }

    fn findings_on_linux(&self, measured: &[Measured]) -> Vec<Finding> {
        self.code.linux.as_ref().map_or_else(Vec::new, |linux| self.findings_of(linux, measured))
    }

    fn keeps_runs(&self) -> bool {
        true
    }

    fn reproduce(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Done, ReproduceError> {
        let effort = Effort::of(request);
        let is_only_sensitivity = request.is_only_sensitivity();
        let wanted = |experiment: &Experiment| {
            let is_asked_for = request.wants(&experiment.item) || (is_only_sensitivity && experiment.is_published);
            is_asked_for && (experiment.is_in_quick_look || effort != Effort::Hurried)
        };
        let runs = Runs::new(&self.folder, self.code.measure, request, progress);
        let mut cells = self.cells(effort, None, &wanted);
        cells.retain(|cell| cell.is_published || !is_only_sensitivity);
        let results = runs.of(cells)?;
        let mut findings = self.findings(&results);
        if request.wants_alternatives() {
            self.compare_choices(&mut findings, request, &runs)?;
        }
        let reproduction = Reproduction {
            paper: self.folder.name.to_owned(),
            table: (self.code.rows)(&results),
            readable: (self.code.readable)(&results),
            figures: (self.code.figures)(&results),
            findings,
            notes: self.notes(effort, &results),
        };
        Ok(Done { reproduction, failed_runs: runs.failed() })
    }
}

#[cfg(test)]
mod tests;
