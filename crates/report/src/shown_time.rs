//! How much of runs figures over time show: all of it or, if nothing happens in its second half, what is before. A
//! transfer of 2 s in a run of 30 s would otherwise fill a fifteenth of a figure.

use subflow_lab::results::Run;

use super::figure::{Axis, Curve, Reference};

/// The metrics of which one is not zero as long as data is sent, waits, or is read.
const ACTIVITY: [&str; 4] = ["flight-size", "goodput", "outstanding", "queue"];
/// The part of a run that has to be quiet.
const QUIET: f64 = 0.5;
/// What is shown beyond the last activity, as a factor.
const MARGIN: f64 = 1.05;

/// The time that the figures of some runs show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShownTime {
    until: f64,
    /// The simulated time of the longest run.
    duration: f64,
}

impl ShownTime {
    /// That of figures of `runs`.
    pub(super) fn of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Self {
        let ends = runs.into_iter().map(|run| (run.result.duration_s, last_activity(run)));
        let (duration, last) =
            ends.fold((0.0, 0.0), |(duration, last): (f64, f64), one| (duration.max(one.0), last.max(one.1)));
        let until = rounded_up(last * MARGIN);
        Self { until: if last > 0.0 && until <= QUIET * duration { until } else { duration }, duration }
    }

    /// The longest of some; of none that of a run of 0 s.
    pub(super) fn longest(times: &[Self]) -> Self {
        let longer = |one: Self, other: &Self| if other.until > one.until { *other } else { one };
        times.iter().fold(Self { until: 0.0, duration: 0.0 }, longer)
    }

    /// The end of the axis in seconds.
    pub(super) fn end_s(self) -> f64 {
        self.until
    }

    pub(super) fn axis(self) -> Axis {
        Axis::new("time", "s").between(0.0, self.until)
    }

    /// Drops the points of a curve that are not shown.
    pub(super) fn cut(self, curve: &mut Curve) {
        curve.points.retain(|point| point.x <= self.until);
    }

    /// Whether a mark is shown.
    pub(super) fn has(self, mark: &Reference) -> bool {
        !matches!(mark, Reference::Moment { at, .. } if *at > self.until)
    }

    /// A sentence about what is not shown; empty if all is.
    pub(super) fn caption(self) -> String {
        match self.until < self.duration {
            true => format!("Of a run of {} s; nothing is on its way after the end of the axis.", self.duration),
            false => String::new(),
        }
    }
}

/// The time of the last sample at which anything was sent, waited or was read; without such samples the end of the run.
fn last_activity(run: &Run) -> f64 {
    let mut samples = run.result.series.iter().filter(|series| ACTIVITY.contains(&series.metric.as_str())).peekable();
    if samples.peek().is_none() {
        return run.result.duration_s;
    }
    let last = samples.filter_map(|series| series.points().iter().rfind(|point| point.value > 0.0));
    last.map(|point| point.time_s).fold(0.0, f64::max)
}

/// Rounded up to two digits.
fn rounded_up(seconds: f64) -> f64 {
    let step = 10f64.powf(seconds.log10().floor() - 1.0);
    if seconds > 0.0 { (seconds / step).ceil() * step } else { seconds }
}

#[cfg(test)]
mod tests {
    use subflow_lab::results::{Engine, RunResult, Series};
    use subflow_quantity::{Duration, Instant};

    use super::*;

    /// A run of 30 s in which a flow is read with 8 Mbit/s for so many tenths of a second, and its window stays open.
    fn run(tenths: u64) -> Run {
        let interval = Duration::from_millis(100);
        let [mut goodput, mut cwnd] = ["goodput", "cwnd"].map(|metric| Series::new("file", metric, "", interval));
        for n in 1..300 {
            let at = Instant::from_nanos(n * 100_000_000);
            goodput.push(at, if n <= tenths { 8.0 } else { 0.0 });
            cwnd.push(at, 10.0);
        }
        let (engine, series) = (Engine { packet_hops: 0, events: 0, cpu_s: 0.0 }, vec![cwnd, goodput]);
        let (flows, links, paths, sequences, exchanges) = Default::default();
        let result = RunResult {
            seed: 1,
            duration_s: 30.0,
            flows,
            links,
            engine,
            real_time: None,
            series,
            paths,
            sequences,
            exchanges,
            connections: Vec::new(),
            interfaces: Vec::new(),
        };
        Run { run: 0, point: 0, parameters: Default::default(), result }
    }

    #[test]
    fn figures_end_when_nothing_happens_any_more() {
        let shown = ShownTime::of([&run(20)]);
        assert!((shown.until - 2.1).abs() < 1e-9, "{shown:?}");
        let mut curve = Curve::new("file").with_points([(1.0, 8.0), (2.1, 0.0), (2.2, 0.0)]);
        shown.cut(&mut curve);
        assert_eq!(curve.points.len(), 2);
        let moment = |at| Reference::Moment { label: String::new(), at };
        assert!(shown.has(&moment(2.0)) && !shown.has(&moment(20.0)));
        assert!(shown.caption().contains("a run of 30 s"));
    }

    #[test]
    fn a_run_that_is_busy_in_its_second_half_is_shown_whole() {
        let whole = ShownTime { until: 30.0, duration: 30.0 };
        assert_eq!(ShownTime::of([&run(20), &run(160)]), whole, "the longest counts");
        let mut without_samples = run(20);
        without_samples.result.series.clear();
        assert_eq!(ShownTime::of([&without_samples]), whole);
        assert_eq!(ShownTime::of([&run(0)]), whole, "nothing ever happened");
        assert_eq!(whole.caption(), "");
    }
}
