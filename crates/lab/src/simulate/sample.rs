//! Metrics over time: goodput, window, RTT and data in flight of each subflow; delays of the data and what it waits for;
//! queue length of each link from its first packet on. If a connection opens more subflows than results list, only the
//! first ones have series. Of the flows of a group only their goodput is sampled, in sum.

use std::collections::BTreeMap;

use subflow_network::{DuplexLink, Network};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;
use subflow_transport::Endpoint;
use subflow_transport::mptcp::LISTED_SUBFLOWS;
use subflow_transport::tcp::Ends;

use super::build::Run;
use super::data_path::{CarrierSample, DataSample};
use super::figures::{EndFigures, delivered_by_subflow};
use super::path_sample::PathSample;
use super::sctp;
use crate::results::{Sequence, Series, goodput_mbps};

const GOODPUT: &str = "goodput";

/// Takes samples during a run.
pub(crate) struct Sampler {
    interval: Duration,
    /// By flow, then by link; each by what it is of, then in the order of their first samples.
    series: Vec<BTreeMap<String, Vec<Series>>>,
    sampled_at: Instant,
    /// By flow: the bytes delivered at the last sample, in all and by subflow.
    delivered: Vec<(u64, BTreeMap<Ends, u64>)>,
    /// The bytes that the flows of each group delivered since the last sample; by group.
    by_groups: Vec<u64>,
    /// Room for a name.
    name: String,
}

