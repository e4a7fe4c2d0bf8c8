//! Capacity traces in the mahimahi format.

use std::sync::Arc;

use subflow_quantity::{Duration, Instant};

/// Bytes per delivery opportunity (mahimahi: one MTU-sized packet).
const OPPORTUNITY_BYTES: u32 = 1500;
const NANOS_PER_MILLISECOND: u64 = 1_000_000;
/// The latest time of an opportunity: longer than any run, and still representable in nanoseconds.
const LATEST_MILLISECOND: u64 = 1_000_000_000_000;

/// Delivery opportunities over time, repeated without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityTrace {
    /// Their times within a period, in milliseconds. Never decreasing; the last one is the period and not zero.
    milliseconds: Vec<u64>,
}

/// An error in a trace. The caller that read the file adds its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: usize,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl TraceError {
    pub(crate) fn new(line: usize, expected: impl Into<String>, found: String) -> Self {
        Self { line, expected: expected.into(), found }
    }
}

impl CapacityTrace {
    /// Parses a trace: one line per opportunity to send 1500 bytes, with its time in whole milliseconds, never
    /// decreasing. The last time is the trace's period; `#` begins a comment. A file without a line break at its end is rejected as
    /// truncated.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        const EXPECTED: &str = "a time in whole milliseconds";
        let mut milliseconds: Vec<u64> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let time = line.split('#').next().unwrap_or_default().trim();
            if time.is_empty() && line.contains('#') {
                continue;
            }
            let time: u64 = time.parse().map_err(|_| {
                let found = if time.is_empty() { "an empty line".into() } else { format!("'{time}'") };
                TraceError::new(number + 1, EXPECTED, found)
            })?;
            if time > LATEST_MILLISECOND {
                let expected = format!("a time of at most {LATEST_MILLISECOND} ms, 31 years");
                return Err(TraceError::new(number + 1, expected, format!("{time} ms")));
            }
            if let Some(&last) = milliseconds.last()
                && time < last
            {
                let expected = format!("a time not before the {last} ms of the line above");
                return Err(TraceError::new(number + 1, expected, format!("{time} ms")));
            }
            milliseconds.push(time);
        }
        match milliseconds.last() {
            None => Err(TraceError::new(1, EXPECTED, "an empty file".into())),
            Some(_) if !text.ends_with('\n') => {
                let found = "the end of the file (is it truncated?)".into();
                Err(TraceError::new(milliseconds.len(), "a line break after the last time", found))
            }
            Some(0) => {
                let expected = "a last time after 0 ms, because it is the trace's period";
                Err(TraceError::new(milliseconds.len(), expected, "0 ms".into()))
            }
            Some(_) => Ok(Self { milliseconds }),
        }
    }

    /// The period after which the trace repeats.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_milliseconds())
    }

    /// The time of the first opportunity.
    pub fn first(&self) -> Duration {
        Duration::from_millis(self.milliseconds[0])
    }

    /// Mean capacity in bits per second.
    pub fn mean_bits_per_second(&self) -> f64 {
        (self.milliseconds.len() as f64) * f64::from(OPPORTUNITY_BYTES) * 8.0 / self.period().as_secs_f64()
    }

    fn period_milliseconds(&self) -> u64 {
        self.milliseconds[self.milliseconds.len() - 1]
    }
}

/// The position in a trace up to which opportunities are used.
///
/// As in mahimahi, packets share an opportunity while it has bytes left, a packet that does not fit continues in the
/// next one, and an opportunity without a packet is lost. A packet leaves at the time of the opportunity that carries
/// its last byte.
#[derive(Debug)]
pub(crate) struct TraceCursor {
    trace: Arc<CapacityTrace>,
    /// Complete periods before the current opportunity.
    period: u64,
    /// The current opportunity.
    next: usize,
    /// Its remaining bytes.
    bytes_left: u32,
}

impl TraceCursor {
    pub(crate) fn new(trace: Arc<CapacityTrace>) -> Self {
        Self { trace, period: 0, next: 0, bytes_left: OPPORTUNITY_BYTES }
    }

    pub(crate) fn trace(&self) -> &CapacityTrace {
        &self.trace
    }

    /// The first opportunity at or after `from` that has bytes left. `from` never decreases.
    pub(crate) fn next_opportunity(&mut self, from: Instant) -> Instant {
        self.skip_until(from);
        if self.bytes_left == 0 {
            self.step();
        }
        self.time()
    }

