//! A run on one thread, or on several: one for each part of the network (`subflow_network::Exchange`).
//!
//! Every thread builds the whole run and drives its own hosts and routers. For samples and results, what the parts own
//! is brought together in the first one, so that the code which reads a run does not know of parts.

use std::thread;

use subflow_network::{Exchange, HostId, Network, NetworkMetrics, Partition};
use subflow_quantity::Instant;
use subflow_scenario::Scenario;

use super::build::{self, Run, Setup};
use super::division::Division;
use super::observer::Observer;
use crate::event_log::EventLog;
use crate::{CpuTimer, RunError};

/// The parts of a run; one part is the whole.
pub(super) struct Parts {
    runs: Vec<Run>,
    /// What joins several parts.
    joint: Option<Joint>,
    /// CPU seconds of all threads except the calling one.
    pub(super) cpu_s: f64,
}

struct Joint {
    partition: Partition,
    exchange: Exchange,
}

impl Parts {
    /// Builds a run on one thread.
    pub(super) fn whole(scenario: &Scenario, setup: Setup<'_>) -> Result<Self, RunError> {
        let run = build::build(scenario, setup, |_| true)?;
        Ok(Self { runs: vec![run], joint: None, cpu_s: 0.0 })
    }

    /// Builds a run with a thread for each part.
    pub(super) fn divided(scenario: &Scenario, setup: Setup<'_>, division: &Division) -> Result<Self, RunError> {
        let partition = &division.partition;
        let build = |part: usize| {
            let ours = |host: usize| partition.of_host(HostId::from_index(host)) == part;
            let mut run = build::build(scenario, setup, ours)?;
            let lookahead = run.network.restrict(partition, part);
            lookahead.map(|lookahead| (run, lookahead)).map_err(|error| RunError::Defect(error.to_string()))
        };
        let built: Result<Vec<_>, RunError> = thread::scope(|scope| {
            let others: Vec<_> = (1..partition.parts()).map(|part| scope.spawn(move || build(part))).collect();
            let first = build(0);
            core::iter::once(first).chain(others.into_iter().map(joined)).collect()
        });
        let built = built?;
        let exchange = Exchange::new(partition.parts(), built[0].1);
        let joint = Joint { partition: partition.clone(), exchange };
        Ok(Self { runs: built.into_iter().map(|(run, _)| run).collect(), joint: Some(joint), cpu_s: 0.0 })
    }

    /// Whether there are several.
    pub(super) fn are_several(&self) -> bool {
        self.joint.is_some()
    }

    /// Whether parts note what happens to the data of flows, until [`run_until`](Self::run_until) has ended.
    pub(super) fn note_data(&self) -> bool {
        self.joint.is_some() && self.runs[0].world.nodes.is_observed()
    }

    /// The run that everything is brought together in, or the only one.
    pub(super) fn first(&mut self) -> &mut Run {
        &mut self.runs[0]
    }

    /// The current time of all parts.
    pub(super) fn now(&self) -> Instant {
        self.runs[0].network.now()
    }

    /// The counters of the whole network.
    pub(super) fn metrics(&self) -> NetworkMetrics {
        NetworkMetrics::sum(self.runs.iter().map(|run| run.network.metrics()))
    }

    /// Events that all parts have processed.
    pub(super) fn events(&self) -> u64 {
        self.runs.iter().map(|run| run.network.events()).sum()
    }

    /// Records from now on how the data of each flow reaches its reader, and all else for `log`, which only a run on one
    /// thread may have.
    pub(super) fn observe(&mut self, scenario: &Scenario, mut log: Option<EventLog>) {
        let later = self.joint.is_some();
        for run in &mut self.runs {
            run.world.nodes.observer = Some(Box::new(Observer::new(&scenario.flows, later, log.take())));
        }
    }

    /// Fails if the event log could not be written.
    pub(super) fn check_log(&self) -> Result<(), RunError> {
        self.runs[0].world.nodes.observer.as_ref().map_or(Ok(()), |observer| observer.check())
    }

    /// Ends the event log, if there is one.
    pub(super) fn finish_log(&mut self) -> Result<(), RunError> {
        let end = self.now();
        self.runs[0].world.nodes.observer.as_mut().map_or(Ok(()), |observer| observer.finish(end))
    }

    /// Runs all parts until `end`. Fails if they have too many packets, or if a flow could not begin.
    pub(super) fn run_until(&mut self, end: Instant) -> Result<(), RunError> {
        let Some(Joint { exchange, .. }) = &self.joint else {
            let run = &mut self.runs[0];
            run.network.run_until(&mut run.world, end);
            return super::check_size(&run.network, &run.links);
        };
        let advance = |run: &mut Run| {
            let timer = CpuTimer::start();
            run.network.run_part_until(&mut run.world, end, exchange);
            timer.seconds()
        };
        let (first, others) = self.runs.split_first_mut().expect("a part");
        let cpu_s: f64 = thread::scope(|scope| {
            let others: Vec<_> = others.iter_mut().map(|run| scope.spawn(move || advance(run))).collect();
            advance(first);
            others.into_iter().map(joined).sum()
        });
        self.cpu_s += cpu_s;
        self.replay_data();
        let packets: usize = self.runs.iter().map(|run| run.network.most_packets()).sum();
        if packets > Network::MOST_PACKETS {
            return Err(RunError::TooLarge(format!("more than {} packets are in the parts", Network::MOST_PACKETS)));
        }
        self.runs.iter().try_for_each(|run| run.world.nodes.check_flows())
    }

    /// Adds what all parts have recorded of the flows' data to the first one, in the order in which it happened.
    fn replay_data(&mut self) {
        let (first, others) = self.runs.split_first_mut().expect("a part");
        if let Some(observer) = &mut first.world.nodes.observer {
            for other in others.iter_mut().filter_map(|other| other.world.nodes.observer.as_mut()) {
                observer.take_records(other);
            }
            observer.replay();
        }
    }

    /// Calls `read` with the whole run.
    pub(super) fn gathered<T>(&mut self, read: impl FnOnce(&mut Run) -> T) -> T {
        let Some(Joint { partition, .. }) = &self.joint else { return read(&mut self.runs[0]) };
        let part_of = |host: usize| partition.of_host(HostId::from_index(host));
        for flow in 0..self.runs[0].world.applications.len() {
            let described = self.runs[0].world.applications[flow].flow();
            let (from, to) = (part_of(described.from.host), part_of(described.to.host));
            if from != to {
                let known = self.runs[to].world.applications[flow].accepting_end();
                self.runs[from].world.applications[flow].learn_accepting_end(known);
            }
        }
        let (whole, others) = self.runs.split_first_mut().expect("a part");
        let mut networks: Vec<&mut Network> = others.iter_mut().map(|run| &mut run.network).collect();
        Network::gather(&mut whole.network, &mut networks);
        exchange_worlds(whole, others, partition);
        let result = read(whole);
        exchange_worlds(whole, others, partition);
        let mut networks: Vec<&mut Network> = others.iter_mut().map(|run| &mut run.network).collect();
        Network::scatter(&mut whole.network, &mut networks);
        result
    }
}

/// Brings the hosts and applications of the `others` to `whole`, or back.
fn exchange_worlds(whole: &mut Run, others: &mut [Run], partition: &Partition) {
    let part_of = |host: usize| partition.of_host(HostId::from_index(host));
    for (other, run) in others.iter_mut().enumerate() {
        whole.world.exchange(&mut run.world, |host| part_of(host) == other + 1);
    }
}

/// The result of a thread, whose panic goes on here.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
