//! The evaluation scenario (red2018, section 4.1, figure 5 and table 1), and what the paper leaves open.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// What the paper leaves open, and what is taken instead.
pub(super) const CHOICES: [&str; 8] = [
    "Paths: A = P11 (WiFi to the first address), B = P12 (WiFi to the second) and C, which goes from the cellular \
     interface over r2, r3 and r4. The paper calls C both P21 and P22; figures 1 and 5 and the text let P12 and P21 share \
     r3-r4, so C is that one. It ends at an address of its own (d3) so that routes are unambiguous; the link r2-r6 carries \
     none of the three.",
    "Links: table 1; \"others\" have 100 Mbit/s and 1 ms. Only the WiFi access has 1 Gbit/s: with 100 Mbit/s it would be \
     a bottleneck of A and B together, and the paper's A shares none.",
    "Queues: 1000 packets, drop-tail, what Mininet's links have unless told otherwise.",
    "Load: the paper does not give it, but says that A has no bottleneck and that its RTT hardly varies. So the transfer \
     is made twice: `limited` by a send buffer of 64 kB, which comes to 25 Mbit/s on A and fills B and C, and `bulk`, \
     which fills A's 100 Mbit/s, too, so that A's RTT follows a queue of its own.",
    "Traffic: one transfer without end from Ns to Nd; the interference is another MPTCP connection with two subflows over \
     r3-r4, likewise. All start within the first second at random times, which is what tells runs apart, next to losses.",
    "Stack: the profile mptcp-0.9 with uncoupled CUBIC.",
    "One-way delays: by TCP timestamps, at the sender, to the millisecond; the paper took them from captures at both ends.",
    "Detectors see every acknowledgment of the runs with the plain redundant scheduler, and are asked every 100 ms.",
];

/// The subflows of the connection under study, in the order of their opening.
pub(super) const PATHS: [&str; 3] = ["A", "B", "C"];
/// The pairs of them: the last one shares a bottleneck.
pub(super) const PAIRS: [(&str, usize, usize, bool); 3] =
    [("A-B", 0, 1, false), ("A-C", 0, 2, false), ("B-C", 1, 2, true)];

/// How much the connection under study has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Less than A carries.
    Limited,
    /// As much as goes.
    Bulk,
}

pub(super) const LOADS: [Load; 2] = [Load::Limited, Load::Bulk];

impl Load {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Limited => "limited load",
            Self::Bulk => "bulk load",
        }
    }

    fn send_buffer(self) -> &'static str {
        match self {
            Self::Limited => "64 kB",
            Self::Bulk => "unlimited",
        }
    }
}

/// Flows start within so many milliseconds.
pub(super) const START_SPREAD_MS: u64 = 1000;

/// The scenario of one run.
pub(super) fn scenario(load: Load, scheduler: &str, duration_s: u32, seed: u64) -> Scenario {
    parse("red2018.toml", text(load, scheduler, duration_s, seed))
}

/// A scenario from a text of ours.
pub(super) fn parse(name: &str, text: String) -> Scenario {
    let document = Document::parse(Path::new(name), text).expect("we write TOML");
    Scenario::read(&document).expect("it is a good scenario")
}

/// The scenario's text.
pub(super) fn text(load: Load, scheduler: &str, duration_s: u32, seed: u64) -> String {
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"mptcp-0.9\"\n\
         [hosts]\nns = [\"wifi\", \"cell\"]\nnd = [\"d1\", \"d2\", \"d3\"]\nxs = [\"x1\", \"x2\"]\nxd = [\"x1\", \"x2\"]\n\
         [routers]\nr1 = {{}}\nr2 = {{}}\nr3 = {{}}\nr4 = {{}}\nr5 = {{}}\nr6 = {{}}\nr7 = {{}}\n"
    );
    link(&mut text, "ns-r1", "ns.wifi", "r1", "1 Gbit/s", 1, "0 %");
    link(&mut text, "r1-r5", "r1", "r5", "150 Mbit/s", 5, "0.001 %");
    link(&mut text, "r3-r4", "r3", "r4", "20 Mbit/s", 40, "0.001 %");
    for (from, to) in [
        ("r5", "nd.d1"),
        ("r1", "r3"),
        ("r4", "r6"),
        ("r6", "nd.d2"),
        ("ns.cell", "r2"),
        ("r2", "r3"),
        ("r4", "r7"),
        ("r7", "nd.d3"),
        ("xs.x1", "r3"),
        ("xs.x2", "r3"),
        ("r4", "xd.x1"),
        ("r4", "xd.x2"),
    ] {
        link(&mut text, &format!("{from}-{to}").replace('.', "_"), from, to, "100 Mbit/s", 1, "0 %");
    }
    let start = |flow: &str| stream(seed, &format!("start of {flow}")).next_u64() % START_SPREAD_MS;
    let _ = write!(
        text,
        "[flows.data]\nfrom = \"ns.wifi\"\nto = \"nd.d1\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n\
         scheduler = \"{scheduler}\"\npath_manager = \"default\"\ntcp = {{ send_buffer = \"{}\" }}\nstart = \"{} ms\"\n\
         subflows = [{{ from = \"ns.wifi\", to = \"nd.d2\" }}, {{ from = \"ns.cell\", to = \"nd.d3\" }}]\n\
         [flows.interference]\nfrom = \"xs.x1\"\nto = \"xd.x1\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n\
         path_manager = \"default\"\nstart = \"{} ms\"\nsubflows = [{{ from = \"xs.x2\", to = \"xd.x2\" }}]\n",
        load.send_buffer(),
        start("data"),
        start("interference"),
    );
    text
}

fn link(text: &mut String, name: &str, from: &str, to: &str, rate: &str, delay_ms: u32, loss: &str) {
    let _ = writeln!(
        text,
        "[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}\"\ndelay = \"{delay_ms} ms\"\n\
         queue = \"1000 packets\"\nloss = \"{loss}\""
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_testbed_is_a_good_scenario_with_either_scheduler() {
        for scheduler in ["redundant", "red-diversity"] {
            assert!(LOADS.iter().all(|&load| scenario(load, scheduler, 10, 1).flows.len() == 2));
        }
        let text = |seed| text(Load::Bulk, "redundant", 10, seed);
        assert_ne!(text(1), text(2), "runs differ in when flows start");
    }
}
