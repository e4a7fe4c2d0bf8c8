//! The evaluation scenario (red2018, section 4.1, figure 5 and table 1), and what the paper leaves open.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

/// What the paper leaves open, and what is taken instead.
pub(super) const NOTES: [&str; 9] = [
    "Paths: A = P11 (WiFi to the first address), B = P12 (WiFi to the second) and C, which goes from the cellular \
     interface over r2, r3 and r4. The paper calls C both P21 and P22; figures 1 and 5 and the text let P12 and P21 \
     share r3-r4, so C is that one. It ends at an address of its own (d3) so that routes are unambiguous. The paper \
     speaks of a mesh of 2 x 2 subflows and of three paths in all experiments; `sensitivity` has the mesh with all \
     four, whose fourth takes r2-r6.",
    "Links: table 1; \"others\" have 100 Mbit/s and 1 ms. Only the WiFi access has 1 Gbit/s: with 100 Mbit/s it would \
     be a bottleneck of A and B together, and the paper's A shares none.",
    "Queues: 1000 packets, drop-tail, Mininet's default.",
    "Load: the paper does not give it, but says that A has no bottleneck and that its RTT hardly varies. So the \
     verdicts are those of the load `limited` by a send buffer of 64 kB, which comes to 25 Mbit/s on A and fills B \
     and C. `bulk` fills A's 100 Mbit/s, too, so that A's RTT follows a queue of its own; it stands beside each \
     verdict.",
    "Traffic: one transfer without end from Ns to Nd; the interference is another MPTCP connection with two subflows \
     over r3-r4, likewise. All start within the first second at random times, which is what tells runs apart, next to \
     losses.",
    "Stack: the profile mptcp-0.9 with uncoupled CUBIC.",
    "One-way delays: by TCP timestamps, at the sender, to the millisecond; the paper took them from captures at both \
     ends.",
    "RED: the scheduler of section 3.2 with RED-CPI read every 0.01 s. The authors' kernel module does something else \
     (`red-module`); `sensitivity` has it, and RED-CPI with other readings of t.",
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

/// What the paper leaves open, taken one way or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices {
    pub(super) load: Load,
    /// Whether there is a subflow between each pair of addresses, instead of the three paths that are studied.
    pub(super) full_mesh: bool,
    /// The room of each queue, in packets.
    pub(super) queue: u32,
    /// The lines of RED in the flow.
    pub(super) red: &'static str,
    /// Whether RED, not the network, differs from the paper's choice: the findings about correlation do not depend on
    /// it.
    pub(super) only_red: bool,
}

/// What the verdicts follow.
pub(super) const PAPER: Choices = Choices {
    load: Load::Limited,
    full_mesh: false,
    queue: 1000,
    red: "scheduler = \"red-diversity\"\nbottleneck = { detector = \"red-cpi\", interval = \"10 ms\", polled = true }",
    only_red: false,
};

/// Each choice made otherwise, alone, and the authors' module on the full mesh that it was written for.
pub(super) const ALTERNATIVES: [(&str, Choices); 6] = [
    ("all four subflows of the full mesh", Choices { full_mesh: true, ..PAPER }),
    ("queues of 100 packets", Choices { queue: 100, ..PAPER }),
    (
        "RED by values read every 0.01 ms",
        with_red("scheduler = \"red-diversity\"\nbottleneck = { detector = \"red-cpi\", polled = true }"),
    ),
    ("RED by a value for each acknowledgment", with_red("scheduler = \"red-diversity\"\nbottleneck = \"red-cpi\"")),
    ("RED as the authors' kernel module", with_red(MODULE)),
    ("RED as the authors' kernel module, full mesh", Choices { full_mesh: true, ..with_red(MODULE) }),
];

const MODULE: &str = "scheduler = \"red-module\"";

const fn with_red(red: &'static str) -> Choices {
    Choices { red, only_red: true, ..PAPER }
}

/// Flows start within so many milliseconds.
pub(super) const START_SPREAD_MS: u64 = 1000;

/// The scenario of one run with the redundant scheduler or with RED.
pub(super) fn scenario(choices: Choices, with_red: bool, duration_s: u32, seed: u64) -> Scenario {
    parse("red2018.toml", text(choices, with_red, duration_s, seed))
}

/// A scenario from a text of ours.
pub(super) fn parse(name: &str, text: String) -> Scenario {
    let document = Document::parse(Path::new(name), text).expect("we write TOML");
    Scenario::read(&document).expect("it is a good scenario")
}

