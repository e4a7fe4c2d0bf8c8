//! N bulk flows through one bottleneck.

use std::fmt::Write;
use std::path::Path;

use serde::{Serialize, Serializer};
use subflow_scenario::Scenario;
use subflow_scenario::file::{Document, Problems};

use super::{Clock, Cost, acknowledgments};
use crate::{RunError, number};

/// What the flows are.
#[derive(Debug, PartialEq, Eq)]
pub struct BulkProtocol {
    /// Its name.
    pub name: &'static str,
    /// In a few words.
    pub summary: &'static str,
    /// Its keys in a scenario.
    keys: &'static str,
}

impl BulkProtocol {
    /// All, the default first.
    pub const ALL: &'static [Self] = &[
        Self { name: "tcp", summary: "With NewReno", keys: "protocol = \"tcp\"\ncongestion = \"reno\"" },
        Self { name: "sctp", summary: "With the window of RFC 9260", keys: "protocol = \"sctp\"" },
        Self { name: "quic", summary: "With NewReno, paced", keys: "protocol = \"quic\"\ncongestion = \"reno\"" },
    ];

    /// The protocol of this name.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|protocol| protocol.name == name)
    }
}

impl Serialize for BulkProtocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}

/// Bulk flows on paths of six links: access, bottleneck, egress and three back, all 100 Mbit/s; 1 + 8 + 1 ms one way;
/// bottleneck drop-tail 100 packets, access 1000; flow i starts at 10·i ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dumbbell {
    /// Number of flows, from 1 to 1000.
    pub flows: u32,
    /// Simulated seconds, at least one.
    pub duration_s: u32,
    /// What the flows are.
    pub protocol: &'static BulkProtocol,
    /// Packets per acknowledgment, from 1 to 1000. `None` is one with TCP and two with SCTP.
    pub ack_every: Option<u16>,
}

/// Result of the benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DumbbellResult {
    /// `dumbbell`.
    pub benchmark: &'static str,
    /// Flows.
    pub flows: u32,
    /// Simulated seconds.
    pub duration_s: u32,
    /// What the flows are.
    pub protocol: &'static BulkProtocol,
    /// Data packets that reached the far end of the bottleneck.
    pub delivered_packets: u64,
    /// Packets dropped by queues.
    pub drops: u64,
    /// Sum of the flows' goodput.
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// Cost of the run.
    #[serde(flatten)]
    pub cost: Cost,
}

impl Dumbbell {
    /// The scenario file of this size.
    pub fn scenario_text(self) -> String {
        let mut text = format!(
            "title = \"{} bulk flows through one bottleneck\"\nduration = \"{} s\"\n\n\
             {}\n[routers]\nleft = {{}}\nright = {{}}\n\n\
             [links.bottleneck]\nbetween = [\"left\", \"right\"]\nrate = \"100 Mbit/s\"\ndelay = \"8 ms\"\n\
             queue = {{ limit = \"100 packets\", counts_transmitting = false }}\n\n[hosts]\n",
            self.flows,
            self.duration_s,
            acknowledgments(self.ack_every),
        );
        for side in ["sender", "receiver"] {
            (0..self.flows).for_each(|n| _ = writeln!(text, "{side}{n} = [\"eth\"]"));
        }
        for (side, router) in [("sender", "left"), ("receiver", "right")] {
            for n in 0..self.flows {
                let _ = write!(
                    text,
                    "\n[links.{side}{n}]\nbetween = [\"{side}{n}\", \"{router}\"]\nrate = \"100 Mbit/s\"\n\
                     delay = \"1 ms\"\nqueue = {{ limit = \"1000 packets\", counts_transmitting = false }}\n"
                );
            }
        }
        let protocol = self.protocol.keys;
        for n in 0..self.flows {
            let _ = write!(
                text,
                "\n[flows.flow{n}]\nfrom = \"sender{n}\"\nto = \"receiver{n}\"\n{protocol}\nstart = \"{} ms\"\n",
                10 * n
            );
        }
        text
    }

    /// The scenario of this size.
    pub fn scenario(self) -> Result<Scenario, Problems> {
        Scenario::read(&Document::parse(Path::new("dumbbell.toml"), self.scenario_text())?)
    }

    /// Runs the benchmark once. `clock` measures its real time.
    pub fn run(self, clock: Clock<'_>) -> Result<DumbbellResult, RunError> {
        let scenario = self.scenario().map_err(|problems| RunError::Defect(problems.to_string()))?;
        let (result, cost) = Cost::of(&scenario, 1, clock)?;
        let bottleneck = result.links.iter().find(|link| link.name == "bottleneck");
        Ok(DumbbellResult {
            benchmark: "dumbbell",
            flows: self.flows,
            duration_s: self.duration_s,
            protocol: self.protocol,
            delivered_packets: bottleneck.map_or(0, |link| link.up.packets),
            drops: result.links.iter().map(|link| link.drops).sum(),
            goodput_mbps: result.flows.iter().map(|flow| flow.goodput_mbps).sum(),
            cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_is_valid_at_any_size() {
        let [tcp, sctp, ..] = BulkProtocol::ALL else { panic!("there are three") };
        for (flows, protocol) in [(1, tcp), (10, sctp), (1000, tcp)] {
            let scenario = Dumbbell { flows, duration_s: 60, protocol, ack_every: None }.scenario();
            let scenario = scenario.expect("a valid scenario");
            assert_eq!(scenario.flows.len(), flows as usize);
            assert_eq!(scenario.links.len(), 2 * flows as usize + 1);
        }
    }

    #[test]
    fn fewer_acknowledgments_are_fewer_hops_for_a_packet_of_data() {
        let hops = |protocol, ack_every| {
            let result = Dumbbell { flows: 2, duration_s: 2, protocol, ack_every }.run(&|| None).expect("it runs");
            result.cost.packet_hops as f64 / result.delivered_packets as f64
        };
        let [tcp, sctp, ..] = BulkProtocol::ALL else { panic!("there are three") };
        assert!(hops(tcp, None) > 5.8 && hops(tcp, Some(2)) < 5.0 && hops(tcp, Some(8)) < 4.0);
        assert!(hops(sctp, Some(1)) > 5.8 && hops(sctp, None) < 5.0);
    }
}
