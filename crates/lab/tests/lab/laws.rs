//! Laws of TCP and MPTCP. Each test checks one law on the smallest network that shows it.

use std::path::Path;

use subflow_lab::benchmark::{BulkProtocol, Dumbbell};
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

fn run(text: &str, seed: u64) -> RunResult {
    let document = Document::parse(Path::new("law.toml"), text.to_owned()).expect("it is TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, seed, &RunOptions::default()).expect("the run succeeds")
}

/// Mean goodput of each flow over `seeds`.
fn goodputs(text: &str, seeds: u64) -> Vec<f64> {
    let runs: Vec<RunResult> = (1..=seeds).map(|seed| run(text, seed)).collect();
    let flow = |index: usize| runs.iter().map(|run| run.flows[index].goodput_mbps).sum::<f64>() / seeds as f64;
    (0..runs[0].flows.len()).map(flow).collect()
}

/// Two hosts on one link with the properties `path`.
fn two_hosts(duration: &str, path: &str, flows: &str) -> String {
    format!(
        "duration = \"{duration}\"\nwarm_up = \"5 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n\
         [links.path]\nbetween = [\"a.eth\", \"b.eth\"]\n{path}\n{flows}"
    )
}

fn tcp(name: &str, congestion: &str, start: &str) -> String {
    format!(
        "[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"tcp\"\ncongestion = \"{congestion}\"\n\
         start = \"{start}\"\n"
    )
}

/// A connection that is open before it has data needs no round trip for its handshake.
#[test]
fn data_of_a_connection_that_was_opened_before_takes_a_round_trip_less() {
    let path = "rate = \"1 Gbit/s\"\ndelay = \"20 ms\"\nqueue = \"1000 packets\"\n";
    let taken = |more: &str| {
        let flow = format!("[flows.f]\nfrom = \"a\"\nto = \"b\"\nsend = \"12 kB\"\n{more}\n");
        run(&two_hosts("10 s", path, &flow), 1).flows[0].completion_s.expect("it completes")
    };
    let saved = taken("") - taken("send_after = \"1 s\"");
    assert!((saved - 0.04).abs() < 0.001, "{saved} s");
}

/// Mathis, Semke, Mahdavi, Ott (CCR 1997): rate = MSS/RTT · √(3/2) / √p, with an acknowledgment for every packet.
#[test]
fn reno_under_random_loss_obeys_the_square_root_law() {
    for loss_percent in [0.1, 0.3, 1.0, 3.0] {
        let path = format!(
            "rate = \"1 Gbit/s\"\ndelay = \"20 ms\"\nqueue = \"10000 packets\"\n\
             loss = {{ up = \"{loss_percent} %\", down = \"0 %\" }}\n[tcp]\ndelayed_ack = false\n"
        );
        let measured = goodputs(&two_hosts("305 s", &path, &tcp("f", "reno", "0 s")), 3)[0];
        let law = 1448.0 * 8e-6 / 0.040 * (1.5f64 / (loss_percent / 100.0)).sqrt();
        let deviation = measured / law - 1.0;
        assert!(deviation.abs() < 0.10, "at {loss_percent} %: {measured:.3} Mbit/s, the law says {law:.3}");
    }
}

/// RFC 9438, section 5.2, equation 5: the mean window goes with ⁴√(C (3 + β) / (4 (1 − β))).
#[test]
fn cubic_with_other_constants_gets_as_much_more_as_its_response_function_says() {
    let path = "rate = \"unlimited\"\ndelay = \"50 ms\"\nloss = { up = \"0.01 %\", down = \"0 %\" }\n";
    let goodput = |beta: f64, c: f64| {
        let named = format!("{{ name = \"cubic\", beta = {beta}, c = {c} }}");
        goodputs(&two_hosts("605 s", path, &tcp("f", "cubic", "0 s").replace("\"cubic\"", &named)), 3)[0]
    };
    let law = |beta: f64, c: f64| (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25);
    let usual = goodput(0.7, 0.4) / law(0.7, 0.4);
    for (beta, c) in [(0.5, 0.4), (0.9, 0.4), (0.7, 1.6)] {
        let (measured, expected) = (goodput(beta, c), usual * law(beta, c));
        let deviation = measured / expected - 1.0;
        // It is for losses at equal distances; these are random.
        assert!(deviation.abs() < 0.2, "beta {beta}, C {c}: {measured:.3} Mbit/s, the law says {expected:.3}");
    }
}

#[test]
fn two_equal_reno_flows_share_a_link() {
    let path = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"50 packets\"";
    let shares: Vec<f64> = (0..6)
        .map(|offset| {
            let flows = tcp("one", "reno", "0 s") + &tcp("two", "reno", &format!("{} ms", 1000 + 7 * offset));
            let goodputs = goodputs(&two_hosts("65 s", path, &flows), 1);
            goodputs[0] / (goodputs[0] + goodputs[1])
        })
        .collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((mean - 0.5).abs() < 0.05, "the first takes {mean:.3} on average: {shares:.3?}");
}

#[test]
fn a_single_flow_fills_its_link() {
    for (rate, queue) in [(10, 50), (100, 400)] {
        let path = format!("rate = \"{rate} Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"{queue} packets\"");
        for congestion in ["reno", "cubic"] {
            let measured = goodputs(&two_hosts("35 s", &path, &tcp("f", congestion, "0 s")), 1)[0];
            let headers_allow = f64::from(rate) * 1448.0 / 1500.0;
            assert!(measured >= 0.99 * headers_allow, "{congestion} gets {measured:.3} of {headers_allow:.3} Mbit/s");
        }
    }
}

/// ns-3.37 (Debian's build) delivers 485 714 packets in this scenario and drops 1625.
#[test]
fn a_flow_gets_what_the_trace_of_its_link_gives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("link.csv"), "time_s,rate_mbit_s,delay_ms\n0,20,5\n10,5,\n20,10,20\n")
        .expect("written");
    let event = "[[timeline]]\nat = \"5 s\"\nlink = \"path\"\ntrace = \"link.csv\"\n";
    let text = two_hosts("35 s", "rate = \"1 Mbit/s\"", &(event.to_owned() + &tcp("f", "cubic", "0 s")));
    let document = Document::parse(&folder.path().join("law.toml"), text).expect("it is TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let goodput = simulate(&scenario, 1, &RunOptions::default()).expect("the run succeeds").flows[0].goodput_mbps;
    // From the fifth second on: ten seconds each.
    let allowed = (20.0 + 5.0 + 10.0) / 3.0 * 1448.0 / 1500.0;
    assert!((goodput / allowed - 1.0).abs() < 0.02, "{goodput:.3} of {allowed:.3} Mbit/s");
}

