//! CAKE in whole scenarios: hosts share the rate, tins keep their part, and packets count with their overhead.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// Two homes that send to two servers over a bottleneck with these keys; `flows` are the flows.
fn run(bottleneck: &str, flows: &str) -> RunResult {
    let edge = |host: &str, router: &str| {
        format!(
            "[links.{host}]\nbetween = ['{host}.eth', '{router}']\nrate = '1 Gbit/s'\ndelay = '5 ms'\n\
             queue = 'unlimited'\n"
        )
    };
    let edges = [edge("home1", "r"), edge("home2", "r"), edge("server1", "s"), edge("server2", "s")].concat();
    let text = format!(
        "duration = '20 s'\nwarm_up = '5 s'\n[hosts]\nhome1 = ['eth']\nhome2 = ['eth']\nserver1 = ['eth']\n\
         server2 = ['eth']\n[routers]\nr = {{}}\ns = {{}}\n{edges}\
         [links.bottleneck]\nbetween = ['r', 's']\ndelay = '10 ms'\n{bottleneck}\n\
         [tcp]\necn = 'request'\n{flows}"
    );
    let document = Document::parse(Path::new("cake.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
}

/// The goodput of all flows of a line, in Mbit/s.
fn goodput(result: &RunResult, line: &str) -> f64 {
    result.flows.iter().filter(|flow| flow.line() == line).map(|flow| flow.goodput_mbps).sum()
}

/// Eight flows of one home, and one of the other, to this server.
fn eight_and_one(server: &str) -> String {
    format!(
        "[flows.many]\nfrom = 'home1'\nto = 'server1'\ncount = 8\narrivals = '100 ms'\n\
         [flows.one]\nfrom = 'home2'\nto = '{server}'\n"
    )
}

#[test]
fn a_home_with_eight_uploads_gets_as_much_as_one_with_one_where_its_hosts_share() {
    for (queue, server, share) in [
        ("{ discipline = 'cake' }", "server2", 0.5),
        ("{ discipline = 'cake', isolation = 'dual-srchost' }", "server1", 0.5),
        ("{ discipline = 'cake', isolation = 'dual-dsthost' }", "server2", 0.5),
        // The server that all flows go to divides its part among nine.
        ("{ discipline = 'cake' }", "server1", 1.0 / 9.0),
        ("{ discipline = 'cake', isolation = 'dual-dsthost' }", "server1", 1.0 / 9.0),
        ("{ discipline = 'cake', isolation = 'flows' }", "server2", 1.0 / 9.0),
        ("{ discipline = 'fq-codel' }", "server2", 1.0 / 9.0),
    ] {
        let result = run(&format!("rate = '20 Mbit/s'\nqueue = {queue}"), &eight_and_one(server));
        let [many, one] = ["many", "one"].map(|line| goodput(&result, line));
        let found = one / (one + many);
        assert!((found - share).abs() < 0.04 && one + many > 17.5, "{queue} {server}: {one} and {many} Mbit/s");
    }
}

/// Datagrams of 1000 bytes at a constant rate.
fn datagrams(rate: &str, dscp: &str) -> String {
    format!(
        "[flows.call]\nfrom = 'home1'\nto = 'server1'\nprotocol = 'udp'\ndscp = '{dscp}'\n\
         on_off = {{ rate = '{rate}', packet = '1000 B', on = '1 s', off = '0 s' }}\n"
    )
}

#[test]
fn every_packet_counts_with_its_overhead() {
    let link = "rate = '10 Mbit/s'\noverhead = '38 B'\nqueue = { discipline = 'cake' }";
    let found = goodput(&run(link, &datagrams("12 Mbit/s", "CS0")), "call");
    // 1000 bytes of data are a packet of 1028 bytes, which takes 1066.
    let expected = 10.0 * 1000.0 / 1066.0;
    assert!((found / expected - 1.0).abs() < 0.001, "{found} instead of {expected}");
}

#[test]
fn a_call_that_takes_less_than_its_tin_may_is_not_slowed_by_uploads() {
    let flows = eight_and_one("server1") + &datagrams("4 Mbit/s", "EF");
    let call = |diffserv: &str| {
        let queue = format!("rate = '20 Mbit/s'\nqueue = {{ discipline = 'cake', diffserv = '{diffserv}' }}");
        goodput(&run(&queue, &flows), "call")
    };
    for diffserv in ["diffserv3", "diffserv4"] {
        let found = call(diffserv);
        assert!((found - 4.0).abs() < 0.01, "{diffserv}: {found} Mbit/s");
    }
    let found = call("besteffort");
    // One flow of ten, and what the others leave.
    assert!((1.9..3.0).contains(&found), "{found} Mbit/s");
}

#[test]
fn beside_ten_uploads_a_thin_flow_waits_for_two_packets_at_most() {
    let flows = "[flows.bulk]\nfrom = 'home1'\nto = 'server1'\ncount = 10\ncongestion = 'cubic'\n\
                 [flows.thin]\nfrom = 'server1'\nto = 'home1'\n\
                 requests = { request = '100 B', response = '100 B', every = '20 ms' }\n";
    let delay = |queue: &str| {
        let result = run(&format!("rate = '20 Mbit/s'\nqueue = {queue}"), flows);
        let thin = result.flows.iter().find(|flow| flow.name == "thin").expect("the thin flow");
        thin.delay.expect("data arrived").p99_ms
    };
    let (cake, tail) = (delay("{ discipline = 'cake' }"), delay("'200 packets'"));
    assert!(cake < 20.0 + 2.0 * 0.6 + 0.1 && tail > 60.0, "{cake} ms, drop-tail {tail} ms");
}
