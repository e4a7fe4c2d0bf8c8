//! Figures 8 to 10: what RED does to delay, throughput, retransmissions and copies, against the redundant scheduler.

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{Interval, mean, mean_interval, quantile};
use subflow_quantity::{Duration, Instant};
use subflow_report::{Axis, Bars, Cell, Figure, Measured, Table};

use super::PATHS;
use super::part::{Part, all, less, shown};

/// The schedulers that are compared, as tables name them: the plain one first.
pub(super) const SCHEDULERS: [&str; 2] = ["redundant", "red-diversity"];

/// What one run of the testbed gave.
#[derive(Clone, Debug)]
pub(super) struct SchedulerRun {
    paths: Vec<PathFigures>,
    goodput_mbps: f64,
    duplicate_acks: f64,
    retransmissions: f64,
}

/// One path of it.
#[derive(Clone, Debug, Default)]
struct PathFigures {
    /// One in 100 ms.
    rtts_ms: Vec<f64>,
    max_rtt_ms: f64,
    /// What the peer acknowledged on the path, second by second.
    throughput_mbps: Vec<f64>,
    copies: f64,
}

impl SchedulerRun {
    /// From a run with its path records.
    pub(super) fn of(result: &RunResult) -> Self {
        let flow = &result.flows[0];
        let mut paths = vec![PathFigures::default(); PATHS.len()];
        for (path, figures) in paths.iter_mut().enumerate() {
            figures.copies = flow.subflows.get(path).map_or(0.0, |subflow| subflow.copies as f64);
            let (mut rtt_at, mut second, mut acknowledged) = (Instant::ZERO, Duration::from_secs(1), 0);
            let end = Duration::from_secs_f64(result.duration_s);
            let mut so_far = 0;
            for record in result.paths[0].iter().filter(|record| record.subflow == path) {
                let rtt_ms = record.rtt.as_secs_f64() * 1e3;
                figures.max_rtt_ms = figures.max_rtt_ms.max(rtt_ms);
                if record.sample.at >= rtt_at {
                    figures.rtts_ms.push(rtt_ms);
                    rtt_at = record.sample.at + Duration::from_millis(100);
                }
                while record.sample.at >= Instant::ZERO + second {
                    figures.throughput_mbps.push((so_far - acknowledged) as f64 * 8e-6);
                    acknowledged = so_far;
                    second += Duration::from_secs(1);
                }
                so_far = record.bytes_acknowledged;
            }
            while second <= end {
                figures.throughput_mbps.push((so_far - acknowledged) as f64 * 8e-6);
                acknowledged = so_far;
                second += Duration::from_secs(1);
            }
        }
        Self {
            paths,
            goodput_mbps: flow.goodput_mbps,
            duplicate_acks: flow.duplicate_acks as f64,
            retransmissions: flow.retransmissions as f64,
        }
    }
}

/// A figure of a path over the runs of a scheduler.
fn by_run(runs: &[SchedulerRun], path: usize, figure: impl Fn(&PathFigures) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter_map(|run| figure(&run.paths[path])).collect()
}

/// All samples of a path over the runs of a scheduler.
fn pooled(runs: &[SchedulerRun], path: usize, samples: impl Fn(&PathFigures) -> &Vec<f64>) -> Vec<f64> {
    runs.iter().flat_map(|run| samples(&run.paths[path]).clone()).collect()
}

