//! One flow of a configuration beside the kernel's, and what the failure of a path costs: by the goodput of each second, the
//! way in which the kernel's runs were recorded.

use serde::de::DeserializeOwned;
use serde_json::Value;
use subflow_lab::results::{FlowResult, LinkResult, RunResult, goodput_mbps};
use subflow_lab::statistics::mean;
use subflow_quantity::Duration;

use super::configuration::Reference;
use super::measurements::{ALL, DELAYS, PathSpec, flow_name};
use crate::study::{Results, Row, Sample};

/// The figures of a flow in a sample, which has those of each flow, then those of all together.
pub(super) const GOODPUT: usize = 0;
/// Goodput after the first third of the run.
pub(super) const TAIL: usize = 1;
pub(super) const COMPLETION: usize = 2;
pub(super) const RETRANSMISSIONS: usize = 3;
const OF_FLOW: usize = 4;
/// Those of a path, which follow: IP bytes through its queue, drops there, random losses. Then come queue and round-trip
/// time, and last the goodput of each second of the first flow, where there are three samples in each.
pub(super) const BYTES: usize = 0;
pub(super) const DROPS: usize = 1;
pub(super) const LOSSES: usize = 2;
const OF_PATH: usize = 3;
/// Fewer samples of a queue or of round-trip times tell nothing of their distribution.
const LEAST_SAMPLES: usize = 100;
/// The share of samples that are not above the last figure of a distribution.
const HIGH: f64 = 0.95;

pub(super) fn measure(result: &RunResult) -> Result<Sample, String> {
    let mut sample = Sample::new();
    let two_thirds = Duration::from_secs_f64(result.duration_s / 3.0).saturating_mul(2);
    let (mut bytes, mut tail_bytes) = (0, 0);
    for flow in &result.flows {
        // Samples are rounded: a transfer that ends in the first third has delivered a byte more by them.
        let in_tail = flow.bytes_delivered.saturating_sub(delivered_early(result, flow));
        bytes += flow.bytes_delivered;
        tail_bytes += in_tail;
        let (tail, completion) = (goodput_mbps(in_tail, two_thirds), flow.completion_s.unwrap_or(f64::NAN));
        sample.extend([flow.goodput_mbps, tail, completion, flow.retransmissions as f64]);
    }
    let whole = Duration::from_secs_f64(result.duration_s);
    let retransmissions = result.flows.iter().map(|flow| flow.retransmissions as f64).sum();
    sample.extend([goodput_mbps(bytes, whole), goodput_mbps(tail_bytes, two_thirds), f64::NAN, retransmissions]);
    let link = |name: String| result.links.iter().find(|link| link.name == name);
    let paths = (1..).map_while(|n| Some((link(format!("bottleneck{n}"))?, link(format!("egress{n}"))?)));
    for (LinkResult { up: queue, .. }, LinkResult { up: wire, .. }) in paths {
        sample.extend([queue.bytes as f64, queue.drops as f64, wire.losses as f64]);
    }
    sample.extend(delays(result));
    let first = result.flows.first().map(|flow| goodput(result, flow).collect::<Vec<f64>>()).unwrap_or_default();
    if first.len() > 3 {
        sample.extend(first.chunks_exact(3).filter_map(mean));
    }
    Ok(sample)
}

/// The figures of a run, by [`DELAYS`]: those of the first path's queue, of the first flow's round trips on it, and what
/// all bottlenecks dropped and marked. NaN where there are too few samples.
fn delays(result: &RunResult) -> [f64; DELAYS.len()] {
    let values = |of: &str, metric: &str| {
        let series = result.series.iter().find(|series| series.of == of && series.metric == metric);
        let points = series.into_iter().flat_map(|series| series.points());
        points.map(|point| point.value).collect::<Vec<f64>>()
    };
    let first = |of: &[&str]| of.iter().map(|of| values(of, "srtt")).find(|values| !values.is_empty());
    let [queue, srtt] =
        [values("bottleneck1.up", "queue"), first(&["flow1", "flow1/0"]).unwrap_or_default()].map(distribution);
    let bottlenecks = || result.links.iter().filter(|link| link.name.starts_with("bottleneck"));
    let count = |of: fn(&LinkResult) -> u64| bottlenecks().map(of).sum::<u64>() as f64;
    let (drops, marks) = (count(|link| link.up.drops), count(|link| link.up.marks));
    [queue[0], queue[1], queue[2], srtt[0], srtt[1], srtt[2], drops, marks]
}

