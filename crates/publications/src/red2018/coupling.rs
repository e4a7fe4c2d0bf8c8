//! A study beyond the paper: coupling only subflows that share a bottleneck (`coupling = "shared-bottleneck"`). LIA
//! keeps two subflows of a connection to what one TCP would get on the better path, wherever they go. That is right
//! where they share a bottleneck, and gives capacity away where they do not.

use std::fmt::Write;

use rand_core::RngCore;
use subflow_lab::RunError;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::{mean, mean_interval};
use subflow_network::stream;
use subflow_report::{Axis, Bars, Cell, Figure, Reference, Table};

use super::part::{Part, all, less, shown};
use super::testbed::{START_SPREAD_MS, parse};

/// Where the two subflows go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// Each over a bottleneck of its own, with a TCP connection on each.
    Disjoint,
    /// Both over one bottleneck, with one TCP connection.
    Shared,
}

pub(super) const PATHS: [Paths; 2] = [Paths::Disjoint, Paths::Shared];

/// How the subflows are coupled: name, congestion control and further keys of the flow.
const COUPLINGS: [(&str, &str); 6] = [
    ("lia, all coupled", "congestion = \"lia\""),
    ("lia, by red-cpi", "congestion = \"lia\"\ncoupling = \"shared-bottleneck\"\nbottleneck = \"red-cpi\""),
    (
        "lia, by red-cpi, 100 ms",
        "congestion = \"lia\"\ncoupling = \"shared-bottleneck\"\n\
         bottleneck = { detector = \"red-cpi\", interval = \"100 ms\" }",
    ),
    ("lia, by mscm", "congestion = \"lia\"\ncoupling = \"shared-bottleneck\"\nbottleneck = \"mscm\""),
    ("lia, by rfc8382", "congestion = \"lia\"\ncoupling = \"shared-bottleneck\"\nbottleneck = \"rfc8382\""),
    ("reno, none coupled", "congestion = \"reno\""),
];

/// How many ways of coupling there are.
pub(super) const WAYS: usize = COUPLINGS.len();
/// Goodput counts from here on: the detectors know their paths by then.
const WARM_UP_S: u32 = 15;

impl Paths {
    fn name(self) -> &'static str {
        match self {
            Self::Disjoint => "disjoint",
            Self::Shared => "shared",
        }
    }
}

/// Goodput in Mbit/s in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    mptcp: f64,
    /// Mean of the TCP connections.
    tcp: f64,
}

/// One run.
pub(super) fn run(paths: Paths, way: usize, duration_s: u32, seed: u64) -> Result<Shares, RunError> {
    let scenario = parse("red2018-coupling.toml", text(paths, way, duration_s, seed));
    let result = simulate(&scenario, seed, &RunOptions::default())?;
    let tcp: Vec<f64> = result.flows[1..].iter().map(|flow| flow.goodput_mbps).collect();
    Ok(Shares { mptcp: result.flows[0].goodput_mbps, tcp: mean(&tcp).unwrap_or(0.0) })
}

fn text(paths: Paths, way: usize, duration_s: u32, seed: u64) -> String {
    let start = |flow: &str| stream(seed, &format!("start of {flow}")).next_u64() % START_SPREAD_MS;
    let mut text = format!(
        "duration = \"{duration_s} s\"\nwarm_up = \"{WARM_UP_S} s\"\n\
         [hosts]\nns = [\"a\", \"b\"]\nnd = [\"a\", \"b\"]\nxs = [\"a\", \"b\"]\nxd = [\"a\", \"b\"]\n\
         [routers]\nin-a = {{}}\nout-a = {{}}\nin-b = {{}}\nout-b = {{}}\n"
    );
    let link = |text: &mut String, from: &str, to: &str, rate: &str, delay_ms: u32| {
        let name = format!("{from}-{to}").replace('.', "_");
        let _ = writeln!(
            text,
            "[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}\"\ndelay = \"{delay_ms} ms\"\n\
             queue = \"80 packets\""
        );
    };
    link(&mut text, "in-a", "out-a", "20 Mbit/s", 20);
    link(&mut text, "in-b", "out-b", "20 Mbit/s", 20);
    let of_b = if paths == Paths::Shared { "a" } else { "b" };
    for host in ["ns", "xs"] {
        link(&mut text, &format!("{host}.a"), "in-a", "100 Mbit/s", 1);
        link(&mut text, &format!("{host}.b"), &format!("in-{of_b}"), "100 Mbit/s", 3);
    }
    for host in ["nd", "xd"] {
        link(&mut text, "out-a", &format!("{host}.a"), "100 Mbit/s", 1);
        link(&mut text, &format!("out-{of_b}"), &format!("{host}.b"), "100 Mbit/s", 1);
    }
    let _ = writeln!(
        text,
        "[flows.data]\nfrom = \"ns.a\"\nto = \"nd.a\"\nprotocol = \"mptcp\"\npath_manager = \"default\"\n{}\n\
         start = \"{} ms\"\nsubflows = [{{ from = \"ns.b\", to = \"nd.b\" }}]",
        COUPLINGS[way].1,
        start("data")
    );
    for end in if paths == Paths::Shared { &["a"][..] } else { &["a", "b"] } {
        let _ = writeln!(
            text,
            "[flows.tcp-{end}]\nfrom = \"xs.{end}\"\nto = \"xd.{end}\"\nprotocol = \"tcp\"\ncongestion = \"reno\"\n\
             start = \"{} ms\"",
            start(&format!("tcp {end}"))
        );
    }
    text
}

