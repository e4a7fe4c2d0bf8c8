//! Addresses that are lost, paths that fail and return, backups, and address families: cases of users, each with the
//! value that is right (`docs/src/cases.md`).

use std::path::Path;

use subflow_lab::results::{FlowResult, RunResult, SubflowResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone with two links of 10 Mbit/s, and a server: `flow` are the keys of the flow, `events` the timeline.
fn two_links(seconds: u32, flow: &str, events: &str) -> String {
    format!(
        "duration = '{seconds} s'\n[hosts]\nphone = ['wifi', 'lte']\nserver = ['eth']\n[routers]\nr = {{}}\n[links]\n\
         wifi = {{ between = ['phone.wifi', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
         lte = {{ between = ['phone.lte', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
         s = {{ between = ['r', 'server'], rate = '100 Mbit/s' }}\n[flows.f]\n{flow}\n{events}"
    )
}

/// An event of the timeline.
fn event(at: &str, of: &str, what: &str) -> String {
    format!("[[timeline]]\nat = '{at} s'\n{of}\n{what} = true\n")
}

fn run(text: String) -> RunResult {
    let document = Document::parse(Path::new("case.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions::default()).expect("it runs")
}

/// The goodput of a flow's subflow, in Mbit/s.
fn goodput(flow: &FlowResult, name: &str) -> f64 {
    let of_name = flow.subflows.iter().filter(|subflow| subflow.name.split('#').next() == Some(name));
    of_name.map(|subflow| subflow.goodput_mbps).sum()
}

const WIFI: &str = "interface = 'phone.wifi'";

#[test]
fn an_association_goes_on_from_the_other_address_when_that_of_its_only_destination_is_lost() {
    for ends in ["from = 'phone'\nto = 'server'", "from = 'server'\nto = 'phone'"] {
        let flow = format!("{ends}\nprotocol = 'sctp'\nsend = '20 MB'");
        let result = run(two_links(120, &flow, &event("5", WIFI, "down")));
        // 160 Mbit at 9.6 Mbit/s, and for the server one retransmission timeout of 1 s.
        let completion = result.flows[0].completion_s.expect("it is complete");
        assert!((16.0..20.0).contains(&completion), "{ends}: {completion} s");
    }
}

/// When an upload of 20 MB and a download are complete, with `alternate_sources` or without.
fn completions(alternate: bool, network: impl Fn(&str) -> String) -> [Option<f64>; 2] {
    ["from = 'phone'\nto = 'server'", "from = 'server'\nto = 'phone'"].map(|ends| {
        let switch = format!("sctp = {{ alternate_sources = {alternate} }}");
        run(network(&format!("{ends}\nprotocol = 'sctp'\nsend = '20 MB'\n{switch}"))).flows[0].completion_s
    })
}

#[test]
fn an_association_leaves_a_link_that_fails_by_the_source_if_its_peer_has_one_address() {
    let network = |flow: &str| two_links(120, flow, &event("5", "link = 'wifi'", "down"));
    // 160 Mbit at 9.6 Mbit/s, and one retransmission timeout of 1 s.
    let is_prompt = |completion: Option<f64>| completion.is_some_and(|seconds| (16.0..20.0).contains(&seconds));
    let alternating = completions(true, network);
    assert!(alternating.into_iter().all(is_prompt), "{alternating:?}");
    let [up, down] = completions(false, network);
    assert!(up.is_none() && is_prompt(down), "as in Linux: {up:?}, {down:?}");
}

#[test]
fn an_association_finds_the_only_pair_of_addresses_that_still_works() {
    let network = |flow: &str| {
        let link = |ends: &str, name: &str| {
            format!("{name} = {{ between = ['{ends}.{name}', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n")
        };
        let links = link("phone", "wifi") + &link("phone", "lte") + &link("server", "e0") + &link("server", "e1");
        let hosts = "phone = ['wifi', 'lte']\nserver = ['e0', 'e1']";
        let events = event("5", "link = 'wifi'", "down") + &event("5", "link = 'e1'", "down");
        format!(
            "duration = '120 s'\n[hosts]\n{hosts}\n[routers]\nr = {{}}\n[links]\n{links}[flows.f]\n{flow}\n{events}"
        )
    };
    let alternating = completions(true, network);
    // A timeout for each pair that fails, each twice the one before.
    let is_complete = |completion: Option<f64>| completion.is_some_and(|seconds| (16.0..40.0).contains(&seconds));
    assert!(alternating.into_iter().all(is_complete), "{alternating:?}");
    assert_eq!(completions(false, network), [None; 2], "wifi to e0 and lte to e1, which both fail");
}

#[test]
fn an_association_that_begins_over_a_failed_link_begins_from_the_next_address() {
    for (alternate, expected) in [(true, Some(3)), (false, None)] {
        let flow = format!(
            "from = 'phone'\nto = 'server'\nprotocol = 'sctp'\nsend = '10 kB'\nstart = '2 s'\n\
             sctp = {{ alternate_sources = {alternate} }}"
        );
        let completion = run(two_links(120, &flow, &event("1", "link = 'wifi'", "down"))).flows[0].completion_s;
        // The second INIT leaves after the initial timeout of 3 s.
        assert_eq!(completion.map(|seconds| seconds as u32), expected, "{completion:?}");
    }
}

#[test]
fn connections_that_begin_while_an_address_is_lost_begin_from_another() {
    let events = event("5.5", WIFI, "down") + &event("15.5", WIFI, "up");
    for protocol in ["mptcp", "tcp", "sctp"] {
        let flow = format!(
            "from = 'phone'\nto = 'server'\nprotocol = '{protocol}'\ncount = 20\narrivals = '1 s'\nsend = '10 kB'"
        );
        let result = run(two_links(30, &flow, &events));
        assert_eq!(result.flows.len(), 20);
        for flow in &result.flows {
            let completion = flow.completion_s.unwrap_or(f64::INFINITY);
            assert!(completion < 0.3, "{protocol}, {}: {completion} s", flow.name);
        }
    }
}

#[test]
fn a_connection_of_a_named_interface_waits_for_its_address() {
    let flow = "from = 'phone.wifi'\nto = 'server'\nprotocol = 'tcp'\nsend = '10 kB'\nstart = '6 s'";
    let result = run(two_links(30, flow, &(event("5", WIFI, "down") + &event("8.5", WIFI, "up"))));
    // The SYNs leave after 0, 1, 2, 3 s …: the fourth arrives.
    assert!(result.flows[0].completion_s.is_some_and(|seconds| (3.0..3.3).contains(&seconds)), "{:?}", result.flows);
}

#[test]
fn a_syn_under_way_is_sent_again_from_another_address_when_its_own_is_lost() {
    let flow = "from = 'phone'\nto = 'server'\nprotocol = 'mptcp'\nsend = '10 kB'\nstart = '4.99 s'";
    let result = run(two_links(30, flow, &event("5", WIFI, "down")));
    assert!(result.flows[0].completion_s.is_some_and(|seconds| seconds < 0.3), "{:?}", result.flows[0].completion_s);
}

#[test]
fn nothing_leaves_from_a_lost_address_or_is_received_there_though_its_link_works() {
    let address = "address = '10.0.1.1'";
    let events = event("5", address, "down") + &event("8", address, "up");
    for ends in ["from = 'phone.wifi'\nto = 'server'", "from = 'server'\nto = 'phone.wifi'"] {
        let flow = format!("{ends}\nprotocol = 'tcp'\nsend = '20 MB'");
        let completion = run(two_links(60, &flow, &events)).flows[0].completion_s;
        // 16.6 s without the loss, 3 s of it, and up to as long again until the retransmission timer expires.
        assert!(completion.is_some_and(|seconds| (19.5..23.0).contains(&seconds)), "{ends}: {completion:?}");
        let result = run(two_links(60, &flow, &event("5", address, "down")));
        let bytes = result.flows[0].bytes_delivered;
        assert!((4_000_000..6_300_000).contains(&bytes), "{ends}: {bytes} bytes, and nothing after 5 s");
    }
}

#[test]
fn connections_of_several_addresses_go_on_when_one_is_lost_though_its_link_works() {
    let events = event("5", "address = '10.0.1.1'", "down");
    for protocol in ["mptcp", "sctp"] {
        for ends in ["from = 'phone'\nto = 'server'", "from = 'server'\nto = 'phone'"] {
            let flow = format!("{ends}\nprotocol = '{protocol}'\nsend = '20 MB'");
            let result = run(two_links(60, &flow, &events));
            let completion = result.flows[0].completion_s;
            assert!(completion.is_some_and(|seconds| seconds < 20.0), "{protocol}, {ends}: {completion:?}");
            let wifi = &result.links[0];
            assert_eq!(wifi.name, "wifi");
            assert!(wifi.packets < 9_000, "{protocol}, {ends}: {} packets over wifi", wifi.packets);
        }
    }
}

#[test]
fn a_path_that_failed_is_used_again_when_it_works_again() {
    let flow = "from = 'phone'\nto = 'server'\nprotocol = 'mptcp'\ntcp = { max_retries = 3 }";
    let events = event("5", "link = 'lte'", "down") + &event("20", "link = 'lte'", "up");
    let result = run(two_links(60, flow, &events));
    let (total, lte) = (result.flows[0].goodput_mbps, goodput(&result.flows[0], "phone.lte-server.eth"));
    // 9.5 Mbit/s over wifi, and over lte for 5 s and from 22 s on: the SYN of 10.7 s is repeated five times after a second
    // each and then after two and four (Linux `tcp_syn_linear_timeouts`), at 22.0 s for the first time after 20 s.
    assert!((16.0..16.5).contains(&total) && lte > 6.5, "{total} Mbit/s, {lte} over lte");
    let again = |name: &str| result.flows[0].subflows.iter().find(|of| of.name == name).map(|of| of.opened_again);
    let [wifi, first, second] = ["phone.wifi-server.eth", "phone.lte-server.eth", "phone.lte-server.eth#2"].map(again);
    assert_eq!((wifi, first, second), (Some(false), Some(false), Some(true)));
}

#[test]
fn only_subflows_after_a_failed_one_are_called_opened_again_whichever_end_sends() {
    let labels = |flow: &str, events: &str| {
        let result = run(two_links(40, flow, events));
        let mut labels: Vec<String> = result.flows[0].subflows.iter().map(SubflowResult::label).collect();
        labels.sort();
        labels
    };
    let ports = "protocol = 'mptcp'\npath_manager = { name = 'ndiffports', n = 2 }";
    let beside = labels(&format!("from = 'phone'\nto = 'server'\n{ports}"), "");
    assert_eq!(beside, ["phone.wifi-server.eth", "phone.wifi-server.eth#2"], "two at the same time");
    // The phone opens, and knows alone at first that its address was lost.
    let events = event("5", "interface = 'phone.lte'", "down") + &event("10", "interface = 'phone.lte'", "up");
    for flow in ["from = 'phone'\nto = 'server'", "from = 'server'\nto = 'phone'"] {
        let labels = labels(&format!("{flow}\nprotocol = 'mptcp'"), &events);
        let again: Vec<&String> = labels.iter().filter(|label| label.ends_with("#2 (opened again)")).collect();
        assert!(labels.len() == 3 && again.len() == 1 && again[0].contains("lte"), "{flow}: {labels:?}");
    }
}

#[test]
fn without_retry_a_path_that_failed_stays_unused() {
    let flow = "from = 'phone'\nto = 'server'\nprotocol = 'mptcp'\ntcp = { max_retries = 3 }\n\
                path_manager = { name = 'full-mesh', retry = false }";
    let events = event("5", "link = 'lte'", "down") + &event("20", "link = 'lte'", "up");
    let result = run(two_links(60, flow, &events));
    assert!((9.5..11.0).contains(&result.flows[0].goodput_mbps), "{}", result.flows[0].goodput_mbps);
}

/// A phone with IPv4 on one interface and IPv6 on the other, and a server with both.
fn mixed_families(flow: &str) -> String {
    format!(
        "duration = '10 s'\n[hosts]\nphone = [{{ name = 'wifi', address = '192.0.2.10' }}, \
         {{ name = 'lte', address = '2001:db8:1::10' }}]\n\
         server = [{{ name = 'eth', address = ['198.51.100.1', '2001:db8:2::1'] }}]\n[routers]\nr = {{}}\n[links]\n\
         wifi = {{ between = ['phone.wifi', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
         lte = {{ between = ['phone.lte', 'r'], rate = '10 Mbit/s', delay = '10 ms' }}\n\
         s = {{ between = ['r', 'server'], rate = '100 Mbit/s' }}\n[flows.f]\nto = 'server'\n{flow}\n"
    )
}

#[test]
fn interfaces_of_different_families_both_carry_data() {
    let result = run(mixed_families("from = 'phone'\nprotocol = 'mptcp'\ncongestion = 'cubic'"));
    assert!(result.flows[0].goodput_mbps > 17.0, "{:?}", result.flows[0].subflows);
}

#[test]
fn a_flow_takes_the_address_of_the_family_that_both_ends_have() {
    for protocol in ["tcp", "mptcp", "sctp"] {
        let result = run(mixed_families(&format!("from = 'phone.lte'\nprotocol = '{protocol}'\nsend = '1 MB'")));
        assert!(result.flows[0].completion_s.is_some_and(|seconds| seconds < 2.0), "{protocol}");
    }
}

#[test]
fn a_backup_of_the_answering_side_carries_nothing_while_another_subflow_works() {
    let text = "duration = '10 s'\n[hosts]\nphone = ['e']\nserver = { interfaces = ['e0', { name = 'e1', backup = true }] }\n\
                [routers]\nr = {}\n[links]\n\
                p = { between = ['phone.e', 'r'], rate = '50 Mbit/s', delay = '5 ms' }\n\
                s0 = { between = ['r', 'server.e0'], rate = '10 Mbit/s', delay = '5 ms' }\n\
                s1 = { between = ['r', 'server.e1'], rate = '10 Mbit/s', delay = '5 ms' }\n\
                [flows.f]\nfrom = 'phone'\nto = 'server'\nprotocol = 'mptcp'\n";
    let result = run(text.to_owned());
    let flow = &result.flows[0];
    assert_eq!(goodput(flow, "phone.e-server.e1"), 0.0);
    assert!(goodput(flow, "phone.e-server.e0") > 9.0, "{:?}", flow.subflows);
    let fails = event("5", "interface = 'server.e0'", "down");
    let result = run(format!("{text}{fails}"));
    assert!(goodput(&result.flows[0], "phone.e-server.e1") > 4.0, "it takes over: {:?}", result.flows[0].subflows);
}