    /// The departure time of a packet of `bytes` that is at the head of the queue from `start` on. `start` never
    /// decreases.
    pub(crate) fn departure(&mut self, start: Instant, bytes: u32) -> Instant {
        self.skip_until(start);
        let mut bytes = bytes;
        while bytes > self.bytes_left {
            bytes -= self.bytes_left;
            self.step();
        }
        self.bytes_left -= bytes;
        self.time()
    }

    /// Skips opportunities before `start`.
    fn skip_until(&mut self, start: Instant) {
        if self.time() >= start {
            return;
        }
        let milliseconds = start.as_nanos().div_ceil(NANOS_PER_MILLISECOND);
        let length = self.trace.period_milliseconds();
        // The last opportunity of a period is at its end, so the end belongs to the period.
        self.period = milliseconds.saturating_sub(1) / length;
        let within = milliseconds - self.period * length;
        self.next = self.trace.milliseconds.partition_point(|&time| time < within);
        self.bytes_left = OPPORTUNITY_BYTES;
    }

    fn step(&mut self) {
        self.next += 1;
        if self.next == self.trace.milliseconds.len() {
            self.next = 0;
            self.period += 1;
        }
        self.bytes_left = OPPORTUNITY_BYTES;
    }

    fn time(&self) -> Instant {
        // A packet that would depart after the end of the clock never departs.
        let periods = self.period.saturating_mul(self.trace.period_milliseconds());
        let milliseconds = periods.saturating_add(self.trace.milliseconds[self.next]);
        Instant::from_nanos(milliseconds.saturating_mul(NANOS_PER_MILLISECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> TraceCursor {
        TraceCursor::new(Arc::new(CapacityTrace::parse(text).unwrap()))
    }

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    #[test]
    fn each_full_packet_takes_one_opportunity() {
        let mut cursor = cursor("1\n1\n4\n10\n");
        let departures: Vec<Instant> = (0..6).map(|_| cursor.departure(Instant::ZERO, 1500)).collect();
        assert_eq!(departures, [at(1), at(1), at(4), at(10), at(11), at(11)]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_continue_in_the_next() {
        let mut cursor = cursor("1\n2\n3\n");
        let departures: Vec<Instant> = [750, 700, 100, 1450].map(|bytes| cursor.departure(at(0), bytes)).into();
        assert_eq!(departures, [at(1), at(1), at(2), at(2)]);
        assert_eq!(cursor.departure(at(0), 2000), at(4), "500 bytes of it do not fit at 3 ms");
    }

    #[test]
    fn a_packet_queued_for_centuries_never_departs() {
        let mut cursor = cursor("1000000000000\n");
        let last = (0..20).map(|_| cursor.departure(at(0), 1500)).last();
        assert_eq!(last, Some(Instant::MAX));
    }

    #[test]
    fn unused_opportunities_are_lost() {
        let mut cursor = cursor("1\n5\n10\n");
        assert_eq!(cursor.departure(Instant::from_nanos(1_000_001), 100), at(5));
        assert_eq!(cursor.departure(at(5), 100), at(5), "an opportunity at `start` is used");
        assert_eq!(cursor.departure(at(10), 100), at(10));
        assert_eq!(cursor.departure(Instant::from_nanos(10_000_001), 100), at(11));
        assert_eq!(cursor.departure(at(1006), 1500), at(1010));
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let message = |text| CapacityTrace::parse(text).unwrap_err().to_string();
        assert_eq!(message(""), "line 1: expected a time in whole milliseconds, found an empty file");
        assert_eq!(message("1\n2.5\n"), "line 2: expected a time in whole milliseconds, found '2.5'");
        assert_eq!(message("1\n\n2\n"), "line 2: expected a time in whole milliseconds, found an empty line");
        assert_eq!(message("1\n7\n3\n"), "line 3: expected a time not before the 7 ms of the line above, found 3 ms");
        assert_eq!(
            message("1\n7"),
            "line 2: expected a line break after the last time, found the end of the file (is it truncated?)"
        );
        assert_eq!(
            message("1\n18446744073709551615\n"),
            "line 2: expected a time of at most 1000000000000 ms, 31 years, found 18446744073709551615 ms"
        );
        assert_eq!(
            message("0\n0\n"),
            "line 2: expected a last time after 0 ms, because it is the trace's period, found 0 ms"
        );
    }

    #[test]
    fn comments_say_nothing() {
        assert_eq!(CapacityTrace::parse("# a walk\n5 # first\n10\n"), CapacityTrace::parse("5\n10\n"));
    }

    #[test]
    fn the_mean_rate_is_that_of_all_opportunities() {
        let trace = CapacityTrace::parse("5\n10\n").unwrap();
        assert_eq!(trace.mean_bits_per_second(), 2.4e6);
    }
}
