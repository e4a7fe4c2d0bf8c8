//! Metrics of one direction over time, in intervals that grow with the duration, so that memory is bounded; and the
//! connections with most data, of which a report has figures.

use subflow_lab::results::Series;
use subflow_quantity::{Duration, Instant};

/// The first length of an interval, in nanoseconds.
const SHORTEST: u64 = 100_000_000;
/// When there are as many intervals, two become one.
const MOST: usize = 2048;

/// Sums and last values by interval, since the first packet. An interval without packets takes no memory: there may be
/// many connections that pause.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverTime {
    origin: Option<u64>,
    doublings: u32,
    /// Those with packets, by their rising numbers.
    intervals: Vec<(u32, Interval)>,
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
        let number = (passed / self.length()) as u32;
        // Nearly always the last one, or the next.
        let at = match self.intervals.last() {
            Some(&(last, _)) if last == number => Ok(self.intervals.len() - 1),
            Some(&(last, _)) if last > number => self.intervals.binary_search_by_key(&number, |&(number, _)| number),
            _ => Err(self.intervals.len()),
        };
        let at = at.unwrap_or_else(|at| {
            if self.intervals.is_empty() {
                // Many ends send a single packet.
                self.intervals.reserve_exact(1);
            }
            self.intervals.insert(at, (number, Interval::default()));
            at
        });
        &mut self.intervals[at].1
    }

    /// Makes one interval of each two.
    fn halve(&mut self) {
        self.intervals.iter_mut().for_each(|(number, _)| *number /= 2);
        self.intervals.dedup_by(|(number, interval), (before, joined)| {
            let is_same = number == before;
            if is_same {
                *joined = joined.and(*interval);
            }
            is_same
        });
        self.doublings += 1;
    }

    /// All intervals up to the last one with packets.
    fn all(&self) -> Vec<Interval> {
        let mut all = vec![Interval::default(); self.intervals.last().map_or(0, |&(last, _)| last as usize + 1)];
        self.intervals.iter().for_each(|&(number, interval)| all[number as usize] = interval);
        all
    }

    /// The metrics, each with the title of its figure; times are in seconds since `start`.
    pub(crate) fn series(&self, name: &str, start: u64) -> Vec<(&'static str, Series)> {
        let Some(origin) = self.origin else { return Vec::new() };
        let seconds = self.length() as f64 / 1e9;
        let begin = origin.saturating_sub(start);
        let intervals = self.all();
        let of = |metric: &str, unit: &str, value: &dyn Fn(&Interval) -> Option<f64>| {
            let mut series = Series::new(name, metric, unit, Duration::from_nanos(1));
            for (index, interval) in intervals.iter().enumerate() {
                // The last interval may end beyond what times count, in 584 years.
                let end = begin.saturating_add((index as u64 + 1).saturating_mul(self.length()));
                if let Some(value) = value(interval) {
                    series.push(Instant::ZERO + Duration::from_nanos(end), value);
                }
            }
            series
        };
        let has_acknowledgments = intervals.iter().any(|it| it.acknowledged > 0);
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

/// What one end of a subflow sent over time, with its name.
pub(crate) type Sent<'a> = (String, &'a OverTime);

/// The same for a report: its name, and the metrics with the titles of their figures.
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
    /// Adds a connection with so much data if it is one of those with most; of equal ones the first stay.
    pub(crate) fn add(&mut self, bytes: u64, connection: impl FnOnce() -> SeenConnection) {
        if self.connections.len() == MOST_SHOWN {
            self.left_out += 1;
            let least = self.connections.iter().enumerate().rev().min_by_key(|(_, it)| it.bytes);
            match least {
                Some((at, it)) if it.bytes < bytes => drop(self.connections.remove(at)),
                _ => return,
            }
        }
        self.connections.push(connection());
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
        assert!(over_time.all().len() <= MOST);
        assert_eq!(over_time.all().iter().map(|it| it.sent).sum::<u64>(), 1_250_000_000);
    }

    #[test]
    fn a_pause_takes_no_memory_and_is_in_the_series() {
        let mut over_time = OverTime::default();
        for time in [0, 100_000_000_000, 50_000_000_000, 50_000_000_001] {
            over_time.sent(time, 1000);
        }
        assert_eq!((over_time.intervals.len(), over_time.all().len()), (3, 1001));
        let series = over_time.series("a", 0);
        let rates: Vec<f64> = series[0].1.points().iter().map(|point| point.value).collect();
        assert_eq!((rates.len(), rates[0], rates[1], rates[500], rates[1000]), (1001, 0.08, 0.0, 0.16, 0.08));
    }

    #[test]
    fn the_connections_with_most_data_are_kept_and_of_equal_ones_the_first() {
        let mut seen = Seen::default();
        for number in 0..100 {
            let bytes = (number as u64 % 50 * 37) % 50;
            seen.add(bytes, || SeenConnection::new(number, String::new(), bytes, Vec::new()));
        }
        let kept = |it: &SeenConnection| (it.bytes, it.number < 50);
        let mut kept: Vec<(u64, bool)> = seen.connections.iter().map(kept).collect();
        kept.sort_unstable();
        assert_eq!((kept.len(), kept[0], kept[1], seen.left_out), (MOST_SHOWN, (40, false), (40, true), 80));
        seen.add(40, || panic!("it has no more data than the least"));
    }
}