/// The scenario's text.
pub(super) fn text(choices: Choices, with_red: bool, duration_s: u32, seed: u64) -> String {
    let addresses = if choices.full_mesh { "\"d1\", \"d2\"" } else { "\"d1\", \"d2\", \"d3\"" };
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"mptcp-0.9\"\n\
         [hosts]\nns = [\"wifi\", \"cell\"]\nnd = [{addresses}]\nxs = [\"x1\", \"x2\"]\nxd = [\"x1\", \"x2\"]\n\
         [routers]\nr1 = {{}}\nr2 = {{}}\nr3 = {{}}\nr4 = {{}}\nr5 = {{}}\nr6 = {{}}\n"
    );
    if !choices.full_mesh {
        text += "r7 = {}\n";
    }
    network(&mut text, choices);
    let start = |flow: &str| stream(seed, &format!("start of {flow}")).next_u64() % START_SPREAD_MS;
    let subflows = if choices.full_mesh {
        "{ from = \"ns.wifi\", to = \"nd.d2\" }, { from = \"ns.cell\", to = \"nd.d1\" }, \
         { from = \"ns.cell\", to = \"nd.d2\" }"
    } else {
        "{ from = \"ns.wifi\", to = \"nd.d2\" }, { from = \"ns.cell\", to = \"nd.d3\" }"
    };
    let _ = write!(
        text,
        "[flows.data]\nfrom = \"ns.wifi\"\nto = \"nd.d1\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n\
         {}\npath_manager = \"default\"\ntcp = {{ send_buffer = \"{}\" }}\nstart = \"{} ms\"\n\
         subflows = [{subflows}]\n\
         [flows.interference]\nfrom = \"xs.x1\"\nto = \"xd.x1\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n\
         path_manager = \"default\"\nstart = \"{} ms\"\nsubflows = [{{ from = \"xs.x2\", to = \"xd.x2\" }}]\n",
        if with_red { choices.red } else { "scheduler = \"redundant\"" },
        choices.load.send_buffer(),
        start("data"),
        start("interference"),
    );
    text
}

/// The links. Of equally short ways routers take the one over the link that comes first, so that on the full mesh P12
/// and P21 cross r3-r4 in both directions.
fn network(text: &mut String, choices: Choices) {
    let mut link = |from: &str, to: &str, rate: &str, delay_ms: u32, loss: &str| {
        let _ = writeln!(
            text,
            "[links.{}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}\"\ndelay = \"{delay_ms} ms\"\n\
             queue = \"{} packets\"\nloss = \"{loss}\"",
            format!("{from}-{to}").replace('.', "_"),
            choices.queue,
        );
    };
    link("ns.wifi", "r1", "1 Gbit/s", 1, "0 %");
    link("r3", "r4", "20 Mbit/s", 40, "0.001 %");
    let own_way: &[(&str, &str)] =
        if choices.full_mesh { &[("r4", "r5"), ("r4", "r6")] } else { &[("r4", "r6"), ("r4", "r7"), ("r7", "nd.d3")] };
    let others = [("r5", "nd.d1"), ("r1", "r3"), ("r6", "nd.d2"), ("ns.cell", "r2"), ("r2", "r3"), ("xs.x1", "r3")];
    let interference = [("xs.x2", "r3"), ("r4", "xd.x1"), ("r4", "xd.x2")];
    for &(from, to) in own_way.iter().chain(&others).chain(&interference) {
        link(from, to, "100 Mbit/s", 1, "0 %");
    }
    link("r1", "r5", "150 Mbit/s", 5, "0.001 %");
    if choices.full_mesh {
        link("r2", "r6", "100 Mbit/s", 15, "0.0001 %");
    }
}

#[cfg(test)]
mod tests {
    use subflow_lab::simulate::{RunOptions, simulate};

    use super::*;

    #[test]
    fn the_testbed_is_a_good_scenario_under_every_choice() {
        let bulk = Choices { load: Load::Bulk, ..PAPER };
        for choices in ALTERNATIVES.iter().map(|alternative| alternative.1).chain([PAPER, bulk]) {
            assert!([false, true].iter().all(|&red| scenario(choices, red, 10, 1).flows.len() == 2));
        }
        assert_ne!(text(PAPER, true, 10, 1), text(PAPER, true, 10, 2), "runs differ in when flows start");
    }

    #[test]
    fn on_the_full_mesh_two_paths_share_the_bottleneck_and_the_others_nothing() {
        let choices = Choices { full_mesh: true, ..PAPER };
        let result = simulate(&scenario(choices, false, 3, 1), 1, &RunOptions::default()).expect("it runs");
        let subflows = &result.flows[0].subflows;
        let carried: Vec<bool> = subflows.iter().map(|subflow| subflow.packets_sent > 10).collect();
        assert_eq!(carried, [true; 4]);
        let packets = |name: &str| {
            let link = result.links.iter().find(|link| link.name == name).expect("a link's name");
            [link.up.packets > 10, link.down.packets > 10]
        };
        for used in ["r1-r5", "r2-r6", "r3-r4", "r4-r5", "r4-r6", "r1-r3", "r2-r3"] {
            assert_eq!(packets(used), [true; 2], "{used}");
        }
    }
}
