//! What runs measured, in the shape that is printed.
//!
//! `run --format json` prints one [`Experiment`]. The same seed gives the same bytes, but for `engine.cpu_s`: no map is
//! unordered, numbers are rounded ([`number`]), nothing knows the time of day.

mod csv;
mod experiment;
pub mod number;
mod run;
mod series;
mod table;
mod text;

pub use csv::to_csv;
pub use experiment::{
    ExchangeStatistics, Experiment, FlowStatistics, LinkStatistics, PointStatistics, Run, ScenarioSummary,
    SubflowStatistics,
};
pub use run::{
    Abandoned, Datagrams, DirectionResult, Engine, Exchanges, FlowResult, LinkResult, RealTime, Retransmitted,
    RunResult, SubflowResult, goodput_mbps,
};
pub use series::{Series, SeriesPoint};
pub use table::{Align, TextTable};
pub use text::to_text;
