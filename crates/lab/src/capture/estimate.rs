//! An estimate of the size of captures, from the volumes of flows and the rates of links.
//!
//! The data of all flows is a maximum flow from their senders to their receivers: a link carries at most its rate times
//! the duration of the run, and a flow of limited length its length. Every packet is captured at both ends, and every
//! second one is acknowledged. Congestion control and routing make captures smaller, retransmissions of a flow of
//! limited length make them larger.

use std::collections::BTreeMap;

use subflow_network::{LinkChange, LinkConfig, Service};
use subflow_quantity::{Duration, Size};
use subflow_scenario::sweep::Plan;
use subflow_scenario::{Attachment, Scenario};

use super::maximum_flow::FlowGraph;
use super::streams::{Stream, UNLIMITED, carried};

/// The size of all captures of `plan` together, if no packet is lost and the links are used as far as possible. `None`
/// if neither the length of a flow nor the rate of a link limits it.
pub fn estimate(plan: &Plan) -> Option<Size> {
    let mut total: u128 = 0;
    for point in &plan.points {
        let Scenario { seed, repeat, .. } = *point.scenario;
        // What is drawn for the flows of groups differs from run to run.
        let (drawn, alike) = if point.scenario.groups.is_empty() { (1, repeat) } else { (repeat, 1) };
        for seed in seed..seed + u64::from(drawn) {
            total += of_run(&point.scenario.drawn(seed))? * u128::from(alike);
        }
    }
    Some(Size::from_bytes(u64::try_from(total).unwrap_or(u64::MAX)))
}

/// The size of the captures of one run.
fn of_run(scenario: &Scenario) -> Option<u128> {
    let mut graph = FlowGraph::default();
    let (source, sink) = (graph.node(), graph.node());
    let places = Places::of(scenario, &mut graph);
    for (link, capacities) in scenario.links.iter().zip(capacities(scenario)) {
        let [first, second] = link.ends;
        graph.edge(places.departure(first), places.arrival(second), capacities[0]);
        graph.edge(places.departure(second), places.arrival(first), capacities[1]);
    }
    let mut streams = Vec::new();
    for stream in scenario.flows.iter().flat_map(|flow| Stream::all_of(scenario, flow)) {
        let node = graph.node();
        let edge = graph.edge(source, node, stream.bytes.unwrap_or(UNLIMITED));
        for &from in &stream.from {
            graph.edge(node, places.departure(Attachment::Interface(from)), UNLIMITED);
        }
        for &to in &stream.to {
            graph.edge(places.arrival(Attachment::Interface(to)), sink, UNLIMITED);
        }
        streams.push((edge, stream));
    }
    graph.maximise(source, sink);
    let sizes = streams.iter().map(|(edge, stream)| {
        let bytes = graph.flow(*edge);
        (bytes < UNLIMITED).then(|| stream.captured(bytes))
    });
    sizes.sum()
}

/// The nodes of a graph that stand for interfaces and routers. Hosts forward nothing, so what leaves an interface and
/// what arrives there are different nodes.
struct Places {
    nodes: BTreeMap<Attachment, [usize; 2]>,
}

impl Places {
    fn of(scenario: &Scenario, graph: &mut FlowGraph) -> Self {
        let ends = scenario.links.iter().flat_map(|link| link.ends);
        let mut nodes = BTreeMap::new();
        for end in ends {
            nodes.entry(end).or_insert_with(|| match end {
                Attachment::Interface(_) => [graph.node(), graph.node()],
                Attachment::Router(_) => [graph.node(); 2],
            });
        }
        Self { nodes }
    }

    fn departure(&self, end: Attachment) -> usize {
        self.nodes[&end][0]
    }

    fn arrival(&self, end: Attachment) -> usize {
        self.nodes[&end][1]
    }
}

/// The bytes that each direction of each link can carry in a run.
fn capacities(scenario: &Scenario) -> Vec<[u128; 2]> {
    let mut links: Vec<[Direction<'_>; 2]> =
        scenario.links.iter().map(|link| [&link.up, &link.down].map(Direction::new)).collect();
    for event in &scenario.timeline {
        for (direction, changes) in links[event.link].iter_mut().zip([&event.up, &event.down]) {
            changes.iter().for_each(|change| direction.change(event.at, change));
        }
    }
    links.into_iter().map(|directions| directions.map(|direction| direction.until(scenario.duration))).collect()
}

/// The capacity of one direction of a link, summed up over the changes of its service.
struct Direction<'a> {
    service: &'a Service,
    /// The time of the last change of the service.
    since: Duration,
    /// The bytes that it can carry until then.
    bytes: u128,
}

impl<'a> Direction<'a> {
    fn new(config: &'a LinkConfig) -> Self {
        Self { service: &config.service, since: Duration::ZERO, bytes: 0 }
    }

    fn change(&mut self, at: Duration, change: &'a LinkChange) {
        if let LinkChange::Service(service) = change {
            *self = Self { service, since: at, bytes: self.until(at) };
        }
    }

