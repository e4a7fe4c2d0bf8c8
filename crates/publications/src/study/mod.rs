//! A paper as a folder: scenarios, published tables, and a file that says which experiments there are and what is
//! claimed (`description.rs` has an example). Its runs are those of sweeps, and go to a store if there is one; what is
//! said of them are functions over a results table.
//!
//! | to find | look in |
//! |---|---|
//! | the files of a folder | `folder.rs`; published tables: `published.rs` |
//! | what `paper.toml` may contain | `description.rs`, `experiment.rs`; how its tables are read: `keys.rs` |
//! | values that depend on variables | `template.rs`; on how much is run: `effort.rs` |
//! | the cells of an experiment, and their scenarios | `grid.rs` |
//! | how runs are done, what is measured of them | `runs.rs`, `metrics.rs` |
//! | cells with their runs | `results.rs`; tables and figures of them: `tables.rs` |
//! | claims and their verdicts | `claims.rs`; checks that all papers may use: `checks.rs`; ratios of means: `ratio.rs` |
//! | runs on Linux | `linux.rs` |

mod checks;
mod claims;
mod description;
mod effort;
mod experiment;
mod folder;
mod grid;
mod keys;
mod linux;
mod metrics;
mod published;
mod ratio;
mod results;
mod runs;
mod tables;
mod template;

use std::path::Path;

use subflow_lab::execute::Progress;
use subflow_lab::results::RunResult;
use subflow_report::{Figure, Finding, Reproduction, Table};
use subflow_scenario::file::{Problem, list};
use subflow_scenario::sweep::Parameters;

pub(crate) use claims::{Check, Claim};
pub(crate) use effort::Effort;
pub(crate) use experiment::Choice;
pub(crate) use folder::Folder;
pub(crate) use grid::Cell;
pub(crate) use linux::{Linux, OnKernel};
pub(crate) use ratio::Ratio;
pub(crate) use results::{Outcome, Results, Row, Sample, distinct};

use crate::{Done, Emulation, Item, Measured, Paper, ReproduceError, Request};
use description::Description;
use grid::cells;
use published::Published;
use runs::Runs;

/// A paper that is a folder.
pub(crate) struct Study {
    pub(crate) folder: Folder,
    pub(crate) description: Description,
    published: Published,
    code: Code,
}

/// What is measured of a run.
type Measure = fn(&RunResult) -> Result<Sample, String>;
/// Reads variables of cells from measured tables: those of the folder, or a file.
type Cases = fn(&Folder, Option<&Path>) -> Result<Vec<Parameters>, Problem>;
/// Tables to read, with their titles.
type Readable = fn(&Results) -> Vec<(String, Table)>;

/// What of a paper is no data. The default is that of a paper that is data alone.
pub(crate) struct Code {
    /// In place of the metrics in the paper's file.
    pub(crate) measure: Option<Measure>,
    /// For an experiment with `cases = true`; the file is that of `--cases`.
    pub(crate) cases: Option<Cases>,
    /// The functions that check claims, by name.
    pub(crate) checks: &'static [(&'static str, Check)],
    /// Findings beside those of claims.
    pub(crate) further_findings: fn(&Results) -> Vec<Finding>,
    /// Whether a verdict under other choices rests on this cell of a published experiment.
    pub(crate) is_judged: fn(&Cell) -> bool,
    /// All rows.
    pub(crate) rows: Option<fn(&Results) -> Table>,
    pub(crate) readable: Option<Readable>,
    pub(crate) figures: Option<fn(&Results) -> Vec<Figure>>,
    /// Variables of the notes.
    pub(crate) notes: fn(&Results) -> Vec<(&'static str, String)>,
    /// Its experiments on Linux, if it has any.
    pub(crate) linux: Option<Linux>,
}

impl Default for Code {
    fn default() -> Self {
        Self {
            measure: None,
            cases: None,
            checks: &[],
            further_findings: |_| Vec::new(),
            is_judged: |_| true,
            rows: None,
            readable: None,
            figures: None,
            notes: |_| Vec::new(),
            linux: None,
        }
    }
}

