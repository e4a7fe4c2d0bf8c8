//! Groups of flows (`count` in a scenario) in results: one line for all flows of a group, and percentiles of their times
//! to completion.

use std::borrow::Cow;

use subflow_quantity::Duration;

use super::VideoResult;
use super::exchange::{Exchanges, figures_of};
use super::link::per_megabyte;
use super::run::{Abandoned, Datagrams, FlowResult, RunResult, SubflowResult, goodput_mbps};
use crate::statistics::{jain_index, mean, quantile};

/// One group in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupResult {
    /// Its name in the scenario.
    pub name: String,
    /// Number of flows.
    pub flows: usize,
    /// Flows whose start was before the end of the run.
    pub started: usize,
    /// Times to completion of the flows that completed, in seconds, in the order of flows.
    pub completions_s: Vec<f64>,
}

impl GroupResult {
    /// The groups of a run, in the scenario's order.
    pub fn all(run: &RunResult) -> Vec<Self> {
        let of = |flows: &[FlowResult]| {
            let group = flows[0].group.as_ref()?;
            let is_started = |flow: &&FlowResult| flow.group.as_ref().is_some_and(|own| own.start_s < run.duration_s);
            Some(Self {
                name: group.name.clone(),
                flows: flows.len(),
                started: flows.iter().filter(is_started).count(),
                completions_s: flows.iter().filter_map(|flow| flow.completion_s).collect(),
            })
        };
        chunks(run).filter_map(of).collect()
    }

    /// The number of flows that did not complete, for want of time or of a start.
    pub fn unfinished(&self) -> usize {
        self.flows - self.completions_s.len()
    }

    /// The mean time to completion, in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        mean(&self.completions_s)
    }

    /// A quantile of the times to completion, in seconds.
    pub fn quantile_s(&self, p: f64) -> Option<f64> {
        quantile(&self.completions_s, p)
    }
}

/// The flows of a run, with one for all flows of a group. Its counts are sums; its goodput is what all of its flows
/// delivered, over the duration of the run; its time to completion is the mean.
pub fn flows_and_groups(run: &RunResult) -> Vec<Cow<'_, FlowResult>> {
    chunks(run).map(|flows| line(flows, run)).collect()
}

fn line<'r>(flows: &'r [FlowResult], run: &RunResult) -> Cow<'r, FlowResult> {
    match &flows[0].group {
        None => Cow::Borrowed(&flows[0]),
        Some(group) => Cow::Owned(together(&group.name, flows, run)),
    }
}

impl RunResult {
    /// Joules of all interfaces whose energy is counted; `None` if there is none.
    pub fn energy_j(&self) -> Option<f64> {
        (!self.interfaces.is_empty()).then(|| self.interfaces.iter().map(|interface| interface.energy_j).sum())
    }

    /// The same for each megabyte that the applications have read.
    pub fn energy_j_per_mb(&self) -> Option<f64> {
        per_megabyte(self.energy_j()?, self.flows.iter().map(|flow| flow.bytes_delivered).sum())
    }

    /// The sum of the flows' goodput; for a group, and for a connection of programs, what it delivered over the duration
    /// of the run.
    pub fn total_goodput_mbps(&self) -> f64 {
        let duration = Duration::from_secs_f64(self.duration_s);
        let of = |flow: &Cow<'_, FlowResult>| match &flow.connection {
            None => flow.goodput_mbps,
            Some(_) => goodput_mbps(flow.bytes_delivered, duration),
        };
        flows_and_groups(self).iter().map(of).sum()
    }

    /// Jain's index of the flows' goodput, where a group counts as one flow; `None` without goodput. Connections of programs
    /// do not count: a program may have some that carry little by design.
    pub fn jain_index(&self) -> Option<f64> {
        let flows = flows_and_groups(self);
        let of_scenario = flows.iter().filter(|flow| flow.connection.is_none());
        jain_index(&of_scenario.map(|flow| flow.goodput_mbps).collect::<Vec<_>>())
    }
}

/// The flows of a run in pieces: the flows of a group together, and every other flow alone.
fn chunks(run: &RunResult) -> impl Iterator<Item = &[FlowResult]> {
    run.flows.chunk_by(|a, b| a.group.is_some() && a.line() == b.line())
}

