//! Figures that compare flows and links of one run, the points of a sweep, and repeated runs.

use subflow_lab::results::{Experiment, FlowStatistics, PointStatistics, Run, flows_and_groups};
use subflow_lab::statistics::Summary;
use subflow_scenario::sweep::Plan;

use super::completions::completions;
use super::figure::{Axis, Bars, Boxes, Curve, Curves, Figure};
use super::palette::Palette;
use super::parameter::{Parameter, label};

/// Minimum number of runs of a point for a box plot or a distribution; a table shows fewer runs better.
const ENOUGH_RUNS: usize = 5;
/// Maximum number of distributions in one figure. More would overlap too much; box plots show them instead.
pub(super) const MOST_DISTRIBUTIONS: usize = 8;
/// Maximum number of rows in a figure.
const MOST_ROWS: usize = 200;

/// A quantity of flows.
struct Quantity {
    title: &'static str,
    label: &'static str,
    unit: &'static str,
    summary: fn(&FlowStatistics) -> Option<&Summary>,
    sample: fn(&subflow_lab::results::FlowResult) -> Option<f64>,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        title: "Goodput",
        label: "goodput",
        unit: "Mbit/s",
        summary: |flow| Some(&flow.goodput_mbps),
        sample: |flow| Some(flow.goodput_mbps),
    },
    Quantity {
        title: "Time to completion",
        label: "time to completion",
        unit: "s",
        summary: |flow| Some(&flow.completion_s),
        sample: |flow| flow.completion_s,
    },
    Quantity {
        title: "Time of a request and its response",
        label: "mean time",
        unit: "ms",
        summary: |flow| Some(&flow.exchanges.as_ref()?.mean_ms),
        sample: |flow| flow.exchanges.as_ref()?.mean_ms,
    },
];

/// The figures that compare the flows, points and runs of an experiment.
pub(super) fn comparisons(plan: &Plan, experiment: &Experiment) -> Vec<Figure> {
    if let [run] = &experiment.runs[..] {
        return of_one_run(plan, experiment, run);
    }
    let mut figures = completions(experiment);
    for quantity in &QUANTITIES {
        figures.extend(summaries(experiment, quantity));
        figures.extend(spreads(experiment, quantity));
        figures.extend(distributions(experiment, quantity));
    }
    if experiment.statistics.iter().any(|point| point.flows.len() > 1) {
        figures.extend(of_points(experiment, "Goodput of all flows", "goodput", "Mbit/s", |p| &p.total_goodput_mbps));
        figures.extend(of_points(experiment, "Fairness", "Jain's index", "", |p| &p.jain_index));
    }
    figures
}