    fn until(&self, end: Duration) -> u128 {
        self.bytes + carried(self.service, end - self.since)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::super::CaptureFolder;
    use super::*;
    use crate::execute::execute;
    use crate::simulate::RunOptions;

    const SCENARIO: &str = r#"
duration = "10 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers.isp]
[links.wifi]
between = ["phone.wifi", "isp"]
rate = "20 Mbit/s"
delay = "5 ms"
queue = "100 packets"
[links.lte]
between = ["phone.lte", "isp"]
rate = "5 Mbit/s"
delay = "20 ms"
queue = "100 packets"
[links.core]
between = ["isp", "server"]
rate = "1 Gbit/s"
delay = "1 ms"
[flows.file]
from = "phone.wifi"
to = "server"
protocol = "mptcp"
"#;

    fn plan(changes: &[&str]) -> Plan {
        let mut document = Document::parse(Path::new("size.toml"), SCENARIO.to_owned()).expect("TOML");
        changes.iter().for_each(|change| document.set("--set", change).expect("a change"));
        Plan::read(document).expect("a valid scenario")
    }

    /// The estimated and the real size.
    fn sizes(changes: &[&str]) -> [u64; 2] {
        let plan = plan(changes);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pcap = Some(CaptureFolder::new(folder.path(), Size::from_bytes(u64::MAX)));
        execute(&plan, 1, &RunOptions { pcap, ..RunOptions::default() }, &|_| {}).expect("it runs");
        let files = CaptureFolder::file_names(&plan).map(|name| folder.path().join(name));
        let real = files.map(|path| std::fs::metadata(path).expect("a capture").len()).sum();
        [estimate(&plan).expect("it is limited").as_bytes(), real]
    }

    fn assert_near(changes: &[&str], least: f64, most: f64) {
        let [estimated, real] = sizes(changes);
        let ratio = estimated as f64 / real as f64;
        assert!((least..=most).contains(&ratio), "estimated {estimated}, real {real}, ratio {ratio}: {changes:?}");
    }

    #[test]
    fn the_estimate_is_near_the_real_size() {
        assert_near(&[], 0.95, 1.2);
        assert_near(&["repeat=3", "duration='2 s'", "sweep.\"links.lte.rate\"=['1 Mbit/s','9 Mbit/s']"], 0.95, 1.4);
        assert_near(&["flows.file.protocol='tcp'"], 0.95, 1.2);
        assert_near(&["flows.file.protocol='sctp'", "flows.file.sctp.cmt=true"], 0.9, 1.3);
        // Some packets are retransmitted on the other path.
        assert_near(&["flows.file.send='3 MB'"], 0.9, 1.2);
    }

    #[test]
    fn pauses_between_requests_are_counted() {
        let paused = "flows.file.requests={response='20 kB',think='500 ms'}";
        assert_near(&[paused], 0.8, 1.4);
        assert_near(&[paused, "flows.file.protocol='tcp'"], 0.8, 1.4);
        assert_near(&["flows.file.requests={response='2 kB',every='50 ms'}"], 0.7, 1.5);
        let video = "flows.file.video={ladder=['1 Mbit/s'],chunk='2 s',buffer='4 s'}";
        assert_near(&[video], 0.8, 1.4);
        let page = "flows.file.exchanges=[{response='40 kB'},{response='200 kB'},{response='100 B',after='file.1'}]";
        assert_near(&[page], 0.8, 1.3);
    }

    #[test]
    fn the_flows_of_each_run_count() {
        let few = ["flows.file.send='100 kB'", "flows.file.arrivals={exponential='5 s'}", "flows.file.protocol='tcp'"];
        let of = |more: &str| estimate(&plan(&[&few[..], &[more]].concat())).expect("it is limited").as_bytes();
        let single: Vec<u64> = (1..=6).map(|seed| of(&format!("seed={seed}"))).collect();
        assert!(single.iter().any(|size| *size != single[0]), "{single:?}");
        assert_eq!(of("repeat=6"), single.iter().sum::<u64>());
    }

    #[test]
    fn flows_share_a_bottleneck() {
        let other = "flows.other={from='phone.lte',to='server',protocol='tcp',port=99}";
        let [one, both] = [vec!["links.core.rate='10 Mbit/s'"], vec!["links.core.rate='10 Mbit/s'", other]]
            .map(|changes| estimate(&plan(&changes)).expect("it is limited").as_bytes());
        assert!(both.abs_diff(one) < one / 100, "{one} and {both}");
    }

    #[test]
    fn each_rate_of_a_link_counts_for_the_time_it_lasts() {
        let half = "timeline=[{at='5 s',link='wifi',rate='40 Mbit/s'}]";
        let tcp = "flows.file.protocol='tcp'";
        let of = |changes: &[&str]| estimate(&plan(changes)).expect("it is limited").as_bytes() as f64;
        assert!((of(&[tcp, half]) / of(&[tcp]) - 1.5).abs() < 0.01);
    }

    #[test]
    fn without_a_limit_there_is_no_estimate() {
        let open = ["links.wifi.rate='unlimited'", "links.core.rate='unlimited'"];
        assert_eq!(estimate(&plan(&open)), None);
        let bounded = [open[0], open[1], "flows.file.send='1 MB'"];
        assert!(estimate(&plan(&bounded)).is_some());
    }
}
