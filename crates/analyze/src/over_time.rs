//! Metrics of one direction over time, in intervals that grow with the duration, so that memory is bounded; and the
//! connections with most data, of which a report has figures.

use subflow_lab::results::Series;
use subflow_quantity::{Duration, Instant};

/// The first length of an interval, in nanoseconds.
const SHORTEST: u64 = 100_000_000;
/// When there are as many intervals, two become one.
const MOST: usize = 2048;

/// Sums and last values by interval, since the first packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverTime {
    origin: Option<u64>,
    doublings: u32,
    intervals: Vec<Interval>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    sent: u64,
    acknowledged: u64,
    most_in_flight: u64,
    largest_window: u64,
    round_trips: u64,
    round_trip_sum: u64,
}

impl OverTime {
    pub(crate) fn sent(&mut self, time: u64, bytes: u64) {
        self.interval(time).sent += bytes;
    }

    pub(crate) fn acknowledged(&mut self, time: u64, bytes: u64) {
        self.interval(time).acknowledged += bytes;
    }

    pub(crate) fn in_flight(&mut self, time: u64, bytes: u64) {
        let interval = self.interval(time);
        interval.most_in_flight = interval.most_in_flight.max(bytes);
    }

    /// An estimate of the congestion window.
    pub(crate) fn window(&mut self, time: u64, bytes: u64) {
        let interval = self.interval(time);
        interval.largest_window = interval.largest_window.max(bytes);
    }

    pub(crate) fn round_trip(&mut self, time: u64, sample: u64) {
        let interval = self.interval(time);
        interval.round_trips += 1;
        interval.round_trip_sum += sample;
    }

    fn length(&self) -> u64 {
        SHORTEST << self.doublings
    }

    fn interval(&mut self, time: u64) -> &mut Interval {
        let origin = *self.origin.get_or_insert(time);
        let passed = time.saturating_sub(origin);
        while passed / self.length() >= MOST as u64 {
            self.halve();
        }
        let index = (passed / self.length()) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        &mut self.intervals[index]
    }

    /// Makes one interval of each two.
    fn halve(&mut self) {
        let joined =
            self.intervals.chunks(2).map(|pair| pair.iter().copied().reduce(Interval::and).unwrap_or_default());
        self.intervals = joined.collect();
        self.doublings += 1;
    }

    /// The metrics, each with the title of its figure; times are in seconds since `start`.
    pub(crate) fn series(&self, name: &str, start: u64) -> Vec<(&'static str, Series)> {
        let Some(origin) = self.origin else { return Vec::new() };
        let seconds = self.length() as f64 / 1e9;
        let begin = origin.saturating_sub(start);
        let of = |metric: &str, unit: &str, value: &dyn Fn(&Interval) -> Option<f64>| {
            let mut series = Series::new(name, metric, unit, Duration::from_nanos(1));
            for (index, interval) in self.intervals.iter().enumerate() {
                // The last interval may end beyond what times count, in 584 years.
                let end = begin.saturating_add((index as u64 + 1).saturating_mul(self.length()));
                if let Some(value) = value(interval) {
                    series.push(Instant::ZERO + Duration::from_nanos(end), value);
                }
            }
            series
        };
        let has_acknowledgments = self.intervals.iter().any(|it| it.acknowledged > 0);
        let rate = |bytes: u64| bytes as f64 * 8.0 / 1e6 / seconds;
        vec![
            ("Sending rate", of("sending rate", "Mbit/s", &|it| Some(rate(it.sent)))),
            ("Acknowledged", of("acknowledged", "Mbit/s", &|it| has_acknowledgments.then(|| rate(it.acknowledged)))),
            (
                "Bytes in flight",
                of("in flight", "kB", &|it| (it.most_in_flight > 0).then_some(it.most_in_flight as f64 / 1e3)),
            ),
            (
                "Congestion window, estimated",
                of("window", "kB", &|it| (it.largest_window > 0).then_some(it.largest_window as f64 / 1e3)),
            ),
            (
                "Round-trip time",
                of("round-trip time", "ms", &|it| {
                    (it.round_trips > 0).then(|| it.round_trip_sum as f64 / it.round_trips as f64 / 1e6)
                }),
            ),
        ]
    }
}

impl Interval {
    fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            acknowledged: self.acknowledged + other.acknowledged,
            most_in_flight: self.most_in_flight.max(other.most_in_flight),
            largest_window: self.largest_window.max(other.largest_window),
            round_trips: self.round_trips + other.round_trips,
            round_trip_sum: self.round_trip_sum + other.round_trip_sum,
        }
    }
}

/// Connections with figures in a report, at most: the longest by bytes.
pub(crate) const MOST_SHOWN: usize = 20;

/// The metrics over time of the connections with most data.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connections: Vec<SeenConnection>,
    pub(crate) left_out: usize,
}

/// What one end of a subflow sent over time: its name, and the metrics with the titles of their figures.
pub(crate) type Curves = (String, Vec<(&'static str, Series)>);

/// A connection and what its subflows' ends sent over time.
#[derive(Debug)]
pub(crate) struct SeenConnection {
    pub(crate) number: usize,
    pub(crate) title: String,
    pub(crate) bytes: u64,
    pub(crate) curves: Vec<Curves>,
}

impl SeenConnection {
    /// `bytes` is its data in both directions.
    pub(crate) fn new(number: usize, title: String, bytes: u64, curves: Vec<Curves>) -> Self {
        Self { number, title, bytes, curves }
    }
}

impl Seen {
    pub(crate) fn add(&mut self, connection: SeenConnection) {
        self.connections.push(connection);
        if self.connections.len() > MOST_SHOWN {
            let least = self.connections.iter().enumerate().min_by_key(|(_, it)| it.bytes).map(|(at, _)| at);
            least.map(|at| self.connections.remove(at));
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_takes_no_more_intervals() {
        let mut over_time = OverTime::default();
        for second in 0..10_000 {
            over_time.sent(second * 1_000_000_000, 125_000);
        }
        assert!(over_time.intervals.len() <= MOST);
        assert_eq!(over_time.intervals.iter().map(|it| it.sent).sum::<u64>(), 1_250_000_000);
    }

    #[test]
    fn the_connections_with_most_data_are_kept() {
        let mut seen = Seen::default();
        for number in 0..50 {
            seen.add(SeenConnection::new(number, String::new(), (number as u64 * 37) % 50, Vec::new()));
        }
        let least = seen.connections.iter().map(|connection| connection.bytes).min();
        assert_eq!((seen.connections.len(), seen.left_out, least), (MOST_SHOWN, 30, Some(30)));
    }
}
