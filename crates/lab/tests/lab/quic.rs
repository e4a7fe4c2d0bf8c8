//! Results of transfers over QUIC, over one path and several, and how they compare with TCP's.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// A flow over a link of 20 Mbit/s with an RTT of 40 ms.
fn run(duration: u32, link: &str, flow: &str, seed: u64) -> RunResult {
    let queue = if link.contains("queue") { "" } else { "queue = '80 packets'" };
    let text = format!(
        "duration = '{duration} s'\n[hosts]\na = ['x']\nb = ['x']\n\
         [links.l]\nbetween = ['a', 'b']\nrate = '20 Mbit/s'\ndelay = '20 ms'\n{queue}\n{link}\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\n{flow}\n"
    );
    let document = Document::parse(Path::new("quic.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, seed, &RunOptions::default()).expect("it runs")
}

#[test]
fn goodput_is_that_of_tcp_but_for_headers() {
    for congestion in ["reno", "cubic", "vegas"] {
        let goodput = |protocol: &str| {
            let flow = format!("protocol = '{protocol}'\ncongestion = '{congestion}'");
            run(30, "", &flow, 1).flows[0].goodput_mbps
        };
        let (tcp, quic) = (goodput("tcp"), goodput("quic"));
        // 1439 of 1448 bytes; the rest is what recovery does otherwise.
        assert!((0.97..1.0).contains(&(quic / tcp)), "{congestion}: {quic} Mbit/s against {tcp} of TCP");
    }
}

#[test]
fn a_transfer_over_a_lossy_link_ends_gracefully_at_both_ends() {
    for keys in ["", "quic = { pacing = false }", "quic = { stream_window = '30 kB', connection_window = '40 kB' }"] {
        let flow = format!("protocol = 'quic'\ncongestion = 'cubic'\nsend = '2 MB'\n{keys}");
        let result = run(60, "loss = '2 %'", &flow, 2);
        let flow = &result.flows[0];
        assert_eq!((flow.bytes_delivered, flow.ended), (2_000_000, Some("gracefully")), "{keys}");
        assert!(flow.completion_s.is_some() && flow.subflows[0].retransmissions > 0, "{keys}: {flow:?}");
    }
}

#[test]
fn requests_and_responses_go_both_ways() {
    let flow = "protocol = 'quic'\nrequests = { request = '1 kB', response = '50 kB', count = 20 }";
    let result = run(30, "loss = '1 %'", flow, 3);
    let flow = &result.flows[0];
    assert_eq!((flow.bytes_delivered, flow.ended), (1_000_000, Some("gracefully")));
}

#[test]
fn a_connection_outlasts_an_outage_and_ends_if_that_lasts_too_long() {
    let outage = |up: &str| {
        let flow = format!(
            "protocol = 'quic'\ncongestion = 'reno'\nsend = '20 MB'\nquic = {{ idle_timeout = '10 s' }}\n\
             [[timeline]]\nat = '2 s'\nlink = 'l'\ndown = true\n[[timeline]]\nat = '{up}'\nlink = 'l'\nup = true"
        );
        run(60, "", &flow, 4).flows.remove(0)
    };
    let (short, long) = (outage("6 s"), outage("30 s"));
    assert_eq!((short.bytes_delivered, short.ended), (20_000_000, Some("gracefully")));
    assert!(long.completion_s.is_none() && long.bytes_delivered < 20_000_000, "{long:?}");
    assert_eq!(long.ended, Some("timed-out"));
}

/// A flow over two links, of 20 Mbit/s and 10 Mbit/s.
fn run_over_two_links(flow: &str, seed: u64) -> RunResult {
    let text = format!(
        "duration = '40 s'\n[hosts]\na = ['wifi', 'lte']\nb = ['eth']\n[routers]\nr = {{}}\n\
         [links.wifi]\nbetween = ['a.wifi', 'r']\nrate = '20 Mbit/s'\ndelay = '15 ms'\nqueue = '80 packets'\n\
         [links.lte]\nbetween = ['a.lte', 'r']\nrate = '10 Mbit/s'\ndelay = '35 ms'\nqueue = '100 packets'\n\
         [links.core]\nbetween = ['r', 'b']\nrate = '1 Gbit/s'\ndelay = '1 ms'\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\npath_manager = 'fullmesh'\nscheduler = 'll'\n{flow}\n"
    );
    let document = Document::parse(Path::new("mpquic.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, seed, &RunOptions::default()).expect("it runs")
}

#[test]
fn several_paths_have_the_goodput_of_mptcp_but_for_headers() {
    for congestion in ["reno", "lia", "olia", "cubic"] {
        let run = |protocol: &str| {
            let flow = format!("protocol = '{protocol}'\ncongestion = '{congestion}'");
            run_over_two_links(&flow, 1).flows.remove(0)
        };
        let (mptcp, mpquic) = (run("mptcp"), run("mpquic"));
        assert_eq!((mpquic.subflows.len(), mpquic.fallback), (2, false), "{congestion}");
        let ratio = mpquic.goodput_mbps / mptcp.goodput_mbps;
        assert!((0.9..1.1).contains(&ratio), "{congestion}: {ratio} of {} Mbit/s", mptcp.goodput_mbps);
        let shares: Vec<_> = mpquic.subflows.iter().map(|path| path.goodput_mbps).collect();
        assert!(shares.iter().all(|&mbps| mbps > 2.0), "{congestion}: {shares:?}");
    }
}

#[test]
fn a_transfer_outlasts_the_failure_of_a_path() {
    let failure = "[[timeline]]\nat = '3 s'\nlink = 'wifi'\ndown = true\n\
                   [[timeline]]\nat = '8 s'\nlink = 'wifi'\nup = true";
    let result = run_over_two_links(&format!("protocol = 'mpquic'\nsend = '30 MB'\n{failure}"), 2);
    let flow = &result.flows[0];
    assert_eq!((flow.bytes_delivered, flow.ended), (30_000_000, Some("gracefully")));
    assert!(flow.timeouts > 0, "{flow:?}");
    assert!(flow.completion_s.is_some_and(|seconds| seconds < 20.0), "{:?}", flow.completion_s);
}

#[test]
fn bbr_fills_the_link_as_with_tcp_and_keeps_the_queue_as_short() {
    for congestion in ["bbr", "bbr3"] {
        let run = |protocol: &str| run(20, "", &format!("protocol = '{protocol}'\ncongestion = '{congestion}'"), 1);
        let (tcp, quic) = (run("tcp"), run("quic"));
        let ratio = quic.flows[0].goodput_mbps / tcp.flows[0].goodput_mbps;
        assert!((0.97..1.01).contains(&ratio), "{congestion}: {ratio} of {} Mbit/s", tcp.flows[0].goodput_mbps);
        let queue = |run: &RunResult| run.links[0].up.mean_queue_packets;
        assert!(queue(&quic) < queue(&tcp) + 10.0, "{congestion}: {} packets, {} with TCP", queue(&quic), queue(&tcp));
    }
}

#[test]
fn marks_reduce_windows_instead_of_losses() {
    // The threshold of 5 ms is 8 packets; a window of the path is 67.
    let marking = "queue = { discipline = 'codel', limit = '1000 packets', target = '1 s', ce_threshold = '5 ms' }";
    let run = |congestion: &str, ecn: bool| {
        let flow = format!("protocol = 'quic'\ncongestion = '{congestion}'\nquic = {{ ecn = {ecn} }}");
        run(20, marking, &flow, 1)
    };
    // Half a window for a mark leaves a part of the link unused, a part of the marked fraction hardly any.
    for (congestion, least) in [("reno", 0.75), ("dctcp", 0.95)] {
        let (with, without) = (run(congestion, true), run(congestion, false));
        let (flow, link) = (&with.flows[0], &with.links[0].up);
        assert!(link.marks > 5 && link.drops == 0 && flow.subflows[0].retransmissions == 0, "{congestion}: {link:?}");
        assert!(link.mean_queue_packets < 20.0 && link.utilisation > least, "{congestion}: {link:?}");
        let unmarked = &without.links[0].up;
        assert!(unmarked.marks == 0 && unmarked.mean_queue_packets > 50.0, "{congestion}: {unmarked:?}");
    }
}

#[test]
fn pacing_makes_vegas_overshoot_once_over_quic_as_over_tcp() {
    let resent = |flow: &str| run(10, "", &format!("congestion = 'vegas'\n{flow}"), 1).flows[0].retransmissions;
    let paced = ["protocol = 'quic'", "protocol = 'tcp'\ntcp = { pacing = 'internal' }"].map(resent);
    let unpaced = ["protocol = 'quic'\nquic = { pacing = false }", "protocol = 'tcp'"].map(resent);
    // The queue is hidden from the smallest RTT of a round, so that slow start lasts for one more.
    assert!(paced.iter().all(|&packets| packets > 4 * unpaced[0].max(unpaced[1])), "{paced:?}, unpaced {unpaced:?}");
    assert!(paced[0] <= paced[1] && unpaced[0] < 2 * unpaced[1], "{paced:?}, unpaced {unpaced:?}");
}
