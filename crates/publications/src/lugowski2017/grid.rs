//! What the thesis measured: its tables A.1 to A.17 and the cells of each.

use crate::Item;
use crate::alternatives::sensitivity;

/// How the hosts are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    /// All subflows and TCP cross one shaped link.
    Bottleneck,
    /// One subflow shares the southern path with TCP, the other one has the northern path alone.
    HalfBottleneck,
    /// The same with the northern path fixed at 10 Mbit/s.
    Asymmetric,
}

impl Topology {
    /// Its name in the tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bottleneck => "bottleneck",
            Self::HalfBottleneck => "half-bottleneck",
            Self::Asymmetric => "half-bottleneck-asymmetric",
        }
    }
}

/// The queue of shaped links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Queue {
    DropTail,
    Red,
}

impl Queue {
    /// Its name in the tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DropTail => "droptail",
            Self::Red => "red",
        }
    }
}

/// Who competes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matchup {
    /// One MPTCP connection against one TCP Reno.
    VsReno,
    /// Two MPTCP connections with the same algorithm.
    VsSelf,
    /// One with OLIA, one with CMT/RPv2, and one TCP Reno.
    TwoVsReno,
}

/// The algorithms under test, in the tables' order.
pub(super) const ALGORITHMS: [&str; 4] = ["lia", "olia", "cmt-rpv2", "wvegas"];

impl Matchup {
    /// Its name in the tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::VsReno => "vs-reno",
            Self::VsSelf => "vs-self",
            Self::TwoVsReno => "two-mptcp-vs-reno",
        }
    }

    /// Its cases: a name, and the congestion control of each flow.
    pub(super) fn cases(self) -> Vec<(&'static str, Vec<&'static str>)> {
        match self {
            Self::VsReno => ALGORITHMS.map(|name| (name, vec![name, "reno"])).to_vec(),
            Self::VsSelf => ALGORITHMS.map(|name| (name, vec![name, name])).to_vec(),
            Self::TwoVsReno => vec![("olia+cmt-rpv2", vec!["olia", "cmt-rpv2", "reno"])],
        }
    }
}

/// One table of the thesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TableOfThesis {
    pub(super) name: &'static str,
    pub(super) topology: Topology,
    pub(super) queue: Queue,
    pub(super) latencies_ms: &'static [u32],
    pub(super) matchup: Matchup,
}

const fn table(
    name: &'static str,
    topology: Topology,
    queue: Queue,
    latencies_ms: &'static [u32],
    matchup: Matchup,
) -> TableOfThesis {
    TableOfThesis { name, topology, queue, latencies_ms, matchup }
}

use Matchup::{TwoVsReno, VsReno, VsSelf};
use Queue::{DropTail, Red};
use Topology::{Asymmetric, Bottleneck, HalfBottleneck};

/// All tables.
pub(super) const TABLES: [TableOfThesis; 17] = [
    table("A.1", Bottleneck, DropTail, &[0], VsReno),
    table("A.2", Bottleneck, DropTail, &[5], VsReno),
    table("A.3", Bottleneck, DropTail, &[20], VsReno),
    table("A.4", Bottleneck, DropTail, &[0], VsSelf),
    table("A.5", Bottleneck, DropTail, &[5], VsSelf),
    table("A.6", Bottleneck, DropTail, &[20], VsSelf),
    table("A.7", Bottleneck, DropTail, &[0, 5, 20], TwoVsReno),
    table("A.8", Bottleneck, Red, &[0], VsReno),
    table("A.9", Bottleneck, Red, &[5], VsReno),
    table("A.10", Bottleneck, Red, &[20], VsReno),
    table("A.11", HalfBottleneck, DropTail, &[0], VsReno),
    table("A.12", HalfBottleneck, DropTail, &[5], VsReno),
    table("A.13", HalfBottleneck, Red, &[0], VsReno),
    table("A.14", HalfBottleneck, Red, &[5], VsReno),
    table("A.15", Asymmetric, DropTail, &[0], VsReno),
    table("A.16", Asymmetric, DropTail, &[5], VsReno),
    table("A.17", Asymmetric, DropTail, &[20], VsReno),
];

/// The tables as items of the command line.
pub(super) const ITEMS: [Item; 18] = [
    Item { name: "A.1", title: "bottleneck, tail drop, 0 ms, each algorithm against Reno" },
    Item { name: "A.2", title: "the same at 5 ms" },
    Item { name: "A.3", title: "the same at 20 ms" },
    Item { name: "A.4", title: "bottleneck, tail drop, 0 ms, each algorithm against itself" },
    Item { name: "A.5", title: "the same at 5 ms" },
    Item { name: "A.6", title: "the same at 20 ms" },
    Item { name: "A.7", title: "bottleneck, tail drop, OLIA and CMT/RPv2 against Reno" },
    Item { name: "A.8", title: "bottleneck, RED, 0 ms, each algorithm against Reno" },
    Item { name: "A.9", title: "the same at 5 ms" },
    Item { name: "A.10", title: "the same at 20 ms" },
    Item { name: "A.11", title: "half-bottleneck, tail drop, 0 ms, each algorithm against Reno" },
    Item { name: "A.12", title: "the same at 5 ms" },
    Item { name: "A.13", title: "half-bottleneck, RED, 0 ms, each algorithm against Reno" },
    Item { name: "A.14", title: "the same at 5 ms" },
    Item { name: "A.15", title: "half-bottleneck, north at 10 Mbit/s, tail drop, 0 ms, against Reno" },
    Item { name: "A.16", title: "the same at 5 ms" },
    Item { name: "A.17", title: "the same at 20 ms" },
    sensitivity("the verdicts on the tables above where a choice is made otherwise"),
];

