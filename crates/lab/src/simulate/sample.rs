//! Metrics over time: goodput, window, RTT and packets in flight per subflow, queue lengths per link.

use std::collections::BTreeMap;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_transport::Endpoint;
use subflow_transport::tcp::Connection;

use super::build::Run;
use crate::results::{Series, goodput_mbps};
use crate::scenario::Scenario;

/// Takes samples of a run as it goes on.
pub(super) struct Sampler {
    interval: Duration,
    series: BTreeMap<(usize, String, &'static str), Series>,
    delivered: Vec<(Instant, u64)>,
}

impl Sampler {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            interval: scenario.sample_interval,
            series: BTreeMap::new(),
            delivered: vec![(Instant::ZERO, 0); scenario.flows.len()],
        }
    }

    /// When to sample next, after `now`.
    pub(super) fn next(&self, now: Instant) -> Instant {
        now + self.interval
    }

    pub(super) fn push(
        &mut self,
        group: usize,
        of: String,
        metric: &'static str,
        unit: &'static str,
        at: Instant,
        value: f64,
    ) {
        let interval = self.interval;
        let make = || Series::new(of.clone(), metric, unit, interval);
        self.series.entry((group, of.clone(), metric)).or_insert_with(make).push(at, value);
    }

    /// Samples everything.
    pub(super) fn sample(&mut self, run: &Run, scenario: &Scenario, now: Instant) {
        for (index, flow) in scenario.flows.iter().enumerate() {
            let total = run.delivered(index);
            let (since, before) = core::mem::replace(&mut self.delivered[index], (now, total));
            let goodput = goodput_mbps(total - before, now - since);
            self.push(index, flow.name.clone(), "goodput", "Mbit/s", now, goodput);
            self.sample_sender(run, scenario, index, now);
        }
        for (index, (link, ids)) in scenario.links.iter().zip(&run.links).enumerate() {
            let group = scenario.flows.len() + index;
            for (id, direction) in [(ids.forward, "up"), (ids.backward, "down")] {
                let queue = f64::from(run.network.queue_length(id));
                self.push(group, format!("{}.{direction}", link.name), "queue", "packets", now, queue);
            }
        }
    }

    fn sample_sender(&mut self, run: &Run, scenario: &Scenario, flow: usize, now: Instant) {
        let Some(application) = &run.world.applications[flow] else { return };
        let Some(id) = application.from else { return };
        let name = &scenario.flows[flow].name;
        let node = scenario.flows[flow].from.host;
        match run.world.nodes[node].transport.endpoint(id) {
            Endpoint::Tcp(tcp) => self.sample_path(flow, name.clone(), tcp.connection(), tcp.congestion(), now),
            Endpoint::Mptcp(mptcp) => {
                for (number, subflow) in mptcp.subflows().iter().enumerate() {
                    if !subflow.is_closed() {
                        let of = format!("{name}/{number}");
                        self.sample_path(flow, of, subflow.connection(), mptcp.congestion(), now);
                    }
                }
            }
            Endpoint::Sctp(association) => super::sctp::sample(self, flow, name, association, now),
            Endpoint::Udp(_) => {}
        }
    }

    fn sample_path(&mut self, flow: usize, of: String, tcp: &Connection, controller: &Controller, now: Instant) {
        let path = controller.path(tcp.path());
        self.push(flow, of.clone(), "cwnd", "packets", now, f64::from(path.cwnd));
        if path.ssthresh < subflow_policy::congestion::Path::INFINITE {
            self.push(flow, of.clone(), "ssthresh", "packets", now, f64::from(path.ssthresh));
        }
        self.push(flow, of.clone(), "in-flight", "packets", now, f64::from(tcp.in_flight()));
        if let Some(srtt) = tcp.rtt().srtt() {
            self.push(flow, of, "srtt", "ms", now, srtt.as_secs_f64() * 1e3);
        }
    }

    /// All series, flows before links, in the scenario's order.
    pub(super) fn finish(self) -> Vec<Series> {
        self.series.into_values().collect()
    }
}
