//! The differences of a sweep's points to chosen ones, as a section of the report.

use subflow_lab::comparison::{Baseline, Pairing, explanations};
use subflow_lab::results::Experiment;

use super::markup::{Cell, paragraphs, table};
use super::parameter::word;

/// The section; empty if no baseline was chosen.
pub(super) fn differences(experiment: &Experiment) -> String {
    let Some(baseline) = &experiment.baseline else { return String::new() };
    let paths = &experiment.scenario.sweep;
    let mut columns: Vec<&str> = paths.iter().map(String::as_str).collect();
    columns.extend([
        "flow",
        "metric",
        "unit",
        "runs",
        "baseline",
        "mean",
        "difference",
        "95 % from",
        "to",
        "change %",
        "p",
        "p (Holm)",
    ]);
    let rows: Vec<Vec<Cell>> = baseline
        .differences
        .iter()
        .map(|row| {
            let values = paths.iter().map(|path| row.parameters.get(path).map_or(Cell::Empty, |v| Cell::Text(word(v))));
            let numbers = [
                (row.baseline_mean, 3),
                (row.mean, 3),
                (row.difference, 3),
                (row.difference_ci95_low, 3),
                (row.difference_ci95_high, 3),
                (row.change_percent, 2),
                (row.p_value, 4),
                (row.p_value_holm, 4),
            ];
            values
                .chain([
                    Cell::text(row.flow.as_deref().unwrap_or("all")),
                    Cell::text(row.metric),
                    Cell::text(row.unit),
                    Cell::count(row.n as u64),
                ])
                .chain(numbers.into_iter().map(|(x, decimals)| Cell::number(x, decimals)))
                .collect()
        })
        .collect();
    let caption = format!("Differences to {} = {}", baseline.path, word(&baseline.value));
    let (explanation, of_rows) = (explanation(baseline), explanations(&baseline.differences));
    paragraphs([explanation.as_str()].into_iter().chain(of_rows.iter().map(String::as_str)))
        + &table("differences", &caption, &columns, &rows)
}

fn explanation(baseline: &Baseline) -> String {
    let pairs = if baseline.differences.iter().all(|row| row.pairing == Pairing::Paired) {
        "Runs with the same seed are pairs"
    } else {
        "Runs with the same seed are pairs, where points have them"
    };
    let tested = baseline.differences.iter().filter(|row| row.p_value.is_some()).count();
    let tested =
        if tested == 1 { "1 difference that has".to_owned() } else { format!("{tested} differences that have") };
    format!(
        "{pairs}; the intervals of differences are those of the t-test, which p is of. The last column judges: it is the \
         p-value adjusted for the {tested} one (Holm)."
    )
}
