//! Runs of a configuration and what they say together.

use subflow_lab::RunError;
use subflow_lab::results::{FlowResult, LinkResult, RunResult, goodput_mbps};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::mean;
use subflow_quantity::Duration;

use super::configuration::{Configuration, Workload};
use super::outage::{Outage, outage};
use super::topology::{bottleneck, egress, samples, scenario};

/// The scheduler of MPTCP flows: the kernel's own.
pub(super) const SCHEDULER: &str = "linux-default";

/// Starts of later flows are spread over this time after the nominal one, as in the measurements.
const SPREAD_S: f64 = 0.03;

/// The runs of a chaotic case, whose distribution counts: as many as the kernel's.
const CHAOTIC_RUNS: u64 = 30;

/// Chaotic cases start at different times within a tick of the kernel's timers (HZ = 250), as in the measurements.
const TICK_S: f64 = 0.004;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) seed: u64,
    /// How late all flows start.
    pub(super) delay_s: f64,
    /// How much later than that the later flows start.
    pub(super) offset_s: f64,
}

/// The runs of a configuration whose figures are averaged. One where nothing is random; several seeds with random loss,
/// and several starts with several flows, whose shares are chaotic.
///
/// Where distributions are compared, all flows start together at another time within a tick: what differed between the
/// measurements was the time at which the programs started.
pub(super) fn variants(configuration: &Configuration, quick: bool) -> Vec<Variant> {
    if configuration.is_chaotic() {
        let delay = |index: u64| TICK_S * (index as f64 + 0.5) / CHAOTIC_RUNS as f64;
        let variant = |index| Variant { seed: index + 1, delay_s: delay(index), offset_s: 0.0 };
        return (0..CHAOTIC_RUNS).map(variant).collect();
    }
    let shared = configuration.flows.len() > 1;
    let runs = match (shared || configuration.is_lossy(), quick) {
        (false, _) => 1,
        (true, true) => 5,
        (true, false) => 20,
    };
    let offset = |index: u64| if shared { SPREAD_S * (index as f64 + 0.5) / runs as f64 } else { 0.0 };
    (0..runs).map(|index| Variant { seed: index + 1, delay_s: 0.0, offset_s: offset(index) }).collect()
}

/// The figures of a run, or means of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// By flow.
    pub(super) flows: Vec<FlowFigures>,
    /// Of all flows together, over the whole run.
    pub(super) together: FlowFigures,
    /// IP bytes through each path's queue, drops there, and random losses.
    pub(super) paths: Vec<[f64; 3]>,
    /// What the failure of a path cost, where one failed.
    pub(super) outage: Option<Outage>,
}

/// The figures of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowFigures {
    pub(super) start_s: f64,
    pub(super) goodput_mbps: f64,
    pub(super) tail_mbps: Option<f64>,
    pub(super) completion_s: Option<f64>,
    pub(super) retransmissions: f64,
}

/// Does one run.
pub(super) fn run(configuration: &Configuration, variant: Variant) -> Result<Figures, RunError> {
    let scenario = scenario(configuration, SCHEDULER, variant);
    let bulk = matches!(configuration.workload, Workload::Seconds(_));
    let options = RunOptions { series: bulk, ..RunOptions::default() };
    let result = simulate(&scenario, variant.seed, &options)?;
    let starts = scenario.flows.iter().map(|flow| flow.start.as_secs_f64());
    let third = Duration::from_secs_f64(result.duration_s / 3.0);
    let mut flows = Vec::new();
    let mut together = FlowFigures::default();
    let (mut bytes, mut tail_bytes) = (0, 0);
    for (flow, start_s) in result.flows.iter().zip(starts) {
        let in_tail = flow.bytes_delivered - delivered_early(&result, flow, samples(configuration));
        bytes += flow.bytes_delivered;
        tail_bytes += in_tail;
        together.retransmissions += flow.retransmissions as f64;
        flows.push(FlowFigures {
            start_s,
            goodput_mbps: flow.goodput_mbps,
            tail_mbps: bulk.then(|| goodput_mbps(in_tail, third.saturating_mul(2))),
            completion_s: flow.completion_s,
            retransmissions: flow.retransmissions as f64,
        });
    }
    together.goodput_mbps = goodput_mbps(bytes, scenario.duration);
    together.tail_mbps = bulk.then(|| goodput_mbps(tail_bytes, third.saturating_mul(2)));
    let link = |name: &str| -> &LinkResult {
        result.links.iter().find(|link| link.name == name).expect("the scenario has this link")
    };
    let path = |index: usize| {
        let (queue, wire) = (link(&bottleneck(index)).up, link(&egress(index)).up);
        [queue.bytes as f64, queue.drops as f64, wire.losses as f64]
    };
    let seconds = result.flows.first().map(|flow| per_second(&result, flow)).unwrap_or_default();
    Ok(Figures {
        flows,
        together,
        paths: (0..configuration.paths.len()).map(path).collect(),
        outage: outage(configuration, &seconds),
    })
}

/// What a flow had delivered after a third of the run, of which so many samples were taken.
fn delivered_early(result: &RunResult, flow: &FlowResult, samples: u32) -> u64 {
    let bytes_per_mbps = result.duration_s / f64::from(samples) / 8e-6;
    let early = goodput(result, flow).take(samples as usize / 3);
    early.map(|mbps| (mbps * bytes_per_mbps).round() as u64).sum()
}

/// What a flow got in each second, where there are three samples in each.
fn per_second(result: &RunResult, flow: &FlowResult) -> Vec<f64> {
    let samples: Vec<f64> = goodput(result, flow).collect();
    samples.chunks_exact(3).filter_map(mean).collect()
}

/// The samples of a flow's goodput, in Mbit/s.
fn goodput<'a>(result: &'a RunResult, flow: &'a FlowResult) -> impl Iterator<Item = f64> + 'a {
    let series = result.series.iter().find(|series| series.of == flow.name && series.metric == "goodput");
    series.into_iter().flat_map(|series| series.points().iter().map(|point| point.value))
}

/// The means of several runs of the same configuration.
pub(super) fn mean_figures(runs: &[Figures]) -> Figures {
    let over = |value: &dyn Fn(&Figures) -> f64| mean(&runs.iter().map(value).collect::<Vec<_>>()).unwrap_or(0.0);
    let optional = |value: &dyn Fn(&Figures) -> Option<f64>| {
        let values: Option<Vec<f64>> = runs.iter().map(value).collect();
        values.and_then(|values| mean(&values))
    };
    let flow = |of: &dyn Fn(&Figures) -> &FlowFigures| FlowFigures {
        start_s: over(&|run| of(run).start_s),
        goodput_mbps: over(&|run| of(run).goodput_mbps),
        tail_mbps: optional(&|run| of(run).tail_mbps),
        completion_s: optional(&|run| of(run).completion_s),
        retransmissions: over(&|run| of(run).retransmissions),
    };
    let Some(first) = runs.first() else { return Figures::default() };
    Figures {
        flows: (0..first.flows.len()).map(|index| flow(&|run| &run.flows[index])).collect(),
        together: flow(&|run| &run.together),
        paths: (0..first.paths.len())
            .map(|path| [0, 1, 2].map(|figure| over(&|run| run.paths[path][figure])))
            .collect(),
        outage: first.outage.map(|_| Outage {
            stall_s: over(&|run| run.outage.map_or(0.0, |outage| outage.stall_s)),
            return_s: over(&|run| run.outage.map_or(0.0, |outage| outage.return_s)),
        }),
    }
}
