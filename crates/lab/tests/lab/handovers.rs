//! Handovers of a satellite link: what a full link carries follows from the rates that were drawn.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_network::{LinkChange, Service};
use subflow_quantity::{Duration, Rate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

const TEXT: &str = "duration = \"21 s\"\n[hosts]\nhouse = [\"dish\"]\nserver = [\"eth\"]\n\
    [links.sat]\nbetween = [\"house\", \"server\"]\nrate = \"2 Mbit/s\"\ndelay = \"25 ms\"\nqueue = \"10 packets\"\n\
    [flows.full]\nfrom = \"house\"\nto = \"server\"\nprotocol = \"udp\"\non_off = { rate = \"12 Mbit/s\", packet = \"972 B\" }\n\
    [[timeline]]\nat = \"1 s\"\nlink = \"sat\"\n\
    handovers = { every = \"2 s\", outage = \"200 ms\", rate = [\"1 Mbit/s\", \"9 Mbit/s\"], delay = [\"20 ms\", \"40 ms\"] }\n";

fn scenario() -> Scenario {
    let document = Document::parse(Path::new("sat.toml"), TEXT.to_owned()).expect("TOML");
    Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn run(seed: u64) -> RunResult {
    simulate(&scenario(), seed, &RunOptions::default()).expect("it runs")
}

/// The bits that the link can carry with the changes of a seed.
fn capacity(seed: u64) -> f64 {
    let drawn = scenario().drawn(seed).into_owned();
    let (mut rate, mut since, mut bits) = (Rate::from_mbit(2), Duration::ZERO, 0.0);
    for event in &drawn.timeline {
        bits += rate.bits_per_second() as f64 * (event.at - since).as_secs_f64();
        since = event.at;
        if let [LinkChange::Service(Service::Rate(next)), ..] = event.up[..] {
            rate = next;
        }
    }
    bits + rate.bits_per_second() as f64 * (drawn.duration - since).as_secs_f64()
}

#[test]
fn a_full_link_carries_the_drawn_rates_between_interruptions() {
    for seed in [1, 2, 3] {
        let link = &run(seed).links[0].up;
        let (carried, capacity) = (link.bytes as f64 * 8.0, capacity(seed));
        // The last packets are on their way, and an interruption begins with a packet half sent.
        assert!(carried < capacity && carried > capacity - 9e6 * 0.040 - 20.0 * 8000.0, "{carried} of {capacity} bits");
        assert!(link.utilisation > 0.999, "packets wait during interruptions: {}", link.utilisation);
    }
}

#[test]
fn a_seed_is_a_run_and_another_seed_another() {
    let packets = |seed| run(seed).links[0].packets;
    assert_eq!(packets(1), packets(1));
    assert!(packets(1) != packets(2) && packets(2) != packets(3));
}
