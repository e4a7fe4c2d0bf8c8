//! What connections have in the queue of their own host, in whole scenarios.

use std::path::Path;

use subflow_lab::results::{Engine, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// An upload for 10 s, over a link of 50 Mbit/s from the client itself and as much on a second one, 20 ms there and back,
/// with these keys of `[tcp]`, of each link and of the flow.
fn upload(tcp: &str, link: &str, flow: &str) -> RunResult {
    let links: String = ["a", "b"]
        .iter()
        .map(|name| {
            format!(
                "[links.{name}]\nbetween = ['client.{name}', 'server.{name}']\ndelay = '10 ms'\n\
                 rate = {{ up = '50 Mbit/s', down = 'unlimited' }}\n{link}\n"
            )
        })
        .collect();
    let text = format!(
        "duration = '10 s'\n[hosts]\nclient = ['a', 'b']\nserver = ['a', 'b']\n{links}[tcp]\n{tcp}\n\
         [flows.upload]\nfrom = 'client'\nto = 'server'\n{flow}\n"
    );
    let document = Document::parse(Path::new("host-queue.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).expect("a valid scenario");
    let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
    RunResult { engine: Engine { cpu_s: 0.0, ..result.engine }, ..result }
}

const TCP: &str = "protocol = 'tcp'\ncongestion = 'cubic'";
const MPTCP: &str = "protocol = 'mptcp'\ncongestion = 'lia'\nscheduler = 'll'\npath_manager = 'full-mesh'";
const DEEP: &str = "queue = { up = '1000 packets', down = 'unlimited' }";
const NEWEST: &str = "small_queues = 'linux-6.12'";
const OLD: &str = "small_queues = 'linux-3.18'\noutput_limit = '128 KiB'";

#[test]
fn a_small_queue_is_short_and_keeps_the_link_busy() {
    let [off, newest, old] = ["", NEWEST, OLD].map(|tcp| upload(tcp, DEEP, TCP));
    let [off, newest, old] = [&off, &newest, &old].map(|result| (result.links[0].up, &result.flows[0]));
    assert!(off.0.mean_queue_packets > 300.0 && off.0.drops > 0, "{:?}", off.0);
    // Linux 6.12 has 4.7 packets on average in this place, and 57 make up 128 KiB.
    assert!((3.5..6.0).contains(&newest.0.mean_queue_packets), "{:?}", newest.0);
    assert!((40.0..60.0).contains(&old.0.mean_queue_packets), "{:?}", old.0);
    for (link, flow) in [newest, old] {
        assert_eq!((link.drops, flow.retransmissions), (0, 0));
        assert!(flow.goodput_mbps > 0.99 * off.1.goodput_mbps, "{link:?}");
    }
}

#[test]
fn several_subflows_of_a_host_share_its_queues_without_a_drop() {
    let result = upload(OLD, DEEP, MPTCP);
    assert_eq!(result.flows[0].subflows.len(), 4);
    for link in &result.links {
        assert_eq!(link.up.drops, 0);
        assert!(link.up.utilisation > 0.85, "{:?}", link.up);
    }
}

#[test]
fn it_works_with_every_kind_of_queue_and_link_and_equal_runs_are_equal() {
    for link in [
        "queue = { up = { discipline = 'fq-codel' }, down = 'unlimited' }",
        "queue = { up = { discipline = 'codel', limit = '20 packets' }, down = 'unlimited' }",
        "queue = '3 packets'\nloss = '1 %'",
        "queue = '3 packets'\nloss = { model = 'bernoulli', probability = '1 %', position = 'before-queue' }",
        "queue = { up = { discipline = 'red', limit = '100 packets' }, down = 'unlimited' }",
    ] {
        for flow in [TCP, MPTCP] {
            let run = || upload(NEWEST, link, flow);
            let result = run();
            assert_eq!(result, run(), "{link} {flow}");
            assert!(result.flows[0].goodput_mbps > 1.0, "{link} {flow}");
        }
    }
}
