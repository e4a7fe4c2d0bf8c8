//! Metrics over time, in bounded memory.

use serde::Serialize;
use subflow_quantity::{Duration, Instant};

use super::number;

/// One metric of one thing over time.
///
/// Memory does not grow with simulated time: when [`Series::CAPACITY`] samples are full, every second one is dropped and
/// from then on only every second one is taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What it is of: a flow, `flow/subflow`, or `link.up` and `link.down`.
    pub of: String,
    /// What it counts: `goodput`, `cwnd`, `srtt`, `in-flight`, `queue`, …
    pub metric: String,
    /// In which unit.
    pub unit: String,
    /// How far apart samples lie, at least.
    #[serde(rename = "interval_s", serialize_with = "seconds")]
    interval: Duration,
    points: Vec<SeriesPoint>,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// When, in seconds since the run began.
    #[serde(rename = "t", serialize_with = "number::serialize")]
    pub time_s: f64,
    /// How much.
    #[serde(rename = "v", serialize_with = "number::serialize")]
    pub value: f64,
}

fn seconds<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    number::serialize(&span.as_secs_f64(), serializer)
}

impl Series {
    /// Most samples that are kept.
    pub const CAPACITY: usize = 2048;

    /// An empty series whose samples lie `interval` apart.
    pub fn new(of: impl Into<String>, metric: &str, unit: &str, interval: Duration) -> Self {
        Self { of: of.into(), metric: metric.into(), unit: unit.into(), interval, points: Vec::new() }
    }

    /// Takes a sample, unless the last one is less than the interval ago. Times never fall.
    pub fn push(&mut self, at: Instant, value: f64) {
        let due = self.points.last().is_none_or(|last| {
            // Half a nanosecond of tolerance: sample times come from whole nanoseconds.
            at.as_secs_f64() - last.time_s >= self.interval.as_secs_f64() - 5e-10
        });
        if !due {
            return;
        }
        if self.points.len() == Self::CAPACITY {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.interval = self.interval.saturating_mul(2);
        }
        self.points.push(SeriesPoint { time_s: at.as_secs_f64(), value });
    }

    /// The samples, by time.
    pub fn points(&self) -> &[SeriesPoint] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(samples: u64) -> Series {
        let mut series = Series::new("album", "cwnd", "packets", Duration::from_millis(100));
        for n in 0..samples {
            series.push(Instant::from_nanos(n * 100_000_000), n as f64);
        }
        series
    }

    #[test]
    fn samples_closer_than_the_interval_are_left_out() {
        let mut series = filled(2);
        series.push(Instant::from_nanos(150_000_000), 9.0);
        assert_eq!(series.points().len(), 2);
    }

    #[test]
    fn a_long_run_takes_no_more_memory_than_a_short_one() {
        let series = filled(1_000_000);
        assert!(series.points().len() <= Series::CAPACITY);
        assert!(series.points().len() >= Series::CAPACITY / 2);
        assert!(series.points().windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
        assert!(series.points().last().expect("samples").time_s > 99_000.0, "the end of the run is covered");
    }
}
