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

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use subflow_scenario::CustomAlgorithms;
use subflow_scenario::file::Problem;

use crate::error::refused;
use congestion::PythonCongestionControl;
use path_manager::PythonPathManager;
use scheduler::PythonScheduler;

/// Adds the algorithms of these dictionaries, from names to classes, to `custom`.
pub(crate) fn add(
    py: Python<'_>,
    custom: &mut CustomAlgorithms,
    schedulers: Option<&Bound<'_, PyDict>>,
    congestion: Option<&Bound<'_, PyDict>>,
    path_managers: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    each(py, "schedulers", schedulers, |name, class| {
        let prototype = PythonScheduler::new(name, class)?;
        Ok(custom.scheduler(name, prototype))
    })?;
    each(py, "congestion", congestion, |name, class| {
        let prototype = PythonCongestionControl::new(name, class)?;
        Ok(custom.congestion(name, prototype))
    })?;
    each(py, "path_managers", path_managers, |name, class| {
        let prototype = PythonPathManager::new(name, class)?;
        Ok(custom.path_manager(name, prototype))
    })
}

fn each(
    py: Python<'_>,
    argument: &str,
    classes: Option<&Bound<'_, PyDict>>,
    mut add: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<Result<(), Problem>>,
) -> PyResult<()> {
    for (name, class) in classes.into_iter().flat_map(|classes| classes.iter()) {
        let Ok(name) = name.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("{argument}: found the key {}, expected a str", name.repr()?)));
        };
        add(&name, &class)?.map_err(|problem| refused(py, problem))?;
    }
    Ok(())
}
