//! The kernel's MPTCP connections over time, as tables.

use pyo3::prelude::*;

use crate::table::Table;

/// What ``subflow.watch`` has seen of the kernel's MPTCP connections.
///
/// Attributes give tables in Arrow's format. Times are seconds since the watch began.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Watched {
    subflows: Py<Table>,
    bottlenecks: Py<Table>,
    events: Py<Table>,
}

#[pymethods]
impl Watched {
    /// A row for each subflow in each report: its addresses, state, windows, RTTs, rates and retransmissions.
    #[getter]
    fn subflows(&self, py: Python<'_>) -> Py<Table> {
        self.subflows.clone_ref(py)
    }

    /// A row for each detector of shared bottlenecks and pair of subflows in each report.
    #[getter]
    fn bottlenecks(&self, py: Python<'_>) -> Py<Table> {
        self.bottlenecks.clone_ref(py)
    }

    /// A row for each event that the kernel reported, where reading events changes nothing.
    #[getter]
    fn events(&self, py: Python<'_>) -> Py<Table> {
        self.events.clone_ref(py)
    }
}

/// Watch the MPTCP connections of this machine, or of the network namespace that the process is in.
///
/// It changes nothing. It needs Linux, a kernel with MPTCP, and root rights. Ctrl-C ends it with an exception.
///
/// Parameters
/// ----------
/// duration : float
///     Seconds until it ends.
/// interval : float, optional
///     Seconds between two reports, from 0.001 to 1000.
/// sample : float, optional
///     Seconds between two looks at the kernel's figures, from which shared bottlenecks are detected, from 0.001 to 1.
/// capture : bool, optional
///     Capture the acknowledgments that arrive, for detectors that need the delays of individual packets.
///
/// Returns
/// -------
/// Watched
///     Tables of subflows, shared bottlenecks and events.
///
/// Raises
/// ------
/// ValueError
///     A time is out of its range.
/// OSError
///     The machine lacks what it takes, or the kernel refuses its lists.
/// RuntimeError
///     This build of the package has no watch. The message says how to build it.
#[pyfunction]
#[pyo3(signature = (duration, *, interval=1.0, sample=0.02, capture=false))]
pub(crate) fn watch(py: Python<'_>, duration: f64, interval: f64, sample: f64, capture: bool) -> PyResult<Watched> {
    built::watch(py, duration, interval, sample, capture)
}

#[cfg(not(all(feature = "watch", target_os = "linux")))]
mod built {
    use pyo3::exceptions::PyRuntimeError;
    use pyo3::prelude::*;

    use super::Watched;

    pub(super) fn watch(_: Python<'_>, _: f64, _: f64, _: f64, _: bool) -> PyResult<Watched> {
        Err(PyRuntimeError::new_err(match cfg!(target_os = "linux") {
            true => {
                "this build of subflow has no watch; build it with \
                 `pip install ./python --config-settings=build-args=--features=watch`"
            }
            false => "this system is not Linux: watching connections needs its kernel's MPTCP",
        }))
    }
}

#[cfg(all(feature = "watch", target_os = "linux"))]
mod built {
    use pyo3::exceptions::{PyOSError, PyValueError};
    use pyo3::prelude::*;
    use subflow_lab::Stop;
    use subflow_quantity::Duration;
    use subflow_watch::{Report, Settings, Watcher, tables};

    use super::Watched;
    use crate::algorithms::Failures;
    use crate::run::in_background;
    use crate::table::Table;

    /// A year of 365 days, in seconds.
    const YEAR: f64 = 31_536_000.0;

    pub(super) fn watch(py: Python<'_>, duration: f64, interval: f64, sample: f64, capture: bool) -> PyResult<Watched> {
        let settings = Settings {
            interval: seconds("interval", interval, 1000.0)?,
            sample: seconds("sample", sample, 1.0)?,
            capture,
            duration: Some(seconds("duration", duration, YEAR)?),
            record: None,
        };
        let stop = Stop::default();
        let work = {
            let stop = stop.clone();
            move || reports(settings, &stop)
        };
        let reports = in_background(py, &stop, &Failures::default(), work, |_| Ok(()))?;
        let reports = reports.map_err(|error| PyOSError::new_err(error.to_string()))?;
        let table = |table| Py::new(py, Table::from(table));
        Ok(Watched {
            subflows: table(tables::subflows(&reports))?,
            bottlenecks: table(tables::bottlenecks(&reports))?,
            events: table(tables::events(&reports))?,
        })
    }

    fn reports(settings: Settings, stop: &Stop) -> subflow_linux::Result<Vec<Report>> {
        let mut watcher = Watcher::start(settings)?;
        let mut reports = Vec::new();
        while let Some(look) = watcher.look(|| !stop.is_requested())? {
            reports.extend(look.report);
            if look.is_last {
                break;
            }
        }
        Ok(reports)
    }

    fn seconds(argument: &str, seconds: f64, most: f64) -> PyResult<Duration> {
        match (0.001..=most).contains(&seconds) {
            true => Ok(Duration::from_nanos((seconds * 1e9) as u64)),
            false => Err(PyValueError::new_err(format!(
                "{argument}: found {seconds}, expected a number of seconds from 0.001 to {most}"
            ))),
        }
    }
}
