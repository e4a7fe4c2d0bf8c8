//! The rate at which the data of a flow arrives, beside that at which it is read. Data that waits for a missing piece
//! is read at once when the piece arrives, faster than all links together could carry it.

use subflow_lab::results::{Run, Series, SeriesPoint};
use subflow_quantity::{Duration, Instant};

/// Maximum number of flows in a figure that has both of each.
const MOST_FLOWS: usize = 4;

/// What the dashed lines are.
pub(super) const CAPTION: &str = "Dashed: data that arrives for the first time. Where more is read than arrives, data \
                                  that had waited for a missing piece is read: see the reassembly queue.";

/// A series for each flow of `run` of which data has waited; none if there are many flows.
pub(super) fn arrivals(run: &Run) -> Vec<Series> {
    let of = |series: &Series, metric: &str| series.metric == metric;
    let waited = |series: &&Series| of(series, "reassembly") && series.points().iter().any(|point| point.value > 0.0);
    let read = |held: &Series| run.result.series.iter().find(|series| of(series, "goodput") && series.of == held.of);
    let all = run.result.series.iter().filter(waited).filter_map(|held| Some(arriving(read(held)?, held)));
    if run.result.flows.len() > MOST_FLOWS { Vec::new() } else { all.collect() }
}

/// What is read, and by how much more data waits: `read` is in Mbit/s over the time since its last point, `held` in kB.
fn arriving(read: &Series, held: &Series) -> Series {
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
            arriving(&read, &held).points().iter().map(|point| (point.value * 1e6).round() / 1e6).collect();
        assert_eq!(rates, [8.0; 4]);
    }
}
