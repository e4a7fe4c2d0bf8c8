//! Points of a sweep in the same figures over time: a figure for each metric of each flow, subflow and link direction,
//! with a curve for each point. The page shows the first points; its script draws those that the reader picks.

use subflow_lab::results::Run;
use subflow_scenario::{AxisWords, Scenario};

use super::area::Area;
use super::axis_words::worded;
use super::bands;
use super::chart::{self, UNITS};
use super::events::events;
use super::figure::{Axis, Curve, Curves, Figure, Reference, Shape};
use super::ink::{Look, Medium};
use super::lines::LinePlot;
use super::markup::Slugs;
use super::metric_lines::{METRICS, Metric, joined, lines, samples};
use super::shown_time::ShownTime;
use crate::figure::CurvePoint;

/// The points that are drawn before the reader has picked any.
pub(super) const FIRST: usize = 4;
/// Maximum size of all curves in a page, in bytes.
const MOST_BYTES: usize = 2_000_000;
/// About the size of a drawn sample.
const SAMPLE_BYTES: usize = 8;
/// Maximum number of samples of a curve; the largest that fits is taken.
const SAMPLES: [usize; 4] = [400, 200, 100, 50];
const CURVES_END: &str = "A curve ends when nothing is on its way any more at its point.";

/// A point of the sweep: its name, and its runs with metrics over time.
pub(super) struct Sampled<'a> {
    pub(super) name: String,
    pub(super) runs: Vec<&'a Run>,
    pub(super) scenario: &'a Scenario,
}

impl Sampled<'_> {
    /// The time that its curves show.
    pub(super) fn shown_time(&self) -> ShownTime {
        ShownTime::of(self.runs.iter().copied())
    }
}

/// What of the points fits onto the page.
pub(super) struct Selection {
    /// The number of points, from the first one on.
    pub(super) points: usize,
    metrics: Vec<&'static Metric>,
    samples: usize,
}

