//! Queue disciplines in whole scenarios.

use std::path::Path;

use subflow_lab::results::{Engine, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A TCP download over a link of 20 Mbit/s and 40 ms there and back, with this queue and further keys of the link.
fn download(queue: &str, keys: &str) -> RunResult {
    let text = format!(
        "duration = '20 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.path]\nbetween = ['a.eth', 'b.eth']\n\
         delay = '20 ms'\nqueue = {queue}\n{keys}\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = 'tcp'\ncongestion = 'cubic'\n"
    );
    let document = Document::parse(Path::new("queues.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a valid scenario");
    let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
    RunResult { engine: Engine { cpu_s: 0.0, ..result.engine }, ..result }
}

const RATE: &str = "rate = '20 Mbit/s'";

#[test]
fn codel_keeps_the_link_busy_with_a_short_queue() {
    let tail = download("'1000 packets'", RATE);
    let codel = download("{ discipline = 'codel', limit = '1000 packets' }", RATE);
    let [tail_up, codel_up] = [&tail, &codel].map(|result| result.links[0].up);
    assert!(tail_up.mean_queue_packets > 200.0, "{tail_up:?}");
    // 5 ms at 20 Mbit/s are 8 packets.
    assert!(codel_up.mean_queue_packets < 16.0 && codel_up.utilisation > 0.9, "{codel_up:?}");
    assert!(codel_up.drops > 5 && codel_up.drops < tail_up.drops + 100, "{codel_up:?}");
}

#[test]
fn equal_runs_with_codel_are_equal_and_it_works_on_every_kind_of_link() {
    let loss = "loss = '1 %'\n";
    for rate in [
        RATE.to_owned(),
        format!("{RATE}\n{loss}jitter = '2 ms'"),
        format!("{RATE}\n{loss}reorder = {{ probability = '1 %', extra_delay = '5 ms' }}"),
        "rate = { rate = '20 Mbit/s', burst = '15 kB' }".to_owned(),
        "rate = 'unlimited'".to_owned(),
    ] {
        let run = || download("{ discipline = 'codel', limit = '1000 packets', interval = '50 ms' }", &rate);
        let result = run();
        assert_eq!(result, run(), "{rate}");
        assert!(result.flows[0].goodput_mbps > 1.0, "{rate}");
    }
}
