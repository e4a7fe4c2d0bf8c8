//! The path managers of hosts with the kernel's MPTCP, and addresses of these hosts that come and go.

use std::net::SocketAddr;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use subflow_linux::paths::{Driver, InterfaceRule, InterfaceRules, NamedSubflow, Plan, Rules};
use subflow_linux::{Interrupt, KernelHost, Priority, Result, WallClock};
use subflow_policy::path_manager::{FourTuple, PathManagement, PathManager};
use subflow_quantity::Instant;
use subflow_scenario::{Flow, Host, HostStack, Mptcp, Scenario};

use super::hosts::KernelHosts;
use super::programs;
use super::settings::has_path_manager;
use crate::RunError;
use crate::simulate::stacks::{Side, flow_end};

/// The interval of checks for the end of the run.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

fn mptcp_flows(scenario: &Scenario) -> impl Iterator<Item = (&Flow, &Mptcp)> {
    scenario.flows.iter().filter_map(|flow| Some((flow, flow.protocol.mptcp()?)))
}

/// A driver for each kernel that has an end of an MPTCP flow, or programs with a path manager. It listens from now on.
pub(super) fn drivers(
    scenario: &Scenario,
    seed: u64,
    hosts: &KernelHosts,
) -> core::result::Result<Vec<Driver>, RunError> {
    let mut drivers = Vec::new();
    for (index, host) in scenario.hosts.iter().enumerate() {
        if let Some(kernel) = hosts.get(index).filter(|_| has_path_manager(scenario, index)) {
            let of_programs = programs::path_manager(scenario, index)?.cloned().unwrap_or_default();
            let rules = rules(scenario, seed, index, (interfaces(host, kernel), of_programs));
            drivers.push(kernel.namespace().run(|| Driver::open(rules))?);
        }
    }
    Ok(drivers)
}

fn interfaces(host: &Host, kernel: &KernelHost) -> InterfaceRules {
    let mut rules = InterfaceRules::default();
    for (interface, device) in host.interfaces.iter().zip(kernel.devices()) {
        rules.add(device.as_str(), InterfaceRule { backup: interface.backup, ..InterfaceRule::default() });
    }
    rules
}

/// Finds the flow of a connection by the end that listens, which no other flow of the host has. Others are of programs.
fn rules(
    scenario: &Scenario,
    seed: u64,
    host: usize,
    (interfaces, of_programs): (InterfaceRules, PathManagement),
) -> Rules {
    let mut plans = Vec::new();
    for (flow, mptcp) in mptcp_flows(scenario) {
        let listening = SocketAddr::new(flow.addresses[1], flow.port);
        for (side, end) in [(Side::From, flow.from.host), (Side::To, flow.to.host)] {
            if end == host {
                let subflows = if side == Side::From { named(flow, mptcp) } else { Vec::new() };
                let mut path_manager = side.of(&mptcp.ends).path_manager.clone();
                path_manager.begin(flow_end(flow, side, seed));
                plans.push((listening, side == Side::From, Plan { path_manager, subflows }));
            }
        }
    }
    let plan = move |initial: &FourTuple, client: bool| {
        let listening = if client { initial.remote } else { initial.local };
        let found = plans.iter().find(|(end, connects, _)| (*end, *connects) == (listening, client));
        let other = || Plan { path_manager: of_programs.clone(), subflows: Vec::new() };
        found.map_or_else(other, |(_, _, plan)| plan.clone())
    };
    Rules { plan: Box::new(plan), interfaces }
}

fn named(flow: &Flow, mptcp: &Mptcp) -> Vec<NamedSubflow> {
    let subflow = |plan: &subflow_scenario::SubflowPlan| NamedSubflow {
        local: (plan.addresses[0], plan.source_port.unwrap_or(0)).into(),
        remote: (plan.addresses[1], flow.port).into(),
        backup: plan.backup,
    };
    mptcp.subflows.iter().map(subflow).collect()
}

/// Starts a thread for each driver, and one for the addresses that come and go.
pub(super) fn start<'scope, 'env>(
    drivers: Vec<Driver>,
    scope: &'scope Scope<'scope, 'env>,
    scenario: &'env Scenario,
    hosts: &'env KernelHosts,
    clock: WallClock,
    stop: &Interrupt,
) -> Vec<ScopedJoinHandle<'scope, Result<()>>> {
    let mut threads = Vec::new();
    for mut driver in drivers {
        let stop = stop.clone();
        threads.push(scope.spawn(move || {
            Priority::Application.take();
            while !stop.is_raised() {
                driver.run(LONGEST_WAIT)?;
            }
            Ok(())
        }));
    }
    if scenario.host_timeline.iter().any(|event| scenario.hosts[event.host].stack == HostStack::Kernel) {
        let stop = stop.clone();
        threads.push(scope.spawn(move || {
            Priority::Application.take();
            change_addresses(scenario, hosts, clock, &stop)
        }));
    }
    threads
}

/// Changes the addresses of kernels when the scenario says so.
fn change_addresses(scenario: &Scenario, hosts: &KernelHosts, clock: WallClock, stop: &Interrupt) -> Result<()> {
    let mut events: Vec<_> = scenario.host_timeline.iter().collect();
    events.sort_by_key(|event| event.at);
    let piece = subflow_quantity::Duration::from_nanos(LONGEST_WAIT.as_nanos() as u64);
    for event in events {
        let Some(host) = hosts.get(event.host) else { continue };
        if !clock.sleep_until(Instant::ZERO + event.at, piece, || !stop.is_raised()) {
            return Ok(());
        }
        event.addresses.iter().try_for_each(|&address| host.set_present(address, event.present))?;
    }
    Ok(())
}
