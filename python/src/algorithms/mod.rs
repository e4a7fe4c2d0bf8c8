//! Algorithms written in Python, as custom ones of the policy crate.
//!
//! | to find | look in |
//! |---|---|
//! | the object of a connection: when it is made, how it is called | `instance.rs` |
//! | what a scheduler sees and returns | `scheduler_views.rs`; its calls: `scheduler.rs` |
//! | what a congestion control sees and changes | `congestion_views.rs`; its calls: `congestion.rs` |
//! | events and commands of path managers | `path_manager.rs` |
//! | how an exception ends a run | `failure.rs` |

mod congestion;
mod congestion_views;
mod failure;
mod instance;
mod path_manager;
mod scheduler;
mod scheduler_views;

pub(crate) use congestion_views::{Ack, LARGEST_WINDOW, Path};
pub(crate) use failure::{Failures, simulate_with_python};
pub(crate) use scheduler_views::{Assignment, QueueView, SentRange, SubflowView};

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subflow_scenario::CustomAlgorithms;

use crate::error::refused;
use congestion::PythonCongestionControl;
use path_manager::PythonPathManager;
use scheduler::PythonScheduler;

/// The classes of a scenario's algorithms, by argument of `with_algorithms` and name, so that another process can make
/// the same algorithms.
pub(crate) type Classes = BTreeMap<(String, String), Py<PyAny>>;

/// Adds the algorithm that `class` makes, which was passed as `argument`, under `name`.
pub(crate) fn add(custom: &mut CustomAlgorithms, argument: &str, name: &str, class: &Bound<'_, PyAny>) -> PyResult<()> {
    let added = match argument {
        "schedulers" => custom.scheduler(name, PythonScheduler::new(name, class)?),
        "congestion" => custom.congestion(name, PythonCongestionControl::new(name, class)?),
        "path_managers" => custom.path_manager(name, PythonPathManager::new(name, class)?),
        other => return Err(PyValueError::new_err(format!("found {other:?}, expected a kind of algorithm"))),
    };
    added.map_err(|problem| refused(class.py(), problem))
}
