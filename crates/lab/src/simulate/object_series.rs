//! The metrics over time of one object. Samples come often: a metric is found by its number, not by its name.

use subflow_quantity::{Duration, Instant};

use crate::results::Series;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Bandwidth,
    Blocking,
    Cwnd,
    Delay,
    FlightSize,
    Goodput,
    InFlight,
    MinRtt,
    Outstanding,
    PacingRate,
    Power,
    Queue,
    Reassembly,
    ReassemblyDelay,
    ReceiveWindow,
    Reinjected,
    Sequence,
    Srtt,
    Ssthresh,
}

/// The number of metrics.
const METRICS: usize = Metric::Ssthresh as usize + 1;
/// The place of a series that was not made yet.
const NONE: u8 = u8::MAX;

impl Metric {
    const ALL: [Self; METRICS] = [
        Self::Bandwidth,
        Self::Blocking,
        Self::Cwnd,
        Self::Delay,
        Self::FlightSize,
        Self::Goodput,
        Self::InFlight,
        Self::MinRtt,
        Self::Outstanding,
        Self::PacingRate,
        Self::Power,
        Self::Queue,
        Self::Reassembly,
        Self::ReassemblyDelay,
        Self::ReceiveWindow,
        Self::Reinjected,
        Self::Sequence,
        Self::Srtt,
        Self::Ssthresh,
    ];

    const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether only data that is read since the last sample has it.
    fn is_of_data_read(self) -> bool {
        matches!(self, Self::Delay | Self::ReassemblyDelay)
    }

    /// Its name and unit in results, and whether it is a mean since the last sample.
    fn described(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Bandwidth => ("bandwidth", "Mbit/s", false),
            Self::Blocking => ("blocking", "%", true),
            Self::Cwnd => ("cwnd", "packets", false),
            Self::Delay => ("delay", "ms", false),
            Self::FlightSize => ("flight-size", "kB", false),
            Self::Goodput => ("goodput", "Mbit/s", true),
            Self::InFlight => ("in-flight", "packets", false),
            Self::MinRtt => ("min-rtt", "ms", false),
            Self::Outstanding => ("outstanding", "kB", false),
            Self::PacingRate => ("pacing-rate", "Mbit/s", false),
            Self::Power => ("power", "mW", true),
            Self::Queue => ("queue", "packets", false),
            Self::Reassembly => ("reassembly", "kB", false),
            Self::ReassemblyDelay => ("reassembly-delay", "ms", false),
            Self::ReceiveWindow => ("receive-window", "kB", false),
            Self::Reinjected => ("reinjected", "Mbit/s", true),
            Self::Sequence => ("sequence", "MB", false),
            Self::Srtt => ("srtt", "ms", false),
            Self::Ssthresh => ("ssthresh", "packets", false),
        }
    }
}

/// The names of all metrics over time that a simulated run may have.
pub fn series_metrics() -> Vec<&'static str> {
    Metric::ALL.into_iter().map(|metric| metric.described().0).collect()
}

/// When a sample is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// The same in seconds.
    pub(crate) now_s: f64,
    /// The time since the last sample.
    pub(crate) span: Duration,
    /// The time between samples.
    pub(crate) interval: Duration,
}

/// The series of one object, each made at its first sample.
#[derive(Clone, Debug)]
pub(crate) struct ObjectSeries {
    of: String,
    series: Vec<Series>,
    /// By metric, its place among the series.
    places: [u8; METRICS],
    /// By metric, the latest sample.
    latest: [f64; METRICS],
    /// The metrics of the latest sample, each a bit.
    sampled: u32,
}

impl ObjectSeries {
    /// No series yet of the object that results call `of`.
    pub(crate) fn new(of: impl Into<String>) -> Self {
        Self { of: of.into(), series: Vec::new(), places: [NONE; METRICS], latest: [0.0; METRICS], sampled: 0 }
    }

    /// What results call the object.
    pub(crate) fn of(&self) -> &str {
        &self.of
    }

    /// Begins a sample.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.sampled = 0;
    }

    /// Adds a sample at each of these times, at which nothing has changed since the latest sample.
    pub(super) fn repeat(&mut self, times: &[Moment]) {
        for metric in Metric::ALL {
            if self.sampled & metric.bit() == 0 || metric.is_of_data_read() {
                continue;
            }
            let series = &mut self.series[usize::from(self.places[metric as usize])];
            let value = if metric.described().2 { 0.0 } else { self.latest[metric as usize] };
            times.iter().for_each(|at| series.push_at(at.now, at.now_s, value));
        }
    }

    /// Adds a sample.
    #[inline]
    pub(crate) fn push(&mut self, metric: Metric, at: &Moment, value: f64) {
        self.latest[metric as usize] = value;
        self.sampled |= metric.bit();
        let place = self.places[metric as usize];
        let series = match self.series.get_mut(usize::from(place)) {
            Some(series) => series,
            None => self.add(metric, at.interval),
        };
        series.push_at(at.now, at.now_s, value);
    }

    #[cold]
    fn add(&mut self, metric: Metric, interval: Duration) -> &mut Series {
        let (name, unit, is_mean) = metric.described();
        let series = match is_mean {
            true => Series::new(&self.of, name, unit, mean_interval(interval)).of_rate(),
            false => Series::new(&self.of, name, unit, interval),
        };
        let place = self.series.len();
        self.places[metric as usize] = place as u8;
        self.series.push(series);
        &mut self.series[place]
    }

    /// The series in the order of their metrics' names.
    pub(crate) fn into_series(mut self) -> Vec<Series> {
        self.series.sort_by(|one, other| one.metric.cmp(&other.metric));
        self.series
    }
}

/// The interval of means. Over a few milliseconds a rate depends on single packets and on holes that are just filled.
/// Therefore, with intervals of up to 100 ms, a point is the mean over five samples.
fn mean_interval(interval: Duration) -> Duration {
    interval.saturating_mul(5).min(Duration::from_millis(100)).max(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_in_the_order_of_their_names_whatever_was_sampled_first() {
        let mut object = ObjectSeries::new("file");
        let (now, interval) = (Instant::from_nanos(50_000_000), Duration::from_millis(10));
        let at = Moment { now, now_s: now.as_secs_f64(), span: interval, interval };
        for metric in [Metric::Srtt, Metric::Cwnd, Metric::Goodput, Metric::Srtt] {
            object.push(metric, &at, 1.0);
        }
        let names: Vec<String> = object.into_series().into_iter().map(|series| series.metric).collect();
        assert_eq!(names, ["cwnd", "goodput", "srtt"]);
    }
}
