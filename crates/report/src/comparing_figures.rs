//! Figures that compare flows and links of one run, the points of a sweep, and repeated runs.

use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Experiment, PointStatistics, Run, flows_and_groups};
use subflow_scenario::sweep::Plan;

use super::axis_words::worded;
use super::completions::{MOST_DISTRIBUTIONS, completions};
use super::figure::{Axis, Bars, Boxes, Curve, Curves, Figure};
use super::grid::Grid;
use super::palette::Palette;
use super::parameter::{Parameter, are_logarithmic, label};
use super::point_values::{Entry, PointValues, caption_of_means};
use super::scatter::{are_drawn, scatters};

/// Minimum number of runs of a point for a box plot or a distribution; a table shows fewer runs better.
const ENOUGH_RUNS: usize = 5;
/// Maximum number of rows in a figure.
const MOST_ROWS: usize = 200;

/// Maximum number of curves over a swept number. More could not be told apart; heat maps show them.
const MOST_CURVES: usize = 24;

/// Maximum number of values of one swept number that are also bars, which have a choice of the baseline.
const MOST_COMPARED: usize = 40;

/// Figures that compare something.
pub(super) enum Comparing<'a> {
    /// One figure.
    Figure(Figure),
    /// Figures that show values or changes to a baseline.
    PointValues(PointValues<'a>),
}

impl Comparing<'_> {
    /// Its figures: the values, and the changes to the baseline of the command line.
    pub(super) fn figures(self) -> Vec<Figure> {
        match self {
            Self::Figure(figure) => vec![figure],
            Self::PointValues(compared) => {
                let changes = compared.baseline().map(|choice| compared.changes(choice));
                compared.values().into_iter().chain(changes.unwrap_or_default()).collect()
            }
        }
    }
}

/// The figures that compare the flows, points and runs of an experiment.
pub(super) fn comparisons<'a>(plan: &'a Plan, experiment: &'a Experiment, grid: &'a Grid) -> Vec<Comparing<'a>> {
    let words = &plan.points[0].scenario.axes;
    let worded = |comparing| match comparing {
        Comparing::Figure(figure) => Comparing::Figure(worded(figure, words)),
        Comparing::PointValues(compared) => Comparing::PointValues(compared.worded(words)),
    };
    unworded(plan, experiment, grid).into_iter().map(worded).collect()
}

/// Those with the axes of the report.
fn unworded<'a>(plan: &Plan, experiment: &'a Experiment, grid: &'a Grid) -> Vec<Comparing<'a>> {
    if let [run] = &experiment.runs[..] {
        return of_one_run(plan, experiment, run).into_iter().map(Comparing::Figure).collect();
    }
    let mut all: Vec<Comparing<'_>> = completions(experiment).into_iter().map(Comparing::Figure).collect();
    let several = experiment.statistics.iter().any(|point| point.flows.len() > 1);
    for metric in ComparedMetric::all() {
        let entries = match metric.is_of_run() && !several {
            true => Vec::new(),
            false => means(experiment, metric),
        };
        // Counts that are zero everywhere show nothing.
        if metric.is_count && entries.iter().all(|entry| entry.summary.max == Some(0.0)) {
            continue;
        }
        all.extend(of_entries(plan, experiment, grid, metric, entries));
        if !metric.is_count && metric.is_of_flows() {
            let spread = spreads(experiment, metric).into_iter().chain(distributions(experiment, metric));
            all.extend(spread.map(Comparing::Figure));
        }
    }
    all
}

/// The means of a metric of each flow or group, or of whole runs, at each point.
fn means(experiment: &Experiment, metric: ComparedMetric) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for (point, of) in experiment.statistics.iter().enumerate() {
        let with_mean = metric.summaries(of).into_iter().filter(|(_, summary)| summary.mean.is_some());
        entries.extend(with_mean.map(|(flow, summary)| Entry { point, flow, summary }));
    }
    entries
}

/// Means with intervals: curves over a swept number; heat maps and bars over all else, and for the choice of a baseline;
/// dots for the points of a drawn design.
fn of_entries<'a>(
    plan: &Plan,
    experiment: &'a Experiment,
    grid: &'a Grid,
    metric: ComparedMetric,
    entries: Vec<Entry<'a>>,
) -> Vec<Comparing<'a>> {
    if are_drawn(plan, experiment) {
        let dots = scatters(experiment, metric, &entries).into_iter().map(Comparing::Figure);
        let is_compared = experiment.baseline.is_some();
        let compared = is_compared.then(|| PointValues::of(experiment, grid, metric, metric.title, entries));
        return dots.chain(compared.into_iter().flatten().map(Comparing::PointValues)).collect();
    }
    let curves = Parameter::numeric(experiment).map(|parameter| over(&parameter, experiment, metric, &entries));
    let has_panels = grid.dimensions.len() > 1;
    let curves = curves.filter(|of| !of.curves.is_empty() && (of.curves.len() <= MOST_CURVES || !has_panels));
    if curves.is_some() && !has_panels && entries.len() > MOST_COMPARED {
        return curves.into_iter().map(|curves| with_curves(metric, curves, &entries)).collect();
    }
    let title = if curves.is_some() { format!("{} in groups", metric.title) } else { metric.title.to_owned() };
    let curves = curves.map(|curves| with_curves(metric, curves, &entries));
    let compared = PointValues::of(experiment, grid, metric, &title, entries);
    curves.into_iter().chain(compared.into_iter().map(Comparing::PointValues)).collect()
}

