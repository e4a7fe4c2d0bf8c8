//! A metric over time in several runs of the same point: the mean, and a band around it.

use subflow_lab::results::{Series, SeriesPoint};
use subflow_lab::statistics::{mean, mean_interval};

use super::figure::CurvePoint;

/// From this number of runs on, bands are 95 % intervals of the mean. Those of fewer runs would be very wide.
const ENOUGH_RUNS: usize = 5;
/// Maximum number of points of a mean.
const MOST_POINTS: usize = 512;

/// What the lines and bands of points with these numbers of runs are; empty for one run each.
pub(super) fn caption(runs: impl IntoIterator<Item = usize>) -> String {
    let (least, most) = runs.into_iter().fold((usize::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
    let number = if least < most { format!("{least} to {most}") } else { format!("{most}") };
    let mean = format!("Mean of {number} runs, of those that have a value at the time; the band is");
    let range = "from the smallest to the largest value";
    let interval = "its 95 % interval (Student's t)";
    match (least, most) {
        (_, 0 | 1) => String::new(),
        (_, 0..ENOUGH_RUNS) => format!("{mean} {range}."),
        (ENOUGH_RUNS.., _) => format!("{mean} {interval}."),
        _ => format!("{mean} {interval}, of fewer than {ENOUGH_RUNS} runs {range}."),
    }
}

/// The points of one metric of the same flow, subflow or link in `runs` runs, of which those with the metric are given.
/// Those of one run are its samples.
pub(super) fn merged(series: &[&Series], runs: usize) -> Vec<CurvePoint> {
    let alone = |point: &SeriesPoint| CurvePoint { x: point.time_s, y: point.value, interval: None };
    let end = |series: &&&Series| series.points().last().map_or(0.0, |point| point.time_s);
    let Some(longest) = series.iter().max_by(|a, b| end(a).total_cmp(&end(b))) else { return Vec::new() };
    if runs < 2 {
        return longest.points().iter().map(alone).collect();
    }
    let every = longest.points().len().div_ceil(MOST_POINTS).max(1);
    let times = longest.points().iter().step_by(every).map(|point| point.time_s);
    let mut points: Vec<CurvePoint> = times.filter_map(|x| at(x, series, runs)).collect();
    // Shares cannot exceed the whole, although intervals of their means may, just as whiskers end at zero.
    if longest.unit == "%" {
        points.iter_mut().filter_map(|point| point.interval.as_mut()).for_each(|(_, high)| *high = high.min(100.0));
    }
    points
}

/// The mean and the band at a time, over the runs that have begun and not ended.
fn at(x: f64, series: &[&Series], runs: usize) -> Option<CurvePoint> {
    let values: Vec<f64> = series.iter().filter_map(|series| value_at(series.points(), x)).collect();
    let range = || {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
        (values.len() > 1).then_some((low, high))
    };
    let interval = match runs {
        0..ENOUGH_RUNS => range(),
        _ => mean_interval(&values, 0.95).map(|interval| (interval.low, interval.high)),
    };
    Some(CurvePoint { x, y: mean(&values)?, interval })
}

/// The value at a time between the first and the last sample, on the straight line between its neighbours.
fn value_at(points: &[SeriesPoint], x: f64) -> Option<f64> {
    let next = points.partition_point(|point| point.time_s < x);
    let after = points.get(next)?;
    if after.time_s == x {
        return Some(after.value);
    }
    let before = &points[next.checked_sub(1)?];
    let share = (x - before.time_s) / (after.time_s - before.time_s);
    Some(before.value + share * (after.value - before.value))
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant};

    use super::*;

    /// A value each second.
    fn series(values: &[f64]) -> Series {
        let mut series = Series::new("file", "cwnd", "packets", Duration::from_secs(1));
        for (second, value) in values.iter().enumerate() {
            series.push(Instant::from_nanos(second as u64 * 1_000_000_000), *value);
        }
        series
    }

    #[test]
    fn a_single_run_is_shown_by_its_samples() {
        let points = merged(&[&series(&[1.0, 3.0])], 1);
        assert_eq!(points[1], CurvePoint { x: 1.0, y: 3.0, interval: None });
        assert_eq!(caption([1]), "");
    }

    #[test]
    fn the_band_of_a_few_runs_is_their_range_and_of_more_the_interval_of_the_mean() {
        let all = [series(&[1.0, 2.0]), series(&[3.0, 2.0]), series(&[8.0])];
        let points = merged(&all.each_ref(), 3);
        assert_eq!(points[0], CurvePoint { x: 0.0, y: 4.0, interval: Some((1.0, 8.0)) });
        assert_eq!(points[1], CurvePoint { x: 1.0, y: 2.0, interval: Some((2.0, 2.0)) }, "one run has ended");
        let all = [1.0, 2.0, 3.0, 4.0, 5.0].map(|value| series(&[value]));
        let Some((low, high)) = merged(&all.each_ref(), 5)[0].interval else { panic!("an interval") };
        // 2.776 times 1.5811 / √5.
        assert!((low - 1.037).abs() < 1e-3 && (high - 4.963).abs() < 1e-3, "{low} {high}");
        assert!(caption([5]).contains("95 %") && caption([4]).contains("smallest"));
        assert!(caption([5, 4]).ends_with(
            "the band is its 95 % interval (Student's t), of fewer than 5 runs from the smallest to the largest value."
        ));
    }

    #[test]
    fn the_interval_of_a_share_ends_at_the_whole() {
        let share = |value| {
            let mut series = Series::new("file/0", "blocking", "%", Duration::from_secs(1));
            series.push(Instant::ZERO, value);
            series
        };
        let all = [100.0, 100.0, 100.0, 100.0, 20.0].map(share);
        let Some((low, high)) = merged(&all.each_ref(), 5)[0].interval else { panic!("an interval") };
        assert!(low < 84.0 && high == 100.0, "{low} {high}");
    }

    #[test]
    fn between_samples_a_value_is_on_the_line_and_outside_there_is_none() {
        let points = series(&[1.0, 5.0]);
        let values = [-0.5, 0.0, 0.25, 1.0, 1.5].map(|x| value_at(points.points(), x));
        assert_eq!(values, [None, Some(1.0), Some(2.0), Some(5.0), None]);
    }
}
