//! A result that looks like a run's, made from its scenario and seed.

use subflow_lab::results::{
    DirectionResult, Engine, FlowResult, Latency, LinkResult, RunResult, Series, SubflowResult,
};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Protocol, Scenario};

/// Invented results of a run of `scenario`.
pub(crate) fn result(scenario: &Scenario, seed: u64) -> RunResult {
    let rate = |index: usize| 20.0 + (index as f64) + (seed as f64) / 3.0;
    let flows = scenario.flows.iter().enumerate().map(|(index, flow)| FlowResult {
        name: flow.name.clone(),
        protocol: "mptcp".into(),
        congestion: match &flow.protocol {
            Protocol::Mptcp(mptcp) => Some(mptcp.ends.from.congestion.name().into()),
            _ => None,
        },
        scheduler: Some("ll".into()),
        path_manager: Some("full-mesh".into()),
        goodput_mbps: rate(index),
        bytes_delivered: 100_000_000,
        completion_s: (seed % 2 == 1).then_some(12.345),
        retransmissions: 10 * seed,
        timeouts: 1,
        duplicate_acks: 30,
        subflows: ["phone.wifi-server.eth", "phone.lte-server.eth"].map(|name| subflow(name, rate(index) / 2.0)).into(),
        ..FlowResult::default()
    });
    let links = scenario.links.iter().map(|link| {
        let up =
            DirectionResult { packets: 7000, bytes: 10_000_000, drops: 12, utilisation: 0.5, ..Default::default() };
        LinkResult::new(link.name.clone(), up, DirectionResult { packets: 3500, ..Default::default() })
    });
    RunResult {
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        flows: flows.collect(),
        links: links.collect(),
        real_time: None,
        engine: Engine { packet_hops: 42_000, events: 90_000, cpu_s: 0.0 },
        series: Vec::new(),
        paths: Vec::new(),
        sequences: Vec::new(),
        exchanges: Vec::new(),
        connections: Vec::new(),
        interfaces: Vec::new(),
    }
}

fn latency(p50_ms: f64) -> Latency {
    Latency { samples: 7000, mean_ms: p50_ms + 1.0, p50_ms, p95_ms: 2.0 * p50_ms, p99_ms: 3.0 * p50_ms }
}

/// A metric that goes up and down, with a sample each 20 ms.
pub(crate) fn series(of: &str, metric: &str, samples: u64) -> Series {
    let mut series = Series::new(of, metric, "units", Duration::from_millis(20));
    for n in 0..samples {
        series.push(Instant::from_nanos(n * 20_000_000), (n * n % 977) as f64);
    }
    series
}

fn subflow(name: &str, goodput_mbps: f64) -> SubflowResult {
    let (srtt_ms, cwnd_packets) = (Some(31.25), Some(44.0));
    SubflowResult {
        name: name.into(),
        opened_again: false,
        goodput_mbps,
        packets_sent: 7000,
        retransmissions: 5,
        copies: 0,
        retransmitted: None,
        srtt_ms,
        cwnd_packets,
        one_way_delay: Some(latency(17.5)),
        rtt: Some(latency(33.5)),
    }
}
