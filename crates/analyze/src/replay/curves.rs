//! What the connections of an address show over time.

use std::collections::BTreeMap;

use subflow_lab::results::Series;

use super::changes::{INTERVAL_S, OverTime};
use super::links::Shown;

/// What the connections of an address show over time, those with figures over time.
pub(super) struct Curves {
    /// Acknowledged data in Mbit/s, of the intervals in which there was any.
    pub(super) rates: Vec<f64>,
    /// Round-trip times in ms.
    pub(super) round_trips: Vec<f64>,
    pub(super) over_time: OverTime,
}

impl Curves {
    /// Of the direction with most data: sums of all its connections in each interval.
    pub(super) fn of(shown: &Shown<'_>) -> Self {
        let mut both = [OverTime::default(), OverTime::default()];
        let mut round_trips = [Vec::new(), Vec::new()];
        for (direction, curves) in shown.curves.iter().enumerate() {
            let over_time = &mut both[direction];
            for (title, series) in curves.iter().copied().flatten() {
                match *title {
                    "Acknowledged" => add(&mut over_time.acknowledged, series),
                    "Sending rate" => add(&mut over_time.sent, series),
                    "Round-trip time" => {
                        round_trips[direction].extend(series.points().iter().map(|point| point.value));
                        for point in series.points() {
                            let (sum, count) = over_time.round_trips.entry(interval_before(point.time_s)).or_default();
                            *sum += point.value;
                            *count += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        let total = |direction: usize| both[direction].acknowledged.values().sum::<f64>();
        let direction = usize::from(total(1) > total(0));
        let over_time = core::mem::take(&mut both[direction]);
        let rates = over_time.acknowledged.values().copied().filter(|mbit| *mbit > 0.0).collect();
        Self { rates, round_trips: core::mem::take(&mut round_trips[direction]), over_time }
    }
}

/// The interval that ends at a time.
fn interval_before(seconds: f64) -> u64 {
    ((seconds / INTERVAL_S).round() as u64).saturating_sub(1)
}

/// Adds a rate over time to the sums of intervals, by the interval in which each point ends. Points of long captures are
/// farther apart: each counts for all intervals since the one before.
fn add(sums: &mut BTreeMap<u64, f64>, series: &Series) {
    let interval = |seconds: f64| (seconds / INTERVAL_S).round() as u64;
    let mut before = None;
    for point in series.points() {
        let end = interval(point.time_s);
        let begin = before.unwrap_or(end.saturating_sub(1)).max(end.saturating_sub(1000));
        for at in begin..end {
            *sums.entry(at).or_insert(0.0) += point.value;
        }
        before = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::*;

    #[test]
    fn points_of_several_connections_are_summed_up_by_interval() {
        let series = |points: &[(f64, f64)]| {
            let mut series = Series::new("x", "acknowledged", "Mbit/s", Duration::from_nanos(1));
            for (seconds, value) in points {
                series.push(subflow_quantity::Instant::from_nanos((seconds * 1e9) as u64), *value);
            }
            series
        };
        let mut sums = BTreeMap::new();
        add(&mut sums, &series(&[(0.1, 5.0), (0.2, 7.0)]));
        add(&mut sums, &series(&[(0.2, 1.0), (0.4, 2.0)]));
        assert_eq!(sums.into_iter().collect::<Vec<_>>(), [(0, 5.0), (1, 8.0), (2, 2.0), (3, 2.0)]);
    }
}
