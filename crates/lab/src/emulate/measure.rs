//! Computes the figures of a run from the ends of its flows, on kernels and in our stacks.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use subflow_linux::{DeviceKind, Emulator, InterfaceDrops, Verdict, kernel_release};
use subflow_network::{DuplexLink, Network};
use subflow_policy::catalogue::Catalogue;
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{InterfaceIndex, Scenario};
use subflow_transport::{Endpoint, EndpointId, Figures};

use super::hosts::KernelHosts;
use super::kernel_end::{KernelEnd, original_ends, with_original_ends};
use super::kernel_flow::KernelFlow;
use super::sctp::sctp_of_programs;
use super::settings::Plan;
use super::unopened::{established, unestablished, unopened};
use super::userspace::RealWorld;
use super::{is_ours, is_sent_by_kernel};
use crate::RunError;
use crate::results::{Engine, ExchangeResult, FlowResult, RealTime, RunResult};
use crate::simulate::application::{Application, ExchangeLog};
use crate::simulate::figures::{FlowBaseline, MeasuredFlow};
use crate::simulate::measure::LinkBaseline;

/// The data delivered before measuring began.
pub(super) struct Baseline {
    links: LinkBaseline,
    flows: Vec<FlowBaseline>,
}

/// The state of the machine during the run.
pub(super) struct Conditions {
    /// CPU time of the run's threads.
    pub(super) cpu_s: f64,
    pub(super) drops: InterfaceDrops,
    pub(super) device: DeviceKind,
    pub(super) device_was_asked_for: bool,
    pub(super) real_time_priority: bool,
}

impl Baseline {
    /// The part that the network's thread can read. Another thread reads from the kernels.
    pub(super) fn of_links_and_our_ends(
        emulator: &Emulator<RealWorld>,
        scenario: &Scenario,
        links: &[DuplexLink],
    ) -> Self {
        let of = |flow| {
            let [sender, receiver] = our_ends(emulator, scenario, flow).map(|end| end.map(Endpoint::figures));
            FlowBaseline::of(sender.as_ref(), receiver.as_ref())
        };
        Self { links: LinkBaseline::of(emulator.network(), links), flows: (0..scenario.flows.len()).map(of).collect() }
    }

    /// Adds the part of receivers on kernels.
    pub(super) fn with_kernel_ends(mut self, kernels: Vec<Option<FlowBaseline>>, network: &Network) -> Self {
        for (baseline, kernel) in self.flows.iter_mut().zip(kernels) {
            if let Some(kernel) = kernel {
                *baseline = kernel.with_ends(|ends| original_ends(ends, network));
            }
        }
        self
    }
}

/// The ends of a flow with our stack: the one that sends the data and the one that receives it.
pub(super) fn our_ends<'a>(
    emulator: &'a Emulator<RealWorld>,
    scenario: &Scenario,
    flow: usize,
) -> [Option<&'a Endpoint>; 2] {
    let world = &emulator.userspace().world;
    let application = &world.applications[flow];
    let flow = &scenario.flows[flow];
    let endpoint = |end: InterfaceIndex, id: Option<EndpointId>| {
        let ours = is_ours(scenario, flow, end.host);
        id.filter(|_| ours).map(|id| world.nodes.transport(end.host).endpoint(id))
    };
    let (from, to) = (endpoint(flow.from, application.from), endpoint(flow.to, application.to));
    if flow.is_answered() { [to, from] } else { [from, to] }
}