/// Goodput by flow and subflow, and utilisation of the links.
fn of_one_run(plan: &Plan, experiment: &Experiment, run: &Run) -> Vec<Figure> {
    let palette = Palette::new(&[run], &plan.points[run.point].scenario);
    let mut goodput = Bars::new(Axis::new("goodput", "Mbit/s"));
    for flow in &flows_and_groups(&run.result) {
        goodput.add_coloured(&flow.name, flow.goodput_mbps, palette.of_path(&flow.name), false);
        if flow.subflows.len() > 1 {
            for subflow in &flow.subflows {
                let name = format!("{}: {}", flow.name, subflow.name);
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

/// Means with intervals: curves over a swept number, otherwise bars.
fn summaries(experiment: &Experiment, quantity: &Quantity) -> Option<Figure> {
    let mut entries = Vec::new();
    for point in &experiment.statistics {
        for flow in &point.flows {
            if let Some(summary) = (quantity.summary)(flow).filter(|summary| summary.mean.is_some()) {
                entries.push((point, flow.name.as_str(), summary));
            }
        }
    }
    drawn(experiment, quantity.title, Axis::new(quantity.label, quantity.unit), &entries)
}

/// Means of a quantity of points, not of flows.
fn of_points(
    experiment: &Experiment,
    title: &str,
    label: &str,
    unit: &str,
    of: fn(&PointStatistics) -> &Summary,
) -> Option<Figure> {
    let entries: Vec<(&PointStatistics, &str, &Summary)> =
        experiment.statistics.iter().map(|point| (point, "", of(point))).filter(|e| e.2.mean.is_some()).collect();
    drawn(experiment, title, Axis::new(label, unit), &entries)
}

fn drawn(
    experiment: &Experiment,
    title: &str,
    axis: Axis,
    entries: &[(&PointStatistics, &str, &Summary)],
) -> Option<Figure> {
    entries.first()?;
    let caption = match entries.iter().map(|(.., summary)| summary.n).max() {
        Some(0 | 1) | None => "One run each: there is no interval.".to_owned(),
        Some(n) => format!("Means of up to {n} runs with 95 % intervals (Student's t)."),
    };
    let figure = match Parameter::numeric(experiment) {
        Some(parameter) => Figure::curves(title, over(&parameter, axis, entries)),
        None => {
            let mut bars = Bars::new(axis);
            for (point, name, summary) in entries {
                let interval = summary.ci95_low.zip(summary.ci95_high);
                bars.add(label(&point.parameters), *name, summary.mean.unwrap_or(f64::NAN), interval);
            }
            Figure::bars(title, limited(bars))
        }
    };
    Some(figure.caption(caption))
}

/// A curve for each flow and combination of the other parameters.
fn over(parameter: &Parameter, axis: Axis, entries: &[(&PointStatistics, &str, &Summary)]) -> Curves {
    let mut curves = Curves::new(Axis::new(&parameter.path, &parameter.unit).fitted(), axis);
    for (point, flow, summary) in entries {
        let Some(x) = parameter.value(&point.parameters) else { continue };
        let others = parameter.others(&point.parameters);
        let name = [others.as_str(), flow].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        let name = if name.is_empty() { axis_name(&curves) } else { name };
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

fn axis_name(curves: &Curves) -> String {
    curves.y.label.clone()
}

/// Box plots over the repetitions of each point.
fn spreads(experiment: &Experiment, quantity: &Quantity) -> Option<Figure> {
    let mut boxes = Boxes::new(Axis::new(quantity.label, quantity.unit).fitted());
    for (point, flow, samples) in samples(experiment, quantity) {
        boxes.add(label(&point.parameters), flow, &samples);
    }
    boxes.boxes.truncate(MOST_ROWS);
    (!boxes.boxes.is_empty()).then(|| {
        Figure::boxes(format!("{}, spread over the runs", quantity.title), boxes).caption(
            "Median, quartiles, and the samples within 1.5 interquartile ranges of them (Tukey). Dots are outliers.",
        )
    })
}

/// Distributions over the repetitions of each point.
fn distributions(experiment: &Experiment, quantity: &Quantity) -> Option<Figure> {
    let named = samples(experiment, quantity).into_iter().map(|(point, flow, samples)| {
        let place = label(&point.parameters);
        let name = if place.is_empty() { flow.to_owned() } else { format!("{place}: {flow}") };
        (name, samples)
    });
    let named: Vec<(String, Vec<f64>)> = named.collect();
    let axis = Axis::new(quantity.label, quantity.unit);
    (1..=MOST_DISTRIBUTIONS)
        .contains(&named.len())
        .then(|| Figure::distributions(format!("{}, distribution over the runs", quantity.title), axis, named))
}

/// The samples of each flow at each point that has enough runs.
fn samples<'a>(experiment: &'a Experiment, quantity: &Quantity) -> Vec<(&'a PointStatistics, &'a str, Vec<f64>)> {
    let mut all = Vec::new();
    for (number, point) in experiment.statistics.iter().enumerate() {
        let runs = experiment.runs.iter().filter(|run| run.point == number);
        let runs: Vec<_> = runs.map(|run| flows_and_groups(&run.result)).collect();
        for (index, flow) in point.flows.iter().enumerate() {
            let samples: Vec<f64> = runs.iter().filter_map(|flows| (quantity.sample)(&flows[index])).collect();
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