type PathMetric = (&'static str, fn(&PathFigures) -> Option<f64>);

const METRICS: [PathMetric; 7] = [
    ("rtt_median_ms", |path| quantile(&path.rtts_ms, 0.5)),
    ("rtt_p95_ms", |path| quantile(&path.rtts_ms, 0.95)),
    ("rtt_max_ms", |path| (!path.rtts_ms.is_empty()).then_some(path.max_rtt_ms)),
    ("throughput_mean_mbps", |path| mean(&path.throughput_mbps)),
    ("throughput_min_mbps", |path| quantile(&path.throughput_mbps, 0.0)),
    ("throughput_max_mbps", |path| quantile(&path.throughput_mbps, 1.0)),
    ("copies", |path| Some(path.copies)),
];

/// Item `scheduler`: `runs` by scheduler.
pub(super) fn scheduler(runs: &[Vec<SchedulerRun>; 2]) -> Part {
    let mut part = Part::default();
    let mut table = Table::new([
        "scheduler",
        "path",
        "RTT median ms",
        "RTT 95 % ms",
        "RTT max ms",
        "Mbit/s mean",
        "Mbit/s min",
        "Mbit/s max",
        "copies",
    ]);
    for (scheduler, runs) in SCHEDULERS.into_iter().zip(runs) {
        for (p, path) in PATHS.into_iter().enumerate() {
            let mut line = vec![Cell::from(scheduler), Cell::from(path)];
            for (metric, figure) in METRICS {
                let samples = by_run(runs, p, figure);
                part.row("scheduler", scheduler, path, metric, &samples);
                line.push(Cell::Text(shown(&samples, if metric == "copies" { 0 } else { 1 })));
            }
            table.row(line);
        }
        for (metric, figure) in TOTALS {
            part.row("scheduler", scheduler, "connection", metric, &runs.iter().map(figure).collect::<Vec<_>>());
        }
    }
    part.readable.push(("Figures 8 and 10: delay, throughput and copies by path (95 % intervals)".to_owned(), table));
    part.readable.push(("Figure 9, and the whole connection (95 % intervals)".to_owned(), totals(runs)));
    part.figures = figures(runs);
    judge(&mut part, runs);
    part
}

type TotalMetric = (&'static str, fn(&SchedulerRun) -> f64);

const TOTALS: [TotalMetric; 4] = [
    ("goodput_mbps", |run| run.goodput_mbps),
    ("duplicate_acks", |run| run.duplicate_acks),
    ("retransmissions", |run| run.retransmissions),
    ("copies", |run| run.paths.iter().map(|path| path.copies).sum()),
];

fn totals(runs: &[Vec<SchedulerRun>; 2]) -> Table {
    let mut table = Table::new(["scheduler", "goodput Mbit/s", "duplicate ACKs", "retransmissions", "copies"]);
    for (scheduler, runs) in SCHEDULERS.into_iter().zip(runs) {
        let cells = TOTALS.map(|(metric, figure)| {
            let samples: Vec<f64> = runs.iter().map(figure).collect();
            Cell::Text(shown(&samples, if metric == "goodput_mbps" { 2 } else { 0 }))
        });
        table.row([Cell::from(scheduler)].into_iter().chain(cells));
    }
    table
}

fn figures(runs: &[Vec<SchedulerRun>; 2]) -> Vec<Figure> {
    const SECTION: &str = "Scheduler";
    let by_path = |samples: fn(&PathFigures) -> &Vec<f64>| {
        let of =
            |s: usize, p: usize| (format!("{}, {}", PATHS[p], SCHEDULERS[s]), quantiles(&pooled(&runs[s], p, samples)));
        (0..2).flat_map(|s| (0..PATHS.len()).map(move |p| (s, p))).map(|(s, p)| of(s, p)).collect::<Vec<_>>()
    };
    let delay = by_path(|path| &path.rtts_ms);
    let throughput = by_path(|path| &path.throughput_mbps);
    let mut repeated = Bars::new(Axis::new("count in a run", ""));
    let mut copies = Bars::new(Axis::new("copies in a run", ""));
    for (scheduler, runs) in SCHEDULERS.into_iter().zip(runs) {
        let bar = |bars: &mut Bars, group: &str, samples: &[f64]| {
            let interval = mean_interval(samples, 0.95).map(|interval| (interval.low, interval.high));
            if let Some(mean) = mean(samples) {
                bars.add(group, scheduler, mean, interval);
            }
        };
        for (group, (_, figure)) in [("duplicate ACKs", TOTALS[1]), ("retransmissions", TOTALS[2])] {
            bar(&mut repeated, group, &runs.iter().map(figure).collect::<Vec<_>>());
        }
        for (p, path) in PATHS.into_iter().enumerate() {
            bar(&mut copies, path, &by_run(runs, p, |figures| Some(figures.copies)));
        }
    }
    let intervals = "Means over runs with 95 % intervals.";
    vec![
        Figure::distributions("RTT by path (figures 8a and b)", Axis::new("RTT", "ms"), delay).section(SECTION),
        Figure::distributions("Throughput by path (figures 8c and d)", Axis::new("throughput", "Mbit/s"), throughput)
            .section(SECTION)
            .caption("Second by second."),
        Figure::bars("Duplicate ACKs and retransmissions (figure 9)", repeated).section(SECTION).caption(intervals),
        Figure::bars("Copies by path (figure 10)", copies).section(SECTION).caption(intervals),
    ]
}

/// So many quantiles instead of all samples: a curve shows no more.
fn quantiles(samples: &[f64]) -> Vec<f64> {
    (0..=200).filter_map(|step| quantile(samples, f64::from(step) / 200.0)).collect()
}

/// Why figures 8 to 10 come out as they do here.
const WHY: &str = "RED rules out that a segment goes over both B and C, not that both are used: a segment that finds \
                   the window of B full is carried by A alone, and C may take the copy. So B and C go on to carry \
                   copies alike, and c of B-C is below φ for much of the time besides";

/// The paper's findings. One is decided where the 95 % intervals of both means are apart.
fn judge(part: &mut Part, runs: &[Vec<SchedulerRun>; 2]) {
    let [plain, red] = runs;
    if plain.is_empty() || red.is_empty() {
        return;
    }
    let of_path = |path: usize, metric: usize| Both {
        plain: by_run(plain, path, METRICS[metric].1),
        red: by_run(red, path, METRICS[metric].1),
    };
    let of_all = |metric: usize| {
        let total = |runs: &[SchedulerRun]| runs.iter().map(TOTALS[metric].1).collect();
        Both { plain: total(plain), red: total(red) }
    };
    let [max_a, max_b, max_c] = [0, 1, 2].map(|path| of_path(path, 2));
    part.published(
        ("RED lowers the largest RTT", "fig. 8a, b", "lower"),
        all([max_b.falls(), max_c.falls()]),
        Both::highest([&max_b, &max_c]),
        format!("largest RTT in ms, redundant against RED: A {max_a}, B {max_b}, C {max_c}"),
        WHY,
    );
    let [mean_a, mean_b, mean_c] = [0, 1, 2].map(|path| of_path(path, 3));
    let lowest = of_path(0, 4);
    part.published(
        (
            "RED takes throughput from B and C, and A never falls as low as under the redundant scheduler",
            "fig. 8c, d",
            "minimum of A \"0.6 (0.8/1.2) times larger\"",
        ),
        all([mean_b.falls(), mean_c.falls(), lowest.rises()]),
        lowest.ratio(),
        format!(
            "means in Mbit/s, redundant against RED: A {mean_a}, B {mean_b}, C {mean_c}; A's lowest second {lowest}; \
             goodput {}",
            of_all(0)
        ),
        "Besides, new data waits for the least correlated path, and which that is changes with every acknowledgment: \
         at times it is B or C, and A stands idle",
    );
    let (acks, again) = (of_all(1), of_all(2));
    part.published(
        ("RED causes fewer duplicate ACKs and fewer retransmissions", "fig. 9", "fewer"),
        all([acks.falls(), again.falls()]),
        Both::highest([&acks, &again]),
        format!("in a run, redundant against RED: duplicate ACKs {acks}, retransmissions {again}"),
        WHY,
    );
    let [copies_a, copies_b, copies_c] = [0, 1, 2].map(|path| of_path(path, 6));
    let total = of_all(3);
    let [red_b, red_c] = [&copies_b, &copies_c].map(|copies| mean(&copies.red));
    part.published(
        ("RED makes fewer copies in all, and far fewer on C than on B", "fig. 10", "fewer"),
        all([total.falls(), copies_c.falls(), Some(red_c < red_b.map(|copies| copies / 2.0))]),
        total.ratio(),
        format!("in a run, redundant against RED: all {total}; A {copies_a}, B {copies_b}, C {copies_c}"),
        WHY,
    );
}

/// A figure under both schedulers, by run.
struct Both {
    plain: Vec<f64>,
    red: Vec<f64>,
}

impl Both {
    fn falls(&self) -> Option<bool> {
        less(&self.red, &self.plain)
    }
    fn rises(&self) -> Option<bool> {
        less(&self.plain, &self.red)
    }

    /// RED's mean by that of the redundant scheduler, with the ends of both 95 % intervals: it leaves out 1 where they
    /// are apart.
    fn ratio(&self) -> Option<Measured> {
        let (red, plain) = (mean_interval(&self.red, 0.95)?, mean_interval(&self.plain, 0.95)?);
        let value = mean(&self.red)? / mean(&self.plain)?;
        let bound = |value: f64, by: f64| if by > 0.0 { value / by } else { f64::INFINITY };
        let interval = Interval { low: bound(red.low, plain.high), high: bound(red.high, plain.low), confidence: 0.95 };
        value.is_finite().then(|| Measured::new(value, interval.high.is_finite().then_some(interval), "times"))
    }

    /// The highest ratio of `figures`: what falls least decides whether all fall.
    fn highest<const N: usize>(figures: [&Self; N]) -> Option<Measured> {
        figures.into_iter().filter_map(Self::ratio).max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

impl std::fmt::Display for Both {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = if mean(&self.plain).is_some_and(|mean| mean >= 100.0) { 0 } else { 1 };
        write!(f, "{} against {}", shown(&self.plain, decimals), shown(&self.red, decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(copies_on_c: f64, max_rtt_ms: f64) -> SchedulerRun {
        let path = |copies| PathFigures {
            rtts_ms: vec![10.0, max_rtt_ms],
            max_rtt_ms,
            throughput_mbps: vec![1.0, 2.0],
            copies,
        };
        SchedulerRun {
            paths: vec![path(5.0), path(5.0), path(copies_on_c)],
            goodput_mbps: 2.0,
            duplicate_acks: 9.0,
            retransmissions: 9.0,
        }
    }

    #[test]
    fn findings_compare_the_means_of_both() {
        let part = scheduler(&[vec![run(100.0, 80.0); 2], vec![run(1.0, 90.0); 2]]);
        let confirmed: Vec<_> = part.findings.iter().map(|finding| finding.verdict.confirmed()).collect();
        assert_eq!(confirmed, [Some(false), Some(false), Some(false), Some(true)]);
        assert_eq!(part.rows.len(), 2 * (3 * METRICS.len() + TOTALS.len()));
        let ratios: Vec<_> = part.findings.iter().map(|finding| finding.measured.as_ref().map(|it| it.value)).collect();
        assert_eq!(ratios, [Some(90.0 / 80.0), Some(1.0), Some(1.0), Some(11.0 / 110.0)]);
    }
}
