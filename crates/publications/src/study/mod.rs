//! A paper as a folder: scenarios, published tables, and a file that says which experiments there are and what is
//! claimed (`description.rs` has an example). Its runs are those of sweeps, and go to a store if there is one; what is
//! said of them are functions over a results table.
//!
//! | to find | look in |
//! |---|---|
//! | the files of a folder | `folder.rs`; published tables: `published.rs` |
//! | what `paper.toml` may contain | `description.rs`, `experiment.rs`; how it is read: `reader.rs` |
//! | values that depend on variables | `template.rs`; on how much is run: `effort.rs` |
//! | the cells of an experiment | `grid.rs`; a cell and its scenario: `cell.rs` |
//! | how runs are done, what is measured of them | `runs.rs`, `by_second.rs`, `metrics.rs`; how many: `until_decided.rs` |
//! | cells with their runs | `results.rs`; rows of paths, flows or seconds: `slices.rs` |
//! | tables and figures | `tables.rs`, `panels.rs`; what a column shows: `show.rs` |
//! | claims and their verdicts | `claims.rs`; their cells: `selection.rs`; checks that all papers may use: `checks.rs`, of two cells: `comparisons.rs`, of averages: `averages.rs`; ratios of means: `ratio.rs` |
//! | runs on Linux | `linux.rs` |

mod averages;
mod by_second;
mod cell;
mod checks;
mod claims;
mod comparisons;
mod description;
mod effort;
mod experiment;
mod folder;
mod grid;
mod linux;
mod metrics;
mod panels;
mod published;
mod ratio;
mod reader;
mod results;
mod runs;
mod selection;
mod show;
mod slices;
mod tables;
mod template;
mod until_decided;

use std::path::Path;

use subflow_lab::execute::Progress;
use subflow_lab::results::RunResult;
use subflow_report::{Figure, Finding, Reproduction, Table};
use subflow_scenario::file::{Problem, list};
use subflow_scenario::sweep::Parameters;

pub(crate) use by_second::{DELIVERED, DUPLICATE_ACKS, LOST, RETRANSMISSIONS, SRTT, by_second};
pub(crate) use cell::Cell;
use claims::System;
pub(crate) use claims::{Check, Claim};
pub(crate) use effort::Effort;
pub(crate) use experiment::Choice;
pub(crate) use folder::{Folder, source_at};
pub(crate) use linux::Linux;
pub(crate) use ratio::all;
pub(crate) use results::{Outcome, Results, Row, Sample, distinct};
pub(crate) use slices::Slice;

use crate::{Done, Item, ReproduceError, Request};
use checks::Rule;
use description::Description;
use grid::cells;
use published::Published;
use runs::Runs;
use show::View;

/// A publication (or a set of measurements) with experiments that we repeat: a folder, and code for what is no data.
pub struct Study {
    pub(crate) folder: Folder,
    pub(crate) description: Description,
    /// The checks of its claims, but of those that have a function.
    rules: Vec<Option<Rule>>,
    pub(crate) published: Published,
    code: Code,
}

