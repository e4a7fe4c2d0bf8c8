//! Writing results to folders, and the folders for what runs write themselves.
//!
//! Results are complete or absent. They are written to a staging directory in the folder and then moved into place. A
//! manifest in the folder lists the files that subflow wrote there; a later command replaces these, and no others.
//!
//! | to find | look in |
//! |---|---|
//! | the folder of results | `folder.rs` |
//! | the folders of captures and event logs | `run_files.rs` |
//! | event logs that stay for `--resume` | `kept_logs.rs` |
//! | checks before the run | `directory.rs` |
//! | rules for replacing results | `content.rs` |
//! | the manifest; what a folder has, for readers | `manifest.rs` |
//! | moving files into place | `commit.rs` |

mod commit;
mod content;
mod directory;
mod error;
mod folder;
mod kept_logs;
mod manifest;
mod run_files;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::{Experiment, Series};
use subflow_scenario::sweep::Plan;
use subflow_store::tables;

use crate::{
    Figure, Observation, Reproduced, Reproduction, Reproductions, figures_of, of_experiment, of_observation,
    of_reproduction, of_reproductions, svg_files,
};
pub use content::Content;
pub use error::OutputError;
pub use folder::Folder;
pub use manifest::Written;
use manifest::is_below;
pub use run_files::RunFiles;

/// The format of figures in separate files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureFormat {
    /// Vector graphics.
    Svg,
}

/// The files of every experiment.
const EXPERIMENT_FILES: [&str; 6] =
    ["results.json", "results.csv", "summary.txt", "report.html", "scenario.toml", "series.json"];
/// The directories of experiments.
const EXPERIMENT_FOLDERS: [&str; 2] = ["tables", "figures"];
/// The files of every observation.
const OBSERVATION_FILES: [&str; 5] = ["subflows.csv", "events.csv", "series.json", "summary.txt", "report.html"];
/// The files of every reproduction.
const REPRODUCTION_FILES: [&str; 4] = ["results.json", "results.csv", "summary.txt", "report.html"];

impl Folder {
    /// [`Folder::prepare`] for the results of `plan`.
    pub fn for_plan(path: impl Into<PathBuf>, plan: &Plan, force: bool) -> Result<Self, OutputError> {
        let traces = written_traces(plan);
        if let Some(name) = traces.keys().find(|name| is_of_experiments(name)) {
            return Err(OutputError::TraceName { name: name.clone() });
        }
        let names: Vec<&str> = EXPERIMENT_FILES.into_iter().chain(traces.keys().map(String::as_str)).collect();
        Self::prepare(path, Content::of_plan(plan), &names, force)
    }

    /// [`Folder::prepare`] for reproductions.
    pub fn for_reproductions(path: impl Into<PathBuf>, content: Content, force: bool) -> Result<Self, OutputError> {
        Self::prepare(path, content, &REPRODUCTION_FILES, force)
    }

    /// Writes `results.json`, `results.csv`, `summary.txt`, `report.html`, the scenario with all changes and its
    /// traces, `tables/` as CSV (with the feature `parquet` also as Parquet), `series.json` if metrics over time were kept, and `figures/` if a format
    /// is given. Fails if runs have failed and the folder has results of more, unless it was prepared with `force`.
    pub fn write_experiment(
        &self,
        plan: &Plan,
        experiment: &Experiment,
        figures: Option<FigureFormat>,
    ) -> Result<(), OutputError> {
        self.replace_by(&Content::of_finished(plan, experiment.runs.len()), |directory| {
            let json = to_json(experiment);
            write(directory, "results.json", json.as_bytes())?;
            write(directory, "results.csv", to_csv(experiment).as_bytes())?;
            write(directory, "summary.txt", to_text(experiment).as_bytes())?;
            write(directory, "report.html", of_experiment(plan, experiment).as_bytes())?;
            write(directory, "scenario.toml", plan.document.text().as_bytes())?;
            for (name, path) in written_traces(plan) {
                write(directory, &name, &std::fs::read(path)?)?;
            }
            for (name, table) in tables::all(experiment) {
                #[cfg(feature = "parquet")]
                write(directory, &format!("tables/{name}.parquet"), &subflow_store::to_parquet(&table))?;
                write(directory, &format!("tables/{name}.csv"), table.to_csv().as_bytes())?;
            }
            let series = series(experiment);
            if !series.is_empty() {
                write(directory, "series.json", &serde_json::to_vec(&series)?)?;
            }
            match figures {
                Some(FigureFormat::Svg) => write_figures(directory, "figures", &figures_of(plan, experiment)),
                None => Ok(()),
            }
        })
    }

    /// [`Folder::prepare`] for what will be watched.
    pub fn for_observation(path: impl Into<PathBuf>, force: bool) -> Result<Self, OutputError> {
        Self::prepare(path, Content::Watched, &OBSERVATION_FILES, force)
    }

