//! What middleboxes do to the connections of a scenario: fallback, refused joins, resets, stalls.

use std::path::Path;

use subflow_lab::results::{FlowResult, RunResult};
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A phone with two links to a server, and this on the one where connections begin.
fn run(middlebox: &str, flow: &str) -> RunResult {
    run_with([middlebox, "[]"], flow)
}

/// The same with middleboxes on both links.
fn run_with(on_links: [&str; 2], flow: &str) -> RunResult {
    run_at(on_links, "[]", flow)
}

/// The same with middleboxes at the router, too.
fn run_at([on_wifi, on_lte]: [&str; 2], at_router: &str, flow: &str) -> RunResult {
    let text = format!(
        "duration = \"20 s\"\n[hosts]\nphone = [\"wifi\", \"lte\"]\nserver = [\"eth\"]\n[routers]\nr = {{ middlebox = {at_router} }}\n\
         [links.wifi]\nbetween = [\"phone.wifi\", \"r\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"40 packets\"\n\
         middlebox = {on_wifi}\n\
         [links.lte]\nbetween = [\"phone.lte\", \"r\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
         middlebox = {on_lte}\n\
         [links.core]\nbetween = [\"r\", \"server\"]\nrate = \"100 Mbit/s\"\ndelay = \"2 ms\"\n\
         [flows.f]\nfrom = \"phone\"\nto = \"server\"\n{flow}\n"
    );
    let document = Document::parse(Path::new("middlebox.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

fn flow(middlebox: &str, keys: &str) -> FlowResult {
    run(middlebox, keys).flows.remove(0)
}

fn mptcp(middlebox: &str) -> FlowResult {
    flow(middlebox, "protocol = \"mptcp\"\nsend = \"2 MB\"")
}

fn tcp(middlebox: &str) -> FlowResult {
    flow(middlebox, "protocol = \"tcp\"\nsend = \"2 MB\"")
}

/// The bytes that each link carried upwards, WiFi and LTE.
fn carried(result: &RunResult) -> [u64; 2] {
    [result.links[0].up.bytes, result.links[1].up.bytes]
}

#[test]
fn a_connection_whose_first_syn_loses_mp_capable_falls_back_to_tcp() {
    for on in ["all", "syn", "syn-ack"] {
        let result = mptcp(&format!("{{ kind = \"strip-option\", option = \"mp-capable\", on = \"{on}\" }}"));
        assert!(result.completion_s.is_some() && result.fallback, "{on}");
        assert_eq!(result.subflows.len(), 1, "{on}");
    }
    let result = mptcp("{ kind = \"strip-option\", option = \"mptcp\", on = \"data\" }");
    assert!(result.completion_s.is_some() && result.fallback);
}

#[test]
fn a_syn_that_is_dropped_for_mp_capable_is_repeated_without_it() {
    let result = mptcp("{ kind = \"drop-option\", option = \"mp-capable\" }");
    let without = mptcp("[]").completion_s.expect("it is over");
    // SYNs leave after 0, 1, 2 and 3 s, as in Linux 6.12; the fourth has no option.
    let behind = result.completion_s.expect("it is over") - without;
    assert!(result.fallback && (2.9..4.0).contains(&behind), "{result:?}");
    let early = flow(
        "{ kind = \"drop-option\", option = \"mp-capable\" }",
        "protocol = \"mptcp\"\nsend = \"2 MB\"\nmptcp = { capable_syns = 2 }\ntcp = { syn_linear_timeouts = 0 }",
    );
    let behind = early.completion_s.expect("it is over") - without;
    assert!((2.9..4.0).contains(&behind), "after 0, 1 and 3 s: {early:?}");
}

#[test]
fn a_join_without_its_option_is_refused_and_the_first_subflow_goes_on() {
    let strip = "{ kind = \"strip-option\", option = \"mp-join\" }";
    let result = run_with(["[]", strip], "protocol = \"mptcp\"\nsend = \"2 MB\"");
    assert!(result.flows[0].completion_s.is_some() && !result.flows[0].fallback);
    let [wifi, lte] = carried(&result);
    assert!(wifi > 2_000_000 && lte < 1000, "{wifi} {lte}");
}

#[test]
fn a_subflow_that_loses_its_mappings_is_reset_and_its_data_is_sent_on_the_other() {
    let result = run(
        "{ kind = \"strip-option\", option = \"mptcp\", on = \"data\", start = \"300 ms\" }",
        "protocol = \"mptcp\"\nsend = \"2 MB\"",
    );
    assert!(result.flows[0].completion_s.is_some() && !result.flows[0].fallback);
    assert!(carried(&result)[1] > 500_000, "{:?}", carried(&result));
}

#[test]
fn a_path_that_drops_mappings_stalls_a_connection_that_is_not_confirmed_yet() {
    let result = mptcp("{ kind = \"drop-option\", option = \"dss\" }");
    // The first data has MP_CAPABLE, and no mapping.
    assert!(result.completion_s.is_none() && result.bytes_delivered < 1500, "{result:?}");
}

#[test]
fn subflows_cross_a_translator_under_the_names_of_their_interfaces() {
    for middlebox in ["{ kind = \"nat\" }", "{ kind = \"nat\", preserves_ports = false }"] {
        for keys in
            ["protocol = \"mptcp\"\nsend = \"2 MB\"", "protocol = \"mptcp\"\nrequests = { response = \"2 MB\" }"]
        {
            let (translated, plain) = (flow(middlebox, keys), flow("[]", keys));
            assert_eq!(translated.bytes_delivered, plain.bytes_delivered, "{middlebox} {keys}");
            let names = |result: &FlowResult| {
                let mut names: Vec<_> = result.subflows.iter().map(|subflow| subflow.name.clone()).collect();
                names.sort();
                names
            };
            assert_eq!(names(&translated), names(&plain), "{keys}");
            let carries = |subflow: &&subflow_lab::results::SubflowResult| subflow.goodput_mbps > 1.0;
            assert_eq!(translated.subflows.iter().filter(carries).count(), 2, "{keys}");
        }
    }
}

#[test]
fn an_idle_connection_outlives_its_translation_only_if_the_inside_opens_it_again() {
    let keys = "protocol = \"tcp\"\nrequests = { response = \"10 kB\", think = \"5 s\" }";
    let same_port = flow("{ kind = \"nat\", tcp_timeout = \"2 s\" }", keys);
    let other_port = flow("{ kind = \"nat\", tcp_timeout = \"2 s\", preserves_ports = false }", keys);
    assert_eq!((same_port.bytes_delivered, other_port.bytes_delivered), (40_000, 10_000));
}

#[test]
fn a_router_reports_its_mtu_or_is_a_black_hole() {
    let reported = tcp("{ kind = \"mtu\", mtu = 1400 }");
    assert!(reported.completion_s.is_some_and(|done| done < 2.0), "{reported:?}");
    let black_hole = tcp("{ kind = \"mtu\", mtu = 1400, reports = false }");
    assert_eq!((black_hole.completion_s, black_hole.bytes_delivered), (None, 0));
    assert!(
        tcp("[{ kind = \"mss-clamp\", mss = 1360 }, { kind = \"mtu\", mtu = 1400, reports = false }]")
            .completion_s
            .is_some()
    );
    let translated = tcp("[{ kind = \"nat\" }, { kind = \"mtu\", mtu = 1400 }]");
    assert!(translated.completion_s.is_some(), "the error is about the packet of the host");
}

#[test]
fn rewritten_sequence_numbers_change_nothing_unless_sack_is_left_behind() {
    for protocol in ["tcp", "mptcp"] {
        let keys = format!("protocol = \"{protocol}\"\nsend = \"2 MB\"");
        let plain = flow("[]", &keys).completion_s.expect("it is over");
        assert_eq!(flow("{ kind = \"rewrite-sequence\" }", &keys).completion_s, Some(plain), "{protocol}");
        let wrong = flow("{ kind = \"rewrite-sequence\", sack = \"unchanged\" }", &keys);
        assert!(wrong.completion_s.is_some_and(|done| done > plain), "{protocol}: {wrong:?}");
    }
}

#[test]
fn a_blocked_connection_is_refused_at_once_or_times_out() {
    let refused = tcp("{ kind = \"block\", protocol = \"tcp\", answer = \"reset\" }");
    assert_eq!((refused.ended, refused.bytes_delivered), (Some("refused"), 0));
    let silent = tcp("{ kind = \"block\", protocol = \"tcp\" }");
    assert_eq!((silent.ended, silent.bytes_delivered), (None, 0));
    let datagrams =
        flow("{ kind = \"block\", protocol = \"udp\" }", "protocol = \"udp\"\non_off = { rate = \"1 Mbit/s\" }");
    assert_eq!(datagrams.bytes_delivered, 0);
}

#[test]
fn forged_resets_end_tcp_but_only_one_subflow_of_mptcp() {
    let ended = tcp("{ kind = \"reset\", segments = 200 }");
    assert_eq!((ended.ended, ended.completion_s), (Some("reset"), None));
    assert!(mptcp("{ kind = \"reset\", segments = 200 }").completion_s.is_some());
}

#[test]
fn cut_segments_arrive_as_the_same_stream() {
    for options in ["copied", "first"] {
        let keys = format!("{{ kind = \"split\", size = 536, options = \"{options}\" }}");
        for result in [tcp(&keys), mptcp(&keys)] {
            assert!(result.completion_s.is_some() && result.bytes_delivered == 2_000_000, "{keys}: {result:?}");
        }
    }
}

#[test]
fn a_routers_middlebox_is_on_all_paths() {
    let keys = "protocol = \"mptcp\"\nsend = \"2 MB\"";
    let strip = "{ kind = \"strip-option\", option = \"mp-capable\", on = \"syn\" }";
    let result = run_at(["[]", "[]"], strip, keys);
    assert!(result.flows[0].fallback && result.flows[0].completion_s.is_some());
    // Each direction is changed once.
    let plain = run_at(["[]", "[]"], "[]", keys).flows[0].completion_s;
    assert_eq!(run_at(["[]", "[]"], "{ kind = \"rewrite-sequence\" }", keys).flows[0].completion_s, plain);
}

#[test]
fn joined_segments_are_one_stream_of_tcp() {
    let joined = tcp("{ kind = \"merge\" }");
    assert_eq!((joined.bytes_delivered, joined.completion_s.is_some()), (2_000_000, true));
    let packets = |middlebox| run(middlebox, "protocol = \"tcp\"\nsend = \"2 MB\"").links[2].up.packets;
    let (with, without) = (packets("{ kind = \"merge\" }"), packets("[]"));
    assert!(with < without * 6 / 10, "{with} of {without} packets");
}

#[test]
fn mappings_that_a_middlebox_drops_by_joining_segments_do_not_end_the_connection() {
    for kept in ["first", "last"] {
        let result = mptcp(&format!("{{ kind = \"merge\", kept = \"{kept}\" }}"));
        assert!(result.completion_s.is_some() && result.bytes_delivered == 2_000_000, "{kept}: {result:?}");
    }
}

#[test]
fn a_reordered_flow_arrives_whole_with_few_retransmissions() {
    for protocol in ["tcp", "mptcp"] {
        let keys = format!("protocol = \"{protocol}\"\nsend = \"2 MB\"");
        let (plain, reordered) = (flow("[]", &keys), flow("{ kind = \"reorder\" }", &keys));
        assert!(reordered.completion_s.is_some(), "{protocol}");
        // RACK waits for a quarter of the RTT; what is overtaken by three packets is 2 ms late.
        assert!(reordered.retransmissions < plain.retransmissions + 50, "{protocol}: {reordered:?}");
    }
}

#[test]
fn rewritten_data_is_noticed_by_checksums_and_only_by_them() {
    let tcp_behind = |middlebox: &str| tcp(middlebox).bytes_delivered;
    for (length, delivered) in [("kept", 2_000_000), ("longer", 2_000_003), ("shorter", 1_999_997)] {
        let middlebox = format!("{{ kind = \"rewrite-payload\", length = \"{length}\" }}");
        assert_eq!(tcp_behind(&middlebox), delivered, "{length}: over TCP");
        // The checksum is wrong before the second path has joined.
        for paths in ["path_manager = \"default\"", "path_manager = \"full-mesh\""] {
            let keys = format!("protocol = \"mptcp\"\nsend = \"2 MB\"\nmptcp = {{ checksum = true }}\n{paths}");
            let result = flow(&middlebox, &keys);
            assert!(result.fallback, "{length}: MP_FAIL and an infinite mapping: {result:?}");
            assert_eq!(result.bytes_delivered, delivered, "{length}: {result:?}");
        }
    }
    let unnoticed = mptcp("{ kind = \"rewrite-payload\" }");
    assert!(unnoticed.completion_s.is_some() && !unnoticed.fallback);
    for length in ["kept", "longer"] {
        let over_tcp = tcp(&format!("{{ kind = \"rewrite-payload\", length = \"{length}\" }}"));
        assert!(over_tcp.completion_s.is_some(), "{length}: {over_tcp:?}");
    }
}