/// What is not known of the testbed, or in two versions, taken one way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Choices {
    /// Which CMT/RPv2 it is, as scenarios name it.
    pub(super) cmt_rpv2: &'static str,
    pub(super) buffers: Buffers,
    /// The MPTCP kernel of both hosts, and its packet scheduler.
    pub(super) profile: &'static str,
    pub(super) scheduler: &'static str,
    /// Whether added latency delays acknowledgments, too.
    pub(super) both_ways: bool,
}

/// What bounds the data in flight of a connection, whether TCP or MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Buffers {
    /// NetPerfMeter's send buffer of 233 016 bytes: Linux doubles it and counts 2304 bytes for a packet with 1448 of
    /// data.
    Send,
    /// The same size as data, at both ends.
    SendAndReceive,
    /// What Linux has if the program asks for nothing.
    Growing,
}

/// What the figures are run with.
pub(super) const THESIS: Choices = Choices {
    cmt_rpv2: "kernel-module",
    buffers: Buffers::Growing,
    profile: "mptcp-0.9",
    scheduler: "ll",
    both_ways: true,
};

/// What runs in real time: the kernel of today, and CMT/RPv2 as its eBPF program has it.
pub(super) const KERNEL: Choices =
    Choices { cmt_rpv2: "formula", profile: "linux-6.12", scheduler: "linux-default", ..THESIS };

/// What a verdict may hang on: each choice made otherwise, alone.
pub(super) const ALTERNATIVES: [(&str, Choices); 5] = [
    ("CMT/RPv2 by its formula", Choices { cmt_rpv2: "formula", ..THESIS }),
    ("windows of 233 016 bytes at both ends", Choices { buffers: Buffers::SendAndReceive, ..THESIS }),
    ("a send buffer of 2 × 233 016 bytes with overhead", Choices { buffers: Buffers::Send, ..THESIS }),
    ("growth by acknowledgments, as in MPTCP 0.90", Choices { profile: "mptcp-0.90", ..THESIS }),
    ("latency on data only", Choices { both_ways: false, ..THESIS }),
];

/// The northern path's rate where it is fixed.
const ASYMMETRIC_NORTH_MBPS: u32 = 10;

/// One experiment: what a median is taken of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) table: TableOfThesis,
    pub(super) latency_ms: u32,
    pub(super) capacity_mbps: u32,
    pub(super) case: &'static str,
    /// Congestion control of each flow; `reno` stands for TCP, all else for MPTCP.
    pub(super) flows: Vec<&'static str>,
    pub(super) choices: Choices,
}

/// What the runs of a cell depend on. Cells of two tables, or under two choices, may have the same runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setup {
    /// The rates of the shaped links: that of the bottleneck, or those of both paths.
    shaped_mbps: Vec<u32>,
    queue: Queue,
    latency_ms: u32,
    flows: Vec<&'static str>,
    choices: Choices,
}

impl Cell {
    /// The rate of the northern path.
    pub(super) fn north_mbps(&self) -> u32 {
        match self.table.topology {
            Topology::Asymmetric => ASYMMETRIC_NORTH_MBPS,
            _ => self.capacity_mbps,
        }
    }

    /// What its runs depend on. A choice that makes no difference to them is left as the figures have it.
    pub(super) fn setup(&self) -> Setup {
        let mut choices = self.choices;
        if !self.flows.contains(&"cmt-rpv2") {
            choices.cmt_rpv2 = THESIS.cmt_rpv2;
        }
        if self.latency_ms == 0 {
            choices.both_ways = THESIS.both_ways;
        }
        let shaped_mbps = match self.table.topology {
            Topology::Bottleneck => vec![self.capacity_mbps],
            _ => vec![self.capacity_mbps, self.north_mbps()],
        };
        let (queue, latency_ms) = (self.table.queue, self.latency_ms);
        Setup { shaped_mbps, queue, latency_ms, flows: self.flows.clone(), choices }
    }
}

/// The cells of a table at these capacities, under these choices.
pub(super) fn cells(table: TableOfThesis, capacities_mbps: &[u32], choices: Choices) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &latency_ms in table.latencies_ms {
        for &capacity_mbps in capacities_mbps {
            for (case, flows) in table.matchup.cases() {
                cells.push(Cell { table, latency_ms, capacity_mbps, case, flows, choices });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_the_thesis_s() {
        let capacities: Vec<u32> = (1..=10).map(|ten| ten * 10).collect();
        let all: Vec<Cell> = TABLES.into_iter().flat_map(|table| cells(table, &capacities, THESIS)).collect();
        // Sixteen tables of four algorithms, and one of one case at three latencies, at ten capacities.
        assert_eq!(all.len(), (16 * 4 + 3) * 10);
        assert!(TABLES.iter().zip(&ITEMS).all(|(table, item)| table.name == item.name));
    }
}
