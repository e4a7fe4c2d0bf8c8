//! Figures over time of the runs of one point, from their series.

use subflow_lab::results::{Run, Series, SeriesPoint};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::axis_words::worded;
use super::bands::{self, merged};
use super::events::events;
use super::figure::{Axis, Curve, Curves, Figure, Reference, Shape};
use super::metric_lines::{Line, METRICS, Metric, POWER, QUEUE, SEQUENCE, joined, lines};
use super::palette::Palette;
use super::sequence;
use super::shown_time::ShownTime;

/// The figures of `runs`, which are of one point with `scenario`, for all metrics with samples, with the events of its
/// timeline.
pub(super) fn over_time(runs: &[&Run], scenario: &Scenario) -> Vec<Figure> {
    let shown = ShownTime::of(runs.iter().copied());
    let events: Vec<Reference> = events(scenario).into_iter().filter(|event| shown.has(event)).collect();
    let palette = Palette::new(runs, scenario);
    let with_packets = runs.iter().find(|run| !run.result.sequences.is_empty());
    let of = |metric: &Metric| match with_packets {
        Some(run) if metric.name == SEQUENCE => sequence::sequences(run, runs.len() > 1, shown, &events, &palette),
        _ => of_metric(runs, metric, shown, &events, &palette).into_iter().collect(),
    };
    METRICS.iter().flat_map(of).map(|figure| worded(figure, &scenario.axes)).collect()
}

/// The number of points in the figures of runs of one point.
pub(super) fn points(runs: &[&Run]) -> usize {
    let shown = |series: &&Series| METRICS.iter().any(|metric| metric.name == series.metric);
    let sampled =
        |run: &&Run| run.result.series.iter().filter(shown).map(|series| series.points().len()).sum::<usize>();
    // A band has two edges besides the line.
    let sampled = runs.iter().map(sampled).max().unwrap_or(0) * if runs.len() > 1 { 3 } else { 1 };
    sampled + runs.iter().map(|run| sequence::points(run)).find(|points| *points > 0).unwrap_or(0)
}

fn of_metric(
    runs: &[&Run],
    metric: &Metric,
    time: ShownTime,
    events: &[Reference],
    palette: &Palette,
) -> Option<Figure> {
    let is_queue = metric.name == QUEUE;
    let mut all = lines(runs, metric);
    if !is_queue {
        all.sort_by_key(|line| palette.of_path(&line.name));
    }
    // What was zero at every sample is left out, to keep the legend short.
    let (idle, shown): (Vec<Line>, Vec<Line>) = all.into_iter().partition(|line| metric.is_idle(line));
    let unit = shown.first()?.unit.clone();
    let mut curves = Curves::new(time.axis(), Axis::new(metric.label, unit));
    let shape = if runs.len() > 1 { Shape::LineAndBand } else { Shape::Line };
    for Line { name, points, .. } in shown {
        let (colour, dashed) = match metric.name {
            QUEUE => palette.of_queue(&name).unwrap_or((curves.curves.len(), false)),
            POWER => (curves.curves.len(), false),
            _ => (palette.of_path(&name), false),
        };
        curves.add(Curve { points, dashed, ..Curve::new(name).shape(shape).colour(colour) });
    }
    let arrivals = if metric.is_goodput_of_flows() { arriving(runs) } else { Vec::new() };
    let of_arrivals = if arrivals.is_empty() { "" } else { ARRIVALS_CAPTION };
    for Line { name, points, .. } in arrivals {
        let colour = palette.of_path(&name);
        let curve = Curve::new(format!("{name}: arriving")).shape(shape).colour(colour);
        curves.add(Curve { points, dashed: true, ..curve });
    }
    curves.curves.iter_mut().for_each(|curve| time.cut(curve));
    events.iter().for_each(|event| {
        curves.mark(event.clone());
    });
    let zero = match idle.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<&str> = idle.iter().map(|line| line.name.as_str()).collect();
            format!("{} at every sample: {}.", if is_queue { "Empty" } else { "Zero" }, names.join(", "))
        }
    };
    let caption = joined([metric.caption, of_arrivals, &zero, &bands::caption([runs.len()]), &time.caption()]);
    Some(Figure::curves(metric.title, curves).caption(caption))
}