#[test]
fn the_dumbbell_delivers_as_many_packets_as_in_ns_3() {
    let result = Dumbbell { flows: 10, duration_s: 60, protocol: &BulkProtocol::ALL[0], ack_every: None }
        .run(&|| None)
        .expect("the run succeeds");
    let packets = result.goodput_mbps * 1e6 * 60.0 / 8.0 / 1448.0;
    assert!((packets / 485_714.0 - 1.0).abs() < 0.03, "{packets:.0} packets");
    assert!((800..3250).contains(&result.drops), "{} drops", result.drops);
}

/// An MPTCP connection over one interface on two subflows, and a TCP connection, through one bottleneck.
fn shared_bottleneck(congestion: &str, start: &str) -> String {
    format!(
        "duration = \"125 s\"\nwarm_up = \"5 s\"\n[hosts]\nm = [\"one\", \"two\"]\nt = [\"eth\"]\ns = [\"eth\"]\n\
         [routers]\nr = {{}}\n\
         [links.m1]\nbetween = [\"m.one\", \"r\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.m2]\nbetween = [\"m.two\", \"r\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.t]\nbetween = [\"t.eth\", \"r\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.bottleneck]\nbetween = [\"r\", \"s.eth\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
         queue = \"50 packets\"\n\
         [flows.mptcp]\nfrom = \"m.one\"\nto = \"s\"\nprotocol = \"mptcp\"\ncongestion = \"{congestion}\"\n\
         [flows.tcp]\nfrom = \"t\"\nto = \"s\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\nstart = \"{start}\"\n"
    )
}

