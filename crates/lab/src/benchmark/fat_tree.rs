//! MPTCP connections between all hosts of a fat tree.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use serde::Serialize;
use subflow_network::stream;
use subflow_scenario::Scenario;
use subflow_scenario::file::{Document, Problems};

use super::{Clock, Cost, acknowledgments};
use crate::{RunError, number};

/// A k-ary fat tree. Each host sends to another one (a random permutation) over one MPTCP connection of unlimited
/// length. All links have 1 Gbit/s and 10 µs, every port has a drop-tail queue of 100 packets of 1500 bytes. Congestion
/// control is LIA. ECMP chooses a core path for each subflow by a hash of its ports, and another one for its
/// acknowledgments, which pass the same queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatTree {
    /// Ports of a switch: even, from 2 to 32.
    pub k: u32,
    /// Subflows of each connection, from 1 to 8.
    pub subflows: u32,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Packets per acknowledgment, from 1 to 1000. `None` is one.
    pub ack_every: Option<u16>,
}

/// Result of the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FatTreeResult {
    /// `fat-tree`.
    pub benchmark: &'static str,
    /// Ports of a switch.
    pub k: u32,
    /// Number of hosts; each opens one connection.
    pub hosts: usize,
    /// Subflows of each connection.
    pub subflows: u32,
    /// Simulated seconds.
    #[serde(serialize_with = "number::serialize")]
    pub duration_s: f64,
    /// Packets that reached a host, including acknowledgments.
    pub delivered_packets: u64,
    /// Packets dropped by queues.
    pub drops: u64,
    /// Mean of the connections' goodput, in per cent of a host's link.
    #[serde(serialize_with = "number::serialize")]
    pub goodput_percent: f64,
    /// Cost of the run.
    #[serde(flatten)]
    pub cost: Cost,
}

impl FatTree {
    /// The scenario file of this size.
    pub fn scenario_text(self) -> String {
        let mut text = format!(
            "title = \"A permutation over a fat tree of {k}-port switches\"\nduration = \"{} s\"\n\n\
             {}\n\
             [topology]\nkind = \"fat-tree\"\nk = {k}\nrate = \"1 Gbit/s\"\ndelay = \"10 us\"\n\
             queue = {{ limit = \"150 kB\", counts_transmitting = false }}\n\n[routing]\nmode = \"ecmp-flow\"\n",
            self.duration_s,
            acknowledgments(self.ack_every),
            k = self.k,
        );
        for (from, to) in self.permutation().into_iter().enumerate() {
            let _ = write!(
                text,
                "\n[flows.flow{from}]\nfrom = \"h{from}\"\nto = \"h{to}\"\nprotocol = \"mptcp\"\ncongestion = \"lia\"\n\
                 path_manager = {{ name = \"ndiffports\", n = {} }}\n",
                self.subflows,
            );
        }
        text
    }

    /// The receiver of each host's data: a permutation in which no host sends to itself (Sattolo 1986).
    fn permutation(self) -> Vec<usize> {
        let hosts = (self.k * self.k * self.k / 4) as usize;
        let mut random = stream(1, "benchmark/fat-tree");
        let mut to: Vec<usize> = (0..hosts).collect();
        for last in (1..hosts).rev() {
            to.swap(last, (random.next_u64() % last as u64) as usize);
        }
        to
    }

    /// The scenario of this size.
    pub fn scenario(self) -> Result<Scenario, Problems> {
        Scenario::read(&Document::parse(Path::new("fat-tree.toml"), self.scenario_text())?)
    }

    /// Runs the benchmark once, on up to `threads` threads. `clock` measures its real time.
    pub fn run(self, threads: usize, clock: Clock<'_>) -> Result<FatTreeResult, RunError> {
        let scenario = self.scenario().map_err(|problems| RunError::Defect(problems.to_string()))?;
        let (result, cost) = Cost::of(&scenario, threads, clock)?;
        let at_host = |link: &&crate::results::LinkResult| link.name.starts_with('h');
        let goodput: f64 = result.flows.iter().map(|flow| flow.goodput_mbps).sum();
        Ok(FatTreeResult {
            benchmark: "fat-tree",
            k: self.k,
            hosts: scenario.hosts.len(),
            subflows: self.subflows,
            duration_s: self.duration_s,
            delivered_packets: result.links.iter().filter(at_host).map(|link| link.down.packets).sum(),
            drops: result.links.iter().map(|link| link.drops).sum(),
            goodput_percent: goodput / scenario.hosts.len() as f64 / 10.0,
            cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_is_valid_at_any_size() {
        for (k, subflows) in [(2, 1), (4, 8), (8, 3)] {
            let scenario =
                FatTree { k, subflows, duration_s: 0.01, ack_every: Some(4) }.scenario().expect("a valid scenario");
            assert_eq!(scenario.flows.len(), (k * k * k / 4) as usize);
            assert!(scenario.flows.iter().all(|flow| flow.from.host != flow.to.host));
        }
    }
}