impl Sampler {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            interval: scenario.sample_interval,
            series: Vec::new(),
            sampled_at: Instant::ZERO,
            delivered: vec![(0, BTreeMap::new()); scenario.flows.len()],
            by_groups: vec![0; scenario.groups.len()],
            name: String::new(),
        }
    }

    /// The time of the next sample after `now`.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        now + self.interval
    }

    /// The series of a metric, made by `make` when it is asked for first.
    fn series(
        &mut self,
        group: usize,
        of: &str,
        metric: &'static str,
        make: impl FnOnce(Duration) -> Series,
    ) -> &mut Series {
        if self.series.len() <= group {
            self.series.resize_with(group + 1, BTreeMap::new);
        }
        let group = &mut self.series[group];
        if !group.contains_key(of) {
            group.insert(of.to_owned(), Vec::new());
        }
        let of_object = group.get_mut(of).expect("it was inserted");
        let number = of_object.iter().position(|series| series.metric == metric).unwrap_or_else(|| {
            of_object.push(make(self.interval));
            of_object.len() - 1
        });
        &mut of_object[number]
    }

    fn push(&mut self, group: usize, of: &str, metric: &'static str, unit: &'static str, at: Instant, value: f64) {
        self.series(group, of, metric, |interval| Series::new(of, metric, unit, interval)).push(at, value);
    }

    pub(crate) fn push_goodput(&mut self, group: usize, of: &str, at: Instant, mbps: f64) {
        self.push_rate(group, of, GOODPUT, "Mbit/s", at, mbps);
    }

    /// Adds a mean since the last sample.
    fn push_rate(&mut self, group: usize, of: &str, metric: &'static str, unit: &'static str, at: Instant, value: f64) {
        let make = |interval| Series::new(of, metric, unit, mean_interval(interval)).of_rate();
        self.series(group, of, metric, make).push(at, value);
    }

    /// Samples everything of a simulated run.
    pub(super) fn sample(&mut self, run: &mut Run, scenario: &Scenario, now: Instant) {
        let span = self.advance(now);
        for (index, flow) in scenario.flows.iter().enumerate() {
            let (sender, receiver) = run.data_ends(index);
            if flow.group.is_some() {
                self.add_to_group(scenario, index, receiver.map_or(0, |receiver| EndFigures::of(receiver).delivered));
                continue;
            }
            let [from, to] = [sender, receiver].map(|end| end.map(EndFigures::of));
            let goodput = self.sample_flow(index, &flow.name, [from.as_ref(), to.as_ref()], now, span);
            if let Some(sender) = sender {
                self.sample_sender(index, &flow.name, sender, now, goodput);
            }
            if let Some(window) = receiver.and_then(Endpoint::receive_window) {
                self.push(index, &flow.name, "receive-window", "kB", now, window as f64 / 1e3);
            }
            let names = sender.map_or_else(BTreeMap::new, |sender| subflow_names(&flow.name, sender));
            let read = receiver.map_or(0, Endpoint::bytes_received);
            if let Some(path) = run.world.nodes.data_path_mut(index) {
                let (data, carriers) = path.sample(read, now);
                self.push_data(index, &flow.name, now, span, &data);
                for (carrier, of) in carriers.iter().filter_map(|carrier| Some((carrier, names.get(&carrier.ends)?))) {
                    self.push_carrier(index, of, now, span, carrier);
                }
            }
        }
        self.sample_groups(scenario, now, span);
        self.sample_queues(&run.network, &run.links, scenario, now);
    }

    /// Adds what a flow of a group delivered, of which there were `total` bytes until now.
    pub(crate) fn add_to_group(&mut self, scenario: &Scenario, flow: usize, total: u64) {
        let before = core::mem::replace(&mut self.delivered[flow].0, total);
        let number = scenario.groups.partition_point(|group| group.flows.end <= flow);
        self.by_groups[number] += total - before;
    }

    /// Samples the goodput of each group.
    pub(crate) fn sample_groups(&mut self, scenario: &Scenario, now: Instant, span: Duration) {
        for (number, group) in scenario.groups.iter().enumerate() {
            let first = group.flows.start;
            if scenario.flows[first].group.is_some() {
                let bytes = core::mem::take(&mut self.by_groups[number]);
                self.push_goodput(first, &group.name, now, goodput_mbps(bytes, span));
            }
        }
    }

    fn push_data(&mut self, flow: usize, name: &str, now: Instant, span: Duration, data: &DataSample) {
        let mut push = |metric, unit, value| self.push(flow, name, metric, unit, now, value);
        push("reassembly", "kB", data.held as f64 / 1e3);
        push("outstanding", "kB", data.outstanding as f64 / 1e3);
        if let Some([delay, waited]) = data.delays {
            push("delay", "ms", delay.as_secs_f64() * 1e3);
            push("reassembly-delay", "ms", waited.as_secs_f64() * 1e3);
        }
        self.push_rate(flow, name, "reinjected", "Mbit/s", now, goodput_mbps(data.repeated_elsewhere, span));
    }

    fn push_carrier(&mut self, flow: usize, of: &str, now: Instant, span: Duration, carrier: &CarrierSample) {
        let share = carrier.blocked.as_secs_f64() / span.as_secs_f64();
        self.push_rate(flow, of, "blocking", "%", now, 100.0 * share);
        self.push(flow, of, "sequence", "MB", now, carrier.sequence as f64 / 1e6);
    }

    /// Begins a sample at `now`. Returns the time since the last one.
    pub(crate) fn advance(&mut self, now: Instant) -> Duration {
        let span = now - self.sampled_at;
        self.sampled_at = now;
        span
    }

    /// Samples the goodput of a flow from its sender and its receiver. Returns the goodput of its subflows.
    pub(crate) fn sample_flow(
        &mut self,
        index: usize,
        name: &str,
        [sender, receiver]: [Option<&EndFigures>; 2],
        now: Instant,
        span: Duration,
    ) -> impl Fn(Ends) -> f64 + use<> {
        let total = receiver.map_or(0, |receiver| receiver.delivered);
        let by_subflow = delivered_by_subflow(sender, receiver);
        let (before, before_by_subflow) = core::mem::replace(&mut self.delivered[index], (total, by_subflow.clone()));
        self.push_goodput(index, name, now, goodput_mbps(total - before, span));
        move |ends: Ends| {
            let bytes = |of: &BTreeMap<Ends, u64>| of.get(&ends).copied().unwrap_or(0);
            goodput_mbps(bytes(&by_subflow).saturating_sub(bytes(&before_by_subflow)), span)
        }
    }

    /// Samples the queue lengths of the links.
    pub(crate) fn sample_queues(&mut self, network: &Network, links: &[DuplexLink], scenario: &Scenario, now: Instant) {
        for (index, (link, ids)) in scenario.links.iter().zip(links).enumerate() {
            let group = scenario.flows.len() + index;
            for (id, suffix) in [(ids.forward, ".up"), (ids.backward, ".down")] {
                // In a large topology a flow uses only a few of thousands of links.
                if network.link_metrics(id).max_queue == 0 {
                    continue;
                }
                let queue = f64::from(network.queue_length(id));
                self.name.clear();
                self.name.extend([link.name.as_str(), suffix]);
                let name = core::mem::take(&mut self.name);
                self.push(group, &name, "queue", "packets", now, queue);
                self.name = name;
            }
        }
    }

    /// Samples the subflows of a sender with our stack, with their goodput.
    pub(crate) fn sample_sender(
        &mut self,
        flow: usize,
        name: &str,
        sender: &Endpoint,
        now: Instant,
        goodput: impl Fn(Ends) -> f64,
    ) {
        match sender {
            Endpoint::Tcp(tcp) => {
                self.push_path(flow, name, now, &PathSample::of_tcp(tcp.connection(), tcp.congestion()));
            }
            Endpoint::Mptcp(mptcp) => {
                for subflow in mptcp.subflows() {
                    if !subflow.is_closed() && subflow.number() < LISTED_SUBFLOWS {
                        let (of, tcp) = (format!("{name}/{}", subflow.number()), subflow.connection());
                        self.push_goodput(flow, &of, now, goodput(tcp.ends()));
                        self.push_path(flow, &of, now, &PathSample::of_tcp(tcp, mptcp.congestion()));
                    }
                }
            }
            Endpoint::Sctp(association) => {
                for (number, (ends, sample)) in sctp::samples(association).enumerate() {
                    let of = format!("{name}/{number}");
                    self.push_goodput(flow, &of, now, goodput(ends));
                    self.push_path(flow, &of, now, &sample);
                }
            }
            Endpoint::Udp(_) => {}
        }
    }

    /// Adds a sample of a subflow.
    pub(crate) fn push_path(&mut self, flow: usize, of: &str, now: Instant, sample: &PathSample) {
        let mut push = |metric, unit, value| self.push(flow, of, metric, unit, now, value);
        push("cwnd", "packets", sample.cwnd);
        if let Some(ssthresh) = sample.ssthresh {
            push("ssthresh", "packets", ssthresh);
        }
        push("in-flight", "packets", sample.in_flight);
        push("flight-size", "kB", sample.flight_size as f64 / 1e3);
        if let Some(srtt) = sample.srtt {
            push("srtt", "ms", srtt.as_secs_f64() * 1e3);
        }
    }

    /// All series, flows before links, in the scenario's order.
    pub(crate) fn finish(self) -> Vec<Series> {
        let sorted = |mut of_object: Vec<Series>| {
            of_object.sort_by(|one, other| one.metric.cmp(&other.metric));
            of_object
        };
        self.series.into_iter().flat_map(BTreeMap::into_values).flat_map(sorted).collect()
    }
}

