//! Measurements of runs, in the form that is printed.
//!
//! `run --format json` prints one [`Experiment`]. The same seed gives the same bytes except for `engine.cpu_s`: all
//! maps are ordered, numbers are rounded ([`crate::number`]), and nothing reads the time of day.

mod differences;
mod experiment;
mod groups;
mod link;
pub mod metrics;
pub mod parameters;
mod provenance;
mod run;
mod sampled;
mod sequence;
mod series;
mod stored;

pub use differences::{Baseline, Better, Difference, Pairing};
pub use experiment::{
    Experiment, FailedRun, FlowStatistics, GroupStatistics, LinkStatistics, PointStatistics, Run, ScenarioSummary,
    SubflowStatistics,
};
pub use groups::{GroupResult, flows_and_groups};
pub use link::{DirectionResult, LinkResult};
pub use provenance::{Provenance, SCHEMA};
pub use run::{
    Abandoned, Datagrams, Engine, Exchanges, FlowResult, GroupMember, Latency, RealTime, Retransmitted, RunResult,
    SubflowResult, SwitchPortBytes, SwitchReport, goodput_mbps,
};
pub use sequence::{Sequence, SequenceKind, SequencePoint};
pub use series::{Series, SeriesPoint};
pub use stored::{InputError, StoredResults};
