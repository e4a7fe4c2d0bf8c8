//! Measurements of runs, in the form that is printed.
//!
//! `run --format json` prints one [`Experiment`]. The same seed gives the same bytes except for `engine.cpu_s`: all
//! maps are ordered, numbers are rounded ([`crate::number`]), and nothing reads the time of day.

mod connection;
mod differences;
mod exchange;
mod experiment;
mod groups;
mod link;
pub mod metrics;
mod network;
pub mod parameters;
mod program;
mod run;
mod sequence;
mod series;
mod stored;
mod video;

pub use connection::{ConnectionResult, Detection, Pair};
pub use differences::{Baseline, Better, Difference, Pairing};
pub use exchange::{ExchangeResult, Exchanges};
pub use experiment::{
    Experiment, FailedRun, FlowStatistics, GroupStatistics, InterfaceStatistics, LinkStatistics, PointStatistics,
    Provenance, Run, SCHEMA, ScenarioSummary, SubflowStatistics,
};
pub use groups::{GroupResult, flows_and_groups};
pub use link::{DirectionResult, InterfaceResult, LinkResult};
pub use network::NetworkResults;
pub use program::ProgramResult;
pub use run::{
    Abandoned, Datagrams, Engine, FlowResult, GroupMember, Latency, RealTime, Retransmitted, RunResult, SubflowResult,
    SwitchPortBytes, SwitchReport, goodput_mbps,
};
pub use sequence::{Sequence, SequenceKind, SequencePoint};
pub use series::{Series, SeriesPoint};
pub use stored::{InputError, StoredResults};
pub use video::VideoResult;

use subflow_transport::mptcp::LISTED_SUBFLOWS;

impl RunResult {
    /// The name of what a series is of: a flow, `flow/subflow`, `link.up` or `link.down`. A run counts subflows while
    /// it samples them, as in `file/0`; their names, as in `file/phone.wifi-server.eth`, are those in
    /// [`FlowResult::subflows`]. If a flow had so many that some are only in the sum
    /// `others`, those after the first 256 have their number instead.
    pub fn sampled_name(&self, of: &str) -> String {
        if self.flows.iter().any(|flow| flow.name == of) {
            return of.to_owned();
        }
        let named = of.rsplit_once('/').and_then(|(flow, number)| {
            let flow = self.flows.iter().find(|known| known.name == flow)?;
            let number: usize = number.parse().ok()?;
            // Only the first ones are at their number if others are not listed.
            let first = if flow.unlisted_subflows > 0 { LISTED_SUBFLOWS } else { flow.subflows.len() };
            let subflow = flow.subflows[..first.min(flow.subflows.len())].get(number)?;
            Some(format!("{}/{}", flow.name, subflow.name))
        });
        named.unwrap_or_else(|| of.to_owned())
    }

    /// The metrics over time, each with the name of what it is of.
    pub fn named_series(&self) -> Vec<Series> {
        let named = |series: &Series| {
            let mut named = series.clone();
            named.of = self.sampled_name(&series.of);
            named
        };
        self.series.iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(subflows: usize, unlisted_subflows: u64) -> RunResult {
        let subflow = |number| SubflowResult { name: format!("a.x-b.y#{number}"), ..SubflowResult::default() };
        let flow = FlowResult {
            name: "file".to_owned(),
            subflows: (0..subflows).map(subflow).collect(),
            unlisted_subflows,
            ..FlowResult::default()
        };
        RunResult {
            seed: 1,
            duration_s: 1.0,
            flows: vec![flow],
            links: Vec::new(),
            interfaces: Vec::new(),
            engine: Engine::default(),
            real_time: None,
            series: Vec::new(),
            paths: Vec::new(),
            sequences: Vec::new(),
            exchanges: Vec::new(),
            connections: Vec::new(),
        }
    }

    #[test]
    fn numbers_of_subflows_become_names_and_all_others_stay() {
        let few = run(3, 0);
        assert_eq!(few.sampled_name("file/2"), "file/a.x-b.y#2");
        for of in ["file", "file/3", "file/x", "other/0", "wifi.up"] {
            assert_eq!(few.sampled_name(of), of);
        }
    }

    #[test]
    fn a_number_after_the_listed_ones_is_no_position_in_the_list() {
        assert_eq!(run(300, 0).sampled_name("file/280"), "file/a.x-b.y#280");
        let many = run(300, 40);
        assert_eq!(many.sampled_name("file/255"), "file/a.x-b.y#255");
        assert_eq!(many.sampled_name("file/280"), "file/280");
    }
}