/// MPTCP's share over TCP's, mean over start offsets: single runs vary much.
fn ratio(congestion: &str) -> f64 {
    let offsets = ["0 ms", "7 ms", "13 ms", "29 ms"];
    let ratios = offsets.iter().map(|start| {
        let goodputs = goodputs(&shared_bottleneck(congestion, start), 1);
        goodputs[0] / goodputs[1]
    });
    ratios.sum::<f64>() / offsets.len() as f64
}

#[test]
fn uncoupled_subflows_take_two_shares_of_a_bottleneck() {
    let ratio = ratio("reno");
    assert!((1.6..2.4).contains(&ratio), "two subflows of Reno take {ratio:.2} times what one TCP takes");
}

/// RFC 6356, goal 2: do no harm.
#[test]
fn lia_takes_one_share_of_a_bottleneck() {
    let ratio = ratio("lia");
    assert!((0.8..1.25).contains(&ratio), "LIA takes {ratio:.2} times what one TCP takes");
}

/// Two disjoint paths from `m` to `s`, each with its own loss; `extra` adds TCP flows.
fn two_paths(losses: [&str; 2], rates: [&str; 2], extra: &str) -> String {
    format!(
        "duration = \"185 s\"\nwarm_up = \"5 s\"\n[hosts]\nm = [\"one\", \"two\"]\nt = [\"eth\"]\n\
         s = [\"one\", \"two\"]\n[routers]\nr1 = {{}}\nr2 = {{}}\n\
         [links.m1]\nbetween = [\"m.one\", \"r1\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.m2]\nbetween = [\"m.two\", \"r2\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.t]\nbetween = [\"t.eth\", \"r2\"]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\
         [links.p1]\nbetween = [\"r1\", \"s.one\"]\nrate = \"{}\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
         loss = {{ up = \"{}\", down = \"0 %\" }}\n\
         [links.p2]\nbetween = [\"r2\", \"s.two\"]\nrate = \"{}\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
         loss = {{ up = \"{}\", down = \"0 %\" }}\n\
         [flows.mptcp]\nfrom = \"m.one\"\nto = \"s.one\"\nprotocol = \"mptcp\"\ncongestion = \"lia\"\n\
         path_manager = \"default\"\nsubflows = [{{ from = \"m.two\", to = \"s.two\" }}]\n{extra}",
        rates[0], losses[0], rates[1], losses[1]
    )
}

/// RFC 6356, goal 1: at least what one TCP would get on the best path. α is set for equality in the mean-field limit,
/// MPTCP packets carry 1424 bytes for TCP's 1448, and windows are counted in whole packets: hence the tolerance.
#[test]
fn lia_gets_at_least_what_tcp_gets_on_the_best_path() {
    let paths = two_paths(["0.1 %", "1 %"], ["1 Gbit/s", "1 Gbit/s"], "");
    let mptcp = goodputs(&paths, 4)[0];
    let best =
        "rate = \"1 Gbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\nloss = { up = \"0.1 %\", down = \"0 %\" }";
    let tcp = goodputs(&two_hosts("185 s", best, &tcp("f", "reno", "0 s")), 4)[0];
    assert!(mptcp >= 0.9 * tcp, "LIA gets {mptcp:.2} Mbit/s on both paths, TCP {tcp:.2} on the better one");
}

/// RFC 6356, goal 3: away from congestion. The second path is shared with a TCP connection.
#[test]
fn lia_moves_traffic_off_the_congested_path() {
    let rival = "[flows.tcp]\nfrom = \"t\"\nto = \"s.two\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\n";
    let result = run(&two_paths(["0 %", "0 %"], ["10 Mbit/s", "10 Mbit/s"], rival), 1);
    let on_shared_path = result.flows[0].subflows[1].goodput_mbps;
    let rival = result.flows[1].goodput_mbps;
    assert!(on_shared_path < 0.9 * rival, "LIA takes {on_shared_path:.2} Mbit/s there, TCP {rival:.2}");
    assert!(result.flows[0].subflows[0].goodput_mbps > 9.0, "the free path is full");
}
