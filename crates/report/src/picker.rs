//! The choice of points of a sweep, whose curves over time are in the same figures.

use serde_json::Value;
use subflow_lab::results::Experiment;
use subflow_lab::results::parameters::word;

use super::axis_words::reword;
use super::markup::{Slugs, code, details, escaped, paragraphs};
use super::overlay::{FIRST, Sampled, Selection, together};
use super::parameter::label;

/// Maximum number of points without curves that are named.
const MOST_NAMED: usize = 200;

/// The points of `experiment` with metrics over time in common figures, and how the others are shown; empty for less
/// than two points.
pub(super) fn points_together(experiment: &Experiment, points: &[Sampled<'_>], slugs: &mut Slugs) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let selection = Selection::of(points);
    let figures = together(points, &selection, slugs);
    let metrics: String = figures.iter().enumerate().map(|(index, of)| metric_button(index, of.title)).collect();
    let figures: String = figures
        .iter()
        .enumerate()
        .map(|(index, of)| {
            let hidden = if index == 0 { "" } else { " hidden" };
            format!(r#"<div class="figures time" data-metric="{index}"{hidden}>{}</div>"#, of.html)
        })
        .collect();
    let left_out = match selection.left_out(points) {
        titles if titles.is_empty() => String::new(),
        titles => format!("Not on this page, which they would make too large: {}.", titles.join(", ").to_lowercase()),
    };
    let picker = format!(
        r#"<div class="picker" hidden><div class="choices" role="group" aria-label="Figures">{metrics}</div>{}</div>"#,
        table(&points[..selection.points])
    );
    let note = paragraphs([left_out.as_str()].into_iter().filter(|text| !text.is_empty()));
    let others = others(experiment, &points[..selection.points]);
    format!(r#"<div id="points-together"><h3>Points together</h3>{picker}{figures}{note}{others}</div>"#)
}

fn metric_button(index: usize, title: &str) -> String {
    let pressed = index == 0;
    format!(
        r#"<button type="button" class="switch" data-metric="{index}" aria-pressed="{pressed}">{}</button>"#,
        escaped(title)
    )
}

/// A row for each point, with a box to pick it and its swept values.
fn table(points: &[Sampled<'_>]) -> String {
    let columns = columns(points);
    let heading = |column: &Column<'_>| format!(r#"<th scope="col">{}</th>"#, escaped(&column.paths.join(", ")));
    let head: String = columns.iter().map(heading).collect();
    let row = |(number, point): (usize, &Sampled<'_>)| {
        let cell = |column: &Column<'_>| escaped(&column.values[number].map(word).unwrap_or_default());
        let cells: String = columns.iter().map(|column| format!("<td>{}</td>", cell(column))).collect();
        let checked = if number < FIRST { " checked" } else { "" };
        let mut time = point.shown_time().axis();
        let end = reword(&mut time, &point.scenario.axes) * point.shown_time().end_s();
        format!(
            r#"<tr><td><label class="key"><input type="checkbox" data-point="{number}" data-end="{end}" aria-label="{}"{checked}><i></i></label></td>{cells}</tr>"#,
            escaped(&point.name)
        )
    };
    let rows: String = points.iter().enumerate().map(row).collect();
    format!(
        r#"<div class="table points"><table id="points"><thead><tr><th scope="col">shown</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"#
    )
}

/// Swept paths that have the same value at each point, and these values.
struct Column<'a> {
    paths: Vec<&'a str>,
    values: Vec<Option<&'a Value>>,
}

fn columns<'a>(points: &[Sampled<'a>]) -> Vec<Column<'a>> {
    let parameters = |point: &Sampled<'a>| point.runs.first().map(|run| &run.parameters);
    let Some(first) = points.first().and_then(parameters) else { return Vec::new() };
    let values = |path: &String| points.iter().map(|point| parameters(point)?.get(path)).collect::<Vec<_>>();
    let mut columns: Vec<Column> = Vec::new();
    for path in first.keys() {
        let values = values(path);
        match columns.iter_mut().find(|column| column.values == values) {
            Some(same) => same.paths.push(path),
            None => columns.push(Column { paths: vec![path], values }),
        }
    }
    columns
}

/// The points that are not in the figures, with the command for one of them.
fn others(experiment: &Experiment, shown: &[Sampled<'_>]) -> String {
    let is_shown = |point: &usize| shown.iter().any(|sampled| sampled.runs.iter().any(|run| run.point == *point));
    let others: Vec<usize> = (0..experiment.statistics.len()).filter(|point| !is_shown(point)).collect();
    let Some(first) = others.first() else { return String::new() };
    let parameters = |point: usize| &experiment.statistics[point].parameters;
    let mut names: Vec<String> = others.iter().take(MOST_NAMED).map(|point| label(parameters(*point))).collect();
    if others.len() > MOST_NAMED {
        names.push(format!("and {} more", others.len() - MOST_NAMED));
    }
    let one = |(path, value): (&String, &Value)| format!("{} = [{}]", Value::from(path.as_str()), toml(value));
    let values: Vec<String> = parameters(*first).iter().map(one).collect();
    let sweep = quoted(&format!("sweep = {{ {} }}", values.join(", ")));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let summary = format!("{} of {} points are not in these figures", others.len(), experiment.statistics.len());
    details(
        &summary,
        false,
        &(paragraphs(["A point is shown by a run of its own, such as the first of them:"])
            + &code(&format!("subflow run scenario.toml --set {sweep} --out point"))
            + &paragraphs([names.join("; ").as_str()])),
    )
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A value as in a scenario.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(all) => format!("[{}]", all.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(all) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", Value::from(key.as_str()), toml(value));
            format!("{{ {} }}", all.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_in_a_scenario_and_quoted_for_a_shell() {
        let value = json!({ "name": "ecf", "beta": "1/2", "on": [1, true] });
        assert_eq!(toml(&value), r#"{ "beta" = "1/2", "name" = "ecf", "on" = [1, true] }"#);
        assert_eq!(quoted("a=\"it's\""), r#"'a="it'\''s"'"#);
    }
}