fn together(name: &str, flows: &[FlowResult], run: &RunResult) -> FlowResult {
    let first = &flows[0];
    let mut sum = FlowResult {
        name: name.to_owned(),
        protocol: first.protocol.clone(),
        congestion: first.congestion.clone(),
        scheduler: first.scheduler.clone(),
        path_manager: first.path_manager.clone(),
        ..FlowResult::default()
    };
    sum.bytes_delivered = flows.iter().map(|flow| flow.bytes_delivered).sum();
    sum.goodput_mbps = goodput_mbps(sum.bytes_delivered, Duration::from_secs_f64(run.duration_s));
    sum.completion_s = mean(&flows.iter().filter_map(|flow| flow.completion_s).collect::<Vec<_>>());
    sum.retransmissions = flows.iter().map(|flow| flow.retransmissions).sum();
    sum.timeouts = flows.iter().map(|flow| flow.timeouts).sum();
    sum.duplicate_acks = flows.iter().map(|flow| flow.duplicate_acks).sum();
    sum.reinjected_bytes = flows.iter().map(|flow| flow.reinjected_bytes).sum();
    for flow in flows {
        sum.fallback |= flow.fallback;
        if let Some(retransmitted) = flow.retransmitted {
            *sum.retransmitted.get_or_insert_default() += retransmitted;
        }
        if let Some(Abandoned { messages, bytes }) = flow.abandoned {
            let all = sum.abandoned.get_or_insert_default();
            *all = Abandoned { messages: all.messages + messages, bytes: all.bytes + bytes };
        }
        if let Some(Datagrams { sent, received }) = flow.datagrams {
            let all = sum.datagrams.get_or_insert_default();
            *all = Datagrams { sent: all.sent + sent, received: all.received + received };
        }
    }
    sum.exchanges = exchanges(flows, run);
    sum.video = VideoResult::together(flows.iter().filter_map(|flow| flow.video.as_ref()));
    sum.subflows = subflows(flows, run);
    sum
}

/// All exchanges of flows. Percentiles of flows do not make one of all: they are those of the single exchanges, which
/// results that were read from a file do not have.
fn exchanges(flows: &[FlowResult], run: &RunResult) -> Option<Exchanges> {
    let all: Vec<&Exchanges> = flows.iter().filter_map(|flow| flow.exchanges.as_ref()).collect();
    let completed: u64 = all.iter().map(|of| of.completed).sum();
    let time: f64 = all.iter().filter_map(|of| Some(of.mean_ms? * of.completed as f64)).sum();
    let mean_ms = (completed > 0).then(|| time / completed as f64);
    let first = run.flows.iter().position(|flow| flow.name == flows[0].name)?;
    let pooled = figures_of(&run.exchanges, first..first + flows.len()).unwrap_or_default();
    (!all.is_empty()).then_some(Exchanges { completed, mean_ms, ..pooled })
}

/// The subflows of flows by name: sums, and of what the flows delivered the subflow's share, over the duration of the
/// run.
fn subflows(flows: &[FlowResult], run: &RunResult) -> Vec<SubflowResult> {
    let duration = Duration::from_secs_f64(run.duration_s);
    let mut all: Vec<SubflowResult> = Vec::new();
    for flow in flows {
        let of_all: f64 = flow.subflows.iter().map(|subflow| subflow.goodput_mbps).sum();
        for subflow in &flow.subflows {
            let share = if of_all > 0.0 { subflow.goodput_mbps / of_all } else { 0.0 };
            let index = all.iter().position(|known| known.name == subflow.name).unwrap_or_else(|| {
                let SubflowResult { name, opened_again, .. } = subflow.clone();
                all.push(SubflowResult { name, opened_again, ..SubflowResult::default() });
                all.len() - 1
            });
            let sum = &mut all[index];
            sum.opened_again &= subflow.opened_again;
            sum.goodput_mbps += goodput_mbps(flow.bytes_delivered, duration) * share;
            sum.packets_sent += subflow.packets_sent;
            sum.retransmissions += subflow.retransmissions;
            sum.copies += subflow.copies;
            if let Some(retransmitted) = subflow.retransmitted {
                *sum.retransmitted.get_or_insert_default() += retransmitted;
            }
        }
    }
    all
}