/// The figures of a run that has ended.
#[expect(clippy::too_many_arguments, reason = "all parts of a run")]
pub(super) fn result(
    scenario: &Scenario,
    seed: u64,
    emulator: &Emulator<RealWorld>,
    links: &[DuplexLink],
    flows: &[KernelFlow],
    hosts: &KernelHosts,
    baseline: &Baseline,
    conditions: &Conditions,
    plans: &[Plan],
) -> Result<RunResult, RunError> {
    for flow in flows {
        if let Some(error) = flow.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(RunError::Flow(error));
        }
    }
    if let Some(wrong) = emulator.userspace().wrong_byte() {
        return Err(RunError::Flow(wrong.to_owned()));
    }
    let end = Instant::ZERO + scenario.duration;
    let metrics = emulator.network().metrics();
    let results = (0..flows.len())
        .map(|index| flow_result(scenario, emulator, index, &flows[index], &baseline.flows[index], end))
        .collect();
    Ok(RunResult {
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        flows: results,
        links: baseline.links.results(emulator.network(), links, scenario, end),
        interfaces: Vec::new(),
        engine: Engine { packet_hops: metrics.packet_hops, events: metrics.events, cpu_s: conditions.cpu_s },
        paths: Vec::new(),
        sequences: Vec::new(),
        exchanges: exchanges(emulator, flows, end),
        connections: sctp_of_programs(scenario, emulator.sctp_traffic()).0,
        real_time: Some(real_time(scenario, emulator, flows, hosts, conditions, plans)?),
        series: Vec::new(),
    })
}

/// The exchanges of all flows.
fn exchanges(emulator: &Emulator<RealWorld>, flows: &[KernelFlow], end: Instant) -> Vec<ExchangeResult> {
    let mut all = Vec::new();
    for (index, kernel) in flows.iter().enumerate() {
        let of_kernel = kernel.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let application = &emulator.userspace().world.applications[index];
        if let Some(log) = exchanges_of(kernel, &of_kernel, application) {
            all.extend(log.results(index, kernel.flow.deadline(), end));
        }
    }
    all
}

fn flow_result(
    scenario: &Scenario,
    emulator: &Emulator<RealWorld>,
    index: usize,
    kernel: &KernelFlow,
    baseline: &FlowBaseline,
    end: Instant,
) -> FlowResult {
    let application = &emulator.userspace().world.applications[index];
    let [sender, receiver] = figures(scenario, emulator, index, kernel);
    let exchanges = kernel.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
    let completed_at = *kernel.completed_at.lock().unwrap_or_else(PoisonError::into_inner);
    let by_kernel = kernel.sender().is_some();
    let measured = MeasuredFlow {
        flow: &scenario.flows[index],
        sender,
        receiver,
        completed_at: completed_at.or(application.completed_at),
        exchanges: exchanges_of(kernel, &exchanges, application),
        player: application.player(),
        delays: None,
    };
    let mut result = measured.result(scenario, baseline, end);
    if by_kernel && result.scheduler.is_some() {
        // The kernel has only one scheduler.
        result.scheduler = Some("linux-default".to_owned());
    }
    result
}

/// The figures of both ends of a flow, that of the sender of its data first.
fn figures(
    scenario: &Scenario,
    emulator: &Emulator<RealWorld>,
    index: usize,
    kernel: &KernelFlow,
) -> [Option<Figures>; 2] {
    let ends = our_ends(emulator, scenario, index);
    let [sender, mut receiver] = ends.map(|end| end.map(Endpoint::figures));
    if let (Some(figures), [_, Some(end)], Some(_)) = (&mut receiver, ends, &kernel.flow.read) {
        figures.delivered = end.bytes_read();
    }
    let network = emulator.network();
    let of_kernel = |end: Option<&KernelEnd>| end.map(|end| with_original_ends(end.figures(kernel.is_udp()), network));
    [sender.or_else(|| of_kernel(kernel.sender())), receiver.or_else(|| of_kernel(kernel.receiver()))]
}

/// The exchanges of a flow as the end has seen them that asks.
fn exchanges_of<'a>(
    kernel: &KernelFlow,
    of_kernel: &'a ExchangeLog,
    application: &'a Application,
) -> Option<&'a ExchangeLog> {
    if kernel.from.is_some() { kernel.exchange_sizes.is_some().then_some(of_kernel) } else { application.exchanges() }
}

/// The share of the machine's CPU time in so many seconds that this much CPU time leaves.
pub(super) fn cpu_left(cpu_s: f64, seconds: f64) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    (1.0 - cpu_s / (seconds * cores)).max(0.0)
}