impl Selection {
    /// As much as fits: the goodput of all points first, in the end with fewer samples; then other metrics in their
    /// order.
    pub(super) fn of(points: &[Sampled<'_>]) -> Self {
        let sizes = METRICS.iter().map(|metric| (metric, sizes(points, metric)));
        let sizes: Vec<(&'static Metric, Vec<Vec<usize>>)> = sizes.filter(|(_, of)| !of.concat().is_empty()).collect();
        let [.., fewest] = SAMPLES;
        let all = |samples: &usize| sizes.iter().map(|(_, of)| bytes(of, *samples)).sum::<usize>() <= MOST_BYTES;
        let samples = SAMPLES.into_iter().find(all).unwrap_or(fewest);
        let mut left = MOST_BYTES;
        let mut selection = Self { points: points.len(), metrics: Vec::new(), samples };
        for (metric, of) in &sizes {
            if selection.metrics.is_empty() {
                let mut sum = 0;
                let fits = |point: &&Vec<usize>| {
                    sum += bytes(std::slice::from_ref(*point), samples);
                    sum <= MOST_BYTES
                };
                selection.points = of.iter().take_while(fits).count().max(1);
            }
            let of = bytes(&of[..selection.points], samples);
            if of <= left || selection.metrics.is_empty() {
                left = left.saturating_sub(of);
                selection.metrics.push(metric);
            }
        }
        selection
    }

    /// The titles of the metrics that do not fit.
    pub(super) fn left_out(&self, points: &[Sampled<'_>]) -> Vec<&'static str> {
        let is_left_out = |metric: &&Metric| {
            !self.metrics.iter().any(|shown| shown.title == metric.title) && !sizes(points, metric).concat().is_empty()
        };
        METRICS.iter().filter(is_left_out).map(|metric| metric.title).collect()
    }
}

/// The numbers of samples of a metric's curves at each point. A band counts as two more curves.
fn sizes(points: &[Sampled<'_>], metric: &Metric) -> Vec<Vec<usize>> {
    let of_point = |point: &Sampled<'_>| {
        let edges = if point.runs.len() > 1 { 3 } else { 1 };
        let shown = samples(&point.runs, metric, point.shown_time());
        shown.into_iter().flat_map(|size| [size].repeat(edges)).collect()
    };
    points.iter().map(of_point).collect()
}

fn bytes(sizes: &[Vec<usize>], samples: usize) -> usize {
    sizes.iter().flatten().map(|size| size.min(&samples) * SAMPLE_BYTES).sum()
}

/// The figures of a metric.
pub(super) struct Together {
    pub(super) title: &'static str,
    pub(super) html: String,
}

/// The figures of the selection of `points`, by metric.
pub(super) fn together(points: &[Sampled<'_>], selection: &Selection, slugs: &mut Slugs) -> Vec<Together> {
    let points = &points[..selection.points];
    let times: Vec<ShownTime> = points.iter().map(Sampled::shown_time).collect();
    let whole = ShownTime::longest(&times);
    let first = ShownTime::longest(&times[..times.len().min(FIRST)]);
    let words = points.first().map_or(&[][..], |point| &point.scenario.axes);
    let events: Vec<Reference> = common_events(points).into_iter().filter(|event| whole.has(event)).collect();
    let ends = if times.iter().all(|time| *time == whole) { "" } else { CURVES_END };
    let bands = bands::caption(points.iter().map(|point| point.runs.len()));
    let thinned = format!(
        "At most about {} samples of each curve are drawn: of each stretch the smallest and the largest.",
        selection.samples
    );
    let of = |metric: &&'static Metric| {
        let figures = overlays(points, metric, &times, selection.samples).into_iter().map(|one| {
            let thinned = if one.is_thinned { thinned.as_str() } else { "" };
            let caption = joined([metric.caption_alone(), &bands, thinned, ends]);
            one.html(&first.axis(), metric.label, (&events, words), caption, slugs)
        });
        Together { title: metric.title, html: figures.collect() }
    };
    selection.metrics.iter().map(of).filter(|figures| !figures.html.is_empty()).collect()
}

/// The events of the timeline, if they are the same at all points.
fn common_events(points: &[Sampled<'_>]) -> Vec<Reference> {
    let mut all = points.iter().map(|point| events(point.scenario));
    let first = all.next().unwrap_or_default();
    if all.all(|other| other == first) { first } else { Vec::new() }
}

/// One figure: a curve for each point that has one, with the number of the point.
struct Overlay {
    /// The flow, subflow or link direction.
    line: String,
    title: String,
    unit: String,
    is_thinned: bool,
    curves: Vec<(usize, Curve)>,
}

fn overlays(points: &[Sampled<'_>], metric: &Metric, times: &[ShownTime], samples: usize) -> Vec<Overlay> {
    let has_bands = points.iter().any(|point| point.runs.len() > 1);
    let shape = if has_bands { Shape::LineAndBand } else { Shape::Line };
    let mut overlays: Vec<Overlay> = Vec::new();
    for (number, (point, time)) in points.iter().zip(times).enumerate() {
        for line in lines(&point.runs, metric).into_iter().filter(|line| !metric.is_idle(line)) {
            let index = overlays.iter().position(|overlay| overlay.line == line.name).unwrap_or_else(|| {
                let (title, unit) = (format!("{}: {}", metric.title, line.name), line.unit);
                overlays.push(Overlay { line: line.name, title, unit, is_thinned: false, curves: Vec::new() });
                overlays.len() - 1
            });
            let overlay = &mut overlays[index];
            let curve = Curve::new(point.name.as_str()).shape(shape).colour(number);
            let mut curve = Curve { points: line.points, ..curve };
            time.cut(&mut curve);
            overlay.is_thinned |= curve.points.len() > samples;
            curve.points = thinned(curve.points, samples);
            overlay.curves.push((number, curve));
        }
    }
    overlays
}

impl Overlay {
    /// The figure with the curves of the first points, and all curves in a template, from which the script takes them.
    /// `time` is the axis for the first points; the curves of others may go beyond its end.
    fn html(
        self,
        time: &Axis,
        label: &str,
        (events, words): (&[Reference], &[AxisWords]),
        caption: String,
        slugs: &mut Slugs,
    ) -> String {
        let y = Axis::new(label, self.unit.as_str());
        let area = Area { width: UNITS, height: UNITS, medium: Medium::Page };
        let numbers: Vec<usize> = self.curves.iter().map(|(number, _)| *number).collect();
        let mut all = Curves::new(time.clone(), y.clone());
        all.curves = self.curves.into_iter().map(|(_, curve)| curve).collect();
        let plot = LinePlot::new(&all, area);
        let group = |(number, curve): (&usize, &Curve)| {
            let look = Look::of_curve(curve, 0);
            format!(r#"<g data-point="{number}">{}</g>"#, plot.marks(curve, look))
        };
        let groups: String = numbers.iter().zip(&all.curves).map(group).collect();
        // All points have the same axis, whichever are shown.
        let mut first = Curves::new(time.clone(), y.between(plot.y.low, plot.y.high));
        first.references = events.to_vec();
        let shown = numbers.iter().zip(&all.curves).filter(|(number, _)| **number < FIRST);
        first.curves = shown.map(|(_, curve)| curve.clone()).collect();
        // Marks are where they are in any unit.
        let figure = worded(Figure::curves(self.title.as_str(), first).caption(caption), words);
        let id = slugs.unique(&format!("points {}", self.title));
        let html = chart::figure(&figure, &id, "points");
        format!(r#"<template data-of="{id}"><svg>{groups}</svg></template>{html}"#)
    }
}

/// At most about `most` of the points: the first, the last, and of each stretch the smallest and the largest, so that
/// no extreme is lost.
pub(super) fn thinned(points: Vec<CurvePoint>, most: usize) -> Vec<CurvePoint> {
    if points.len() <= most.max(4) {
        return points;
    }
    let stretch = points.len().div_ceil((most / 2).max(1));
    let mut kept = vec![0];
    for (number, part) in points.chunks(stretch).enumerate() {
        let index = |extreme: Option<(usize, &CurvePoint)>| extreme.map_or(0, |(index, _)| number * stretch + index);
        let by_value = |a: &(usize, &CurvePoint), b: &(usize, &CurvePoint)| a.1.y.total_cmp(&b.1.y);
        let low = index(part.iter().enumerate().min_by(by_value));
        let high = index(part.iter().enumerate().max_by(by_value));
        kept.extend([low.min(high), low.max(high)]);
    }
    kept.push(points.len() - 1);
    kept.dedup();
    kept.into_iter().map(|index| points[index]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn more_curves_have_fewer_samples() {
        let size = |points: usize, samples| bytes(&vec![vec![500; 25]; points], samples);
        assert_eq!(size(2, 400), 2 * 25 * 400 * SAMPLE_BYTES);
        assert!(size(100, 100) <= MOST_BYTES && size(100, 200) > MOST_BYTES);
        assert_eq!(bytes(&[vec![10, 600]], 50), 60 * SAMPLE_BYTES);
    }

    proptest! {
        #[test]
        fn extremes_and_ends_are_kept_in_order(values in prop::collection::vec(-1e6..1e6f64, 1..500), most in 0..100usize) {
            let point = |(x, y): (usize, &f64)| CurvePoint { x: x as f64, y: *y, interval: None };
            let points: Vec<CurvePoint> = values.iter().enumerate().map(point).collect();
            let few = thinned(points.clone(), most);
            prop_assert!(few.len() <= most.max(4) + 2);
            prop_assert!(few.windows(2).all(|pair| pair[0].x < pair[1].x));
            prop_assert_eq!((few[0], few[few.len() - 1]), (points[0], points[points.len() - 1]));
            for extreme in [f64::max, f64::min] {
                let of = |points: &[CurvePoint]| points.iter().map(|point| point.y).reduce(extreme);
                prop_assert_eq!(of(&few), of(&points));
            }
        }
    }
}