    /// Writes `subflows.csv`, `events.csv`, `series.json`, `summary.txt` and `report.html` of what was watched, and
    /// `figures/` if a format is given.
    pub fn write_observation(
        &self,
        observation: &Observation,
        figures: Option<FigureFormat>,
    ) -> Result<(), OutputError> {
        self.replace(|directory| {
            write(directory, "subflows.csv", observation.table.to_csv().as_bytes())?;
            write(directory, "events.csv", observation.events.to_csv().as_bytes())?;
            write(directory, "summary.txt", observation.summary().as_bytes())?;
            let series = observation.connections.iter().flat_map(|connection| &connection.series);
            let series: Vec<&Series> = series.map(|observed| &observed.series).collect();
            write(directory, "series.json", &serde_json::to_vec(&series)?)?;
            write(directory, "report.html", of_observation(observation).as_bytes())?;
            match figures {
                Some(FigureFormat::Svg) => write_figures(directory, "figures", &observation.figures()),
                None => Ok(()),
            }
        })
    }

    /// Writes `results.json`, `results.csv`, `summary.txt` and `report.html` of a reproduction, and `figures/` if a
    /// format is given.
    pub fn write_reproduction(
        &self,
        reproduced: &Reproduced,
        reproduction: &Reproduction,
        figures: Option<FigureFormat>,
    ) -> Result<(), OutputError> {
        self.replace(|directory| {
            write(directory, "results.json", reproduction.to_json().as_bytes())?;
            write(directory, "results.csv", reproduction.table.to_csv().as_bytes())?;
            write(directory, "summary.txt", format!("{}\n\n{}", reproduced.title, reproduction.to_text()).as_bytes())?;
            let report = of_reproduction(reproduced, reproduction);
            write(directory, "report.html", report.as_bytes())?;
            match figures {
                Some(FigureFormat::Svg) => write_figures(directory, "figures", &reproduction.figures),
                None => Ok(()),
            }
        })
    }

    /// Writes `results.json`, `findings.csv`, `summary.txt` and `report.html` of several reproductions, the rows of
    /// each as `NAME.csv`, and `figures/NAME/` if a format is given.
    pub fn write_reproductions(
        &self,
        reproductions: &Reproductions,
        command: &str,
        figures: Option<FigureFormat>,
    ) -> Result<(), OutputError> {
        self.replace(|directory| {
            write(directory, "results.json", reproductions.to_json().as_bytes())?;
            write(directory, "findings.csv", reproductions.findings().to_csv().as_bytes())?;
            write(directory, "summary.txt", reproductions.to_text().as_bytes())?;
            write(directory, "report.html", of_reproductions(reproductions, command).as_bytes())?;
            for (reproduced, reproduction) in &reproductions.0 {
                let name = &reproduced.name;
                write(directory, &format!("{name}.csv"), reproduction.table.to_csv().as_bytes())?;
                if let Some(FigureFormat::Svg) = figures {
                    write_figures(directory, &format!("figures/{name}"), &reproduction.figures)?;
                }
            }
            Ok(())
        })
    }
}

/// The trace files that are written next to the scenario, those whose paths stay within its directory: by their names
/// there, without `.` and repeated separators.
fn written_traces(plan: &Plan) -> BTreeMap<String, &Path> {
    let traces = plan.traces.iter().filter(|(name, _)| is_below(Path::new(name)));
    let name = |path: &str| {
        let parts = Path::new(path).components().filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        parts.collect::<Vec<_>>().join("/")
    };
    traces.map(|(path, file)| (name(path), file.as_path())).collect()
}

/// Whether a file of this name would be among those of every experiment, or its parent directory would; names of
/// manifests count. Some systems do not tell upper from lower case.
fn is_of_experiments(name: &str) -> bool {
    let first = name.split('/').next().unwrap_or(name);
    if first.to_ascii_lowercase().starts_with(".subflow-") {
        return true;
    }
    EXPERIMENT_FILES.into_iter().chain(EXPERIMENT_FOLDERS).any(|own| own.eq_ignore_ascii_case(first))
}

fn write_figures(directory: &Path, folder: &str, figures: &[Figure]) -> std::io::Result<()> {
    let files = svg_files(figures);
    files.iter().try_for_each(|(name, svg)| write(directory, &format!("{folder}/{name}"), svg.as_bytes()))
}

/// The JSON of `run --format json`, with a line end.
pub fn to_json(experiment: &Experiment) -> String {
    let mut json = serde_json::to_string_pretty(experiment).expect("results are plain data");
    json.push('\n');
    json
}

/// The entry of a run in `series.json`.
#[derive(Serialize)]
struct RunSeries {
    run: usize,
    series: Vec<Series>,
}

fn series(experiment: &Experiment) -> Vec<RunSeries> {
    let with_series = experiment.runs.iter().filter(|run| !run.result.series.is_empty());
    with_series.map(|run| RunSeries { run: run.run, series: run.result.named_series() }).collect()
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let path = directory.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, bytes)
}
