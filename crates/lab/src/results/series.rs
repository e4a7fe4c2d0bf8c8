//! Metrics over time, in bounded memory.

use serde::{Deserialize, Serialize};
use subflow_quantity::{Duration, Instant};

use crate::number;

/// One metric over time.
///
/// Memory does not grow with simulated time: when there are [`Series::CAPACITY`] samples, every two are merged into
/// one, and the interval doubles. For a state (a window, a queue) the later sample is kept. For a rate the mean is
/// taken, so that the sum of the delivered data stays right ([`Series::of_rate`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The measured object: a flow, `flow/subflow`, `link.up`, `link.down` or `host.interface`.
    pub of: String,
    /// The metric: `goodput`, `cwnd`, `srtt`, `in-flight`, `queue`, …
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// Minimum distance between samples.
    #[serde(rename = "interval_s", serialize_with = "seconds", deserialize_with = "from_seconds")]
    interval: Duration,
    points: Vec<SeriesPoint>,
    /// For a rate: the sum of the samples since the last point, and their number.
    #[serde(skip)]
    pending: Option<(f64, u32)>,
    /// A sample before this time is no point of its own.
    #[serde(skip)]
    due: Instant,
}

/// Two series are equal if their points are, and what is written of them: a series that was read takes no samples.
impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        (&self.of, &self.metric, &self.unit, self.interval) == (&other.of, &other.metric, &other.unit, other.interval)
            && self.points == other.points
    }
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Time in seconds since the run began.
    #[serde(rename = "t", serialize_with = "number::serialize")]
    pub time_s: f64,
    /// Value.
    #[serde(rename = "v", serialize_with = "number::serialize")]
    pub value: f64,
}

fn seconds<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    number::serialize(&span.as_secs_f64(), serializer)
}

/// Nanoseconds are exact up to 2⁵³ of them, 104 days; a longer interval is rounded to its microsecond.
fn from_seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    match (0.0..=1e9).contains(&seconds) {
        true => Ok(Duration::from_nanos((seconds * 1e9).round() as u64)),
        false => Err(serde::de::Error::custom("found an interval out of bounds")),
    }
}

impl Series {
    /// Maximum number of samples that are kept.
    pub const CAPACITY: usize = 2048;
    /// The number of samples for which there is room at first.
    const FIRST: usize = 64;

    /// An empty series with `interval` between samples.
    pub fn new(of: impl Into<String>, metric: &str, unit: &str, interval: Duration) -> Self {
        let (metric, unit) = (metric.into(), unit.into());
        Self { of: of.into(), metric, unit, interval, points: Vec::new(), pending: None, due: Instant::ZERO }
    }

    /// Makes it the series of a rate: each sample is the mean since the previous one, or since time zero.
    #[must_use]
    pub fn of_rate(self) -> Self {
        Self { pending: Some((0.0, 0)), due: Instant::ZERO + self.interval, ..self }
    }

    /// Adds a sample. If it comes less than the interval after the last one, a state ignores it and a rate includes it
    /// in the next mean. Times must not decrease.
    #[inline]
    pub fn push(&mut self, at: Instant, value: f64) {
        self.push_at(at, at.as_secs_f64(), value);
    }

    /// The same, with the time also in seconds: many series have a sample at one time.
    #[inline]
    pub(crate) fn push_at(&mut self, at: Instant, time_s: f64, value: f64) {
        if let Some((sum, count)) = &mut self.pending {
            *sum += value;
            *count += 1;
        }
        if at < self.due {
            return;
        }
        if self.points.len() == Self::CAPACITY {
            // The interval doubles, so this sample is no longer due: it is the first of two, and the later is kept.
            self.due = self.due.saturating_add(self.interval);
            return self.thin_out();
        }
        self.due = at.saturating_add(self.interval);
        let value = match &mut self.pending {
            None => value,
            Some(pending) => {
                let (sum, count) = core::mem::take(pending);
                sum / f64::from(count)
            }
        };
        if self.points.len() == self.points.capacity() {
            self.grow();
        }
        self.points.push(SeriesPoint { time_s, value });
    }

    /// Makes room for four times as many points: there are many series, and each is copied less often.
    #[cold]
    fn grow(&mut self) {
        let more = (3 * self.points.len()).max(Self::FIRST).min(Self::CAPACITY - self.points.len());
        self.points.reserve_exact(more);
    }

    /// Merges every two points into one.
    fn thin_out(&mut self) {
        let is_rate = self.pending.is_some();
        let one = |pair: &[SeriesPoint]| {
            let latter = pair[pair.len() - 1];
            let mean = pair.iter().map(|point| point.value).sum::<f64>() / pair.len() as f64;
            SeriesPoint { value: if is_rate { mean } else { latter.value }, ..latter }
        };
        self.points = self.points.chunks(2).map(one).collect();
        self.interval = self.interval.saturating_mul(2);
    }

    /// The samples in the order of time.
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
    fn samples_closer_than_the_interval_are_ignored() {
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

    #[test]
    fn merging_the_samples_of_a_rate_keeps_the_sum_of_the_delivered_data() {
        let mut rate = Series::new("album", "goodput", "Mbit/s", Duration::from_millis(100)).of_rate();
        // 10 Mbit/s in one tenth of a second, none in the next.
        for n in 1..=40_000u64 {
            rate.push(Instant::from_nanos(n * 100_000_000), if n % 2 == 0 { 0.0 } else { 10.0 });
        }
        assert!(rate.points().len() > Series::CAPACITY / 2);
        assert!(rate.points().iter().all(|point| point.value == 5.0), "{:?}", &rate.points()[..4]);
        let gaps = rate.points().windows(2).map(|pair| pair[1].time_s - pair[0].time_s);
        assert!(gaps.into_iter().all(|gap| (gap - 3.2).abs() < 1e-6), "evenly spaced");
    }
}
