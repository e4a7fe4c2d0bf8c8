//! The paper's testbed as scenarios: 10 Mbit/s everywhere, two subflows from hosts with one interface.

use std::fmt::Write;
use std::path::Path;

use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::modes::{MODES, Mode, OF_THE_PAPER, REROUTING};

/// One cell: what is run, and under which routing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Experiment {
    /// A file from A to B, while another pair sends UDP now and then.
    Transfer { topology: Topology, megabytes: u32, mode: Mode },
    /// An endless transfer from A to B whose way is cut.
    Cut { mode: Mode },
    /// So many pairs at once.
    Load { pairs: u32, mode: Mode },
}

/// Where a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    FatTree,
    Ring,
}

/// What the paper leaves open, or what is known of its testbed, taken one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices {
    /// The stack of both hosts.
    profile: &'static str,
    /// Whether UDP takes one path whatever the routing: "occupying one of the paths".
    udp_on_one_path: bool,
}

/// What the figures are run with.
pub(super) const PAPER: Choices = Choices { profile: "mptcp-0.90", udp_on_one_path: true };

/// What a verdict may hang on: each choice made otherwise, alone.
pub(super) const ALTERNATIVES: [(&str, Choices); 2] = [
    ("UDP routed as TCP is", Choices { udp_on_one_path: false, ..PAPER }),
    ("Linux 6.12's stack", Choices { profile: "linux-6.12", ..PAPER }),
];

/// When the link is cut, and when the run ends.
pub(super) const CUT_S: f64 = 10.0;
pub(super) const END_S: f64 = 40.0;
/// How far apart deliveries are looked at.
pub(super) const SAMPLE_S: f64 = 0.02;

pub(super) const CHOICES: [&str; 6] = [
    "Hosts run MPTCP 0.88 with LIA (Linux 6.12's stack in the items beyond the paper); links have 10 Mbit/s, 1 ms and room for 100 packets, which the paper does not say.",
    "A is host h0 and B the host opposite; the UDP pair is next to them, so that the default route of both is the same. UDP sends 9 Mbit/s on exponential periods of 5 s on average, with pauses alike; the paper says only that it is intermittent and occupies one of the paths. So it takes one path under any routing; the findings say what comes of it where ECMP spreads it, too.",
    "Two subflows are the initial one and one join. As published, the join does not know of the initial one and takes the same path, so both share it with UDP; the paper's figures fit two joins next to an initial subflow (\"multiflow, two joins\").",
    "ECMP's hashes depend on the seed; each switch has its own. By packet, each switch takes its equal ways in turn.",
    "Resilience: a link from A's switch upwards (the one or the other, by the seed) is cut at 10 s and stays cut. A stall is the longest time after that without delivery, to 20 ms.",
    "Load: host i sends to the host half way around the tree. Goodput is the sum over pairs from 5 s on.",
];

/// Scenarios that stand in the repository for people to try.
#[cfg(test)]
pub(super) const EXAMPLES: [(&str, Experiment); 4] = [
    ("fat-tree", Experiment::Transfer { topology: Topology::FatTree, megabytes: 10, mode: MODES[2] }),
    ("ring", Experiment::Transfer { topology: Topology::Ring, megabytes: 10, mode: MODES[1] }),
    ("resilience", Experiment::Cut { mode: REROUTING[2] }),
    ("load", Experiment::Load { pairs: 8, mode: MODES[2] }),
];

impl Experiment {
    /// The item it belongs to.
    pub(super) fn item(&self) -> &'static str {
        match self {
            Self::Transfer { topology: Topology::FatTree, .. } => "fat-tree",
            Self::Transfer { topology: Topology::Ring, .. } => "ring",
            Self::Cut { .. } => "resilience",
            Self::Load { .. } => "load",
        }
    }

    /// Whether the paper has it.
    pub(super) fn is_published(&self) -> bool {
        matches!(self, Self::Transfer { mode, .. } if OF_THE_PAPER.contains(&mode.name))
    }

    pub(super) fn mode(&self) -> Mode {
        match *self {
            Self::Transfer { mode, .. } | Self::Cut { mode } | Self::Load { mode, .. } => mode,
        }
    }

    /// What sets it apart within its item.
    pub(super) fn case(&self) -> String {
        match self {
            Self::Transfer { megabytes, .. } => format!("{megabytes} MB"),
            Self::Cut { .. } => "link cut".to_owned(),
            Self::Load { pairs: 1, .. } => "1 pair".to_owned(),
            Self::Load { pairs, .. } => format!("{pairs} pairs"),
        }
    }
}

