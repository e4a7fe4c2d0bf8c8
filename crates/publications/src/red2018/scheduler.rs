//! Figures 8 to 10: what RED does to delay, throughput, retransmissions and copies, against the redundant scheduler.

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean, mean_interval, quantile};
use subflow_report::{Axis, Bars, Cell, Figure, Measured, Table};
use subflow_scenario::sweep::Parameters;

use super::PATHS;
use super::part::{Part, less, shown, with_doubt};
use super::testbed::{OF_CONNECTION, OF_PATH, RTTS, THROUGHPUTS, list, of_connection, of_path};
use crate::study::{Check, Claim, Outcome, Results, Row, all_hold, fill};

pub(super) const CHECKS: [(&str, Check); 1] = [("against redundant", against_redundant)];

/// The schedulers that are compared: the plain one first.
const SCHEDULERS: [&str; 2] = ["redundant", "red-diversity"];

/// The runs of both schedulers, if there are both.
fn of_both(all: &Results) -> Option<[&Row; 2]> {
    let [plain, red] = SCHEDULERS.map(|name| all.find("scheduler", [("scheduler", name.into())]));
    Some([plain?, red?])
}

/// Item `scheduler`.
pub(super) fn scheduler(all: &Results) -> Option<Part> {
    let both = of_both(all)?;
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
    let mut totals = Table::new(["scheduler", "goodput Mbit/s", "duplicate ACKs", "retransmissions", "copies"]);
    for (scheduler, row) in SCHEDULERS.into_iter().zip(both) {
        for (p, path) in PATHS.into_iter().enumerate() {
            let mut line = vec![Cell::from(scheduler), Cell::from(path)];
            for (index, metric) in OF_PATH.into_iter().enumerate() {
                let samples = row.samples(of_path(p, index));
                part.row("scheduler", scheduler, path, metric, &samples);
                line.push(Cell::Text(shown(&samples, if metric == "copies" { 0 } else { 1 })));
            }
            table.row(line);
        }
        let mut line = vec![Cell::from(scheduler)];
        for (index, metric) in OF_CONNECTION.into_iter().enumerate() {
            let samples = row.samples(of_connection(index));
            part.row("scheduler", scheduler, "connection", metric, &samples);
            line.push(Cell::Text(shown(&samples, if metric == "goodput_mbps" { 2 } else { 0 })));
        }
        totals.row(line);
    }
    part.readable.push(("Figures 8 and 10: delay, throughput and copies by path (95 % intervals)".to_owned(), table));
    part.readable.push(("Figure 9, and the whole connection (95 % intervals)".to_owned(), totals));
    part.figures = figures(both);
    Some(part)
}

fn figures(both: [&Row; 2]) -> Vec<Figure> {
    let by_path = |lists: usize| {
        let of = |(scheduler, row): (&'static str, &Row), (p, path): (usize, &str)| {
            let samples: Vec<f64> = row.runs.iter().flat_map(|run| list(run, lists + p)).copied().collect();
            // So many quantiles instead of all samples: a curve shows no more.
            let quantiles = (0..=200).filter_map(|step| quantile(&samples, f64::from(step) / 200.0));
            (format!("{path}, {scheduler}"), quantiles.collect::<Vec<f64>>())
        };
        let schedulers = SCHEDULERS.into_iter().zip(both);
        schedulers.flat_map(|one| PATHS.into_iter().enumerate().map(move |path| of(one, path))).collect::<Vec<_>>()
    };
    let [mut repeated, mut copies] = ["count in a run", "copies in a run"].map(|label| Bars::new(Axis::new(label, "")));
    for (scheduler, row) in SCHEDULERS.into_iter().zip(both) {
        let bar = |bars: &mut Bars, group: &str, place: usize| {
            let interval = row.interval(place).map(|interval| (interval.low, interval.high));
            bars.add(group, scheduler, row.mean(place), interval);
        };
        bar(&mut repeated, "duplicate ACKs", of_connection(1));
        bar(&mut repeated, "retransmissions", of_connection(2));
        PATHS.into_iter().enumerate().for_each(|(p, path)| bar(&mut copies, path, of_path(p, 6)));
    }
    let intervals = "Means over runs with 95 % intervals.";
    let figures = [
        Figure::distributions("RTT by path (figures 8a and b)", Axis::new("RTT", "ms"), by_path(RTTS)),
        Figure::distributions(
            "Throughput by path (figures 8c and d)",
            Axis::new("throughput", "Mbit/s"),
            by_path(THROUGHPUTS),
        )
        .caption("Second by second."),
        Figure::bars("Duplicate ACKs and retransmissions (figure 9)", repeated).caption(intervals),
        Figure::bars("Copies by path (figure 10)", copies).caption(intervals),
    ];
    figures.map(|figure| figure.section("Scheduler")).to_vec()
}

