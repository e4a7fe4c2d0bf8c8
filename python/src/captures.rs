//! Captures as tables: what `subflow analyze` prints.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use subflow_analyze::{CaptureError, Clocks, analyze_hosts, bottlenecks, connections, subflows, totals};

use crate::table::Table;

/// What captures show, as ``subflow.analyze`` has read them.
///
/// Attributes give tables in Arrow's format. Times are seconds since the first packet of all.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Captures {
    connections: Py<Table>,
    subflows: Py<Table>,
    bottlenecks: Py<Table>,
    totals: Py<Table>,
    notes: Vec<String>,
    text: String,
}

#[pymethods]
impl Captures {
    /// A row for each direction of a connection with data.
    #[getter]
    fn connections(&self, py: Python<'_>) -> Py<Table> {
        self.connections.clone_ref(py)
    }

    /// A row for each direction of a subflow or path with data.
    #[getter]
    fn subflows(&self, py: Python<'_>) -> Py<Table> {
        self.subflows.clone_ref(py)
    }

    /// A row for each detector of shared bottlenecks and pair of subflows.
    #[getter]
    fn bottlenecks(&self, py: Python<'_>) -> Py<Table> {
        self.bottlenecks.clone_ref(py)
    }

    /// A row for each protocol and outcome of connections of which there are only totals.
    #[getter]
    fn totals(&self, py: Python<'_>) -> Py<Table> {
        self.totals.clone_ref(py)
    }

    /// What was not read, what the figures leave out, and what is inferred of senders: a list of sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn __str__(&self) -> &str {
        &self.text
    }
}

/// Read captures in the format pcap or pcapng, also compressed with gzip or zstd.
///
/// Parameters
/// ----------
/// files : list of str or os.PathLike, or of lists of them
///     The captures. Several are read together: of both ends, of several interfaces, of a capture that was cut in time.
///     What they contain tells which are of one host. If one of the items is a list, its files are of one host, and each
///     other item is of a host of its own.
/// clocks : {"auto", "same", "different"}, optional
///     Whether the times of several files are by one clock. With "auto" they are, unless that would make a delay
///     negative or the clocks run at different speeds.
///
/// Returns
/// -------
/// Captures
///     Tables of connections, subflows and shared bottlenecks, and notes.
///
/// Raises
/// ------
/// ValueError
///     A file is no capture; the message says what it is.
/// OSError
///     A file cannot be read.
#[pyfunction]
#[pyo3(signature = (files, *, clocks="auto"))]
pub(crate) fn analyze(py: Python<'_>, files: Vec<OfHost>, clocks: &str) -> PyResult<Captures> {
    let clocks = match clocks {
        "auto" => Clocks::Auto,
        "same" => Clocks::Same,
        "different" => Clocks::Different,
        other => {
            let message = format!("clocks: found {other:?}, expected \"auto\", \"same\" or \"different\"");
            return Err(PyValueError::new_err(message));
        }
    };
    if files.is_empty() {
        return Err(PyValueError::new_err("files: expected at least one capture"));
    }
    let has_hosts = files.iter().any(|item| matches!(item, OfHost::Several(_)));
    let hosts: Vec<Vec<PathBuf>> = files.into_iter().map(OfHost::files).collect();
    if hosts.iter().any(Vec::is_empty) {
        return Err(PyValueError::new_err("files: a list of a host's captures is empty"));
    }
    let read = || match has_hosts {
        true => analyze_hosts(&hosts, clocks),
        false => subflow_analyze::analyze(&hosts.concat(), clocks),
    };
    let analysis = py.detach(read).map_err(exception)?;
    let table = |table: subflow_lab::table::Table| Py::new(py, Table::from(table));
    Ok(Captures {
        connections: table(connections(&analysis.connections))?,
        subflows: table(subflows(&analysis.subflows))?,
        bottlenecks: table(bottlenecks(&analysis.bottlenecks))?,
        totals: table(totals(&analysis.totals))?,
        notes: analysis.notes(),
        text: analysis.to_text(),
    })
}

/// A capture, or the captures of a host.
#[derive(FromPyObject)]
pub(crate) enum OfHost {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl OfHost {
    fn files(self) -> Vec<PathBuf> {
        match self {
            Self::One(file) => vec![file],
            Self::Several(files) => files,
        }
    }
}

fn exception(error: CaptureError) -> PyErr {
    let message = error.to_string();
    match error {
        CaptureError::Foreign { .. } => PyValueError::new_err(message),
        CaptureError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(message)
        }
        CaptureError::Io { .. } => PyOSError::new_err(message),
    }
}
