//! The points of a drawn design: a quantity over each swept number, with a dot for each point. No two points of such a
//! design differ in one value alone, so that lines between them would join what does not belong together.

use subflow_lab::results::Experiment;
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::parameters::short_names;
use subflow_scenario::sweep::{Design, Plan};

use super::figure::{Axis, Curve, CurvePoint, Curves, Figure, Shape};
use super::parameter::{Category, Parameter};
use super::point_values::{Entry, caption_of_means};

/// Maximum number of colours. More could not be told apart.
const MOST_COLOURS: usize = 8;
/// From this ratio of the largest value to the smallest on, an axis is logarithmic.
const WIDE: f64 = 50.0;

/// Whether the points of a sweep were drawn, and have swept numbers to show them over.
pub(super) fn are_drawn(plan: &Plan, experiment: &Experiment) -> bool {
    matches!(plan.design, Design::Drawn { .. }) && Parameter::all_numeric(experiment).next().is_some()
}

/// A figure for each swept number; of numbers that change together, for the first.
pub(super) fn scatters(experiment: &Experiment, metric: ComparedMetric, entries: &[Entry<'_>]) -> Vec<Figure> {
    let mut shown: Vec<Parameter> = Vec::new();
    for parameter in Parameter::all_numeric(experiment) {
        if !shown.iter().any(|other| changes_with(experiment, &other.path, &parameter.path)) {
            shown.push(parameter);
        }
    }
    let names = short_names(&experiment.scenario.sweep);
    let short = |path: &str| {
        let known = experiment.scenario.sweep.iter().position(|known| known == path);
        known.map_or(path, |at| names[at].as_str()).to_owned()
    };
    let category = Category::first(experiment, MOST_COLOURS);
    let figure = |parameter: &Parameter| {
        let curves = dots(experiment, metric, entries, parameter, category.as_ref());
        let colours = category.as_ref().map_or_else(String::new, |of| format!(" Colours: {}.", short(&of.path)));
        Figure::curves(format!("{} over {}", metric.title, short(&parameter.path)), curves).caption(format!(
            "{} A dot for each point of the design; the other swept values differ between points, too.{colours}",
            caption_of_means(entries)
        ))
    };
    if entries.is_empty() { Vec::new() } else { shown.iter().map(figure).collect() }
}

/// Whether two paths belong to the same key of `[sweep]`.
fn changes_with(experiment: &Experiment, one: &str, other: &str) -> bool {
    let has = |paths: &Vec<String>, path: &str| paths.iter().any(|known| known == path);
    experiment.scenario.swept_together.iter().any(|paths| has(paths, one) && has(paths, other))
}

fn dots(
    experiment: &Experiment,
    metric: ComparedMetric,
    entries: &[Entry<'_>],
    parameter: &Parameter,
    category: Option<&Category>,
) -> Curves {
    let several = entries.iter().any(|entry| entry.flow != entries[0].flow);
    let mut curves: Vec<Curve> = Vec::new();
    for Entry { point, flow, summary } in entries {
        let parameters = &experiment.statistics[*point].parameters;
        let Some(x) = parameter.value(parameters) else { continue };
        let names = [category.map(|of| of.value(parameters)), flow.filter(|_| several).map(str::to_owned)];
        let name = names.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let name = if name.is_empty() { metric.label.to_owned() } else { name };
        let y = summary.mean.unwrap_or(f64::NAN);
        let dot = CurvePoint { x, y, interval: summary.ci95_low.zip(summary.ci95_high) };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(dot),
            None => curves.push(Curve { points: vec![dot], ..Curve::new(name).shape(Shape::Points) }),
        }
    }
    // Each value has the same colour in all figures.
    if let Some(category) = category {
        let place = |name: &str| category.values.iter().position(|value| name.split(": ").next() == Some(value));
        curves.sort_by_key(|curve| place(&curve.name));
    }
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    let all = || curves.iter().flat_map(|curve| &curve.points).map(|dot| dot.x);
    let (low, high) = all().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    let x = Axis::new(&parameter.path, &parameter.unit);
    let x = if low > 0.0 && high >= WIDE * low { x.logarithmic() } else { x.fitted() };
    let mut figure = Curves::new(x, Axis::new(metric.label, metric.unit));
    figure.curves = curves;
    figure
}
