//! Congestion controls in whole scenarios.

use std::path::Path;

use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// Runs one TCP flow for so many seconds over a link of 20 Mbit/s and 40 ms there and back, with these further keys of the
/// link and of the flow.
fn alone(seconds: u32, link: &str, flow: &str) -> RunResult {
    let text = format!(
        "duration = '{seconds} s'\n[hosts]\na = ['eth']\nb = ['eth']\n[links.path]\n\
         between = ['a.eth', 'b.eth']\nrate = '20 Mbit/s'\ndelay = '20 ms'\n{link}\n\
         [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = 'tcp'\n{flow}\n"
    );
    let document = Document::parse(Path::new("congestion.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    simulate(&scenario, 1, &RunOptions::default()).expect("it runs")
}

#[test]
fn vegas_uses_the_link_with_a_few_packets_in_its_queue() {
    let link = alone(120, "queue = '1000 packets'", "congestion = 'vegas'").links[0].up;
    assert!(link.utilisation > 0.97 && link.drops == 0, "{link:?}");
    // Two to four and the one in transmission, and for the first seconds what slow start has queued.
    assert!((3.0..9.0).contains(&link.mean_queue_packets), "{link:?}");
    // With more packets allowed, so many wait.
    let more = alone(120, "queue = '1000 packets'", "congestion = { name = 'vegas', alpha = 20, beta_packets = 22 }")
        .links[0]
        .up;
    assert!((18.0..28.0).contains(&more.mean_queue_packets), "{more:?}");
}

#[test]
fn westwood_uses_a_lossy_link_that_reno_does_not() {
    let [reno, westwood] = ["reno", "westwood"].map(|name| {
        alone(30, "queue = '60 packets'\nloss = '0.2 %'", &format!("congestion = '{name}'")).flows[0].goodput_mbps
    });
    assert!(westwood > 1.3 * reno && westwood > 13.0, "{westwood} against {reno} Mbit/s");
}

#[test]
fn hystart_plus_plus_ends_the_first_slow_start_before_a_deep_queue_overflows() {
    for name in ["reno", "cubic"] {
        let drops = |on: bool| {
            let flow = format!("congestion = {{ name = '{name}', hystart_plus_plus = {on} }}\ntcp.hystart = false");
            let result = alone(4, "queue = '1000 packets'", &flow);
            assert!(result.links[0].up.utilisation > 0.9, "{name} {on}: {:?}", result.links[0].up);
            result.links[0].up.drops
        };
        let (standard, plus_plus) = (drops(false), drops(true));
        assert!(standard > 500 && plus_plus == 0, "{name}: {plus_plus} against {standard}");
    }
}

#[test]
fn bbr3_fills_a_link_with_a_short_queue_and_ends_its_probes_where_a_shallow_queue_overflows() {
    let deep = alone(30, "queue = '1000 packets'", "congestion = 'bbr3'");
    let link = deep.links[0].up;
    // A product is 67 packets; BBR keeps about one beyond it at times.
    assert!(link.utilisation > 0.93 && link.mean_queue_packets < 30.0 && link.drops == 0, "{link:?}");
    // A queue of a fifth of a product.
    let shallow = |name: &str| {
        let result = alone(30, "queue = '13 packets'", &format!("congestion = '{name}'"));
        let link = result.links[0].up;
        (f64::from(u32::try_from(link.drops).expect("not many")) / link.packets as f64, result.flows[0].goodput_mbps)
    };
    let ((loss, goodput), (loss_of_v1, _)) = (shallow("bbr3"), shallow("bbr"));
    assert!(loss < 0.01 && loss < loss_of_v1 / 3.0, "{loss} against {loss_of_v1}");
    assert!(goodput > 15.0, "{goodput} Mbit/s");
}

#[test]
fn bbr3_gives_way_to_reno_sooner_than_bbr() {
    // Each beside a Reno flow, with a queue of one product.
    let share = |name: &str| {
        let second = "[flows.g]\nfrom = 'a'\nto = 'b'\nprotocol = 'tcp'\ncongestion = 'reno'";
        let result = alone(60, "queue = '67 packets'", &format!("congestion = '{name}'\n{second}"));
        let [own, reno] = [0, 1].map(|flow| result.flows[flow].goodput_mbps);
        own / (own + reno)
    };
    let [v1, v3] = ["bbr", "bbr3"].map(share);
    assert!(v3 < v1 && v3 > 0.3, "version 3 takes {v3}, version 1 {v1}");
}

/// An MPTCP connection from two interfaces, with links of these rates, beside a TCP connection with BBR. The share of MPTCP
/// behind a bottleneck of 40 Mbit/s, or its goodput without one.
fn two_subflows(congestion: &str, rates: [u32; 2], is_shared: bool) -> f64 {
    let [a, b] = rates;
    let bottleneck = if is_shared { "40 Mbit/s" } else { "1 Gbit/s" };
    let single =
        "[flows.single]\nfrom = 'rival'\nto = 'west'\nprotocol = 'tcp'\ncongestion = 'bbr'\nstart = '200 ms'\n";
    let text = format!(
        "duration = '60 s'\nwarm_up = '10 s'\n[hosts]\neast = ['a', 'b']\nrival = ['eth']\nwest = ['eth']\n\
         [routers]\nin = {{}}\nout = {{}}\n\
         [links.a]\nbetween = ['east.a', 'in']\nrate = '{a} Mbit/s'\ndelay = '1 ms'\n\
         [links.b]\nbetween = ['east.b', 'in']\nrate = '{b} Mbit/s'\ndelay = '1 ms'\n\
         [links.rival]\nbetween = ['rival', 'in']\nrate = '1 Gbit/s'\ndelay = '1 ms'\n\
         [links.bottleneck]\nbetween = ['in', 'out']\nrate = '{bottleneck}'\ndelay = '19 ms'\nqueue = '200 packets'\n\
         [links.west]\nbetween = ['out', 'west']\nrate = '1 Gbit/s'\n\
         [flows.multipath]\nfrom = 'east'\nto = 'west'\nprotocol = 'mptcp'\nscheduler = 'linux-default'\n\
         congestion = '{congestion}'\n{}",
        if is_shared { single } else { "" }
    );
    let document = Document::parse(Path::new("coupled.toml"), text).expect("TOML");
    let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let run = |seed| {
        let flows = simulate(&scenario, seed, &RunOptions::default()).expect("it runs").flows;
        let [own, other] = ["multipath", "single"]
            .map(|name| flows.iter().filter(|flow| flow.name == name).map(|flow| flow.goodput_mbps).sum::<f64>());
        if is_shared { own / (own + other) } else { own }
    };
    (1..=4).map(run).sum::<f64>() / 4.0
}

#[test]
fn c_mpbbr_takes_less_of_a_shared_bottleneck_than_two_bbrs() {
    let [uncoupled, coupled] = ["bbr", "c-mpbbr"].map(|name| two_subflows(name, [1000, 1000], true));
    assert!((0.58..0.76).contains(&uncoupled), "two of three flows: {uncoupled}");
    assert!(coupled < uncoupled - 0.08, "{coupled} against {uncoupled}");
}

#[test]
fn c_mpbbr_uses_disjoint_paths_of_unlike_rates_and_takes_like_ones_for_a_shared_bottleneck() {
    let unlike = two_subflows("c-mpbbr", [20, 8], false);
    assert!(unlike > 0.92 * 28.0 * 0.95, "{unlike} Mbit/s");
    let (like, uncoupled) = (two_subflows("c-mpbbr", [20, 20], false), two_subflows("bbr", [20, 20], false));
    assert!(like < 0.85 * uncoupled, "{like} against {uncoupled} Mbit/s");
}
