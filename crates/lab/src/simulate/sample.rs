//! Metrics over time: goodput, window, RTT and data in flight of each subflow; delays of the data and what it waits for;
//! queue length of each link from its first packet on, power of interfaces whose energy is counted. If a connection opens more subflows than results list, only the
//! first ones have series. Of the flows of a group only their goodput is sampled, in sum.

use std::collections::BTreeMap;

use subflow_network::{DuplexLink, Network};
use subflow_quantity::{Duration, Energy, Instant};
use subflow_scenario::{Flow, InterfaceIndex, Scenario};
use subflow_transport::Endpoint;
use subflow_transport::tcp::Ends;

use super::build::Run;
use super::flow_data::DataRecord;
use super::flow_series::{FlowSeries, delivered_on};
use super::live_view::{Answers, LiveView};
use super::object_series::{Metric, Moment, ObjectSeries};
use crate::results::{Sequence, Series};

/// Takes samples during a run.
pub(crate) struct Sampler {
    /// Where they are shown during the run, if anywhere.
    shown: Option<Answers>,
    /// The sample that is being taken, or the last one.
    at: Moment,
    /// The latest sample times, up to [`MOST_TIMES`]: flows of which nothing has changed get their samples later.
    times: Vec<Moment>,
    /// By flow; the first one of a group has the series of the group.
    flows: Vec<FlowSeries>,
    /// The interfaces whose energy is counted, with their energy at the last sample.
    radios: Vec<(InterfaceIndex, ObjectSeries, Energy)>,
    /// By link, both directions.
    links: Vec<[Option<ObjectSeries>; 2]>,
    /// The bytes that the flows of each group delivered since the last sample; by group.
    by_groups: Vec<u64>,
}

/// A copy of the samples, which is shown nowhere.
impl Clone for Sampler {
    fn clone(&self) -> Self {
        let Self { shown: _, at, times, flows, radios, links, by_groups } = self;
        let (times, flows, links, by_groups) = (times.clone(), flows.clone(), links.clone(), by_groups.clone());
        Self { shown: None, at: *at, times, flows, radios: radios.clone(), links, by_groups }
    }
}

/// So many samples of a flow are added at a time, if nothing about it changes.
const MOST_TIMES: usize = 256;

