//! Results of all runs of a scenario.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use subflow_lab::comparison::{Asked, Precision};
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::metrics::ComparedMetric;
use subflow_lab::results::{Baseline, Experiment, NetworkResults};
use subflow_report::output::to_json;
use subflow_report::{of_experiment, of_experiment_in_frame, tables_of_experiment};
use subflow_scenario::file::{did_you_mean, list};
use subflow_scenario::sweep::Plan;
use subflow_store::tables;

use crate::comparison::{parsed, unusable};
use crate::error::RunError;
use crate::table::Table;
use crate::{explore, figure};

/// What the runs of a scenario measured.
///
/// Attributes give tables in Arrow's format, with one row for each thing of each run. A notebook shows the most
/// important of them.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Results {
    plan: Arc<Plan>,
    experiment: Experiment,
}

impl Results {
    pub(crate) fn new(plan: Arc<Plan>, experiment: Experiment) -> Self {
        Self { plan, experiment }
    }

    /// From what the process of a network answers when it is asked for results.
    fn of_network(answer: &str) -> PyResult<Self> {
        let told = NetworkResults::from_json(answer)
            .map_err(|error| RunError::new_err(format!("the network's results: {error}")))?;
        let (plan, experiment) = told.experiment().map_err(|problems| RunError::new_err(problems.to_string()))?;
        Ok(Self::new(Arc::new(plan), experiment))
    }

    pub(crate) fn experiment(&self) -> &Experiment {
        &self.experiment
    }
}

#[pymethods]
impl Results {
    /// Results of a network that stays, from the answer of its process.
    #[staticmethod]
    fn _of_network(py: Python<'_>, answer: &str) -> PyResult<Self> {
        py.detach(|| Self::of_network(answer))
    }