fn with_curves<'a>(metric: ComparedMetric, curves: Curves, entries: &[Entry<'_>]) -> Comparing<'a> {
    Comparing::Figure(Figure::curves(metric.title, curves).caption(caption_of_means(entries)))
}

/// Goodput by flow and subflow, and utilisation of the links.
fn of_one_run(plan: &Plan, experiment: &Experiment, run: &Run) -> Vec<Figure> {
    let palette = Palette::new(&[run], &plan.points[run.point].scenario);
    let mut goodput = Bars::new(Axis::new("goodput", "Mbit/s"));
    for flow in &flows_and_groups(&run.result) {
        goodput.add_coloured(&flow.name, flow.goodput_mbps, palette.of_path(&flow.name), false);
        if flow.subflows.len() > 1 {
            for subflow in &flow.subflows {
                let name = format!("{}: {}", flow.name, subflow.label());
                let colour = palette.of_path(&name);
                goodput.add_coloured(name, subflow.goodput_mbps, colour, false);
            }
        }
    }
    let mut used = Bars::new(Axis::new("utilisation", "%"));
    for link in &run.result.links {
        for (direction, name) in [(&link.up, "up"), (&link.down, "down")] {
            let name = format!("{}.{name}", link.name);
            let (colour, is_against_data) = palette.of_queue(&name).unwrap_or_default();
            used.add_coloured(name, direction.utilisation * 100.0, colour, is_against_data);
        }
    }
    let mut figures = vec![
        Figure::bars("Goodput by flow and subflow", limited(goodput)),
        Figure::bars("Use of the links", limited(used)).caption(
            "The share of the time (after the warm-up) in which each direction transmitted; lighter, that against the \
             data.",
        ),
    ];
    figures.extend(completions(experiment));
    figures
}

/// A curve for each flow and combination of the other parameters.
fn over(parameter: &Parameter, experiment: &Experiment, metric: ComparedMetric, entries: &[Entry<'_>]) -> Curves {
    let axis = Axis::new(metric.label, metric.unit);
    let xs = entries.iter().filter_map(|entry| parameter.value(&experiment.statistics[entry.point].parameters));
    let x = Axis::new(&parameter.path, &parameter.unit);
    let x = if are_logarithmic(xs) { x.logarithmic() } else { x.fitted() };
    let mut curves = Curves::new(x, axis);
    for Entry { point, flow, summary } in entries {
        let parameters = &experiment.statistics[*point].parameters;
        let Some(x) = parameter.value(parameters) else { continue };
        let others = parameter.others(parameters);
        let names = [others.as_str(), flow.unwrap_or("")];
        let name = names.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let name = if name.is_empty() { metric.label.to_owned() } else { name };
        let y = summary.mean.unwrap_or(f64::NAN);
        let interval = summary.ci95_low.zip(summary.ci95_high);
        let point = super::figure::CurvePoint { x, y, interval };
        match curves.curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.curves.push(Curve { points: vec![point], ..Curve::new(name) }),
        }
    }
    for curve in &mut curves.curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    curves
}

/// Box plots over the repetitions of each point.
fn spreads(experiment: &Experiment, metric: ComparedMetric) -> Option<Figure> {
    let mut boxes = Boxes::new(Axis::new(metric.label, metric.unit).fitted());
    for (point, flow, samples) in samples(experiment, metric) {
        boxes.add(label(&point.parameters), flow, &samples);
    }
    (1..=MOST_ROWS).contains(&boxes.boxes.len()).then(|| {
        Figure::boxes(format!("{}, spread over the runs", metric.title), boxes).caption(
            "Median, quartiles, and the samples within 1.5 interquartile ranges of them (Tukey). Dots are outliers.",
        )
    })
}

/// Distributions over the repetitions of each point.
fn distributions(experiment: &Experiment, metric: ComparedMetric) -> Option<Figure> {
    let named = samples(experiment, metric).into_iter().map(|(point, flow, samples)| {
        let place = label(&point.parameters);
        let name = if place.is_empty() { flow.to_owned() } else { format!("{place}: {flow}") };
        (name, samples)
    });
    let named: Vec<(String, Vec<f64>)> = named.collect();
    let axis = Axis::new(metric.label, metric.unit);
    (1..=MOST_DISTRIBUTIONS)
        .contains(&named.len())
        .then(|| Figure::distributions(format!("{}, distribution over the runs", metric.title), axis, named))
}

/// The samples of each flow at each point that has enough runs.
fn samples(experiment: &Experiment, metric: ComparedMetric) -> Vec<(&PointStatistics, &str, Vec<f64>)> {
    let mut all = Vec::new();
    for (number, point) in experiment.statistics.iter().enumerate() {
        let runs = experiment.runs.iter().filter(|run| run.point == number);
        let runs: Vec<_> = runs.map(|run| metric.values(&run.result)).collect();
        for (index, flow) in point.flows.iter().enumerate() {
            let samples: Vec<f64> = runs.iter().filter_map(|flows| flows[index].1.value).collect();
            if samples.len() >= ENOUGH_RUNS {
                all.push((point, flow.name.as_str(), samples));
            }
        }
    }
    all
}

fn limited(mut bars: Bars) -> Bars {
    bars.bars.truncate(MOST_ROWS);
    bars
}
