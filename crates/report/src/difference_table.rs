//! The table of the differences of a sweep's points to chosen ones, as a section of the report.

use subflow_lab::comparison::explanations;
use subflow_lab::results::parameters::word;
use subflow_lab::results::{Baseline, Difference, Experiment, Pairing};
use subflow_lab::table::Align::{Left, Right};
use subflow_lab::table::{Cell, Columns};

use super::markup::{paragraphs, table};

/// How a number is read from a difference.
type Read = fn(&Difference) -> Option<f64>;

/// The section; empty if no baseline was chosen.
pub(super) fn difference_table(experiment: &Experiment) -> String {
    let Some(baseline) = &experiment.baseline else { return String::new() };
    let mut columns = Columns::of(&baseline.differences);
    for path in &experiment.scenario.sweep {
        columns.shown(path, 0, Left, |row| row.parameters.get(path).map_or(Cell::Empty, |v| word(v).into()));
    }
    columns
        .shown("flow", 0, Left, |row| row.flow.as_deref().unwrap_or("all").into())
        .shown("metric", 0, Left, |row| row.metric.into())
        .shown("unit", 0, Left, |row| row.unit.into())
        .shown("runs", 0, Right, |row| Cell::Integer(row.n as i64));
    let numbers: [(&str, usize, Read); 8] = [
        ("baseline", 3, |row| row.baseline_mean),
        ("mean", 3, |row| row.mean),
        ("difference", 3, |row| row.difference),
        ("95 % from", 3, |row| row.difference_ci95_low),
        ("to", 3, |row| row.difference_ci95_high),
        ("change %", 2, |row| row.change_percent),
        ("p", 4, |row| row.p_value),
        ("p (Holm)", 4, |row| row.p_value_holm),
    ];
    for (name, decimals, number) in numbers {
        columns.shown(name, decimals, Right, |row| number(row).into());
    }
    let caption = format!("Differences to {} = {}", baseline.path, word(&baseline.value));
    let (explanation, of_rows) = (explanation(baseline), explanations(&baseline.differences));
    paragraphs([explanation.as_str()].into_iter().chain(of_rows.iter().map(String::as_str)))
        + &table("differences", &caption, &columns.table("differences"))
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