    /// A row for each run, with the version and the scenario that it was made with.
    #[getter]
    fn runs(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::runs(&self.experiment)).into()
    }

    /// A row for each flow of each run.
    #[getter]
    fn flows(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::flows(&self.experiment)).into()
    }

    /// A row for each subflow of each flow of each run; of SCTP, for each destination.
    #[getter]
    fn subflows(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::subflows(&self.experiment)).into()
    }

    /// A row for each request with its response, of each flow of each run.
    #[getter]
    fn exchanges(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::exchanges(&self.experiment)).into()
    }

    /// A row for each connection of programs of each run on Linux.
    #[getter]
    fn connections(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::connections(&self.experiment)).into()
    }

    /// A row for each direction of each link of each run.
    #[getter]
    fn links(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::links(&self.experiment)).into()
    }

    /// A row for each interface of each run whose energy is counted.
    #[getter]
    fn interfaces(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::interfaces(&self.experiment)).into()
    }

    /// What the repetitions say together, with 95 % intervals: a row for each quantity at each point of the sweep.
    #[getter]
    fn statistics(&self, py: Python<'_>) -> Table {
        py.detach(|| tables::statistics(&self.experiment)).into()
    }

    /// The metrics over time that `series` gives.
    #[getter]
    fn metrics(&self) -> Vec<&str> {
        tables::metrics(&self.experiment)
    }

    /// A metric over time: a row for each sample.
    ///
    /// Parameters
    /// ----------
    /// metric : str
    ///     One of ``metrics``, such as ``"cwnd"``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     The runs have no such metric.
    fn series(&self, py: Python<'_>, metric: &str) -> PyResult<Table> {
        let known = tables::metrics(&self.experiment);
        if known.contains(&metric) {
            return Ok(py.detach(|| tables::series(&self.experiment, metric)).into());
        }
        let help = match known.is_empty() {
            true => "no metric over time was kept: run with series=True, longer than the sample interval".to_owned(),
            false => {
                let guess = did_you_mean(metric, known.iter().copied(), "no such metric");
                format!("{guess}; there are {}", list(known.iter().copied()))
            }
        };
        Err(PyValueError::new_err(format!("metric: found {metric:?}, expected one of `metrics`: {help}")))
    }

    /// Compare all points of the sweep with those that have a chosen value, in pairs of runs with the same seed.
    ///
    /// Each point with another value is compared with the point that has this one and all other swept values alike.
    ///
    /// Parameters
    /// ----------
    /// choice : str
    ///     A swept value, as ``"congestion=lia"``. The end of a path is enough if no other swept path ends alike.
    /// metrics : list of str, optional
    ///     What to compare, as for ``subflow.compare``.
    ///
    /// Returns
    /// -------
    /// Table
    ///     A row for each metric of each flow at each point that has a counterpart, as
    ///     ``Comparison.differences``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Nothing is swept, or not over this value, or no point differs from one with it in this value alone.
    #[pyo3(signature = (choice, *, metrics=None))]
    fn differences_to(&self, py: Python<'_>, choice: &str, metrics: Option<Vec<String>>) -> PyResult<Table> {
        let metrics: Vec<ComparedMetric> = parsed("metrics", metrics)?;
        let points: Vec<_> = self.experiment.statistics.iter().map(|point| &point.parameters).collect();
        let (path, value) =
            Baseline::choose(choice, &points, &self.experiment.scenario.swept_together).map_err(unusable)?;
        let metrics = Asked::new(&metrics, &[]).metrics;
        let baseline = py.detach(|| Baseline::of(&self.experiment, path, value, &metrics));
        Ok(tables::differences(&baseline.differences).into())
    }

    /// The widest 95 % interval of a mean among all flows and points.
    ///
    /// Parameters
    /// ----------
    /// metric : str, optional
    ///     A metric of ``subflow.compare``.
    /// fewest : int, optional
    ///     An interval of fewer runs with the metric counts as infinitely wide.
    ///
    /// Returns
    /// -------
    /// tuple of float, int and str or None
    ///     Half the width of the interval in percent of the mean (infinite if there is one run), the number of the
    ///     point, and the flow if the metric is one of flows.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     No run has the metric.
    #[pyo3(signature = (metric="goodput", fewest=2))]
    fn widest_interval(&self, py: Python<'_>, metric: &str, fewest: usize) -> PyResult<(f64, usize, Option<String>)> {
        let metric: ComparedMetric =
            metric.parse().map_err(|error| PyValueError::new_err(format!("metric: {error}")))?;
        let widest = py.detach(|| Precision { metric, percent: 0.0 }.widest(&self.experiment, fewest));
        match widest {
            Some(widest) => Ok((widest.percent, widest.point, widest.flow)),
            None => Err(PyValueError::new_err(format!("metric: no run has {metric}; choose one that the flows have"))),
        }
    }

    /// The titles of the report's figures: those that compare, then those of the first run over time. A title that an
    /// earlier figure has is followed by a number.
    #[getter]
    fn figures(&self) -> Vec<String> {
        figure::named(&self.plan, &self.experiment).into_iter().map(|figure| figure.title).collect()
    }

    /// The numbers of a figure of the report, as dictionaries and lists.
    ///
    /// Parameters
    /// ----------
    /// figure : str
    ///     One of ``figures``.
    fn figure<'py>(&self, py: Python<'py>, figure: &str) -> PyResult<Bound<'py, PyDict>> {
        let figures = figure::named(&self.plan, &self.experiment);
        if let Some(found) = figures.iter().find(|known| known.title == figure) {
            return figure::to_dict(py, found);
        }
        let titles = || figures.iter().map(|figure| figure.title.as_str());
        let guess = did_you_mean(figure, titles(), "no such figure");
        Err(PyValueError::new_err(format!("figure: found {figure:?}: {guess}; there are {}", list(titles()))))
    }

    /// Draw a figure of the report with matplotlib.
    ///
    /// Parameters
    /// ----------
    /// figure : str
    ///     One of ``figures``.
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw it. Default: the axes of a new figure.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    #[pyo3(signature = (figure, ax=None))]
    fn plot<'py>(&self, py: Python<'py>, figure: &str, ax: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        py.import("subflow._plot")?.call_method1("draw", (self.figure(py, figure)?, ax))
    }

    /// Show the results in a notebook, with points of the sweep to select.
    ///
    /// It takes anywidget: ``pip install 'subflow[explore]'``.
    ///
    /// Returns
    /// -------
    /// Explorer
    ///     A widget. Its ``selected`` is the table ``flows`` of the selected points.
    fn explore<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("subflow._explore")?.call_method1("explore_results", (slf,))
    }

    /// The report for a frame of another page.
    fn _frame(&self, py: Python<'_>) -> String {
        py.detach(|| of_experiment_in_frame(&self.plan, &self.experiment))
    }

    /// The flows of the runs of these points.
    fn _flows_at(&self, py: Python<'_>, points: Vec<usize>) -> Table {
        py.detach(|| explore::flows_at(&self.experiment, &points))
    }

    /// The results as ``subflow run --format json`` prints them.
    fn to_json(&self) -> String {
        to_json(&self.experiment)
    }

    /// The results as ``subflow run --format csv`` prints them.
    fn to_csv(&self) -> String {
        to_csv(&self.experiment)
    }

    /// The report: an HTML page that is complete in itself.
    fn to_html(&self, py: Python<'_>) -> String {
        py.detach(|| of_experiment(&self.plan, &self.experiment))
    }

    /// The scenario as it was run, in TOML.
    #[getter]
    fn scenario(&self) -> String {
        self.plan.document.text()
    }

    /// The tables at the top of the report.
    fn _repr_html_(&self) -> String {
        tables_of_experiment(&self.experiment)
    }

    fn __str__(&self) -> String {
        to_text(&self.experiment)
    }

    fn __len__(&self) -> usize {
        self.experiment.runs.len()
    }

    fn __repr__(&self) -> String {
        format!("<subflow.Results of {:?}: {} runs>", self.experiment.scenario.name, self.experiment.runs.len())
    }
}
