//! Paths that fail and return in ways that take both ends' part: withdrawals and announcements that come late, failures
//! at two places, subflows that the file names (`docs/src/cases.md`).

use std::path::Path;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg32;
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone with two links of this rate and a server with these interfaces, on one router.
fn network(seconds: u32, rate: &str, server: &[&str], flow: &str, outages: &[(&'static str, f64, f64)]) -> RunResult {
    let mut text = format!(
        "duration = '{seconds} s'\n[hosts]\nphone = ['wifi', 'lte']\nserver = {server:?}\n[routers]\nr = {{}}\n[links]\n\
         wifi = {{ between = ['phone.wifi', 'r'], rate = '{rate}', delay = '10 ms' }}\n\
         lte = {{ between = ['phone.lte', 'r'], rate = '{rate}', delay = '10 ms' }}\n"
    );
    for interface in server {
        text += &format!("{interface} = {{ between = ['r', 'server.{interface}'], rate = '100 Mbit/s' }}\n");
    }
    text += &format!("[flows.f]\nprotocol = 'mptcp'\n{flow}\n");
    let ends = |&(of, down, up): &(&'static str, f64, f64)| [(down, of, "down"), (up, of, "up")];
    let mut events: Vec<(f64, &str, &str)> = outages.iter().flat_map(ends).collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, of, what) in events {
        text += &format!("[[timeline]]\nat = '{at:.3} s'\n{of}\n{what} = true\n");
    }
    let document = Document::parse(Path::new("case.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

/// The pairs of interfaces whose subflows carry data after this time.
fn in_use_after(result: &RunResult, seconds: f64) -> Vec<&str> {
    let carries = |number: usize| {
        let (metric, of) = ("goodput", format!("f/{number}"));
        let series = result.series.iter().find(|series| series.metric == metric && series.of == of);
        series.is_some_and(|series| series.points().iter().any(|point| point.time_s > seconds && point.value > 0.0))
    };
    let subflows = result.flows[0].subflows.iter().enumerate();
    let mut pairs: Vec<&str> =
        subflows.filter(|(number, _)| carries(*number)).filter_map(|(_, of)| of.name.split('#').next()).collect();
    pairs.sort();
    pairs
}

const RATE: &str = "10 Mbit/s";
const UP: &str = "from = 'phone'\nto = 'server'";
const DOWN: &str = "from = 'server'\nto = 'phone'";
const ALL_FOUR: [&str; 4] =
    ["phone.lte-server.e0", "phone.lte-server.e1", "phone.wifi-server.e0", "phone.wifi-server.e1"];

#[test]
fn a_withdrawal_that_comes_after_its_address_has_returned_ends_nothing() {
    let outages = [("interface = 'phone.wifi'", 9.0, 12.2), ("interface = 'phone.lte'", 11.6, 12.1)];
    let result = network(60, RATE, &["eth"], DOWN, &outages);
    assert_eq!(in_use_after(&result, 30.0), ["server.eth-phone.lte", "server.eth-phone.wifi"]);
    // Twice 9.4 Mbit/s, less 3 s of one and 5 s of both.
    assert!(result.flows[0].goodput_mbps > 15.5, "{}", result.flows[0].goodput_mbps);
}

#[test]
fn an_announcement_reaches_the_peer_over_a_path_that_works() {
    let outages = [("interface = 'server.e1'", 5.0, 7.0), ("link = 'wifi'", 6.0, 12.0)];
    for flow in [UP, DOWN] {
        let result = network(60, RATE, &["e0", "e1"], flow, &outages);
        let pairs = in_use_after(&result, 30.0);
        assert_eq!(pairs.len(), ALL_FOUR.len(), "{flow}: {pairs:?}");
    }
}

#[test]
fn a_pair_is_tried_again_though_another_failure_hit_it_when_its_address_returned() {
    let outages = [("interface = 'phone.wifi'", 5.0, 6.0), ("link = 'e1'", 5.0, 40.0)];
    let result = network(180, RATE, &["e0", "e1"], UP, &outages);
    assert_eq!(in_use_after(&result, 150.0), ALL_FOUR);
}

#[test]
fn a_subflow_that_the_file_names_is_opened_again() {
    let flow = format!(
        "{UP}\npath_manager = 'default'\ntcp = {{ max_retries = 3 }}\n\
         subflows = [{{ from = 'phone.lte', to = 'server.eth' }}]"
    );
    let (link, interface) = ("link = 'lte'", "interface = 'phone.lte'");
    for (of, down, up) in [(link, 5.0, 20.0), (interface, 5.0, 20.0), (link, 0.0, 15.0), (interface, 0.0, 15.0)] {
        let result = network(60, RATE, &["eth"], &flow, &[(of, down, up)]);
        assert_eq!(in_use_after(&result, 40.0), ["phone.lte-server.eth", "phone.wifi-server.eth"], "{of} at {down} s");
        // 9.4 Mbit/s over wifi, and over lte for 5 s at first and from 31 s on at the latest.
        let total = result.flows[0].goodput_mbps;
        assert!(total > 9.4 * (1.0 + 29.0 / 60.0) - 0.5, "{of} at {down} s: {total} Mbit/s");
    }
}

/// Links and interfaces fail at random within 40 s, for 50 ms to 8 s, several times and at several places at once. All
/// pairs have their subflow when everything works again: attempts come a minute apart at most, and a SYN is repeated after
/// 64 s at most.
#[test]
fn after_any_failures_that_end_all_paths_are_used_again() {
    let places = ["link = 'wifi'", "link = 'lte'", "interface = 'phone.wifi'", "interface = 'phone.lte'"];
    let of_server = ["link = 'e0'", "interface = 'server.e0'", "link = 'e1'", "interface = 'server.e1'"];
    for case in 0..16 {
        let mut rng = Pcg32::seed_from_u64(case);
        let mut draw = |choices: u32| rng.next_u32() % choices;
        let server = if draw(2) == 0 { &["e0"][..] } else { &["e0", "e1"] };
        let mut outages = Vec::new();
        for place in places.iter().chain(&of_server[..2 * server.len()]) {
            let mut at = 2.0 + f64::from(draw(18_000)) / 1000.0;
            for _ in 0..draw(4) {
                let up = at + [0.05, 0.2, 1.0, 3.0, 8.0][draw(5) as usize];
                outages.push((*place, at, up));
                at = up + [0.02, 0.1, 0.5, 2.0][draw(4) as usize];
            }
        }
        let flow = format!(
            "{}\n{}",
            [UP, DOWN][draw(2) as usize],
            ["", "tcp = { max_retries = 3 }", "tcp = { max_retries = 5 }"][draw(3) as usize]
        );
        let result = network(230, "1 Mbit/s", server, &flow, &outages);
        let pairs = in_use_after(&result, 190.0);
        assert_eq!(pairs.len(), 2 * server.len(), "case {case}: {flow}\n{outages:?}\n{pairs:?}");
    }
}
