//! Differences as a table.

use crate::number;
use crate::results::parameters::{short_names, word};
use crate::results::{Difference, Pairing};
use crate::table::Align::{Left, Right};
use crate::table::TextTable;

/// The table of differences, with the swept values of `paths` in front.
pub fn differences_to_text(differences: &[Difference], paths: &[String]) -> String {
    let names = short_names(paths);
    let columns = [
        ("flow", Left),
        ("metric", Left),
        ("runs", Right),
        ("baseline", Right),
        ("mean", Right),
        ("difference", Right),
        ("95 % interval", Right),
        ("change %", Right),
        ("p (Holm)", Right),
    ];
    let mut table = TextTable::new(names.iter().map(|name| (name.as_str(), Left)).chain(columns));
    for row in differences {
        let values = paths.iter().map(|path| row.parameters.get(path).map_or_else(String::new, word));
        let runs = match row.pairing {
            Pairing::Paired => pairs(row),
            Pairing::Unpaired => format!("{}, {}", row.baseline_n, row.n),
        };
        let what = if row.unfinished.is_some() { "flows" } else { "it" };
        let runs = if row.lacking > 0 { format!("{runs}, {} lack {what}", row.lacking) } else { runs };
        let cells = [
            row.flow.clone().unwrap_or_else(|| "all".to_owned()),
            row.metric.to_owned(),
            runs,
            shown(row.baseline_mean, 3),
            shown(row.mean, 3),
            signed(row.difference, 3),
            interval(row.difference_ci95_low, row.difference_ci95_high),
            signed(row.change_percent, 2),
            p_value(row.p_value_holm),
        ];
        table.row(values.chain(cells));
    }
    let mut text = table.render();
    for sentence in explanations(differences) {
        text += &format!("{sentence}\n");
    }
    text
}

/// What has to be known about some rows, a sentence each: those without an interval, and those whose runs lack flows.
pub fn explanations(differences: &[Difference]) -> Vec<String> {
    let sentences = [without_interval(differences), partly_without_interval(differences), fewer_flows(differences)];
    sentences.into_iter().flatten().collect()
}

/// That a group's completion is not that of all flows; `None` if as many completed as in the baseline.
fn fewer_flows(differences: &[Difference]) -> Option<String> {
    let lack_flows = |row: &&Difference| row.lacking > 0 && row.unfinished.is_some();
    let count = differences.iter().filter(lack_flows).count();
    let rows = differences.len();
    (count > 0).then(|| {
        format!(
            "Flows are lacking in {count} of {rows} rows: more flows of a group did not complete than in the baseline. \
             The figures there are of those that completed only."
        )
    })
}

/// How many pairs have the metric.
fn pairs(row: &Difference) -> String {
    match (row.n, row.runs[1]) {
        (n, all) if n < all => format!("{n} of {all} pairs"),
        (1, _) => "1 pair".to_owned(),
        (n, _) => format!("{n} pairs"),
    }
}

/// Why rows have no interval although there are runs enough, all of which have the metric; `None` if there are no such
/// rows.
fn without_interval(differences: &[Difference]) -> Option<String> {
    let count = differences.iter().filter(|row| row.is_without_spread() && !row.is_partial()).count();
    let rows = differences.len();
    (count > 0).then(|| {
        format!(
            "No interval in {count} of {rows} rows: every seed gives the same difference, so the seeds do not matter \
             to it."
        )
    })
}

/// The same where some runs lack the metric: the others do not show that the seeds do not matter.
fn partly_without_interval(differences: &[Difference]) -> Option<String> {
    let mut count = 0;
    let mut have: Vec<String> = Vec::new();
    for row in differences.iter().filter(|row| row.is_without_spread() && row.is_partial()) {
        count += 1;
        let of_row = match row.pairing {
            Pairing::Paired => pairs(row),
            Pairing::Unpaired => {
                format!("{} of {} and {} of {} runs", row.baseline_n, row.runs[0], row.n, row.runs[1])
            }
        };
        if !have.contains(&of_row) {
            have.push(of_row);
        }
    }
    let rows = differences.len();
    (count > 0).then(|| {
        format!(
            "No interval in {count} of {rows} rows: only {} have the metric, and those of a row give the same \
             difference. Whether the seeds matter to it is not known.",
            have.join(", ")
        )
    })
}

fn shown(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| "–".to_owned(), |x| number::fixed(x, decimals))
}

fn signed(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| "–".to_owned(), |x| format!("{:+.decimals$}", number::rounded(x)))
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    let both = low.zip(high);
    both.map_or_else(|| "–".to_owned(), |(low, high)| format!("{} to {}", signed(Some(low), 3), signed(Some(high), 3)))
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "< 0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}
