//! The native part of the Python package `subflow`: scenarios, their runs, and results as Arrow tables.
//!
//! | to find | look in |
//! |---|---|
//! | reading, overrides, checks | `scenario.rs`; dictionaries as TOML: `value.rs` |
//! | runs in the background, Ctrl-C, progress | `run.rs` |
//! | exceptions | `error.rs` |
//! | results, and how a notebook shows them | `results.rs`; figures for matplotlib: `figure.rs` |
//! | the component of notebooks | `explore.rs`, `page/`, `../subflow/_explore.py` |
//! | two results, baselines, precision | `comparison.rs`; the methods: `crates/lab/src/comparison/` |
//! | how tables are handed to other libraries | `table.rs`; which columns they have: `crates/store/src/tables/` |
//! | algorithms written in Python | the table at the top of `algorithms/mod.rs` |
//! | simulations that wait for an agent | `environment/`; the Gymnasium environments: `subflow/gym.py` |
//! | paths of real flows, for the OpenFlow controller | `openflow/`; the controller: `../subflow/openflow.py` |
//! | the kernel's connections over time, with the feature `watch` | `watch.rs`; what watches: `crates/watch/` |
//! | captures | `captures.rs`; what reads them: `crates/analyze/` |
//! | sweeps whose runs any executor does, and their store | `sweep.rs`, `../subflow/_sweep.py` |

mod algorithms;
mod captures;
mod comparison;
mod environment;
mod error;
mod explore;
mod figure;
mod openflow;
mod results;
mod run;
mod scenario;
mod sweep;
mod table;
mod value;
mod watch;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::algorithms::{Ack, Assignment, Path, QueueView, SentRange, SubflowView};
    #[pymodule_export]
    use super::captures::{Captures, analyze};
    #[pymodule_export]
    use super::comparison::{Comparison, Precision, compare};
    #[pymodule_export]
    use super::environment::{Decision, Simulation};
    #[pymodule_export]
    use super::error::StoreError;
    #[pymodule_export]
    use super::error::{Problem, RunError, ScenarioError};
    #[pymodule_export]
    use super::explore::{explore_scripts, explore_style, scenario_schema};
    #[pymodule_export]
    use super::openflow::{FirstPacket, Flow, Placement, read_frame};
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::scenario::{Check, Scenario, restore_scenario};
    #[pymodule_export]
    use super::sweep::{Store, Study, stored_runs};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::watch::{Watched, watch};

    /// The version of the crates is that of the package.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