fn real_time(
    scenario: &Scenario,
    emulator: &Emulator<RealWorld>,
    flows: &[KernelFlow],
    hosts: &KernelHosts,
    conditions: &Conditions,
    plans: &[Plan],
) -> Result<RealTime, RunError> {
    let cpu_left = cpu_left(conditions.cpu_s, scenario.duration.as_secs_f64());
    let punctuality = emulator.punctuality();
    let [ignored_packets, refused] = emulator.not_carried();
    let mut drops = conditions.drops;
    drops.incoming = drops.incoming.max(refused);
    let at_sockets = emulator.userspace().dropped_at_sockets();
    drops.incoming += at_sockets.map_err(|error| RunError::System(error.to_string()))?;
    drops.outgoing += emulator.missed();
    let mut verdict = Verdict::of(punctuality, drops, cpu_left);
    let ends = flows.iter().flat_map(|flow| [flow.sender(), flow.receiver()]).flatten();
    verdict.objections.extend(ends.filter_map(KernelEnd::objection));
    let micros = |span: Duration| span.as_secs_f64() * 1e6;
    let mut notes: Vec<String> = plans.iter().flat_map(|plan| plan.notes.iter().cloned()).collect();
    notes.extend(hosts.unknown_settings().map(|(host, setting)| format!("{host}: this kernel has no net/{setting}")));
    notes.extend(other_schedulers(scenario));
    notes.extend(other_constants(scenario));
    let mut addresses = BTreeSet::new();
    for (index, (flow, kernel)) in scenario.flows.iter().zip(flows).enumerate() {
        let ends: Vec<Figures> = figures(scenario, emulator, index, kernel).into_iter().flatten().collect();
        addresses.extend(ends.iter().flat_map(established).flatten());
        if flow.protocol.mptcp().is_some() {
            let hosts = [flow.from.host, flow.to.host].map(|host| &scenario.hosts[host]);
            notes.extend(unestablished(flow.key(), hosts, &ends));
        }
    }
    notes.extend(unopened(scenario, &addresses));
    notes.extend(sctp_of_programs(scenario, emulator.sctp_traffic()).1);
    // Once for all flows of a group.
    notes.dedup();
    if conditions.device == DeviceKind::Veth && !conditions.device_was_asked_for {
        notes.push("TUN devices cannot be made here: packets went over veth pairs and packet sockets".to_owned());
    }
    if !conditions.real_time_priority {
        notes.push("no real-time priority (CAP_SYS_NICE): packets may be late by milliseconds".to_owned());
    }
    Ok(RealTime {
        kernel: kernel_release(),
        device: conditions.device.name().to_owned(),
        valid: verdict.is_valid(),
        objections: verdict.objections,
        notes,
        real_time_priority: conditions.real_time_priority,
        late_p50_us: micros(punctuality.quantile(0.5)),
        late_p99_us: micros(punctuality.quantile(0.99)),
        late_p999_us: micros(punctuality.quantile(0.999)),
        late_max_us: micros(punctuality.maximum()),
        device_drops: drops.incoming + drops.outgoing,
        ignored_packets,
        cpu_left,
        switches: None,
        programs: Vec::new(),
        mptcp_counters: hosts.mptcp_counters()?,
    })
}

/// Flows whose scenario gives a congestion control constants that the kernel's does not take.
fn other_constants(scenario: &Scenario) -> impl Iterator<Item = String> {
    scenario.flows.iter().filter_map(|flow| {
        let congestion = flow.congestion().filter(|_| flow.protocol.sctp().is_none())?;
        (is_sent_by_kernel(scenario, flow) && !congestion.has_default_options()).then(|| {
            format!("{}: the kernel's {:?} has constants of its own, not the scenario's", flow.key(), congestion.name())
        })
    })
}

/// Flows whose scenario names a scheduler that the kernel does not have.
fn other_schedulers(scenario: &Scenario) -> impl Iterator<Item = String> {
    scenario.flows.iter().filter_map(|flow| {
        let mptcp = flow.protocol.mptcp()?;
        (is_sent_by_kernel(scenario, flow) && mptcp.ends.from.scheduler.name() != "linux-default").then(|| {
            format!(
                "{}: the kernel has its own scheduler, not {:?}; compare with linux-default",
                flow.key(),
                mptcp.ends.from.scheduler.name()
            )
        })
    })
}
