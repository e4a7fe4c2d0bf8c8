//! Random networks with random load.

use proptest::prelude::*;
use subflow_network::{
    Attachment, Distribution, GilbertElliott, InterfaceId, Jitter, Limit, LinkChange, LinkConfig, LinkId, LinkMetrics,
    LossConfig, LossPosition, Network, NetworkMetrics, Overtaking, Peak, Probability, QueueConfig, RedConfig,
    Reordering, RouteMetric, RouterMode, Service, TokenBucketConfig, TopologyBuilder,
};
use subflow_quantity::{Duration, Rate};

use super::{Arrival, Recorder, us};

/// The parameters of a random run. Indices are used modulo the number of items.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    routers: usize,
    /// Links between routers in addition to a tree.
    chords: Vec<(usize, usize)>,
    /// For each interface its router; each of the first half of the interfaces has its own host.
    interfaces: Vec<usize>,
    configs: Vec<LinkConfig>,
    by_delay: bool,
    conversations: Vec<(usize, usize)>,
    /// Time in steps of 100 us, source, destination, packets, size.
    bursts: Vec<(u64, usize, usize, u32, u32)>,
    changes: Vec<(u64, usize, LinkChange)>,
    seed: u64,
}

/// The observable results of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) links: Vec<LinkMetrics>,
    /// Without the number of events.
    pub(crate) network: NetworkMetrics,
}

impl Scenario {
    pub(crate) fn build(&self, fuse: bool) -> (Network, Vec<InterfaceId>) {
        let mut topology = TopologyBuilder::new();
        let mut configs = self.configs.iter().cycle().cloned();
        let mut config = || configs.next().expect("configurations");
        let routers: Vec<_> =
            (0..self.routers).map(|n| topology.router(&format!("r{n}"), RouterMode::ShortestPath)).collect();
        for (n, &router) in routers.iter().enumerate().skip(1) {
            topology.link(&format!("tree{n}"), routers[(n - 1) / 2], router, config(), config());
        }
        for (n, &(a, b)) in self.chords.iter().enumerate() {
            let (a, b) = (routers[a % self.routers], routers[b % self.routers]);
            topology.link(&format!("chord{n}"), a, b, config(), config());
        }
        let own = self.interfaces.len().div_ceil(2);
        let mut hosts = Vec::new();
        let mut interfaces = Vec::new();
        for (n, &router) in self.interfaces.iter().enumerate() {
            if n < own {
                hosts.push(topology.host(&format!("h{n}")));
            }
            let interface = topology.interface(hosts[n % own], &format!("i{n}"));
            let router: Attachment = routers[router % self.routers].into();
            topology.link(&format!("access{n}"), interface, router, config(), config());
            interfaces.push(interface);
        }
        for &(a, b) in &self.conversations {
            topology.conversation(hosts[a % own], hosts[b % own]);
        }
        topology.metric(if self.by_delay { RouteMetric::Delay } else { RouteMetric::Hops });
        topology.fuse_hops(fuse);
        (topology.build(self.seed).expect("a connected network"), interfaces)
    }

    /// Runs for 100 ms, divided into `steps` runs.
    pub(crate) fn run(&self, fuse: bool, steps: u64) -> (Outcome, u64) {
        let (mut network, interfaces) = self.build(fuse);
        let mut hosts = Recorder { answer_below: 1 << 16, ..Recorder::default() };
        let mut number = 0;
        for &(at, from, to, packets, size) in &self.bursts {
            let (from, to) = (interfaces[from % interfaces.len()], interfaces[to % interfaces.len()]);
            for _ in 0..packets {
                hosts.send_at(&mut network, us(100 * at), from, to, number, size);
                number += 1;
            }
        }
        for (at, link, change) in &self.changes {
            let link = LinkId::from_index(link % network.link_count());
            network.schedule_change(us(100 * at), link, change.clone());
        }
        for step in 1..=steps {
            network.run_until(&mut hosts, us(100_000 * step / steps));
        }
        let links = (0..network.link_count()).map(|link| network.link_metrics(LinkId::from_index(link))).collect();
        let metrics = network.metrics();
        let outcome = Outcome { arrivals: hosts.arrivals, links, network: NetworkMetrics { events: 0, ..metrics } };
        (outcome, metrics.events)
    }
}

