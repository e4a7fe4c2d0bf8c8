//! Metrics over time: goodput, window, RTT and what is in flight per subflow, queue lengths per link.

use std::collections::BTreeMap;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_transport::Endpoint;
use subflow_transport::tcp::{Connection, Ends};

use super::build::Run;
use super::figures::{EndFigures, delivered_by_subflow};
use super::sctp;
use crate::results::{Series, goodput_mbps};
use crate::scenario::Scenario;

const GOODPUT: &str = "goodput";

/// Takes samples of a run as it goes on.
pub(super) struct Sampler {
    interval: Duration,
    series: BTreeMap<(usize, String, &'static str), Series>,
    sampled_at: Instant,
    /// By flow: what had been delivered when the last sample was taken, and by which subflow.
    delivered: Vec<(u64, BTreeMap<Ends, u64>)>,
}

impl Sampler {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            interval: scenario.sample_interval,
            series: BTreeMap::new(),
            sampled_at: Instant::ZERO,
            delivered: vec![(0, BTreeMap::new()); scenario.flows.len()],
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

    pub(super) fn push_goodput(&mut self, group: usize, of: String, at: Instant, mbps: f64) {
        let interval = goodput_interval(self.interval);
        let make = || Series::new(of.clone(), GOODPUT, "Mbit/s", interval).of_rate();
        self.series.entry((group, of.clone(), GOODPUT)).or_insert_with(make).push(at, mbps);
    }

    /// Samples everything.
    pub(super) fn sample(&mut self, run: &Run, scenario: &Scenario, now: Instant) {
        let span = now - self.sampled_at;
        self.sampled_at = now;
        for (index, flow) in scenario.flows.iter().enumerate() {
            let total = run.delivered(index);
            let (sender, receiver) = run.data_ends(index);
            let [sender, receiver] = [sender, receiver].map(|end| end.map(EndFigures::of));
            let by_subflow = delivered_by_subflow(sender.as_ref(), receiver.as_ref());
            let (before, before_by_subflow) =
                core::mem::replace(&mut self.delivered[index], (total, by_subflow.clone()));
            self.push_goodput(index, flow.name.clone(), now, goodput_mbps(total - before, span));
            let subflow_goodput = |ends: Ends| {
                let bytes = |of: &BTreeMap<Ends, u64>| of.get(&ends).copied().unwrap_or(0);
                goodput_mbps(bytes(&by_subflow) - bytes(&before_by_subflow), span)
            };
            self.sample_sender(run, scenario, index, now, subflow_goodput);
        }
        for (index, (link, ids)) in scenario.links.iter().zip(&run.links).enumerate() {
            let group = scenario.flows.len() + index;
            for (id, direction) in [(ids.forward, "up"), (ids.backward, "down")] {
                let queue = f64::from(run.network.queue_length(id));
                self.push(group, format!("{}.{direction}", link.name), "queue", "packets", now, queue);
            }
        }
    }

    fn sample_sender(
        &mut self,
        run: &Run,
        scenario: &Scenario,
        flow: usize,
        now: Instant,
        goodput: impl Fn(Ends) -> f64,
    ) {
        let name = &scenario.flows[flow].name;
        match run.data_ends(flow).0 {
            Some(Endpoint::Tcp(tcp)) => {
                self.sample_path(flow, name.clone(), tcp.connection(), tcp.congestion(), now);
            }
            Some(Endpoint::Mptcp(mptcp)) => {
                for (number, subflow) in mptcp.subflows().iter().enumerate() {
                    if !subflow.is_closed() {
                        let (of, tcp) = (format!("{name}/{number}"), subflow.connection());
                        self.push_goodput(flow, of.clone(), now, goodput(tcp.ends()));
                        self.sample_path(flow, of, tcp, mptcp.congestion(), now);
                    }
                }
            }
            Some(Endpoint::Sctp(association)) => sctp::sample(self, flow, name, association, now, goodput),
            Some(Endpoint::Udp(_)) | None => {}
        }
    }

    fn sample_path(&mut self, flow: usize, of: String, tcp: &Connection, controller: &Controller, now: Instant) {
        let path = controller.path(tcp.path());
        self.push(flow, of.clone(), "cwnd", "packets", now, f64::from(path.cwnd));
        if path.ssthresh < subflow_policy::congestion::Path::INFINITE {
            self.push(flow, of.clone(), "ssthresh", "packets", now, f64::from(path.ssthresh));
        }
        self.push(flow, of.clone(), "in-flight", "packets", now, f64::from(tcp.in_flight()));
        self.push(flow, of.clone(), "flight-size", "kB", now, tcp.unacknowledged_bytes() as f64 / 1e3);
        if let Some(srtt) = tcp.rtt().srtt() {
            self.push(flow, of, "srtt", "ms", now, srtt.as_secs_f64() * 1e3);
        }
    }

    /// All series, flows before links, in the scenario's order.
    pub(super) fn finish(self) -> Vec<Series> {
        self.series.into_values().collect()
    }
}

/// Over a few milliseconds a rate is a matter of single packets, and of holes that are just being filled: up to 100 ms,
/// goodput is the mean over five samples.
fn goodput_interval(interval: Duration) -> Duration {
    interval.saturating_mul(5).min(Duration::from_millis(100)).max(interval)
}
