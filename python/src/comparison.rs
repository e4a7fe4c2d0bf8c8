//! Comparisons: of two results, of the points of a sweep with a baseline, and of intervals with a width.

use std::path::PathBuf;
use std::str::FromStr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subflow_lab::comparison::{self, Asked, Side};
use subflow_lab::results::InputError;
use subflow_lab::results::{Run, StoredResults};
use subflow_store::tables;

use crate::results::Results;
use crate::table::Table;

/// How two results differ, as ``subflow.compare`` returns it.
///
/// Printed, it is the text of the command ``subflow compare``.
///
/// Attributes
/// ----------
/// differences : Table
///     A row for each metric of each flow at each point that both results have.
/// regressions : list of str
///     A sentence for each difference that is worse than its bound allows, and, with bounds, one for what the
///    results lack of the baseline. Empty if there is none.
/// notes : list of str
///     What to know about the table: that scenarios differ, that runs are not paired, what only one result has.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Comparison(comparison::Comparison);

#[pymethods]
impl Comparison {
    #[getter]
    fn differences(&self) -> Table {
        tables::differences(&self.0.differences).into()
    }

    #[getter]
    fn regressions(&self) -> Vec<String> {
        self.0.worse()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    fn __str__(&self) -> String {
        self.0.to_text()
    }

    fn __repr__(&self) -> String {
        let (rows, worse) = (self.0.differences.len(), self.0.regressions.len());
        format!("<subflow.Comparison: {rows} differences, {worse} beyond a bound>")
    }
}

/// Results, or the folder or JSON file in which a command wrote them.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    #[pyo3(transparent, annotation = "Results")]
    Results(Bound<'py, Results>),
    #[pyo3(transparent, annotation = "str or os.PathLike")]
    Path(PathBuf),
}

/// Compare two results, point by point and flow by flow, in pairs of runs with the same seed.
///
/// The methods are those of ``subflow compare``: paired t-tests, bootstrap intervals of ratios and medians, and
/// p-values adjusted for the whole table (Holm).
///
/// Parameters
/// ----------
/// baseline : Results, str or os.PathLike
///     The baseline: results, a folder that ``subflow run --out`` wrote, or a file with the JSON of
///     ``run --format json``.
/// results : Results, str or os.PathLike
///     What is compared with it.
/// metrics : list of str, optional
///     What to compare: ``goodput``, ``completion``, ``exchange``, ``exchange-p95``, ``retransmissions``,
///     ``timeouts``, ``reinjected``, ``completion-p99``, ``total-goodput``, ``fairness``, ``energy`` or
///     ``energy-per-mb``. Default: the first three,
///     where flows have them.
/// bounds : list of str, optional
///     How much worse the mean of a metric may be, such as ``"goodput 5 %"``.
///
/// Returns
/// -------
/// Comparison
///
/// Raises
/// ------
/// ValueError
///     Results cannot be read, have no point in common, or lack a metric that was named.
#[pyfunction]
#[pyo3(signature = (baseline, results, *, metrics=None, bounds=None))]
pub(crate) fn compare(
    py: Python<'_>,
    baseline: Source<'_>,
    results: Source<'_>,
    metrics: Option<Vec<String>>,
    bounds: Option<Vec<String>>,
) -> PyResult<Comparison> {
    let (metrics, bounds) = (parsed("metrics", metrics)?, parsed("bounds", bounds)?);
    let [first, second] = [("the baseline", baseline), ("the results", results)].map(|(name, source)| match source {
        Source::Results(results) => Ok(Compared::Made(name, results)),
        Source::Path(path) => py.detach(|| StoredResults::read(&path)).map(Compared::Read),
    });
    let (first, second) = (first.map_err(unusable)?, second.map_err(unusable)?);
    let ((baseline, before), (results, after)) = (first.side(), second.side());
    let asked = Asked::new(&metrics, &bounds);
    let compared =
        py.detach(|| comparison::Comparison::new((baseline, before), (results, after), &asked)).map_err(unusable)?;
    Ok(Comparison(compared))
}

/// One of two results that are compared.
enum Compared<'py> {
    /// Those of this process, and what messages call them.
    Made(&'static str, Bound<'py, Results>),
    Read(StoredResults),
}

impl Compared<'_> {
    fn side(&self) -> (Side, &[Run]) {
        match self {
            Self::Made(name, results) => {
                let experiment = results.get().experiment();
                (Side::of_experiment(name, experiment), &experiment.runs)
            }
            Self::Read(stored) => (Side::of_stored(stored), &stored.runs),
        }
    }
}

/// Each of `texts`; errors name the argument.
pub(crate) fn parsed<T: FromStr<Err = String>>(argument: &str, texts: Option<Vec<String>>) -> PyResult<Vec<T>> {
    let parse = |text: String| text.parse().map_err(|error| PyValueError::new_err(format!("{argument}: {error}")));
    texts.into_iter().flatten().map(parse).collect()
}

/// The exception for what cannot be compared.
pub(crate) fn unusable(InputError { message, help }: InputError) -> PyErr {
    PyValueError::new_err(format!("{message}\n  help: {help}"))
}

/// How narrow intervals have to be, and how many runs to try next: what ``sweep(until=…)`` asks.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Precision(comparison::Precision);

#[pymethods]
impl Precision {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let parsed = text.parse().map_err(|error| PyValueError::new_err(format!("until: {error}")));
        parsed.map(Self)
    }

    /// The fewest runs after which a width counts.
    #[classattr]
    const FEWEST_RUNS: u32 = comparison::Precision::FEWEST_RUNS;

    /// The number of runs to try if `runs` were not enough.
    #[staticmethod]
    fn more(runs: u32) -> u32 {
        comparison::Precision::more(runs)
    }

    /// The name of the metric, and the largest half width in percent of the mean.
    #[getter]
    fn metric(&self) -> &str {
        self.0.metric.name
    }

    #[getter]
    fn percent(&self) -> f64 {
        self.0.percent
    }
}