/// The rates at which the data of flows arrives.
fn arriving(runs: &[&Run]) -> Vec<Line> {
    let of_runs: Vec<Vec<Series>> = runs.iter().map(|run| arrivals(run)).collect();
    let line = |first: &Series| {
        let same: Vec<&Series> = of_runs.iter().flatten().filter(|series| series.of == first.of).collect();
        Line { name: first.of.clone(), unit: first.unit.clone(), points: merged(&same, runs.len()) }
    };
    of_runs.first().into_iter().flatten().map(line).collect()
}

/// Maximum number of flows in a figure that has both of each.
const MOST_FLOWS: usize = 4;

/// What the dashed lines are.
const ARRIVALS_CAPTION: &str = "Dashed: data that arrives for the first time. Where more is read than arrives, data that \
                                had waited for a missing piece is read at once, faster than the links carry it: \
                                see the reassembly queue.";

/// The rate at which the data of a flow arrives, beside that at which it is read: a series for each flow of `run` of
/// which data has waited; none if there are many flows. Data that waits for a missing piece is read at once when the
/// piece arrives, faster than all links together could carry it.
pub(super) fn arrivals(run: &Run) -> Vec<Series> {
    let of = |series: &Series, metric: &str| series.metric == metric;
    let waited = |series: &&Series| of(series, "reassembly") && series.points().iter().any(|point| point.value > 0.0);
    let read = |held: &Series| run.result.series.iter().find(|series| of(series, "goodput") && series.of == held.of);
    let all = run.result.series.iter().filter(waited).filter_map(|held| Some(arrival_rate(read(held)?, held)));
    if run.result.flows.len() > MOST_FLOWS { Vec::new() } else { all.collect() }
}

/// What is read, and by how much more data waits: `read` is in Mbit/s over the time since its last point, `held` in kB.
fn arrival_rate(read: &Series, held: &Series) -> Series {
    let mut arriving = Series::new(&read.of, "arriving", &read.unit, Duration::ZERO);
    let (mut since, mut before) = (0.0, 0.0);
    for SeriesPoint { time_s, value } in read.points() {
        // Sample times come from whole nanoseconds.
        let next = held.points().partition_point(|point| point.time_s < time_s + 5e-10);
        let now = next.checked_sub(1).map_or(0.0, |last| held.points()[last].value);
        let rate = value + (now - before) * 8e-3 / (time_s - since);
        arriving.push(Instant::from_nanos((time_s * 1e9).round() as u64), rate.max(0.0));
        (since, before) = (*time_s, now);
    }
    arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_waits_has_arrived_and_is_read_later() {
        let at = |n: u64| Instant::from_nanos(n * 100_000_000);
        let mut read = Series::new("file", "goodput", "Mbit/s", Duration::from_millis(100)).of_rate();
        let mut held = Series::new("file", "reassembly", "kB", Duration::from_millis(50));
        // 8 Mbit/s arrive: 100 kB in each tenth of a second. They wait for 0.2 s.
        for (n, (mbps, kilobytes)) in [(8.0, 0.0), (0.0, 100.0), (0.0, 200.0), (24.0, 0.0)].into_iter().enumerate() {
            held.push(Instant::from_nanos(at(n as u64).as_nanos() + 50_000_000), 50.0);
            held.push(at(n as u64 + 1), kilobytes);
            read.push(at(n as u64 + 1), mbps);
        }
        let rates: Vec<f64> =
            arrival_rate(&read, &held).points().iter().map(|point| (point.value * 1e6).round() / 1e6).collect();
        assert_eq!(rates, [8.0; 4]);
    }
}
