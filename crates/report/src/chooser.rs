//! The choice of a baseline on a page: menus, and the numbers from which the script draws what is chosen.

use std::fmt::Write;

use subflow_lab::results::Better;

use super::chart;
use super::chosen_baseline::{Change, Choice, Estimate, choices};
use super::markup::{Slugs, escaped};
use super::point_values::{PointValues, caption_of_changes, caption_of_means};

/// Maximum number of changes in a page: about two megabytes.
const MOST_CHANGES: usize = 40_000;

/// How many changes still fit onto a page.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST_CHANGES)
    }
}

/// The figures of a quantity with menus for the baseline. At first they show the changes to the baseline of the command
/// line, or values if it has none.
pub(super) fn block(compared: &PointValues<'_>, room: &mut Room, slugs: &mut Slugs) -> String {
    let chosen = compared.baseline();
    let figures = chosen.map_or_else(|| compared.values(), |choice| compared.changes(choice));
    let html = |figure| chart::figure(figure, &slugs.unique(&figure.title), "");
    let figures: String = figures.iter().map(html).collect();
    let offered = offered(compared, chosen, room);
    let chooser = if offered.is_empty() { String::new() } else { chooser(compared, &offered, chosen) };
    format!(r#"<div class="compared">{chooser}<div class="figures panelled">{figures}</div></div>"#)
}

/// The baselines that a reader may choose: all, if their numbers fit; otherwise that of the command line.
fn offered(compared: &PointValues<'_>, chosen: Option<Choice>, room: &mut Room) -> Vec<Choice> {
    let all = if compared.grid.is_filled() { choices(compared.grid) } else { Vec::new() };
    let size = compared.entries.len().saturating_mul(all.len());
    match room.0.checked_sub(size) {
        Some(rest) => {
            room.0 = rest;
            all
        }
        None => chosen.into_iter().collect(),
    }
}

fn chooser(compared: &PointValues<'_>, offered: &[Choice], chosen: Option<Choice>) -> String {
    let mut menu = r#"<option value="">nothing: the values themselves</option>"#.to_owned();
    for (index, dimension) in compared.grid.dimensions.iter().enumerate() {
        let of_dimension = offered.iter().enumerate().filter(|(_, choice)| choice.dimension == index);
        let option = |(number, choice): (usize, &Choice)| {
            let selected = if chosen == Some(*choice) { " selected" } else { "" };
            let word = &dimension.values[choice.value].1;
            format!(r#"<option value="{number}"{selected}>{}</option>"#, escaped(word))
        };
        let options: String = of_dimension.map(option).collect();
        let _ = write!(menu, r#"<optgroup label="{}">{options}</optgroup>"#, escaped(&dimension.name));
    }
    let (axis, factor) = compared.axis();
    let (label, unit) = (escaped(&axis.label), axis.unit.as_str());
    let in_unit = if unit.is_empty() { "difference".to_owned() } else { format!("difference in {unit}") };
    let better = if compared.metric.better == Better::Lower { r#" data-better="lower""# } else { "" };
    // The script puts the name of the baseline in place of "{}".
    format!(
        r#"<div class="choices" hidden data-label="{label}" data-unit="{unit}"{better} data-values="{}" data-percent="{}" data-difference="{}"><label>{}: compared with <select data-baseline>{menu}</select></label><label>as <select data-as><option value="percent">change in %</option><option value="difference">{in_unit}</option></select></label></div><template>{}</template>"#,
        escaped(&caption_of_means(&compared.entries)),
        escaped(&caption_of_changes("{}", true)),
        escaped(&caption_of_changes("{}", false)),
        escaped(&compared.title),
        numbers(compared, offered, factor),
    )
}

/// The values of all entries, and for each baseline their changes, as JSON. Values and differences are multiplied by
/// `factor`.
fn numbers(compared: &PointValues<'_>, offered: &[Choice], factor: f64) -> String {
    let values = compared.entries.iter().map(|entry| {
        let interval = entry.summary.ci95_low.zip(entry.summary.ci95_high);
        format!("[{}]", estimate(entry.summary.mean.map(|value| Estimate { value, interval }), factor))
    });
    let values = values.collect::<Vec<_>>().join(",");
    let change = |Change { difference, percent }: Change| match (difference, percent) {
        (None, None) => "0".to_owned(),
        _ => format!("[{},{}]", estimate(percent, 1.0), estimate(difference, factor)),
    };
    let changes = offered.iter().map(|choice| {
        let changes: Vec<String> = compared.changes_to(*choice).into_iter().map(change).collect();
        format!("[{}]", changes.join(","))
    });
    format!(r#"{{"values":[{values}],"changes":[{}]}}"#, changes.collect::<Vec<_>>().join(","))
}

/// The number and the ends of its interval, multiplied by `factor`.
fn estimate(estimate: Option<Estimate>, factor: f64) -> String {
    let Some(Estimate { value, interval }) = estimate else { return "null,null,null".to_owned() };
    let ends = interval.map_or_else(
        || "null,null".to_owned(),
        |(low, high)| format!("{},{}", short(factor * low), short(factor * high)),
    );
    format!("{},{ends}", short(factor * value))
}

/// A number with six significant digits, without zeros at its end.
fn short(x: f64) -> String {
    match format!("{x:.5e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => rounded.to_string(),
        _ => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_and_those_that_are_missing_are_null() {
        let shown = estimate(Some(Estimate { value: 23.728_149, interval: Some((-0.000_123_456, 1e6)) }), 1.0);
        assert_eq!(shown, "23.7281,-0.000123456,1000000");
        assert_eq!(estimate(Some(Estimate { value: f64::NAN, interval: None }), 1.0), "null,null,null");
        assert_eq!(estimate(None, 1.0), "null,null,null");
        let in_kilobits = Estimate { value: 1.5, interval: Some((1.0, 2.0)) };
        assert_eq!(estimate(Some(in_kilobits), 1e3), "1500,1000,2000");
    }
}
