//! Which parts of a scenario run on which thread.

mod cut;
mod graph;

use core::fmt;

use subflow_network::{LinkConfig, Partition, RouterMode, Service};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::queue::Discipline;
use subflow_policy::scheduler::Scheduling;
use subflow_scenario::{Attachment, Flow, Link, Scenario};

use super::RunOptions;
use graph::Graph;

/// A scenario whose parts run on threads of their own, with the results of one thread (`subflow_network::Exchange`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    pub(super) partition: Partition,
}

/// Why all of a scenario runs on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undivided {
    /// It has one thread.
    OneThread,
    /// Packets are captured, in the order in which they pass all hosts.
    Captures,
    /// What all hosts do is logged, in the order in which it happens.
    EventLog,
    /// A controller routes all flows.
    Controller,
    /// Links have middleboxes, which see both directions.
    Middleboxes,
    /// Radios count what passes in the order of time.
    Radios,
    /// Links contend for WiFi channels.
    Channels,
    /// An algorithm of another crate may share state between hosts.
    CustomAlgorithm,
    /// What must stay together is everything that has traffic.
    Together,
}

impl fmt::Display for Undivided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneThread => "there is only one thread",
            Self::Captures => "packets are captured in the order in which they pass all hosts",
            Self::EventLog => "what all hosts do is logged in the order in which it happens",
            Self::Controller => "one controller routes all flows",
            Self::Middleboxes => "middleboxes see both directions of their links",
            Self::Radios => "the energy of interfaces is counted in the order in which packets pass them",
            Self::Channels => "links contend for WiFi channels",
            Self::CustomAlgorithm => "a custom algorithm may share state between hosts",
            Self::Together => {
                "all hosts with traffic are joined by links without a constant delay, links that change, or UDP flows"
            }
        })
    }
}

impl Division {
    /// Divides `scenario` into up to [`RunOptions::threads`] parts with about equal work.
    pub fn of(scenario: &Scenario, options: &RunOptions) -> Result<Self, Undivided> {
        if options.threads < 2 {
            return Err(Undivided::OneThread);
        }
        if options.pcap.is_some() {
            return Err(Undivided::Captures);
        }
        if options.events.is_some() {
            return Err(Undivided::EventLog);
        }
        if scenario.routers.iter().any(|router| router.mode == RouterMode::Multiflow) {
            return Err(Undivided::Controller);
        }
        if scenario.links.iter().any(|link| !link.middleboxes.is_empty()) {
            return Err(Undivided::Middleboxes);
        }
        if scenario.hosts.iter().flat_map(|host| &host.interfaces).any(|interface| interface.energy.is_some()) {
            return Err(Undivided::Radios);
        }
        if scenario.links.iter().any(|link| matches!(link.up.service, Service::Wifi(_))) {
            return Err(Undivided::Channels);
        }
        if scenario.flows.iter().any(has_custom_algorithm) || scenario.links.iter().any(has_custom_queue) {
            return Err(Undivided::CustomAlgorithm);
        }
        let parts = cut::cut(&graph(scenario, options), options.threads).ok_or(Undivided::Together)?;
        let (hosts, routers) = parts.split_at(scenario.hosts.len());
        Ok(Self { partition: Partition::new(hosts.to_vec(), routers.to_vec()) })
    }

    /// The number of parts: at most the number of threads.
    pub fn parts(&self) -> usize {
        self.partition.parts()
    }
}

fn has_custom_queue(link: &Link) -> bool {
    let is_custom = |config: &LinkConfig| matches!(config.queue.discipline, Discipline::Custom(..));
    is_custom(&link.up) || is_custom(&link.down)
}

fn has_custom_algorithm(flow: &Flow) -> bool {
    let custom_scheduler = |scheduling: &Scheduling| matches!(scheduling, Scheduling::Custom(..));
    let protocol = &flow.protocol;
    matches!(flow.congestion(), Some(Algorithm::Custom(..)))
        || protocol.scheduler().is_some_and(custom_scheduler)
        || matches!(protocol.path_manager(), Some(PathManagement::Custom(..)))
}

/// Hosts, then routers, and what must stay together.
fn graph(scenario: &Scenario, options: &RunOptions) -> Graph {
    let node = |end: Attachment| match end {
        Attachment::Interface(index) => index.host,
        Attachment::Router(router) => scenario.hosts.len() + router,
    };
    let mut graph = Graph::new(scenario.hosts.len(), scenario.routers.len());
    let mut changes = vec![false; scenario.links.len()];
    scenario.timeline.iter().for_each(|event| changes[event.link] = true);
    for (link, changes) in scenario.links.iter().zip(changes) {
        let ends = link.ends.map(node);
        match changes || varies(&link.up) || varies(&link.down) {
            true => graph.add_link(ends, 0),
            false => graph.add_link(ends, link.up.delay.min(link.down.delay).as_nanos()),
        }
    }
    let joins_ends = options.series && !has_order_of_events(scenario);
    let mut waiting = None;
    for flow in &scenario.flows {
        let ends = [flow.from.host, flow.to.host];
        graph.add_flow(ends);
        let waits = flow.planned_exchanges().is_some();
        let is_read_by_both = flow.video().is_some() || flow.planned_streams().is_some();
        // Their application acts at both ends at the same time.
        if joins_ends || flow.protocol.is_udp() || flow.may_give_up() || is_read_by_both || waits {
            graph.join(ends);
        }
        if waits {
            graph.join([ends[0], *waiting.get_or_insert(ends[0])]);
        }
    }
    graph.weigh_routers();
    graph
}

/// Whether the link has a delay of its own for each packet.
fn varies(config: &LinkConfig) -> bool {
    config.jitter.is_some() || config.overtaking.is_some()
}

/// Whether the order of events at the same instant is known without running all of them on one thread. The metrics over
/// time of a flow depend on it in rare cases, when both of its ends act at the same instant.
fn has_order_of_events(scenario: &Scenario) -> bool {
    let disturbs = |config: &LinkConfig| {
        varies(config) || config.reordering.is_some() || config.duplication != subflow_network::Probability::NEVER
    };
    let known = |config: &LinkConfig| !config.delay.is_zero() && !disturbs(config);
    scenario.links.iter().all(|link| known(&link.up) && known(&link.down))
}
