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

/// Ten downloads for 20 s over a bottleneck of 20 Mbit/s with this queue, and requests for 100 bytes each 20 ms beside
/// them, with these keys of `[tcp]`.
fn crowd(queue: &str, tcp: &str) -> RunResult {
    let text = format!(
        "duration = '20 s'\nwarm_up = '2 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[routers]\nr = {{}}\n\
         [links.access]\nbetween = ['a.eth', 'r']\nrate = '1 Gbit/s'\ndelay = '5 ms'\nqueue = 'unlimited'\n\
         [links.path]\nbetween = ['r', 'b.eth']\nrate = '20 Mbit/s'\ndelay = '15 ms'\nqueue = {queue}\n\
         [tcp]\n{tcp}\n\
         [flows.bulk]\nfrom = 'a'\nto = 'b'\ncount = 10\narrivals = '100 ms'\ncongestion = 'cubic'\n\
         [flows.thin]\nfrom = 'b'\nto = 'a'\nstart = '1 s'\n\
         requests = {{ request = '100 B', response = '100 B', think = '20 ms' }}\n"
    );
    let document = Document::parse(Path::new("crowd.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a valid scenario");
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

/// The 99th percentile of the delays of the thin flow's data in milliseconds, the goodput of all downloads, and the smallest share
/// of one.
fn shares(result: &RunResult) -> (f64, f64, f64) {
    let thin = result.flows.iter().find(|flow| flow.name == "thin").expect("the thin flow");
    let bulk: Vec<f64> =
        result.flows.iter().filter(|flow| flow.line() == "bulk").map(|flow| flow.goodput_mbps).collect();
    let sum = bulk.iter().sum::<f64>();
    let least = bulk.iter().copied().fold(f64::INFINITY, f64::min);
    (thin.delay.expect("data arrived").p99_ms, sum, least / sum)
}

#[test]
fn beside_ten_downloads_a_thin_flow_waits_for_a_queue_but_not_for_one_of_flows() {
    let (tail, ..) = shares(&crowd("'200 packets'", ""));
    // 20 ms one way, and a packet of each of a few flows at most.
    assert!(tail > 100.0, "drop-tail: {tail} ms");
    for queue in ["fq-codel", "fq-pie", "fq", "drr", "sfq", "cake"] {
        let (thin, sum, least) = shares(&crowd(&format!("{{ discipline = '{queue}' }}"), "ecn = 'request'"));
        assert!(thin < 20.0 + 13.0, "{queue}: {thin} ms");
        assert!(sum > 17.0 && least > 0.07, "{queue}: {sum} Mbit/s, the least {least} of it");
    }
}

#[test]
fn every_aqm_marks_what_is_ecn_capable_and_few_packets_are_dropped_then() {
    for queue in ["red', limit = '300 packets", "codel", "fq-codel", "pie", "fq-pie", "dualpi2", "cake"] {
        let ecn = if ["dualpi2", "cake"].contains(&queue) { "" } else { ", ecn = true" };
        let result = crowd(&format!("{{ discipline = '{queue}'{ecn} }}"), "ecn = 'request'");
        let link = &result.links.iter().find(|link| link.name == "path").expect("the link").up;
        assert!(link.marks > 100, "{queue}: {link:?}");
        // PIE drops also what is ECN-capable while its probability is above 10 %.
        assert!(queue.ends_with("pie") || link.drops < link.marks / 5, "{queue}: {link:?}");
        let without = crowd(&format!("{{ discipline = '{queue}'{ecn} }}"), "ecn = 'off'");
        let link = &without.links.iter().find(|link| link.name == "path").expect("the link").up;
        assert!(link.marks == 0 && link.drops > 100, "{queue}: {link:?}");
    }
}

#[test]
fn equal_runs_are_equal_with_every_discipline_behind_a_token_bucket_too() {
    for queue in ["codel", "fq-codel", "pie", "fq-pie", "dualpi2", "fq", "drr", "sfq", "prio", "pfifo-fast", "cake"] {
        for rate in [RATE, "rate = { rate = '20 Mbit/s', burst = '2 kB' }"] {
            let run = || download(&format!("{{ discipline = '{queue}', limit = '200 packets' }}"), rate);
            let result = run();
            assert_eq!(result, run(), "{queue} {rate}");
            // With the headers 19.3 Mbit/s are possible.
            assert!(result.flows[0].goodput_mbps > 16.5, "{queue} {rate}: {}", result.flows[0].goodput_mbps);
        }
    }
}

#[test]
fn dctcp_keeps_a_queue_short_that_marks_from_its_threshold_on() {
    let text = |congestion: &str, ecn: &str| {
        format!(
            "duration = '10 s'\nwarm_up = '2 s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.path]\n\
             between = ['a.eth', 'b.eth']\nrate = '100 Mbit/s'\ndelay = '1 ms'\n\
             queue = {{ discipline = 'codel', limit = '1000 packets', target = '1 s', ce_threshold = '1 ms' }}\n\
             [tcp]\necn = '{ecn}'\n[flows.f]\nfrom = 'a'\nto = 'b'\ncount = 2\ncongestion = '{congestion}'\n"
        )
    };
    let run = |congestion: &str, ecn: &str| {
        let document = Document::parse(Path::new("dctcp.toml"), text(congestion, ecn)).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
        (result.links[0].up.mean_queue_packets, result.links[0].up.utilisation)
    };
    // The threshold of 1 ms is 8 packets.
    let (queue, used) = run("dctcp", "dctcp");
    assert!((4.0..14.0).contains(&queue) && used > 0.97, "{queue} packets, {used}");
    let (_, reno) = run("reno", "request");
    assert!(reno < used, "half the window for any mark leaves more of the link unused: {reno} {used}");
}