/// All cells, in the order of reports.
pub(super) fn cells(quick: bool) -> Vec<Experiment> {
    let sizes: &[u32] = if quick { &[1, 10] } else { &[1, 10, 100] };
    let pairs: &[u32] = if quick { &[8] } else { &[1, 2, 4, 8, 16] };
    let mut cells = Vec::new();
    for topology in [Topology::FatTree, Topology::Ring] {
        for &megabytes in sizes {
            cells.extend(MODES.map(|mode| Experiment::Transfer { topology, megabytes, mode }));
        }
    }
    cells.extend(MODES.into_iter().chain(REROUTING).map(|mode| Experiment::Cut { mode }));
    for &pairs in pairs {
        cells.extend(MODES.map(|mode| Experiment::Load { pairs, mode }));
    }
    cells
}

/// The scenario of a cell in the run with `seed`.
pub(super) fn scenario(experiment: Experiment, choices: Choices, seed: u64) -> Scenario {
    let text = text(experiment, choices, seed);
    let document = Document::parse(Path::new("multiflow2016.toml"), text).expect("we write TOML");
    Scenario::read(&document).expect("a good scenario; a test reads one of each kind")
}

/// The same as a file. What lies beyond the paper has no choices.
pub(super) fn text(experiment: Experiment, choices: Choices, seed: u64) -> String {
    match experiment {
        Experiment::Transfer { topology, megabytes, mode } => transfer(topology, megabytes, mode, choices),
        Experiment::Cut { mode } => cut(mode, seed),
        Experiment::Load { pairs, mode } => load(pairs, mode),
    }
}

fn transfer(topology: Topology, megabytes: u32, mode: Mode, choices: Choices) -> String {
    // Long enough for the slowest; what has not arrived by then counts with what has.
    let seconds = 20 + 5 * megabytes;
    let (shape, to, udp_to) = match topology {
        Topology::FatTree => ("kind = \"fat-tree\"\nk = 4", "h12", "h13"),
        Topology::Ring => ("kind = \"ring\"\nswitches = 6\nhosts = 2", "h6", "h7"),
    };
    let mut text = format!("duration = \"{seconds} s\"\nprofile = \"{}\"\n{}", choices.profile, network(shape, mode));
    if choices.udp_on_one_path {
        // The table of routing is the last one of the network.
        let _ = writeln!(text, "single_way_to = [\"h1\", \"{udp_to}\"]");
    }
    flow(&mut text, "file", ["h0", to], mode, &format!("send = \"{megabytes} MB\"\nstart = \"1 s\"\n"));
    let _ = write!(
        text,
        "\n[flows.udp]\nfrom = \"h1\"\nto = \"{udp_to}\"\nprotocol = \"udp\"\non_off = {{ rate = \"9 Mbit/s\", \
         on = {{ exponential = \"5 s\" }}, off = {{ exponential = \"5 s\" }} }}\n"
    );
    text
}

fn cut(mode: Mode, seed: u64) -> String {
    let mut text = format!(
        "duration = \"{END_S} s\"\nsample_interval = \"{} ms\"\n{}",
        SAMPLE_S * 1e3,
        network("kind = \"fat-tree\"\nk = 4", mode)
    );
    flow(&mut text, "data", ["h0", "h12"], mode, "");
    let _ =
        write!(text, "\n[[timeline]]\nat = \"{CUT_S} s\"\nlink = \"edge0_0-agg0_{}\"\ndown = true\n", (seed + 1) % 2);
    text
}

fn load(pairs: u32, mode: Mode) -> String {
    let mut text = format!("duration = \"25 s\"\nwarm_up = \"5 s\"\n{}", network("kind = \"fat-tree\"\nk = 4", mode));
    for pair in 0..pairs {
        let (from, to) = (format!("h{pair}"), format!("h{}", (pair + 8) % 16));
        flow(&mut text, &format!("pair{pair}"), [&from, &to], mode, "");
    }
    text
}

fn network(shape: &str, mode: Mode) -> String {
    format!(
        "\n[topology]\n{shape}\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nqueue = \"100 packets\"\n\n[routing]\n{}\n",
        mode.routing
    )
}

/// An MPTCP connection with an initial subflow and the joins of `mode`.
fn flow(text: &mut String, name: &str, [from, to]: [&str; 2], mode: Mode, traffic: &str) {
    let subflows = 1 + mode.joins;
    let _ = write!(
        text,
        "\n[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nprotocol = \"mptcp\"\ncongestion = \"lia\"\n\
         path_manager = {{ name = \"ndiffports\", n = {subflows} }}\n{traffic}"
    );
}