/// Few different values, so that many events happen at the same instant.
fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        2 => Just(Duration::ZERO),
        3 => Just(Duration::from_micros(1200)),
        2 => (0u64..3).prop_map(Duration::from_millis),
        1 => (0u64..5000).prop_map(Duration::from_micros),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![
        1 => Just(Service::Unlimited),
        3 => Just(Service::Rate(Rate::from_mbit(10))),
        1 => (1u64..30).prop_map(|mbit| Service::Rate(Rate::from_mbit(mbit))),
        1 => (1500u32..9000, any::<bool>()).prop_map(|(burst, peak)| {
            let peak = peak.then_some(Peak { rate: Rate::from_mbit(30), burst: 1500 });
            Service::TokenBucket(TokenBucketConfig { rate: Rate::from_mbit(10), burst, peak })
        }),
    ]
}

fn loss() -> impl Strategy<Value = LossConfig> {
    let p = |value: f64| Probability::new(value).expect("a probability");
    prop_oneof![
        6 => Just(LossConfig::None),
        1 => Just(LossConfig::Bernoulli(p(0.1))),
        1 => Just(LossConfig::GilbertElliott(GilbertElliott {
            good_to_bad: p(0.1),
            bad_to_good: p(0.3),
            loss_in_bad: p(0.8),
            loss_in_good: p(0.0),
        })),
    ]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        2 => Just(QueueConfig::default()),
        2 => (1u32..30).prop_map(QueueConfig::packets),
        1 => (1u32..30).prop_map(|limit| QueueConfig::packets(limit).counting_waiting_only()),
        1 => (1500u64..20_000).prop_map(QueueConfig::bytes),
        1 => Just(QueueConfig::red(
            RedConfig { weight: 0.2, max_probability: 0.3, ..RedConfig::floyd(2.0, 8.0) },
            Limit::Packets(20),
        )),
    ]
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let disturbance = prop_oneof![
        8 => Just((Probability::NEVER, None)),
        1 => Just((Probability::new(0.2).unwrap(), None)),
        1 => Just((Probability::NEVER, Some(Reordering {
            probability: Probability::new(0.2).unwrap(),
            extra_delay: Duration::from_micros(2400),
        }))),
    ];
    let half = Probability::new(0.5).unwrap();
    let netem = prop_oneof![
        8 => Just((None, None)),
        1 => Just((Some(Jitter {
            deviation: Duration::from_micros(600),
            distribution: Distribution::Uniform,
            correlation: half,
        }), None)),
        1 => Just((None, Some(Overtaking { probability: half, correlation: half, gap: 2 }))),
    ];
    (service(), delay(), queue(), loss(), any::<bool>(), disturbance, netem).prop_map(
        |(service, delay, queue, loss, before, (duplication, reordering), (jitter, overtaking))| LinkConfig {
            service,
            delay,
            queue,
            loss,
            loss_position: if before { LossPosition::BeforeQueue } else { LossPosition::AfterQueue },
            duplication,
            jitter,
            overtaking,
            reordering,
            overhead: 0,
        },
    )
}

fn change() -> impl Strategy<Value = LinkChange> {
    prop_oneof![
        service().prop_map(LinkChange::Service),
        delay().prop_map(LinkChange::Delay),
        loss().prop_map(LinkChange::Loss),
        Just(LinkChange::Down),
        Just(LinkChange::Up),
    ]
}

pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let index = 0usize..100;
    let burst = (0u64..500, index.clone(), index.clone(), 1u32..20, prop_oneof![Just(1500u32), 28u32..1500]);
    (
        (1usize..6, proptest::collection::vec((index.clone(), index.clone()), 0..3)),
        proptest::collection::vec(index.clone(), 2..7),
        proptest::collection::vec(link(), 1..12),
        any::<bool>(),
        proptest::collection::vec((index.clone(), index.clone()), 0..3),
        proptest::collection::vec(burst, 1..30),
        proptest::collection::vec((0u64..800, index, change()), 0..3),
        any::<u64>(),
    )
        .prop_map(|((routers, chords), interfaces, configs, by_delay, conversations, bursts, changes, seed)| {
            Scenario { routers, chords, interfaces, configs, by_delay, conversations, bursts, changes, seed }
        })
}