/// Whether the figures that the claim names change as it says, from the redundant scheduler to RED: those of `falls` and
/// `rises`, and under RED the first of `halves` is below half of the second. A figure changes where the 95 % intervals of
/// both means lie apart. That of `decides` which falls least decides.
fn against_redundant(all: &Results, claim: &Claim) -> Option<Outcome> {
    let [plain, red] = of_both(all)?;
    let both = |name: &str| Both::of(name, plain, red);
    let falls = claim.texts("falls").into_iter().map(|name| both(name).falls());
    let rises = claim.texts("rises").into_iter().map(|name| both(name).rises());
    let halves = match claim.texts("halves").as_slice() {
        [small, large] => Some(Some(mean(&both(small).red) < mean(&both(large).red).map(|mean| mean / 2.0))),
        _ => None,
    };
    let verdict = all_hold(falls.chain(rises).chain(halves), true);
    let ratios = claim.texts("decides").into_iter().filter_map(|name| both(name).ratio());
    let measured = ratios.max_by(|a, b| a.value.total_cmp(&b.value));
    let names = PATHS.into_iter().flat_map(|path| OF_PATH.map(|figure| format!("{figure} of {path}")));
    let names = names.chain(OF_CONNECTION.map(str::to_owned));
    let figures: Parameters = names.map(|name| (name.clone(), Value::from(both(&name).to_string()))).collect();
    let words = claim.words.as_deref().unwrap_or_default();
    let evidence = fill(words, &figures).expect("tests check each claim");
    let evidence = evidence.as_str().unwrap_or_default().to_owned();
    let why = if verdict == Some(true) { String::new() } else { format!(". {}", claim.text("because")) };
    Some(Outcome::new(verdict, measured, with_doubt(verdict, evidence + &why)))
}

/// A figure under both schedulers, by run.
struct Both {
    plain: Vec<f64>,
    red: Vec<f64>,
}

impl Both {
    /// The figure of this name, as in `copies of A` or `copies`.
    fn of(name: &str, plain: &Row, red: &Row) -> Self {
        let place = match name.split_once(" of ") {
            Some((figure, path)) => {
                let path = PATHS.iter().position(|known| *known == path);
                path.zip(OF_PATH.iter().position(|known| *known == figure)).map(|(path, figure)| of_path(path, figure))
            }
            None => OF_CONNECTION.iter().position(|known| *known == name).map(of_connection),
        };
        let place = place.unwrap_or_else(|| panic!("{name}: there is no such figure; tests check each claim"));
        Self { plain: plain.samples(place), red: red.samples(place) }
    }

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
}

impl std::fmt::Display for Both {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = if mean(&self.plain).is_some_and(|mean| mean >= 100.0) { 0 } else { 1 };
        write!(f, "{} against {}", shown(&self.plain, decimals), shown(&self.red, decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RED2018;
    use super::*;
    use crate::study::{Effort, Sample};

    fn run(copies_on_c: f64, max_rtt_ms: f64) -> Sample {
        let path = |copies| [10.0, max_rtt_ms, max_rtt_ms, 1.5, 1.0, 2.0, copies];
        [path(5.0), path(5.0), path(copies_on_c)]
            .concat()
            .into_iter()
            .chain([2.0, 9.0, 9.0, 10.0 + copies_on_c])
            .collect()
    }

    #[test]
    fn findings_compare_the_means_of_both() {
        let all = RED2018.invented(Effort::Quick, |cell| match cell.is("scheduler", SCHEDULERS[0]) {
            true => vec![run(100.0, 80.0); 2],
            false => vec![run(1.0, 90.0); 2],
        });
        let all = all.only(|row| row.cell.item == "scheduler" && row.cell.is("load", "limited load"));
        let findings = RED2018.findings(&all);
        let confirmed: Vec<_> = findings.iter().map(|finding| finding.verdict.confirmed()).collect();
        assert_eq!(confirmed, [Some(false), Some(false), Some(false), Some(true)]);
        let ratios: Vec<_> = findings.iter().map(|finding| finding.measured.as_ref().map(|it| it.value)).collect();
        assert_eq!(ratios, [Some(90.0 / 80.0), Some(1.0), Some(1.0), Some(11.0 / 110.0)]);
        let rows = scheduler(&all).expect("both were run").rows.len();
        assert_eq!(rows, 2 * (3 * OF_PATH.len() + OF_CONNECTION.len()));
    }
}