impl Sampler {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let flow = |(index, flow): (usize, &Flow)| match &flow.group {
            None => FlowSeries::new(flow.name.as_str()),
            Some(_) => {
                let group = scenario.groups.iter().find(|group| group.flows.start == index);
                FlowSeries::new(group.map_or("", |group| &group.name))
            }
        };
        Self {
            shown: None,
            at: Moment { now: Instant::ZERO, now_s: 0.0, span: Duration::ZERO, interval: scenario.sample_interval },
            times: Vec::new(),
            flows: scenario.flows.iter().enumerate().map(flow).collect(),
            radios: scenario.radios().map(|(index, name)| (index, ObjectSeries::new(name), Energy::ZERO)).collect(),
            links: vec![[None, None]; scenario.links.len()],
            by_groups: vec![0; scenario.groups.len()],
        }
    }

    /// Shows the samples in `view` from now on, as those of the run with this number.
    pub(super) fn show_in(&mut self, view: LiveView, run: usize) {
        self.shown = Some(Answers::new(view, run));
    }

    /// The time of the next sample after `now`.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn next(&self, now: Instant) -> Instant {
        now + self.at.interval
    }

    /// Samples everything of a simulated run.
    pub(super) fn sample(&mut self, run: &mut Run, scenario: &Scenario, now: Instant) {
        self.begin(now);
        let at = self.at;
        if self.times.len() == MOST_TIMES {
            self.end_times();
        }
        self.times.push(at);
        run.complete_records();
        for (index, flow) in scenario.flows.iter().enumerate() {
            let drains = run.drains(index);
            let is_waiting = run.world.nodes.data_record(index).is_some_and(DataRecord::is_waiting);
            if flow.group.is_none() && !is_waiting && self.flows[index].is_quiet(drains) {
                continue;
            }
            let (sender, receiver) = run.data_ends(index);
            let read = receiver.map_or(0, |receiver| match flow.read {
                Some(_) => receiver.bytes_read(),
                None => receiver.bytes_received(),
            });
            if flow.group.is_some() {
                self.add_to_group(scenario, index, read);
                continue;
            }
            let series = &mut self.flows[index];
            series.begin(&self.times, drains);
            series.push_delivered(read, at);
            if let Some(sender) = sender {
                series.sample_sender(sender, at, |ends, place| delivered_on(receiver, ends, place));
            }
            if let Some(window) = receiver.and_then(Endpoint::receive_window) {
                series.push_window(window, at);
            }
            if let (Some(sender), Some(record)) = (sender, run.world.nodes.data_record(index)) {
                series.find_subflows(sender, record.subflow_ends());
            }
            if let Some(record) = run.world.nodes.data_record_mut(index) {
                series.sample_data(record, at);
            }
        }
        self.sample_groups(scenario);
        self.sample_queues(&run.network, &run.links, scenario);
        self.sample_radios(run);
        if self.shown.as_ref().is_some_and(Answers::is_asked) {
            let series = self.clone().finish();
            if let Some(shown) = &mut self.shown {
                shown.answer(now, series);
            }
        }
    }

    /// Adds the samples that flows have not got yet, and forgets the sample times.
    fn end_times(&mut self) {
        for series in &mut self.flows {
            series.repeat(&self.times);
            series.forget_times();
        }
        self.times.clear();
    }

    /// Begins a sample at `now`.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.at.span = now - self.at.now;
        self.at.now = now;
        self.at.now_s = now.as_secs_f64();
    }

    /// The series of a flow, and the sample that is being taken.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn flow(&mut self, index: usize) -> (&mut FlowSeries, Moment) {
        (&mut self.flows[index], self.at)
    }

    /// Adds what a flow of a group delivered, of which there were `total` bytes until now.
    pub(crate) fn add_to_group(&mut self, scenario: &Scenario, flow: usize, total: u64) {
        let number = scenario.groups.partition_point(|group| group.flows.end <= flow);
        self.by_groups[number] += self.flows[flow].delivered_since(total);
    }

    /// Samples the goodput of each group.
    pub(crate) fn sample_groups(&mut self, scenario: &Scenario) {
        for (group, bytes) in scenario.groups.iter().zip(&mut self.by_groups) {
            let first = group.flows.start;
            if scenario.flows[first].group.is_some() {
                self.flows[first].push_goodput(core::mem::take(bytes), self.at);
            }
        }
    }

    /// Samples the queue lengths of the links.
    pub(crate) fn sample_queues(&mut self, network: &Network, links: &[DuplexLink], scenario: &Scenario) {
        let at = self.at;
        for ((link, ids), directions) in scenario.links.iter().zip(links).zip(&mut self.links) {
            let ids = [(ids.forward, ".up"), (ids.backward, ".down")];
            for ((id, suffix), series) in ids.into_iter().zip(directions) {
                // In a large topology a flow uses only a few of thousands of links.
                if series.is_none() && network.link_metrics(id).max_queue == 0 {
                    continue;
                }
                let series = series.get_or_insert_with(|| ObjectSeries::new(link.name.clone() + suffix));
                series.push(Metric::Queue, &at, network.queue_length(id).into());
            }
        }
    }

    /// Samples the mean power of interfaces since the last sample.
    fn sample_radios(&mut self, run: &Run) {
        for (index, series, before) in &mut self.radios {
            let Some(used) = run.radio(*index) else { continue };
            let joules = (used.energy - *before).as_joules();
            *before = used.energy;
            series.push(Metric::Power, &self.at, 1e3 * joules / self.at.span.as_secs_f64());
        }
    }

    /// All series, flows before links and these before interfaces, in the scenario's order; those of a flow or link in the order of their names.
    pub(crate) fn finish(mut self) -> Vec<Series> {
        self.end_times();
        let flows = self.flows.into_iter().map(FlowSeries::into_objects);
        let links = self.links.into_iter().map(|directions| directions.into_iter().flatten().collect());
        let sorted = |mut objects: Vec<ObjectSeries>| {
            objects.sort_by(|one, other| one.of().cmp(other.of()));
            objects
        };
        let radios = self.radios.into_iter().map(|(_, series, _)| vec![series]);
        flows.chain(links).chain(radios).flat_map(sorted).flat_map(ObjectSeries::into_series).collect()
    }
}

impl Run {
    /// What happened to the flows' data, packet by packet.
    pub(super) fn sequences(&mut self, scenario: &Scenario) -> Vec<Sequence> {
        let mut all = Vec::new();
        for (index, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| flow.group.is_none()) {
            let names = self.data_ends(index).0.map_or_else(BTreeMap::new, |sender| subflow_names(&flow.name, sender));
            let Some(record) = self.world.nodes.data_record_mut(index) else { continue };
            all.extend(record.take_sequences().into_iter().filter_map(|(ends, mut sequence)| {
                // Several sources of an SCTP path have a sequence each.
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
    let name = |number| if sender.is_single_path() { flow.to_owned() } else { format!("{flow}/{number}") };
    sender.path_ends().into_iter().map(|(number, ends)| (ends, name(number))).collect()
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
    fn a_flow_that_ends_early_has_samples_until_the_end_of_the_run() {
        let text = "duration = \"60 s\"\nsample_interval = \"10 ms\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
                    [links.l]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\n\
                    [flows.short]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nsend = \"1 MB\"\nstart = \"3 s\"\n\
                    [flows.long]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nstart = \"3 s\"\n";
        let document = Document::parse(Path::new("early.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        let result = simulate(&scenario, 1, &options).expect("it runs");
        let points = |of: &str, metric: &str| {
            let series = result.series.iter().find(|series| series.of == of && series.metric == metric);
            series.expect("the series").points()
        };
        for metric in ["goodput", "outstanding", "reassembly", "receive-window", "reinjected"] {
            let [short, long] = ["short", "long"].map(|of| points(of, metric));
            assert_eq!(short.len(), long.len(), "{metric}");
            assert!(short.iter().zip(long).all(|(short, long)| short.time_s == long.time_s), "{metric}");
        }
        let goodput = points("short", "goodput");
        let delivered = goodput.iter().map(|point| point.value).sum::<f64>() * (goodput[1].time_s - goodput[0].time_s);
        assert!((delivered - 8.0).abs() < 0.01, "{delivered} Mbit");
        assert_eq!(points("short", "outstanding").last().expect("a sample").value, 0.0);
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
