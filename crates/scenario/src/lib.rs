//! The description of an experiment: hosts, links, traffic and changes during the run.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! A scenario file is read with what the command line changes in it ([`builder`] writes one from a program):
//!
//! ```
//! use std::path::Path;
//!
//! use subflow_scenario::file::Document;
//! use subflow_scenario::sweep::Plan;
//!
//! let text = r#"
//! duration = "10 s"
//! [hosts]
//! client = ["eth"]
//! server = ["eth"]
//! [links.cable]
//! between = ["client", "server"]
//! rate = "20 Mbit/s"
//! delay = "10 ms"
//! [flows.bulk]
//! from = "client"
//! to = "server"
//! [sweep]
//! "links.cable.loss" = ["none", "1 %"]
//! "#;
//! let mut document = Document::parse(Path::new("bulk.toml"), text.to_owned()).expect("it is TOML");
//! document.set("--set", "flows.bulk.congestion=reno").expect("there is such a flow");
//! let plan = Plan::read(document).expect("the scenario is good at every point");
//! assert_eq!(plan.points.len(), 2);
//! assert_eq!(plan.points[0].scenario.flows[0].name, "bulk");
//! ```
//!
//! A [`Scenario`] holds typed values only: every name is resolved to an index, every quantity to an integer, every
//! default filled in, every trace read. Whatever can be wrong with a scenario file is found while it is read
//! ([`mod@file`]), so code that takes a `Scenario` need not check it again.

mod application;
mod axes;
pub mod builder;
mod conditions;
mod csv_table;
mod custom;
pub mod file;
mod flow;
mod flow_list;
mod groups;
mod handovers;
pub mod input;
mod measurement;
mod options;
mod program;
mod protocol_name;
mod random;
mod read;
pub mod schema;
mod size_table;
mod sizes;
pub mod sweep;
mod switches;
mod table;
mod timeline;
mod topology;

use subflow_network::RoutingConfig;
pub use subflow_policy::catalogue::Description;
use subflow_quantity::Duration;

pub use application::{Pause, PauseBegin, PlannedExchange, PlannedStream, Prerequisite, Reading, Video, Writing};
pub use axes::{AXES, AxisUnit, AxisWords};
pub use custom::CustomAlgorithms;
pub use flow::{Exchange, ExchangeSizes, Flow, Mptcp, PerEnd, Protocol, Quic, Sctp, SubflowPlan, Traffic};
pub use groups::{FlowGroup, OpenEnd};
pub use handovers::Handovers;
pub use measurement::seconds_of_date;
pub use program::{After, Program, ProgramCommand};
pub use random::Period;
pub(crate) use read::{Traces, idle_axes, without_effect};
pub use size_table::SizeTable;
pub use sizes::SizeDistribution;
pub use timeline::{HostEvent, LinkEvent};
pub use topology::{Attachment, Host, HostStack, Interface, InterfaceIndex, Link, Router};

/// One experiment with every value settled: what one run needs but for its seed.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name for folders and reports: the scenario file's name without its ending.
    pub name: String,
    /// One line for people; the name where the file gives none.
    pub title: String,
    /// What the experiment is about; may be empty.
    pub description: String,
    /// How long a run lasts in simulated time.
    pub duration: Duration,
    /// Goodput and utilisation count from here on (the warm-up before it is left out); before `duration`.
    pub measure_from: Duration,
    /// How far apart the samples of the metrics over time lie.
    pub sample_interval: Duration,
    /// Seed of the first run; further runs count up from it.
    pub seed: u64,
    /// How many runs there are of each sweep point, each with its own seed.
    pub repeat: u32,
    /// Titles and units of the axes of figures, in the file's order.
    pub axes: Vec<AxisWords>,
    /// The hosts, in the file's order.
    pub hosts: Vec<Host>,
    /// The routers, in the file's order.
    pub routers: Vec<Router>,
    /// What concerns the routing of the whole network.
    pub routing: RoutingConfig,
    /// Hosts, by number, to which all routers take the first of equal ways.
    pub single_ways: Vec<usize>,
    /// The links, in the file's order.
    pub links: Vec<Link>,
    /// The traffic, in the file's order.
    pub flows: Vec<Flow>,
    /// The programs that run in hosts, in the file's order; on Linux only.
    pub programs: Vec<Program>,
    /// What is drawn at random for flows in each run; [`Scenario::drawn`] draws it.
    pub groups: Vec<FlowGroup>,
    /// What happens to links during the run, by time and then by the file's order.
    pub timeline: Vec<LinkEvent>,
    /// Handovers of links, whose events are in `timeline`; [`Scenario::drawn`] draws them.
    pub handovers: Vec<Handovers>,
    /// When hosts lose addresses and get them back, by time and then by the file's order.
    pub host_timeline: Vec<HostEvent>,
}

impl Scenario {
    /// The number of its hosts, routers, links and flows.
    pub(crate) fn parts(&self) -> usize {
        self.hosts.len() + self.routers.len() + self.links.len() + self.flows.len()
    }
}
