//! An interface that repeatedly goes down and comes up again.

use std::fmt::Write;
use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone whose second interface is down for the last fifth of every `period_ms`, from 1 s on, `flaps` times; five
/// more seconds follow.
///
/// Queues are short: a REMOVE_ADDR that waits in a queue until the address is back closes the new subflow.
fn flapping(flaps: u64, period_ms: u64) -> String {
    let path = "rate = \"4 Mbit/s\", queue = \"20 packets\"";
    let mut text = format!(
        "duration = \"{} ms\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth\"]\n[routers]\ninternet = {{}}\n\
         [links]\nwifi = {{ between = [\"phone.wifi\", \"internet\"], {path}, delay = \"10 ms\" }}\n\
         lte = {{ between = [\"phone.lte\", \"internet\"], {path}, delay = \"20 ms\" }}\n\
         core = {{ between = [\"internet\", \"server\"], rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n\
         [flows.upload]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"mptcp\"\n",
        1000 + flaps * period_ms + 5000
    );
    for flap in 0..flaps {
        let start = 1000 + flap * period_ms;
        for (at, what) in [(start + period_ms * 4 / 5, "down"), (start + period_ms, "up")] {
            let _ = write!(text, "[[timeline]]\nat = \"{at} ms\"\ninterface = \"phone.lte\"\n{what} = true\n");
        }
    }
    text
}

fn run(text: &str) -> RunResult {
    let document = Document::parse(Path::new("flapping.toml"), text.to_owned()).expect("it is TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("the run succeeds")
}

/// The time of the last sample of `of`, in seconds.
fn last_sample(result: &RunResult, of: &str) -> f64 {
    let series = result.series.iter().find(|series| series.of == of && series.metric == "cwnd").expect("a series");
    series.points().last().expect("a sample").time_s
}

#[test]
fn an_interface_that_flaps_once_a_second_for_three_minutes_still_has_its_subflow() {
    let first_fails = "[[timeline]]\nat = \"182 s\"\ninterface = \"phone.wifi\"\ndown = true\n";
    let result = run(&(flapping(180, 1000) + first_fails));
    let flow = &result.flows[0];
    assert_eq!((flow.subflows.len(), flow.unlisted_subflows), (182, 0), "every subflow is listed");
    let last = flow.subflows.last().expect("a subflow");
    assert_eq!(last.name, "phone.lte-server.eth#181");
    // It carries the data when the other path fails: for 4 of 186 s at 4 Mbit/s.
    assert!(last.goodput_mbps * 186.0 / 4.0 > 3.0, "{last:?}");
    assert!(last_sample(&result, "upload/181") > 185.0);
    let sum: f64 = flow.subflows.iter().map(|subflow| subflow.goodput_mbps).sum();
    assert!((sum / flow.goodput_mbps - 1.0).abs() < 0.01, "{sum} of {}", flow.goodput_mbps);
}

#[test]
fn beyond_256_subflows_the_results_have_a_sum_and_the_totals_stay_right() {
    let result = run(&flapping(400, 500));
    let flow = &result.flows[0];
    let listed = flow.subflows.len() as u64 - 1;
    assert_eq!(listed + flow.unlisted_subflows, 402);
    // The latest 63, those with a place beside the initial subflow, are listed as well.
    assert_eq!(listed, 256 + 63);
    let others = flow.subflows.last().expect("a row");
    assert!(others.name == "others" && others.goodput_mbps > 0.0 && others.packets_sent > 0, "{others:?}");
    let sum: f64 = flow.subflows.iter().map(|subflow| subflow.goodput_mbps).sum();
    assert!((sum / flow.goodput_mbps - 1.0).abs() < 0.01, "{sum} of {}", flow.goodput_mbps);
    let retransmissions: u64 = flow.subflows.iter().map(|subflow| subflow.retransmissions).sum();
    assert_eq!(retransmissions, flow.retransmissions);
    let has_series = |number: u32| result.series.iter().any(|series| series.of == format!("upload/{number}"));
    assert!(has_series(255) && !has_series(256));
}
