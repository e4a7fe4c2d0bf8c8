//! What the runs of a plan are expected to cost.

use std::path::Path;

use subflow_lab::CpuTimer;
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
    let mut results = results(&probed, plan.points.len(), runs.len(), with_series)?;
    let stored = if runs.len() > 1 { stored(&probed, runs.len(), with_series) } else { Cost::default() };
    results.cpu_s += stored.cpu_s;
    let mut text = format!(
        "estimate from {count} of {} points, {part}:\n  CPU time  {} for the runs, and {} to keep them and to make the \
         results; {} on {cores} of the cores\n",
        plan.points.len(),
        rounded(cpu_s),
        rounded(results.cpu_s),
        rounded(cpu_s / cores as f64 + results.cpu_s),
    );
    text += &format!("  disk      {} for the results", about(results.size()));
    if runs.len() > 1 {
        text += &format!(", and {} for the runs until then", about(stored.size()));
    }
    text.push('\n');
    if probed.part < 1.0 {
        text += "  The rest of a run is assumed to be as busy as its first part.\n";
    }
    Ok(text)
}

/// What files are expected to cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    bytes: f64,
    /// CPU time in seconds.
    cpu_s: f64,
}

impl Cost {
    fn size(self) -> Size {
        Size::from_bytes(self.bytes as u64)
    }
}

/// The expected cost of the folder of results: the size of that of the probed runs, scaled file by file, and as much CPU
/// time for a byte.
fn results(probed: &Probe, points: usize, runs: usize, with_series: usize) -> Result<Cost, Failure> {
    let failed =
        |error| Failure::RunFailed(format!("--probe: cannot write to the folder for temporary files: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let timer = CpuTimer::start();
    Folder::for_plan(folder.path(), &probed.plan, false)?.write_experiment(&probed.plan, &probed.experiment, None)?;
    let probed_s = timer.seconds();
    let count = probed.experiment.runs.len() as f64;
    let (mut bytes, mut probed_bytes) = (0.0, 0);
    for (name, size) in files(folder.path()).map_err(failed)? {
        probed_bytes += size;
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
    Ok(Cost { bytes, cpu_s: probed_s * bytes / probed_bytes.max(1) as f64 })
}

/// The expected cost of a store with all runs. To read a run takes about as long as to write it.
fn stored(probed: &Probe, runs: usize, with_series: usize) -> Cost {
    let (mut bytes, mut cpu_s) = ([0, 0], [0.0, 0.0]);
    for (job, run) in probed.plan.jobs().into_iter().zip(&probed.experiment.runs) {
        let mut result = run.result.clone();
        for (bytes, cpu_s) in bytes.iter_mut().zip(&mut cpu_s) {
            let key = Key::of(&probed.plan, job, true);
            let record = Record::Finished(Box::new(result.clone()));
            let timer = CpuTimer::start();
            *bytes += record.encode(&probed.plan, job, key).len();
            *cpu_s += timer.seconds();
            result.series.clear();
        }
    }
    let of_all = |[with, without]: [f64; 2]| {
        let sum = with * with_series as f64 + without * (runs - with_series) as f64;
        sum / probed.experiment.runs.len() as f64
    };
    Cost { bytes: of_all(bytes.map(|bytes| bytes as f64)), cpu_s: 2.0 * of_all(cpu_s) }
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
