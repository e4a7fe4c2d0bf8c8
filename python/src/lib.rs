//! The native part of the Python package `subflow`: scenarios, their runs, and results as Arrow tables.
//!
//! | to find | look in |
//! |---|---|
//! | reading, overrides, checks | `scenario.rs`; dictionaries as TOML: `value.rs` |
//! | runs in the background, Ctrl-C, progress | `run.rs` |
//! | exceptions | `error.rs` |
//! | results, and how a notebook shows them | `results.rs`; figures for matplotlib: `figure.rs` |
//! | how tables are handed to other libraries | `table.rs`; how they are built: `columns.rs` |
//! | which columns a table has | `tables/` |
//! | algorithms written in Python | the table at the top of `algorithms/mod.rs` |
//! | simulations that wait for an agent | `environment/`; the Gymnasium environments: `subflow/gym.py` |

mod algorithms;
mod columns;
mod environment;
mod error;
mod figure;
mod results;
mod run;
mod scenario;
mod table;
mod tables;
mod value;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::algorithms::{Ack, Assignment, Path, QueueView, SentRange, SubflowView};
    #[pymodule_export]
    use super::environment::{Decision, Simulation};
    #[pymodule_export]
    use super::error::{Problem, RunError, ScenarioError};
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::scenario::{Check, Scenario};
    #[pymodule_export]
    use super::table::Table;

    /// The version of the crates is that of the package.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
