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
    /// A transfer between two sites with several providers each.
    InterDomain { mode: Mode },
    /// One connection over two paths.
    Diamond { mode: Mode },
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
    /// Where the root of the spanning tree is that MP_CAPABLE, UDP and all answers follow under MultiFlow.
    root: Root,
}

/// The root of the spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// The first switch, which is A's: the tree's path from A to B is the one that Dijkstra's algorithm finds first.
    First,
    /// A switch beside that path: the tree's path from A to B shares no link with it.
    Beside,
}

impl Root {
    fn switch(self, topology: Topology) -> &'static str {
        match (self, topology) {
            (Self::First, Topology::FatTree) => "edge0_0",
            (Self::First, Topology::Ring) => "s0",
            (Self::Beside, Topology::FatTree) => "agg0_1",
            (Self::Beside, Topology::Ring) => "s4",
        }
    }
}

/// What the figures are run with.
pub(super) const PAPER: Choices = Choices { profile: "mptcp-0.90", udp_on_one_path: true, root: Root::First };

/// The same with the stack of the kernel, for runs beside those on Linux.
pub(super) const OF_THE_KERNEL: Choices = Choices { profile: "linux-6.12", ..PAPER };

/// What a verdict may hang on: each choice made otherwise, alone.
pub(super) const ALTERNATIVES: [(&str, Choices); 3] = [
    (
        "a spanning tree whose path is not the one that Dijkstra's algorithm finds first",
        Choices { root: Root::Beside, ..PAPER },
    ),
    ("UDP routed as TCP is", Choices { udp_on_one_path: false, ..PAPER }),
    ("Linux 6.12's stack", OF_THE_KERNEL),
];

/// When the link is cut, and when the run ends.
pub(super) const CUT_S: f64 = 10.0;
pub(super) const END_S: f64 = 40.0;
/// How far apart deliveries are looked at.
pub(super) const SAMPLE_S: f64 = 0.02;

pub(super) const NOTES: [&str; 9] = [
    "Hosts run MPTCP 0.88 with LIA (Linux 6.12's stack in the items beyond the paper); links have 10 Mbit/s, 1 ms and \
     room for 100 packets, which the paper does not say.",
    "A is host h0 and B the host opposite; the UDP pair is next to them, so that the default route of both is the \
     same. UDP sends 9 Mbit/s on exponential periods of 5 s on average, with pauses alike; the paper says only that \
     it is intermittent and occupies one of the paths. So it takes one path under any routing; the findings say what \
     comes of it where ECMP spreads it, too.",
    "Two subflows are the initial one and one join. As published, the join does not know of the initial one and takes \
     the same path, so both share it with UDP; the paper's figures fit two joins next to an initial subflow \
     (\"multiflow, two joins\").",
    "MP_CAPABLE takes the controller's default route (algorithm 1), a path of its spanning tree, as UDP and all \
     answers do; joins go by Dijkstra's algorithm over all links. Which path is the tree's depends on switch numbers \
     that the paper does not print. Its root is the first switch here, A's, and so both find the same path first; \
     with the root beside it, `sensitivity`, they do not.",
    "Paths between domains (the paper's future work, with NorNet as its testbed): three providers between two sites, \
     with 9, 12 and 75 ms one way in all, 100, 40 and 20 Mbit/s, and 0.001, 0.01 and 0.05 % of loss. These values are \
     made, not measured; no delays of NorNet's paths were found in public.",
    "ECMP's hashes depend on the seed; each switch has its own. By packet, each switch takes its equal ways in turn.",
    "Resilience: a link from A's switch upwards (the one or the other, by the seed) is cut at 10 s and stays cut. A \
     stall is the longest time after that without delivery, to 20 ms.",
    "Diamond: two paths of 50 Mbit/s and 4 ms between two hosts; goodput from 2 s to 6 s.",
    "Load: host i sends to the host half way around the tree. Goodput is the sum over pairs from 5 s on.",
];

/// Scenarios that stand in the repository for people to try.
#[cfg(test)]
pub(super) const EXAMPLES: [(&str, Experiment); 5] = [
    ("fat-tree", Experiment::Transfer { topology: Topology::FatTree, megabytes: 10, mode: MODES[2] }),
    ("ring", Experiment::Transfer { topology: Topology::Ring, megabytes: 10, mode: MODES[1] }),
    ("resilience", Experiment::Cut { mode: REROUTING[2] }),
    ("load", Experiment::Load { pairs: 8, mode: MODES[2] }),
    ("inter-domain", Experiment::InterDomain { mode: MODES[7] }),
];

