//! Cellular links in whole scenarios: what they carry and how long they take follow from the law of their blocks.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

fn run(rate: &str, more: &str) -> RunResult {
    let text = format!(
        "duration = \"60 s\"\n[hosts]\nphone = [\"lte\"]\nserver = [\"eth\"]\n[links.lte]\nbetween = [\"phone\", \"server\"]\n\
         rate = {{ rate = \"12 Mbit/s\", tti = \"1 ms\", {rate} }}\ndelay = \"10 ms\"\n{more}\n"
    );
    let document = Document::parse(Path::new("cell.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
    simulate(&scenario, 1, &RunOptions::default()).expect("it runs")
}

const FULL: &str =
    "[flows.f]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"udp\"\non_off = { rate = \"20 Mbit/s\" }";
const REQUESTS: &str = "[flows.f]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\n\
                        requests = { request = \"100 B\", response = \"100 B\", think = { exponential = \"20 ms\" } }";

#[test]
fn a_full_link_carries_its_rate_less_the_blocks_that_are_sent_again() {
    for (error_rate, share) in [("0 %", 1.0), ("10 %", 0.9), ("30 %", 0.7)] {
        for queue in ["queue = \"50 packets\"", "queue = { discipline = \"fq-codel\" }"] {
            let result = run(&format!("block_error_rate = \"{error_rate}\""), &format!("{queue}\n{FULL}"));
            let mbit_s = result.links[0].up.bytes as f64 * 8e-6 / 60.0;
            // Four standard errors of a share of 60000 intervals are 0.75 %.
            assert!((mbit_s / 12.0 - share).abs() < 0.009, "{mbit_s} Mbit/s with {error_rate} and {queue}");
        }
    }
}

#[test]
fn a_request_waits_for_an_interval_and_for_round_trips_of_harq() {
    for (error_rate, probability) in [("0 %", 0.0_f64), ("10 %", 0.1), ("20 %", 0.2)] {
        let result = run(&format!("block_error_rate = \"{error_rate}\""), REQUESTS);
        let exchanges = result.flows[0].exchanges.as_ref().expect("exchanges");
        // Up it waits for half an interval on average; the answer comes when an interval begins. Each takes one more.
        let harq_ms = 8.0 * probability / (1.0 - probability);
        let expected_ms = (10.0 + 0.5 + 1.0 + harq_ms) + (10.0 + 1.0 + harq_ms);
        let (mean_ms, count) = (exchanges.mean_ms.expect("some"), exchanges.completed as f64);
        let error_ms = 4.0 * ((1.0 / 12.0 + 2.0 * 64.0 * probability / (1.0 - probability).powi(2)) / count).sqrt();
        assert!(
            count > 1000.0 && (mean_ms - expected_ms).abs() < error_ms + 0.05,
            "{mean_ms} ms, not {expected_ms} ms"
        );
    }
}

#[test]
fn a_grant_delays_what_comes_to_an_idle_link() {
    let mean_ms = |grant: &str| {
        let result = run(&format!("block_error_rate = \"0 %\", grant_delay = \"{grant}\""), REQUESTS);
        result.flows[0].exchanges.as_ref().and_then(|all| all.mean_ms).expect("some")
    };
    let [none, five] = [mean_ms("0 ms"), mean_ms("5 ms")];
    assert!((five - none - 10.0).abs() < 0.2, "once in each direction: {none} and {five} ms");
}
