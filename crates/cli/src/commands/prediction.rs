//! What the runs of a plan are expected to cost.

use std::path::Path;

use subflow_lab::execute::{Probe, keeps_series, probe};
use subflow_lab::results::Experiment;
use subflow_quantity::Size;
use subflow_report::output::{Folder, to_json};
use subflow_scenario::sweep::Plan;
use subflow_store::{Key, Record};

use crate::failure::Failure;
use crate::output::about;
use crate::progress::rounded;

/// Simulates parts of a few runs of `plan`. Returns the expected CPU time and disk space of all runs as text.
pub(super) fn prediction(plan: &Plan) -> Result<String, Failure> {
    let probed = probe(plan)?;
    let runs = plan.jobs();
    let with_series = runs.iter().filter(|job| keeps_series(plan, **job)).count();
    let cpu_s = probed.run_cpu_s * runs.len() as f64;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(runs.len()));
    let count = probed.plan.points.len();
    let part = match probed.part {
        1.0 => "as a whole".to_owned(),
        part => format!("at least the first {:.1} % of a run", 100.0 * part),
    };
    let mut text = format!(
        "estimate from {count} of {} points, {part}:\n  CPU time  {}; {} on {cores} of the cores\n",
        plan.points.len(),
        rounded(cpu_s),
        rounded(cpu_s / cores as f64),
    );
    let results = scaled_results(&probed, plan.points.len(), runs.len(), with_series)?;
    text += &format!("  disk      {} for the results", about(results));
    if runs.len() > 1 {
        text += &format!(", and {} for the runs until then", about(stored(&probed, runs.len(), with_series)));
    }
    text.push('\n');
    if probed.part < 1.0 {
        text += "  The rest of a run is assumed to be as busy as its first part.\n";
    }
    Ok(text)
}

/// The expected size of the folder of results: that of the probed runs, scaled file by file.
fn scaled_results(probed: &Probe, points: usize, runs: usize, with_series: usize) -> Result<Size, Failure> {
    let failed =
        |error| Failure::RunFailed(format!("--probe: cannot write to the folder for temporary files: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    Folder::for_plan(folder.path(), &probed.plan, false)?.write_experiment(&probed.plan, &probed.experiment, None)?;
    let count = probed.experiment.runs.len() as f64;
    let mut bytes = 0.0;
    for (name, size) in files(folder.path()).map_err(failed)? {
        bytes += match name.as_str() {
            "results.json" => {
                let only_runs = to_json(&Experiment { statistics: Vec::new(), ..probed.experiment.clone() }).len();
                let rest = (size as f64 - only_runs as f64).max(0.0);
                (only_runs as f64 * runs as f64 + rest * points as f64) / count
            }
            "statistics.csv" => size as f64 * points as f64 / count,
            name if name.starts_with("series") => size as f64 * with_series as f64 / count,
            name if name.ends_with(".csv") => size as f64 * runs as f64 / count,
            // The page shows a fixed number of samples; the other tables are compressed to a small part of the JSON.
            _ => size as f64,
        };
    }
    Ok(Size::from_bytes(bytes as u64))
}

/// The expected size of a store with all runs.
fn stored(probed: &Probe, runs: usize, with_series: usize) -> Size {
    let mut bytes = [0, 0];
    for (job, run) in probed.plan.jobs().into_iter().zip(&probed.experiment.runs) {
        let mut result = run.result.clone();
        for bytes in &mut bytes {
            let key = Key::of(&probed.plan, job, true);
            *bytes += Record::Finished(Box::new(result.clone())).encode(&probed.plan, job, key).len();
            result.series.clear();
        }
    }
    let [with, without] = bytes.map(|bytes| bytes as f64 / probed.experiment.runs.len() as f64);
    Size::from_bytes((with * with_series as f64 + without * (runs - with_series) as f64) as u64)
}

/// The names and sizes of the files in `folder` and below.
fn files(folder: &Path) -> std::io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => found.extend(files(&entry.path())?),
            false => found.push((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len())),
        }
    }
    Ok(found)
}
