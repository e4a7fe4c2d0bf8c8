//! Results as text tables: all figures of a single run, or the means of several runs.

mod many_runs;
mod one_run;

use std::fmt::Write;

use super::{Experiment, TextTable};
use crate::comparison::word as word_of;
use crate::number;
use crate::statistics::Summary;
use many_runs::many_runs;
use one_run::one_run;

/// The width of text.
const WIDTH: usize = 100;

/// The tables of an experiment.
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
    match &experiment.runs[..] {
        [run] => one_run(&mut text, run),
        _ => many_runs(&mut text, experiment),
    }
    text
}

/// How many runs failed, and the first reason.
fn failed(experiment: &Experiment) -> String {
    let (failed, runs) = (experiment.failed.len(), experiment.runs.len());
    let first = experiment.failed.first().map_or("", |failed| &failed.error);
    let others = if failed > 1 { "; results.json has the others" } else { "" };
    format!("{failed} of {} runs failed and are missing here: {first}{others}", failed + runs)
}

/// The shortest suffix of each path that differs from those of the others: `loss`, or `wifi.loss`.
pub fn short_names(paths: &[String]) -> Vec<String> {
    let suffix = |path: &str, keys: usize| {
        let start = path.rmatch_indices('.').nth(keys - 1).map_or(0, |(at, _)| at + 1);
        path[start..].to_owned()
    };
    let short = |path: &String| {
        let unique =
            |keys: &usize| paths.iter().filter(|other| suffix(other, *keys) == suffix(path, *keys)).count() == 1;
        (1..=path.matches('.').count() + 1).find(unique).map_or_else(|| path.clone(), |keys| suffix(path, keys))
    };
    paths.iter().map(short).collect()
}

fn join<const N: usize>(text: &mut String, tables: [TextTable; N]) {
    let filled: Vec<String> = tables.iter().filter(|table| !table.is_empty()).map(TextTable::render).collect();
    text.push_str(&filled.join("\n"));
}

fn word(word: &Option<String>) -> String {
    word.clone().unwrap_or_else(|| "–".to_owned())
}

fn optional(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| "–".to_owned(), |x| number::fixed(x, decimals))
}

fn half_width(summary: &Summary) -> String {
    optional(summary.ci95_high.zip(summary.ci95_low).map(|(high, low)| (high - low) / 2.0), 3)
}

fn percent(share: f64) -> String {
    format!("{} %", number::fixed(share * 100.0, 1))
}

fn plain(x: f64) -> String {
    number::shown(x).trim_end_matches(".0").to_owned()
}
