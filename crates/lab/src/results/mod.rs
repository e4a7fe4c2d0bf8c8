//! Measurements of runs, in the form that is printed.
//!
//! `run --format json` prints one [`Experiment`]. The same seed gives the same bytes except for `engine.cpu_s`: all
//! maps are ordered, numbers are rounded ([`crate::number`]), and nothing reads the time of day.

mod csv;
mod experiment;
mod groups;
mod link;
mod provenance;
mod run;
mod sampled;
mod sequence;
mod series;
mod stored;
mod table;
mod text;

pub use csv::to_csv;
pub use experiment::{
    ExchangeStatistics, Experiment, FailedRun, FlowStatistics, LinkStatistics, PointStatistics, Run, ScenarioSummary,
    SubflowStatistics,
};
pub use groups::{GroupResult, GroupStatistics, flows_and_groups};
pub use link::{DirectionResult, LinkResult};
pub use provenance::{Provenance, SCHEMA};
pub use run::{
    Abandoned, Datagrams, Engine, Exchanges, FlowResult, GroupMember, Latency, RealTime, Retransmitted, RunResult,
    SubflowResult, SwitchPortBytes, SwitchReport, goodput_mbps,
};
pub use sequence::{Sequence, SequenceKind, SequencePoint};
pub use series::{Series, SeriesPoint};
pub use stored::StoredResults;
pub use table::{Align, TextTable};
pub use text::{short_names, to_text};