/// Item `coupling`: the runs by paths and way.
pub(super) fn coupling(runs: &[Vec<Vec<Shares>>]) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["paths", "coupling", "MPTCP Mbit/s", "TCP Mbit/s", "MPTCP / TCP"]);
    let mut bars = Bars::new(Axis::new("goodput of MPTCP", "Mbit/s"));
    let figure = |runs: &[Shares], figure: fn(&Shares) -> f64| runs.iter().map(figure).collect::<Vec<_>>();
    for (paths, ways) in PATHS.into_iter().zip(runs) {
        for ((name, _), runs) in COUPLINGS.into_iter().zip(ways) {
            let (mptcp, tcp) = (figure(runs, |shares| shares.mptcp), figure(runs, |shares| shares.tcp));
            let ratio = figure(runs, |shares| shares.mptcp / shares.tcp.max(1e-9));
            part.row("coupling", paths.name(), name, "mptcp_mbps", &mptcp);
            part.row("coupling", paths.name(), name, "tcp_mbps", &tcp);
            part.row("coupling", paths.name(), name, "mptcp_to_tcp", &ratio);
            let shown = [shown(&mptcp, 2), shown(&tcp, 2), shown(&ratio, 2)].map(Cell::Text);
            table.row([Cell::from(paths.name()), Cell::from(name)].into_iter().chain(shown));
            let interval = mean_interval(&mptcp, 0.95).map(|interval| (interval.low, interval.high));
            if let Some(mean) = mean(&mptcp) {
                bars.add(paths.name(), name, mean, interval);
            }
        }
    }
    bars.mark(Reference::Value { label: "half of one link".to_owned(), at: 10.0 });
    part.readable.push(("Study: coupling by shared bottlenecks (95 % intervals)".to_owned(), table));
    part.figures.push(
        Figure::bars("What coupling by shared bottlenecks gains", bars)
            .section("Coupling")
            .caption("Links of 20 Mbit/s with one Reno connection on each. Means over runs with 95 % intervals."),
    );
    judge(&mut part, runs);
    part.findings.iter_mut().for_each(|finding| finding.beyond = true);
    part
}

/// How much more there has to be of MPTCP's goodput for a gain.
const WORTHWHILE: f64 = 0.02;
/// How much of its goodput TCP may lose before it counts as harm.
const HARMLESS: f64 = 0.05;

/// What a user wants to know: the gain where paths are disjoint, and whether TCP is harmed where they are not.
fn judge(part: &mut Part, runs: &[Vec<Vec<Shares>>]) {
    let none = WAYS - 1;
    for (way, (name, _)) in COUPLINGS.iter().enumerate().take(none).skip(1) {
        let mptcp = |way: usize| runs[0][way].iter().map(|shares| shares.mptcp).collect::<Vec<_>>();
        let tcp = |way: usize| runs[1][way].iter().map(|shares| shares.tcp).collect::<Vec<_>>();
        let scaled = |shares: Vec<f64>, by: f64| shares.iter().map(|share| share * by).collect::<Vec<_>>();
        let (more, left) = (scaled(mptcp(0), 1.0 + WORTHWHILE), scaled(tcp(0), 1.0 - HARMLESS));
        part.finding(
            &format!("Study: {name}, gains on disjoint paths and leaves TCP its share on a shared one"),
            all([less(&more, &mptcp(way)), less(&left, &tcp(way))]),
            format!(
                "disjoint: MPTCP {} Mbit/s, {} with all coupled, {} with none; shared: TCP {}, {} with all coupled, \
                 {} with none",
                shown(&mptcp(way), 1),
                shown(&mptcp(0), 1),
                shown(&mptcp(none), 1),
                shown(&tcp(way), 1),
                shown(&tcp(0), 1),
                shown(&tcp(none), 1)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_good_scenario() {
        for paths in PATHS {
            for way in 0..WAYS {
                let scenario = parse("coupling.toml", text(paths, way, 20, 1));
                assert_eq!(scenario.flows.len(), if paths == Paths::Shared { 2 } else { 3 });
            }
        }
    }

    #[test]
    fn a_gain_with_no_harm_is_confirmed() {
        let runs = |mptcp: f64, tcp: f64| vec![Shares { mptcp, tcp }; 2];
        let disjoint = [15.0, 20.0, 20.0, 15.1, 20.0, 20.0].map(|mptcp| runs(mptcp, 10.0)).to_vec();
        let shared = [10.0, 10.0, 9.9, 10.0, 7.0, 7.0].map(|tcp| runs(20.0 - tcp, tcp)).to_vec();
        let part = coupling(&[disjoint, shared]);
        let confirmed: Vec<_> = part.findings.iter().map(|finding| finding.verdict.confirmed()).collect();
        assert_eq!(confirmed, [Some(true), Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn what_two_runs_scatter_over_is_neither_gain_nor_harm() {
        let scattered = |mean: f64| [mean - 4.0, mean + 4.0].map(|mptcp| Shares { mptcp, tcp: mptcp }).to_vec();
        let ways = [11.0, 17.0, 17.0, 17.0, 17.0, 17.0].map(scattered).to_vec();
        let part = coupling(&[ways.clone(), ways]);
        assert!(part.findings.iter().all(|finding| finding.verdict.confirmed().is_none()), "{:?}", part.findings);
    }
}