/// Mean, median and 95th percentile.
fn distribution(mut values: Vec<f64>) -> [f64; 3] {
    if values.len() < LEAST_SAMPLES {
        return [f64::NAN; 3];
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    [mean(&values).unwrap_or(f64::NAN), at(0.5), at(HIGH)]
}

/// What a flow had delivered after a third of the run. The last sample may be missing by a rounding.
fn delivered_early(result: &RunResult, flow: &FlowResult) -> u64 {
    let third = (goodput(result, flow).count() + 1) / 3;
    let bytes_per_mbps = result.duration_s / (3 * third) as f64 / 8e-6;
    goodput(result, flow).take(third).map(|mbps| (mbps * bytes_per_mbps).round() as u64).sum()
}

/// The samples of a flow's goodput, in Mbit/s.
fn goodput<'a>(result: &'a RunResult, flow: &'a FlowResult) -> impl Iterator<Item = f64> + 'a {
    let series = result.series.iter().find(|series| series.of == flow.name && series.metric == "goodput");
    series.into_iter().flat_map(|series| series.points().iter().map(|point| point.value))
}

/// The means of starts, in seconds after the nominal ones: of later flows, and of all where distributions are compared.
const LATER_S: f64 = 0.015;
const CHAOTIC_S: f64 = 0.002;

/// A configuration and its runs; none where it was not run.
pub(super) struct Outcome<'r> {
    pub(super) row: &'r Row,
    pub(super) paths: Vec<PathSpec>,
    /// What the kernel did: each flow, then all of them where a row says so.
    pub(super) references: Vec<Reference>,
    /// The goodput of each second of the kernel's first repetition, in Mbit/s, where it was recorded.
    pub(super) per_second: Vec<f64>,
}

impl<'r> Outcome<'r> {
    pub(super) fn all(results: &'r Results) -> Vec<Self> {
        let of = |row: &'r Row| {
            let (paths, references) = (list(row, "paths"), list(row, "references"));
            Self { row, paths, references, per_second: list(row, "per_second") }
        };
        results.rows.iter().map(of).collect()
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.row.cell.text(name)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.row.cell.is(name, true)
    }

    pub(super) fn is_chaotic(&self) -> bool {
        self.row.cell.is("chaotic", 1)
    }

    pub(super) fn flows(&self) -> usize {
        list::<Value>(self.row, "flows").len()
    }

    /// The number of the path that fails, if one does.
    pub(super) fn failing_path(&self) -> Option<usize> {
        self.row.cell.variables["failures"][0]["path"].as_u64().map(|path| path as usize)
    }

    /// How long it runs, in seconds, unless a size is sent.
    pub(super) fn duration_s(&self) -> Option<f64> {
        (!self.is("transfer")).then(|| self.row.cell.number("duration_s"))
    }

    /// The mean start of a flow over the runs, in seconds.
    pub(super) fn start_s(&self, flow: u32) -> Option<f64> {
        let flow = self.row.cell.variables["flows"].get((flow as usize).checked_sub(1)?)?;
        let late = if self.is_chaotic() { CHAOTIC_S } else { LATER_S * flow["later"].as_f64()? };
        Some(flow["start_us"].as_f64()? / 1e6 + late)
    }

    pub(super) fn is_run(&self) -> bool {
        !self.row.runs.is_empty()
    }

    /// A figure of each run; `None` if one lacks it, such as a transfer that did not end, or nothing was run.
    pub(super) fn samples(&self, flow: u32, figure: usize) -> Option<Vec<f64>> {
        let index = if flow == ALL { self.flows() } else { flow as usize - 1 };
        self.samples_at(OF_FLOW * index + figure)
    }

    fn samples_at(&self, place: usize) -> Option<Vec<f64>> {
        let samples = self.row.samples(place);
        (self.is_run() && samples.len() == self.row.runs.len()).then_some(samples)
    }

    pub(super) fn flow(&self, flow: u32, figure: usize) -> Option<f64> {
        mean(&self.samples(flow, figure)?)
    }

    /// The mean of a figure of a path, by its place.
    pub(super) fn path(&self, path: usize, figure: usize) -> Option<f64> {
        (path < self.paths.len()).then_some(())?;
        mean(&self.samples_at(self.behind_flows() + OF_PATH * path + figure)?)
    }

    fn behind_flows(&self) -> usize {
        OF_FLOW * (self.flows() + 1)
    }

    fn behind_paths(&self) -> usize {
        self.behind_flows() + OF_PATH * self.paths.len()
    }

    /// The mean of a figure of queue or round-trip time.
    pub(super) fn delay(&self, figure: usize) -> Option<f64> {
        mean(&self.samples_at(self.behind_paths() + figure)?)
    }

    /// What the failure of a path cost the kernel, where one failed.
    pub(super) fn outage_of_kernel(&self) -> Option<Outage> {
        self.outage_with(&self.per_second)
    }

    /// The same with this goodput in each second.
    fn outage_with(&self, per_second: &[f64]) -> Option<Outage> {
        outage(&self.paths, self.failing_path(), per_second)
    }

    /// The same of ours, on average.
    pub(super) fn outage(&self) -> Option<Outage> {
        let seconds = self.behind_paths() + DELAYS.len();
        let outages: Option<Vec<Outage>> =
            self.row.runs.iter().map(|run| self.outage_with(run.get(seconds..)?)).collect();
        let outages = outages.filter(|outages| !outages.is_empty())?;
        let over = |of: fn(&Outage) -> f64| mean(&outages.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0);
        Some(Outage { stall_s: over(|one| one.stall_s), return_s: over(|one| one.return_s) })
    }

    pub(super) fn comparisons(&self) -> impl Iterator<Item = Comparison<'_>> {
        self.references.iter().map(|reference| Comparison { outcome: self, reference })
    }
}