impl Study {
    /// The paper in the folder `papers/NAME`.
    ///
    /// # Panics
    ///
    /// A file of the folder is wrong. A test reads each.
    pub(crate) fn in_program(name: &str, code: Code) -> Self {
        let folder = Folder::in_program(name).unwrap_or_else(|| panic!("there is no folder papers/{name}"));
        Self::new(folder, code).unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    /// The paper in `folder`.
    ///
    /// # Errors
    ///
    /// A file of the folder is wrong.
    pub(crate) fn new(folder: Folder, code: Code) -> Result<Self, Problem> {
        let description = Description::read(&folder)?;
        let own = || code.checks.iter().map(|(name, _)| *name);
        for claim in description.claims.iter().filter(|claim| claim.rule.is_none()) {
            if !own().any(|name| name == claim.check) {
                let known = list(checks::NAMES.into_iter().chain(own()));
                let message = format!("{}: claims: there is no check {:?}", folder.name, claim.check);
                return Err(Problem::nowhere(message).help(format!("there are: {known}")));
            }
        }
        if description.metrics.is_empty() && code.measure.is_none() {
            let message = format!("{}: paper.toml has no metrics, expected what is measured of a run", folder.name);
            let help = "for example:\n[[metrics]]\nname = \"goodput\"\ncolumn = \"goodput_mbps\"";
            return Err(Problem::nowhere(message).help(help));
        }
        Ok(Self { published: Published::read(&folder)?, folder, description, code })
    }

    /// The cells of simulated experiments that are `wanted`.
    pub(crate) fn cells(
        &self,
        effort: Effort,
        choice: Option<&Choice>,
        cases: &[Parameters],
        wanted: &dyn Fn(&Cell) -> bool,
    ) -> Result<Vec<Cell>, Problem> {
        let mut found = Vec::new();
        for experiment in self.description.experiments.iter().filter(|experiment| !experiment.on_linux) {
            found
                .extend(cells(&self.description.common, experiment, effort, choice, cases)?.into_iter().filter(wanted));
        }
        Ok(found)
    }

    /// The cells of experiments on Linux, which only papers in the program have.
    fn cells_on_linux(&self, effort: Effort) -> Vec<Cell> {
        let experiments = self.description.experiments.iter().filter(|experiment| experiment.on_linux);
        let cells = |experiment| cells(&self.description.common, experiment, effort, None, &[]);
        experiments.flat_map(|experiment| cells(experiment).expect("tests read each cell of the program")).collect()
    }

    fn cases(&self, request: &Request) -> Result<Vec<Parameters>, Problem> {
        self.code.cases.map_or_else(|| Ok(Vec::new()), |cases| cases(&self.folder, request.cases.as_deref()))
    }

    /// The published figure of a cell, with the values of further columns.
    pub(crate) fn published(&self, cell: &Cell, further: &[(&str, &str)]) -> Option<f64> {
        self.published.of(cell, further)
    }

    fn results_of(&self, rows: Vec<Row>) -> Results {
        Results { rows, runs: 0, published: self.published.clone() }
    }

    /// Runs cells, for a paper that does not leave all of them to its study.
    pub(crate) fn run(
        &self,
        cells: Vec<Cell>,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Results, ReproduceError> {
        Runs::new(&self.folder, &|result: &RunResult| self.measure(result), request, progress).of(cells)
    }

    /// The results of cells that are to be run.
    fn results(&self, runs: &Runs<'_>, cells: Vec<Cell>) -> Result<Results, ReproduceError> {
        Ok(Results { published: self.published.clone(), ..runs.of(cells)? })
    }

    fn measure(&self, result: &RunResult) -> Result<Sample, String> {
        match self.code.measure {
            Some(measure) => measure(result),
            None => metrics::measure(&self.description.metrics, result),
        }
    }

    /// The findings, as far as cells were run.
    pub(crate) fn findings(&self, results: &Results) -> Vec<Finding> {
        let claims = self.description.claims.iter();
        let findings = claims.filter_map(|claim| claim.finding(self.code.checks, results));
        findings.chain((self.code.further_findings)(results)).collect()
    }

    /// Adds the verdicts under each of the choices.
    fn compare_choices(
        &self,
        findings: &mut [Finding],
        request: &Request,
        runs: &Runs<'_>,
    ) -> Result<(), ReproduceError> {
        let is_only_this = request.is_only_sensitivity();
        let wanted = |cell: &Cell| {
            cell.is_published && (is_only_this || request.wants(&cell.item)) && (self.code.is_judged)(cell)
        };
        for choice in &self.description.choices {
            let cells = self.cells(Effort::of(request).alternatives(), Some(choice), &[], &wanted)?;
            let others = self.findings(&self.results(runs, cells)?);
            findings.iter_mut().for_each(|finding| finding.compare_with(&choice.name, &others));
        }
        Ok(())
    }

    /// Results of all experiments in which the runs of a cell gave what `runs` says.
    #[cfg(test)]
    pub(crate) fn invented(&self, effort: Effort, runs: impl Fn(&Cell) -> Vec<Sample>) -> Results {
        let cases = self.cases(&Request::default()).expect("good tables");
        let cells = self.cells(effort, None, &cases, &|_| true).expect("good cells");
        let row = |cell: Cell| Row { runs: runs(&cell), cell };
        self.results_of(cells.into_iter().map(row).collect())
    }

    fn notes(&self, effort: Effort, results: &Results) -> Result<Vec<String>, Problem> {
        let all_runs = [("all_runs", results.runs.to_string())];
        let further = all_runs.into_iter().chain((self.code.notes)(results));
        self.description.notes(effort, further.map(|(name, text)| (name.to_owned(), text.into())).collect())
    }
}

impl Paper for Study {
    fn name(&self) -> &str {
        &self.folder.name
    }

    fn title(&self) -> &str {
        &self.description.title
    }

    fn items(&self) -> &[Item] {
        &self.description.items
    }

    fn takes_cases(&self) -> bool {
        self.code.cases.is_some()
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
        let wanted = |cell: &Cell| {
            let is_asked_for = request.wants(&cell.item) || (is_only_sensitivity && cell.is_published);
            is_asked_for && (cell.is_in_quick_look || effort != Effort::Hurried)
        };
        let measure = |result: &RunResult| self.measure(result);
        let runs = Runs::new(&self.folder, &measure, request, progress);
        let results = self.results(&runs, self.cells(effort, None, &self.cases(request)?, &wanted)?)?;
        let mut findings = self.findings(&results);
        if request.wants_alternatives() {
            self.compare_choices(&mut findings, request, &runs)?;
        }
        let metrics = &self.description.metrics;
        let Code { rows, readable, figures, .. } = &self.code;
        let reproduction = Reproduction {
            paper: self.folder.name.clone(),
            table: rows.map_or_else(|| tables::rows(metrics, &results), |rows| rows(&results)),
            readable: readable.map_or_else(|| tables::readable(metrics, &results), |readable| readable(&results)),
            figures: figures.map_or_else(|| tables::figures(metrics, &results), |figures| figures(&results)),
            findings,
            notes: self.notes(effort, &results)?,
        };
        Ok(Done { reproduction, failed_runs: runs.failed() })
    }
}

#[cfg(test)]
mod tests;
