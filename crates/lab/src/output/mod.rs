//! Results for people and programs: the tables of a summary, which text and pages show, and CSV.
//!
//! | to find | look in |
//! |---|---|
//! | the summary, and its text | here |
//! | what a summary shows of a metric, and to whom | `shown.rs` |
//! | the tables of a single run | `one_run.rs`; of several runs: `several_runs.rs` |
//! | `--format csv` | `csv.rs` |

mod csv;
mod one_run;
mod several_runs;
mod shown;

use std::fmt::Write;

use one_run::one_run;
use several_runs::several_runs;

use crate::comparison::{SameResults, differences_to_text};
use crate::number;
use crate::results::parameters::word;
use crate::results::{Experiment, Run};
use crate::table::Table;

pub use csv::to_csv;
pub use shown::{Reader, Summarised};

/// The width of text.
const WIDTH: usize = 100;
/// The most rows of a table of a single run as text: in a large network nobody reads more, and files have all.
const MOST_ROWS: usize = 100;

/// The tables of an experiment: all figures of a single run, or the means of several runs. None is empty.
pub fn summary(experiment: &Experiment, reader: Reader) -> Vec<Summarised> {
    let mut tables = match &experiment.runs[..] {
        [run] => one_run(&run.result, reader),
        _ => several_runs(experiment, reader),
    };
    tables.retain(|of| !of.table.is_empty());
    tables
}

/// The summary of an experiment as text, with what stands below its tables.
pub fn to_text(experiment: &Experiment) -> String {
    let scenario = &experiment.scenario;
    let mut text = format!("{}\n", scenario.title);
    let runs = experiment.runs.len();
    let seeds = match experiment.seeds() {
        (first, last) if first == last => format!("seed {first}"),
        (first, last) => format!("seeds {first}–{last}"),
    };
    let duration = match experiment.durations_s() {
        (shortest, longest) if shortest == longest => plain(shortest),
        (shortest, longest) => format!("{}–{}", plain(shortest), plain(longest)),
    };
    let plural = if runs == 1 { "run" } else { "runs" };
    let _ = write!(text, "{}: {runs} {plural} of {duration} s, {seeds}", scenario.name);
    if scenario.warm_up_s > 0.0 {
        let _ = write!(text, ", measured from {} s", plain(scenario.warm_up_s));
    }
    text.push('\n');
    if !experiment.failed.is_empty() {
        let _ = writeln!(text, "{}", failed(experiment));
    }
    text.push('\n');
    let most = if runs == 1 { MOST_ROWS } else { usize::MAX };
    let tables: Vec<String> = summary(experiment, Reader::Text).iter().map(|of| rows(&of.table, most)).collect();
    text.push_str(&tables.join("\n"));
    match &experiment.runs[..] {
        [run] => real_time(&mut text, run),
        _ => beside_the_means(&mut text, experiment),
    }
    text
}

/// A table, and how many rows it has beyond the first `most`.
fn rows(table: &Table, most: usize) -> String {
    match table.len().checked_sub(most).filter(|&further| further > 0) {
        Some(further) => format!("{}… and {further} more, which results.json has\n", table.first(most).to_text()),
        None => table.to_text(),
    }
}

/// How many runs failed, and the first reason.
fn failed(experiment: &Experiment) -> String {
    let (failed, runs) = (experiment.failed.len(), experiment.runs.len());
    let first = experiment.failed.first().map_or("", |failed| &failed.error);
    let others = if failed > 1 { "; results.json has the others" } else { "" };
    format!("{failed} of {} runs failed and are missing here: {first}{others}", failed + runs)
}

/// A line for a run in real time, and one for each note and objection.
fn real_time(text: &mut String, run: &Run) {
    let Some(real) = &run.result.real_time else { return };
    let _ = write!(
        text,
        "\nLinux {}, {} devices, packets late by {} µs (99 %), {} µs (99.9 %), {} µs (the latest), CPU left {} %\n",
        real.kernel,
        real.device,
        number::fixed(real.late_p99_us, 0),
        number::fixed(real.late_p999_us, 0),
        number::fixed(real.late_max_us, 0),
        number::fixed(real.cpu_left * 100.0, 1),
    );
    for note in &real.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for objection in &real.objections {
        let _ = writeln!(text, "NOT VALID: {objection}");
    }
}

/// What stands below the means of several runs: differences, equal results, and runs that are not valid.
fn beside_the_means(text: &mut String, experiment: &Experiment) {
    baseline(text, experiment);
    equal_results(text, experiment);
    for run in &experiment.runs {
        for objection in run.result.objections() {
            let _ = writeln!(text, "NOT VALID: run {}, which is in the figures: {objection}", run.run);
        }
    }
}

/// The points, and the runs, that cannot be told apart.
fn equal_results(text: &mut String, experiment: &Experiment) {
    let SameResults { points, seeds } = SameResults::of(experiment);
    for (number, sentence) in points.into_iter().chain(seeds).enumerate() {
        text.push_str(if number == 0 { "\n" } else { "" });
        textwrap::wrap(&sentence, WIDTH).iter().for_each(|line| *text += &format!("{line}\n"));
    }
}

/// The differences to the chosen points.
fn baseline(text: &mut String, experiment: &Experiment) {
    let Some(baseline) = &experiment.baseline else { return };
    let value = word(&baseline.value);
    let _ = write!(text, "\nDifferences to {} = {value}\n", baseline.path);
    text.push_str(&differences_to_text(&baseline.differences, &experiment.scenario.sweep));
}

fn plain(x: f64) -> String {
    number::shown(x).trim_end_matches(".0").to_owned()
}