/// One flow of an outcome next to the kernel's.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'o> {
    pub(super) outcome: &'o Outcome<'o>,
    pub(super) reference: &'o Reference,
}

impl<'o> Comparison<'o> {
    pub(super) fn ours_of(&self, figure: usize) -> Option<f64> {
        self.outcome.flow(self.reference.flow, figure)
    }

    /// The mean of a figure of a path. Those of several flows together are only in the row of all.
    pub(super) fn path(&self, path: usize, figure: usize) -> Option<f64> {
        let is_own = self.outcome.flows() == 1 || self.reference.flow == ALL;
        self.outcome.path(path, figure).filter(|_| is_own)
    }

    /// What counts of ours: the completion time where a size is sent, else goodput.
    pub(super) fn ours(&self) -> Option<f64> {
        self.ours_of(if self.outcome.is("transfer") { COMPLETION } else { GOODPUT })
    }

    /// The same of the kernel's repetitions.
    pub(super) fn reference_samples(&self) -> &'o [f64] {
        if self.outcome.is("transfer") { &self.reference.completion_s } else { &self.reference.goodput_mbps }
    }

    pub(super) fn kernel(&self) -> Option<f64> {
        mean(self.reference_samples())
    }

    /// Ours and the kernel's, where there are both and they can be compared.
    pub(super) fn figures(&self) -> Option<(f64, f64)> {
        self.ours().zip(self.kernel()).filter(|&(_, kernel)| kernel > 0.0)
    }

    /// The smallest and the largest of the kernel's repetitions.
    pub(super) fn reference_ends(&self) -> (f64, f64) {
        self.reference_samples().iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)))
    }

    /// Largest less smallest of the kernel's repetitions, in percent of their mean.
    pub(super) fn spread_pct(&self) -> Option<f64> {
        let (low, high) = self.reference_ends();
        self.kernel().filter(|&mean| mean > 0.0).map(|mean| (high - low) / mean * 100.0)
    }

    pub(super) fn table_title(&self) -> String {
        let what = if self.outcome.is("transfer") { "completion in s" } else { "goodput in Mbit/s" };
        format!("{}, {what}", self.outcome.text("letter"))
    }

    /// Configuration and flow in one line.
    pub(super) fn name(&self) -> String {
        let [case, paths, loss] = ["case", "paths_text", "loss_text"].map(|name| self.outcome.text(name));
        let mut name = format!("{case} {} {paths}", self.reference.protocol);
        if self.reference.cc != "-" {
            name += &format!(" {}", self.reference.cc);
        }
        if self.outcome.is("lossy") {
            name += &format!(", {loss} %");
        }
        if self.outcome.flows() > 1 {
            name += &format!(", flow {}", flow_name(self.reference.flow));
        }
        name
    }
}