impl Run {
    /// What happened to the flows' data, packet by packet.
    pub(super) fn sequences(&mut self, scenario: &Scenario) -> Vec<Sequence> {
        let mut all = Vec::new();
        for (index, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| flow.group.is_none()) {
            let names = self.data_ends(index).0.map_or_else(BTreeMap::new, |sender| subflow_names(&flow.name, sender));
            let Some(path) = self.world.nodes.data_path_mut(index) else { continue };
            all.extend(path.take_sequences().into_iter().filter_map(|(ends, mut sequence)| {
                sequence.of = match ends {
                    Some(ends) => names.get(&ends)?.clone(),
                    None => flow.name.clone(),
                };
                Some(sequence)
            }));
        }
        all
    }
}

/// The names in series of a sender's subflows, by their ends. A TCP connection is its own subflow.
fn subflow_names(flow: &str, sender: &Endpoint) -> BTreeMap<Ends, String> {
    let numbered = |(number, ends): (usize, Ends)| (ends, format!("{flow}/{number}"));
    match sender {
        Endpoint::Tcp(tcp) => BTreeMap::from([(tcp.connection().ends(), flow.to_owned())]),
        Endpoint::Mptcp(mptcp) => {
            let listed = mptcp.subflows().iter().filter(|subflow| subflow.number() < LISTED_SUBFLOWS);
            listed.map(|subflow| numbered((subflow.number(), subflow.connection().ends()))).collect()
        }
        Endpoint::Sctp(association) => {
            sctp::samples(association).map(|(ends, _)| ends).enumerate().map(numbered).collect()
        }
        Endpoint::Udp(_) => BTreeMap::new(),
    }
}

/// The interval of means. Over a few milliseconds a rate depends on single packets and on holes that are just filled.
/// Therefore, with intervals of up to 100 ms, a point is the mean over five samples.
fn mean_interval(interval: Duration) -> Duration {
    interval.saturating_mul(5).min(Duration::from_millis(100)).max(interval)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::simulate::{RunOptions, simulate};
    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;

    #[test]
    fn only_links_that_carried_packets_have_a_queue_series() {
        let text = "duration = \"1 s\"\n[topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"10 Mbit/s\"\n\
                    [flows.near]\nfrom = \"h0\"\nto = \"h1\"\nprotocol = \"tcp\"\n";
        let document = Document::parse(Path::new("near.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        let result = simulate(&scenario, 1, &options).expect("it runs");
        let queues = result.series.iter().filter(|series| series.metric == "queue");
        let names: Vec<&str> = queues.map(|series| series.of.as_str()).collect();
        assert_eq!(names, ["h0-edge0_0.down", "h0-edge0_0.up", "h1-edge0_0.down", "h1-edge0_0.up"]);
    }

    #[test]
    fn the_reader_waits_for_the_longer_path() {
        let text = "duration = \"5 s\"\n[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n\
                    [links.short]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
                    [links.long]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"20 Mbit/s\"\ndelay = \"100 ms\"\n\
                    [flows.file]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nscheduler = \"round-robin\"\n";
        let document = Document::parse(Path::new("unequal.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        let result = simulate(&scenario, 1, &options).expect("it runs");
        let mean = |of: &str, metric: &str| {
            let series =
                result.series.iter().find(|series| (series.of.as_str(), series.metric.as_str()) == (of, metric));
            let values: Vec<f64> = series.expect("the series").points().iter().map(|point| point.value).collect();
            crate::statistics::mean(&values).expect("samples")
        };
        assert!(mean("file/1", "blocking") > 50.0 && mean("file/0", "blocking") < 20.0, "{result:?}");
        assert!(mean("file", "reassembly") > 10.0);
        // Data of the long path is read at once when it arrives after 100 ms; that of the short one waits for it.
        assert!(mean("file", "delay") > 80.0 && mean("file", "reassembly-delay") > 20.0);
    }
}