impl Experiment {
    /// The item it belongs to.
    pub(super) fn item(&self) -> &'static str {
        match self {
            Self::Transfer { topology: Topology::FatTree, .. } => "fat-tree",
            Self::Transfer { topology: Topology::Ring, .. } => "ring",
            Self::Cut { .. } => "resilience",
            Self::Load { .. } => "load",
            Self::InterDomain { .. } => "inter-domain",
            Self::Diamond { .. } => "diamond",
        }
    }

    /// Whether the paper has it.
    pub(super) fn is_published(&self) -> bool {
        matches!(self, Self::Transfer { mode, .. } if OF_THE_PAPER.contains(&mode.name))
    }

    pub(super) fn mode(&self) -> Mode {
        match *self {
            Self::Transfer { mode, .. }
            | Self::Cut { mode }
            | Self::Load { mode, .. }
            | Self::InterDomain { mode }
            | Self::Diamond { mode } => mode,
        }
    }

    /// What sets it apart within its item.
    pub(super) fn case(&self) -> String {
        match self {
            Self::Transfer { megabytes, .. } => format!("{megabytes} MB"),
            Self::Cut { .. } => "link cut".to_owned(),
            Self::Load { pairs: 1, .. } => "1 pair".to_owned(),
            Self::Load { pairs, .. } => format!("{pairs} pairs"),
            Self::InterDomain { .. } => "three providers".to_owned(),
            Self::Diamond { .. } => "2 x 50 Mbit/s".to_owned(),
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
    cells.extend(MODES.map(|mode| Experiment::InterDomain { mode }));
    cells.extend(MODES.map(|mode| Experiment::Diamond { mode }));
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
        Experiment::InterDomain { mode } => inter_domain(mode),
        Experiment::Diamond { mode } => diamond(mode),
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
    if mode.is_controlled() {
        let _ = writeln!(text, "spanning_tree = \"{}\"", choices.root.switch(topology));
        if mode.joins_only() {
            let _ = writeln!(text, "initial = \"default-route\"");
        }
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

/// As `scenarios/openflow-diamond.toml`, with the paper's congestion control.
fn diamond(mode: Mode) -> String {
    let mut text = format!(
        "duration = \"6 s\"\nwarm_up = \"2 s\"\n\n[topology]\nkind = \"diamond\"\nwidth = 2\nhosts = 1\nrate = \"50 \
         Mbit/s\"\nhost_rate = \"1 Gbit/s\"\ndelay = \"2 ms\"\nqueue = \"100 packets\"\n\n[routing]\n{}\n",
        mode.routing
    );
    flow(&mut text, "data", ["h0", "h1"], mode, "");
    text
}

fn network(shape: &str, mode: Mode) -> String {
    format!(
        "\n[topology]\n{shape}\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nqueue = \"100 packets\"\n\n[routing]\n{}\n",
        mode.routing
    )
}

/// The links between two sites with three providers: two direct ones, and one over another continent. The values are
/// made, not measured.
const PROVIDERS: [(&str, &[&str], &str, &str, &str); 3] = [
    ("research", &["4 ms", "5 ms"], "100 Mbit/s", "0.001 %", "100 packets"),
    ("fibre", &["5 ms", "7 ms"], "40 Mbit/s", "0.01 %", "100 packets"),
    ("detour", &["30 ms", "40 ms", "5 ms"], "20 Mbit/s", "0.05 %", "100 packets"),
];

fn inter_domain(mode: Mode) -> String {
    let mut text = String::from(
        "duration = \"30 s\"\nwarm_up = \"5 s\"\n\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n\n[routers]\nsite-a = \
         {}\nsite-b = {}\n",
    );
    let mut links = String::new();
    let mut link = |from: &str, to: &str, [rate, delay, loss, queue]: [&str; 4]| {
        let _ = writeln!(
            links,
            "\n[links.{from}-{to}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \
             \"{queue}\"\nloss = \"{loss}\""
        );
    };
    for host in ["a", "b"] {
        link(host, &format!("site-{host}"), ["1 Gbit/s", "0 ms", "0 %", "1000 packets"]);
    }
    for (name, delays, rate, loss, queue) in PROVIDERS {
        let mut at = "site-a".to_owned();
        for (hop, delay) in delays.iter().enumerate() {
            let last = hop + 1 == delays.len();
            let next = if last { "site-b".to_owned() } else { format!("{name}-{}", hop + 1) };
            if !last {
                let _ = writeln!(text, "{next} = {{}}");
            }
            // Loss is that of the provider, at its last link.
            link(&at, &next, [rate, delay, if last { loss } else { "0 %" }, queue]);
            at = next;
        }
    }
    let _ = write!(text, "\n[routing]\n{}\n{links}", mode.routing);
    flow(&mut text, "data", ["a", "b"], mode, "");
    text
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