type Measure = fn(&RunResult) -> Result<Sample, String>;
/// Reads variables of cells from measured tables: those of the folder with these names, or a file.
type Cases = fn(&Folder, &[String], Option<&Path>) -> Result<Vec<Parameters>, Problem>;
type Notes = fn(&Results) -> Vec<(&'static str, String)>;
/// The tables and figures that are made by code.
#[derive(Default)]
pub(crate) struct Own {
    /// All rows, in place of those that the paper's file declares.
    pub(crate) rows: Option<Table>,
    /// Tables to read, with their titles, and figures: after those that the file declares.
    pub(crate) readable: Vec<(String, Table)>,
    pub(crate) figures: Vec<Figure>,
    /// Figures before those that the file declares.
    pub(crate) first_figures: Vec<Figure>,
}

/// What of a paper is no data. The default is that of a paper that is data alone.
#[derive(Default)]
pub(crate) struct Code {
    /// The metrics in the paper's file that have no column; they follow those that have one.
    pub(crate) measure: Option<Measure>,
    /// For an experiment with `cases`; the file is that of `--cases`.
    pub(crate) cases: Option<Cases>,
    /// The rows of the results table that a cell has; one of all that is measured without it. Claims, tables and figures of
    /// the paper's file are about these; those of code get cells as they were run.
    pub(crate) slices: Option<fn(&Row) -> Vec<Slice>>,
    /// The functions that check claims, by name.
    pub(crate) checks: &'static [(&'static str, Check)],
    /// Findings beside those of claims.
    pub(crate) further_findings: Option<fn(&Results) -> Vec<Finding>>,
    pub(crate) own: Option<fn(&Results) -> Own>,
    /// Variables of the notes.
    pub(crate) notes: Option<Notes>,
    /// Its experiments on Linux, if it has any.
    pub(crate) linux: Option<Linux>,
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
        let wrong = |message: String| Problem::nowhere(format!("{}: {message}", folder.name));
        let own = || code.checks.iter().map(|(name, _)| *name);
        let rule = |claim: &Claim| match Rule::of(claim, &description.metrics) {
            Ok(None) if !own().any(|name| name == claim.check) => {
                let known = list(checks::NAMES.into_iter().chain(own()));
                let message = format!("claims: there is no check {:?}", claim.check);
                Err(wrong(message).help(format!("there are: {known}")))
            }
            rule => rule.map_err(|problem| wrong(format!("claims, {:?}: {problem}", claim.statement))),
        };
        let rules = description.claims.iter().map(rule).collect::<Result<_, _>>()?;
        let is_measured =
            !description.metrics.is_empty() && description.metrics.iter().all(|of| !of.columns.is_empty());
        if !is_measured && code.measure.is_none() {
            let message = "paper.toml: metrics: a column is missing, expected what is measured of a run".to_owned();
            let help = "for example:\n[[metrics]]\nname = \"goodput\"\ncolumn = \"goodput_mbps\"";
            return Err(wrong(message).help(help));
        }
        Ok(Self { published: Published::read(&folder)?, folder, description, rules, code })
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
            found.extend(cells(&self.description, experiment, effort, choice, cases)?.into_iter().filter(wanted));
        }
        Ok(found)
    }

    /// The cells of experiments on Linux, which only papers in the program have.
    fn cells_on_linux(&self, effort: Effort) -> Vec<Cell> {
        let experiments = self.description.experiments.iter().filter(|experiment| experiment.on_linux);
        let cells = |experiment| cells(&self.description, experiment, effort, None, &[]);
        experiments.flat_map(|experiment| cells(experiment).expect("tests read each cell of the program")).collect()
    }

    fn cases(&self, request: &Request) -> Result<Vec<Parameters>, Problem> {
        let Some(cases) = self.code.cases else { return Ok(Vec::new()) };
        let tables = self.description.experiments.iter().flat_map(|experiment| experiment.cases.clone());
        cases(&self.folder, &tables.collect::<Vec<_>>(), request.cases.as_deref())
    }

    fn results_of(&self, rows: Vec<Row>) -> Results {
        Results { rows, runs: 0, published: self.published.clone() }
    }

    fn measure(&self, result: &RunResult) -> Result<Sample, String> {
        let mut sample = metrics::measure(&self.description.metrics, result)?;
        sample.extend(self.code.measure.map_or(Ok(Sample::new()), |measure| measure(result))?);
        Ok(sample)
    }

    pub(crate) fn findings(&self, results: &Results) -> Vec<Finding> {
        let not_run = self.description.claims_not_run.as_deref();
        let judged = self.judged(results, System::Simulator);
        let findings = judged.filter_map(|(claim, outcome)| claim.finding("", outcome, not_run));
        findings.chain(self.code.further_findings.iter().flat_map(|further| further(results))).collect()
    }

    /// What figures of a system say of each claim about it, by its rule or the function of its name; `None` where its cells
    /// were not run.
    fn judged(&self, results: &Results, system: System) -> impl Iterator<Item = (&Claim, Option<Outcome>)> {
        let table = self.table(results);
        let claims = self.description.claims.iter().zip(&self.rules);
        claims.filter(move |(claim, _)| claim.is_about(system)).map(move |(claim, rule)| {
            let own = || self.code.checks.iter().find(|(name, _)| *name == claim.check);
            let outcome = match rule {
                Some(rule) => rule.judge(&table),
                None => own().and_then(|(_, check)| check(results, claim)),
            };
            (claim, outcome)
        })
    }

    /// The findings of `results`, with the verdicts under choices that are among these.
    fn findings_and_verdicts(&self, results: &Results) -> Vec<Finding> {
        let shown: Vec<&Choice> = self.description.choices.iter().filter(|choice| !choice.shown.is_empty()).collect();
        if shown.is_empty() {
            return self.findings(results);
        }
        let mut findings = self.findings(&results.only(|row| !shown.iter().any(|choice| row.cell.has(&choice.shown))));
        for choice in shown {
            let others = self.findings(&results.only(|row| row.cell.has(&choice.shown)));
            findings.iter_mut().for_each(|finding| finding.compare_with(&choice.name, &others, &[]));
        }
        findings
    }

    /// Adds the verdicts under each of the choices that take further runs, and those of the choice of the figures by as many
    /// runs.
    fn compare_choices(
        &self,
        findings: &mut [Finding],
        request: &Request,
        runs: &Runs<'_>,
    ) -> Result<(), ReproduceError> {
        let is_only_this = request.is_only_sensitivity();
        let effort = Effort::of(request).alternatives();
        let is_asked_for = |cell: &Cell| {
            cell.is_published && (is_only_this || request.wants(&cell.item)) && self.description.is_judged(cell)
        };
        let baseline = self.findings(&runs.of(self.cells(effort, None, &[], &is_asked_for)?)?);
        for choice in self.description.choices.iter().filter(|choice| choice.shown.is_empty()) {
            let wanted = |cell: &Cell| is_asked_for(cell) && choice.is_about(&cell.item);
            let cells = self.cells(effort, Some(choice), &[], &wanted)?;
            let others = self.findings(&runs.of(cells)?);
            findings.iter_mut().for_each(|finding| finding.compare_with(&choice.name, &others, &baseline));
        }
        Ok(())
    }

    /// All tables and figures: those that the file declares and those of the code, or the usual ones.
    pub(crate) fn shown(&self, results: &Results) -> Own {
        let Description { metrics, reference, rows, tables, figures, .. } = &self.description;
        let table = self.table(results);
        let view = View { results: &table, metrics, reference: reference.as_ref(), sign: " ± ", line: 0 };
        let is_without_code = self.code.own.is_none();
        let mut shown = self.code.own.map_or_else(Own::default, |own| own(results));
        shown.rows.get_or_insert_with(|| tables::rows(rows, view));
        if is_without_code || !tables.is_empty() {
            shown.readable.splice(0..0, tables::readable(tables, view));
        }
        if is_without_code || !figures.is_empty() {
            shown.first_figures.extend(panels::figures(figures, view));
        }
        shown.figures.splice(0..0, std::mem::take(&mut shown.first_figures));
        shown
    }

    fn notes(&self, effort: Effort, results: &Results) -> Result<Vec<String>, Problem> {
        let all_runs = [("all_runs", results.runs.to_string())];
        let further = all_runs.into_iter().chain(self.code.notes.iter().flat_map(|notes| notes(results)));
        self.description.notes(effort, further.map(|(name, text)| (name.to_owned(), text.into())).collect())
    }

    /// The name on the command line.
    pub fn name(&self) -> &str {
        &self.folder.name
    }

    /// Author, title and year, for lists.
    pub fn title(&self) -> &str {
        &self.description.title
    }

    /// The parts that can be reproduced on their own.
    pub fn items(&self) -> &[Item] {
        &self.description.items
    }

    /// Whether `--cases` makes sense: the paper's configurations come from a CSV file.
    pub fn takes_cases(&self) -> bool {
        self.code.cases.is_some()
    }

    /// Whether its runs can be kept in a store ([`Request::store`]).
    pub fn keeps_runs(&self) -> bool {
        self.description.experiments.iter().all(|experiment| !experiment.records)
    }

    /// Repeats what `request` asks for.
    ///
    /// # Errors
    ///
    /// A file of the folder, or that of `--cases`, is wrong; or a run fails, or the store does.
    pub fn reproduce(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Done, ReproduceError> {
        let effort = Effort::of(request);
        let is_only_sensitivity = request.is_only_sensitivity();
        let wanted = |cell: &Cell| {
            let is_asked_for = request.wants(&cell.item) || (is_only_sensitivity && cell.is_published);
            is_asked_for && (cell.experiment.quick_look || effort != Effort::Hurried)
        };
        let runs = Runs::new(self, request, progress);
        let results = runs.of(self.cells(effort, None, &self.cases(request)?, &wanted)?)?;
        let results = self.until_decided(results, |cells| {
            let found = runs.of(cells)?;
            Ok(Results { runs: runs.done(), ..found })
        })?;
        let mut findings = self.findings_and_verdicts(&results);
        if request.wants_alternatives() {
            self.compare_choices(&mut findings, request, &runs)?;
        }
        let Own { rows, readable, figures, .. } = self.shown(&results);
        let mut notes = self.notes(effort, &results)?;
        if request.quick {
            notes.extend(claims::undecided(&self.description.claims, &findings, |item| request.wants(item)));
        }
        let reproduction = Reproduction {
            paper: self.folder.name.clone(),
            table: rows.unwrap_or_default(),
            readable,
            figures,
            findings,
            notes,
        };
        Ok(Done { reproduction, failed_runs: runs.failed(), without_valid_runs: 0 })
    }
}

#[cfg(test)]
mod tests;
