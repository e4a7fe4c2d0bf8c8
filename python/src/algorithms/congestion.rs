//! Congestion controls in Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use subflow_policy::congestion::{self, CongestionControl, RecoveryState};
use subflow_policy::custom::FlowEnd;
use subflow_quantity::{Duration, Instant};

use super::congestion_views::{Ack, LARGEST_WINDOW, Path, state_name};
use super::instance::{Instance, Kind, integer, overrides, shown, tuple};

static KIND: Kind = Kind { base: "CongestionControl", argument: "congestion", method: "on_ack" };

/// Methods that are called only if the class has one of its own.
#[derive(Clone, Copy, Debug)]
struct Optional {
    on_path_added: bool,
    on_sample: bool,
    on_state: bool,
    on_transmit_after_idle: bool,
    on_window_restart: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PythonCongestionControl {
    instance: Instance,
    has: Optional,
}

impl PythonCongestionControl {
    pub(super) fn new(name: &str, class: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (instance, object) = Instance::new(&KIND, name, class)?;
        let has = |name| overrides(&object, &KIND, name);
        let has = Optional {
            on_path_added: has("on_path_added")?,
            on_sample: has("on_sample")?,
            on_state: has("on_state")?,
            on_transmit_after_idle: has("on_transmit_after_idle")?,
            on_window_restart: has("on_window_restart")?,
        };
        Ok(Self { instance, has })
    }

    /// Calls a method that returns nothing.
    fn notify<'py, A>(
        &mut self,
        name: &Bound<'py, PyString>,
        paths: &[congestion::Path],
        arguments: impl FnOnce(Bound<'py, PyTuple>) -> A,
    ) where
        A: pyo3::call::PyCallArgs<'py>,
    {
        let views = self.views(name.py(), paths);
        self.instance.call_method(name, arguments(views), |_| Ok(()));
    }

    fn views<'py>(&self, py: Python<'py>, paths: &[congestion::Path]) -> Bound<'py, PyTuple> {
        let views = tuple(py, paths.iter().map(|path| Path { path: path.clone() }));
        views.unwrap_or_else(|error| self.instance.fail(error))
    }
}

impl CongestionControl for PythonCongestionControl {
    fn on_path_added(&mut self, paths: &[congestion::Path], path: usize) {
        if self.has.on_path_added {
            Python::attach(|py| self.notify(intern!(py, "on_path_added"), paths, |views| (views, path)));
        }
    }

    fn on_sample(&mut self, paths: &mut [congestion::Path], path: usize, ack: &congestion::Ack) {
        if self.has.on_sample {
            Python::attach(|py| {
                let views = self.views(py, paths);
                let arguments = (views.clone(), path, Ack::from(ack));
                self.instance.call_method(intern!(py, "on_sample"), arguments, |_| take("on_sample", &views, paths));
            });
        }
    }

    fn on_ack(&mut self, paths: &mut [congestion::Path], path: usize, ack: &congestion::Ack) {
        Python::attach(|py| {
            let views = self.views(py, paths);
            let arguments = (views.clone(), path, Ack::from(ack));
            self.instance.call(py, arguments, |_| take("on_ack", &views, paths));
        });
    }

    fn ssthresh_after_loss(&mut self, paths: &[congestion::Path], path: usize, now: Instant) -> u32 {
        let quantum = paths[path].quantum();
        Python::attach(|py| {
            let arguments = (self.views(py, paths), path, now.as_secs_f64());
            self.instance.call_method(intern!(py, "ssthresh_after_loss"), arguments, |found| threshold(&found, quantum))
        })
    }

    fn on_state(&mut self, paths: &[congestion::Path], path: usize, state: RecoveryState) {
        if self.has.on_state {
            let state = state_name(state);
            Python::attach(|py| self.notify(intern!(py, "on_state"), paths, |views| (views, path, state)));
        }
    }

    fn on_transmit_after_idle(&mut self, paths: &[congestion::Path], path: usize, now: Instant, idle: Duration) {
        if self.has.on_transmit_after_idle {
            let (now, idle) = (now.as_secs_f64(), idle.as_secs_f64());
            Python::attach(|py| {
                self.notify(intern!(py, "on_transmit_after_idle"), paths, |views| (views, path, now, idle));
            });
        }
    }

    fn on_window_restart(&mut self, paths: &[congestion::Path], path: usize) {
        if self.has.on_window_restart {
            Python::attach(|py| self.notify(intern!(py, "on_window_restart"), paths, |views| (views, path)));
        }
    }

    fn begin(&mut self, end: FlowEnd) {
        self.instance.begin(end);
    }
}

/// Takes over what `method` has changed.
fn take(method: &str, views: &Bound<'_, PyTuple>, paths: &mut [congestion::Path]) -> PyResult<()> {
    for (index, (view, path)) in views.iter().zip(paths).enumerate() {
        let view = view.cast::<Path>()?.borrow();
        let (cwnd, ssthresh, quantum) = (view.path.cwnd(), view.path.ssthresh(), view.path.quantum());
        let most = largest(quantum);
        for (name, found, most) in [("cwnd", cwnd, most), ("ssthresh", ssthresh, congestion::Path::INFINITE)] {
            if !(quantum..=most).contains(&found) {
                return Err(PyValueError::new_err(format!(
                    "{method} left paths[{index}].{name} at {found}, expected at least one segment, {quantum}, and at \
                     most {most}"
                )));
            }
        }
        path.set_cwnd(cwnd);
        path.set_ssthresh(ssthresh);
        path.set_credit(view.path.credit());
    }
    Ok(())
}

/// The largest window of a path whose segments have `quantum`.
fn largest(quantum: u32) -> u32 {
    quantum.saturating_mul(LARGEST_WINDOW).min(congestion::Path::INFINITE)
}

/// The threshold that Python returned, of a path whose segments have `quantum`.
fn threshold(found: &Bound<'_, PyAny>, quantum: u32) -> PyResult<u32> {
    let most = largest(quantum);
    let Some(number) = integer(found) else {
        return Err(PyTypeError::new_err(format!(
            "ssthresh_after_loss returned {}, expected an int: round it, for example with //",
            shown(found)?
        )));
    };
    match number.extract::<u32>() {
        Ok(ssthresh) if (quantum..=most).contains(&ssthresh) => Ok(ssthresh),
        _ => Err(PyValueError::new_err(format!(
            "ssthresh_after_loss returned {number}, expected at least one segment, {quantum}, and at most {most}"
        ))),
    }
}