fn list<T: DeserializeOwned>(row: &Row, name: &str) -> Vec<T> {
    let values = row.cell.variables.get(name).cloned().unwrap_or_default();
    serde_json::from_value(values).unwrap_or_else(|problem| panic!("{name}: each cell is a configuration: {problem}"))
}

/// Seconds that a connection lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outage {
    /// From the failure on, until a second brings nine tenths of what the other paths carry: how many seconds of that
    /// are missing.
    pub(super) stall_s: f64,
    /// From the repair on, until a second brings nine tenths of what all paths carry: how many seconds of the failed
    /// path's goodput are missing.
    pub(super) return_s: f64,
}

/// When a failing path fails, and when it works again, in seconds: as in `paper.toml`.
const FAILS_S: usize = 10;
const WORKS_S: usize = 20;
/// IP payload of a full packet of MPTCP, of 1500 bytes: 20 bytes of IP, 20 of TCP, 12 of timestamps and 24 of DSS less.
const PAYLOAD: f64 = 1424.0 / 1500.0;
const RECOVERED: f64 = 0.9;

/// The outage in a run over `paths`, of which the one with the number `fails` fails, with this goodput in each second, in Mbit/s. Nothing where no path fails, or
/// the seconds end before the repair.
fn outage(paths: &[PathSpec], fails: Option<usize>, per_second: &[f64]) -> Option<Outage> {
    let fails = fails?;
    let goodput = |is_wanted: fn(usize, usize) -> bool| {
        let paths = paths.iter().filter(|path| is_wanted(path.n, fails));
        paths.map(|path| path.rate_mbps * PAYLOAD).sum::<f64>()
    };
    let (failed, others) = (goodput(|path, fails| path == fails), goodput(|path, fails| path != fails));
    if per_second.len() <= WORKS_S || others <= 0.0 {
        return None;
    }
    Some(Outage {
        stall_s: missing(&per_second[FAILS_S..WORKS_S], 0.0, others),
        return_s: missing(&per_second[WORKS_S..], others, failed),
    })
}

/// How many seconds of `wanted` are missing above `base`, until there is nine tenths of both.
fn missing(per_second: &[f64], base: f64, wanted: f64) -> f64 {
    let recovered = |mbps: &f64| *mbps >= RECOVERED * (base + wanted);
    let lacks = per_second.iter().take_while(|mbps| !recovered(mbps));
    lacks.map(|mbps| (1.0 - (mbps - base) / wanted).clamp(0.0, 1.0)).fold(0.0, |sum, lack| sum + lack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_its_mean_its_median_and_its_95th_percentile() {
        let values: Vec<f64> = (0..=200).map(f64::from).collect();
        assert_eq!(distribution(values), [100.0, 100.0, 190.0]);
        assert!(distribution(vec![1.0; 99]).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn what_is_missing_is_counted_until_nine_tenths_are_there() {
        let path = |n, rate_mbps: f64| {
            let rate_bps = (rate_mbps * 1e6) as u64;
            PathSpec { n, rate_mbps, rate_bps, delay_ms: 10.0, queue: 50, loss_pct: 0.0 }
        };
        let paths = [path(1, 20.0), path(2, 10.0)];
        // 18.99 and 9.49 Mbit/s; a second and a half without anything, a second late by half on the return.
        let mut seconds = vec![28.48; 10];
        seconds.extend([0.0, 4.745, 9.49, 9.49, 8.6, 9.49, 9.49, 9.49, 9.49, 9.49]);
        seconds.extend([9.49, 18.985, 28.4, 20.0]);
        let found = outage(&paths, Some(1), &seconds).expect("a path fails");
        assert!((found.stall_s - 1.5).abs() < 0.01 && (found.return_s - 1.5).abs() < 0.01, "{found:?}");
        assert_eq!(outage(&paths, Some(1), &seconds[..20]), None);
    }
}
