//! Scenarios.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

use crate::algorithms::{self, Classes};
use crate::error::{not_valid, refused};
use crate::results::Results;
use crate::run::SeriesOf;
use crate::{explore, run, value};

/// A scenario: hosts, links, flows, and what to vary.
///
/// Create one with `Scenario.read`, `Scenario.from_toml` or `Scenario.from_dict`. A scenario does not change:
/// `with_overrides` returns another one. Scenarios are equal if their text, name, folder and algorithms in Python are.
/// They can be pickled, if their algorithms can: classes that can be imported.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Scenario {
    pub(crate) document: Document,
    pub(crate) classes: Arc<Classes>,
}

/// What another process needs to make the same scenario: path, text, name, and the classes of algorithms in Python.
/// A tuple of argument of `with_algorithms`, name, and class for each of these.
pub(crate) type Source = (OsString, String, String, Py<PyTuple>);

/// Make the scenario that was pickled.
#[pyfunction]
pub(crate) fn restore_scenario(py: Python<'_>, source: Source) -> PyResult<Scenario> {
    let (path, text, name, algorithms) = source;
    let scenario = parsed(py, Path::new(&path), text, &name)?;
    let algorithms: Vec<(String, String, Py<PyAny>)> = algorithms.extract(py)?;
    scenario.with_classes(py, algorithms.into_iter().map(|(argument, name, class)| ((argument, name), class)))
}

/// What a valid scenario would run.
///
/// Attributes
/// ----------
/// name, title : str
///     The scenario's name and title.
/// hosts, routers, links, flows : int
///     How many of them it has.
/// points : int
///     Combinations of swept values. 1 without a sweep.
/// runs : int
///     Runs in all: points times repetitions.
/// parameters : list of str
///     The swept paths.
/// warnings : list of str
///     Keys that are valid and have no effect at any point, each with the reason.
#[pyclass(module = "subflow", frozen, get_all)]
pub(crate) struct Check {
    name: String,
    title: String,
    hosts: usize,
    routers: usize,
    links: usize,
    flows: usize,
    points: usize,
    runs: usize,
    parameters: Vec<String>,
    warnings: Vec<String>,
}

#[pymethods]
impl Check {
    fn __repr__(&self) -> String {
        format!("<subflow.Check {}: {} points, {} runs>", self.name, self.points, self.runs)
    }
}

#[pymethods]
impl Scenario {
    /// Read a scenario file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file in TOML. Paths in it are relative to its folder.
    /// overrides : dict, optional
    ///     Values by path, as with ``with_overrides``.
    /// **values
    ///     The same for keys at the top of the scenario.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     The file cannot be read or is not TOML, or a path of an override leads nowhere.
    #[staticmethod]
    #[pyo3(signature = (path, overrides=None, /, **values))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        overrides: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let document = Document::load(&path).map_err(|problem| refused(py, problem))?;
        overridden(document.into(), overrides, values)
    }

    /// Make a scenario of a text in TOML.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     The text of a scenario file.
    /// name : str, optional
    ///     The scenario's name.
    /// folder : str or os.PathLike, optional
    ///     The folder that paths in the scenario are relative to. Default: the working directory.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     The text is not TOML.
    #[staticmethod]
    #[pyo3(signature = (text, *, name="scenario", folder=PathBuf::new()))]
    fn from_toml(py: Python<'_>, text: String, name: &str, folder: PathBuf) -> PyResult<Self> {
        parsed(py, &folder.join("<toml>"), text, name)
    }

    /// Make a scenario of a dictionary with the content of a scenario file.
    ///
    /// Parameters
    /// ----------
    /// content : dict
    ///     Values are str, int, float, bool, lists or tuples, and dictionaries with str as keys.
    /// name : str, optional
    ///     The scenario's name.
    /// folder : str or os.PathLike, optional
    ///     The folder that paths in the scenario are relative to. Default: the working directory.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     A value has no equivalent in TOML.
    #[staticmethod]
    #[pyo3(signature = (content, *, name="scenario", folder=PathBuf::new()))]
    fn from_dict(py: Python<'_>, content: &Bound<'_, PyDict>, name: &str, folder: PathBuf) -> PyResult<Self> {
        parsed(py, &folder.join("<dict>"), value::document(content)?, name)
    }

    /// Return the scenario with other values.
    ///
    /// Parameters
    /// ----------
    /// overrides : dict, optional
    ///     Values by path, such as ``{"links.wifi.loss": "1 %"}``: the paths of ``subflow run --set``. A str is a
    ///     string of TOML, and is not parsed. A sweep over the path ends.
    /// **values
    ///     The same for keys at the top of the scenario, such as ``duration="5 s"``.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     A path leads nowhere. Whether a value is valid is checked by ``check`` and ``run``.
    #[pyo3(signature = (overrides=None, /, **values))]
    fn with_overrides(
        &self,
        overrides: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        overridden(self.clone(), overrides, values)
    }

    /// Return the scenario with algorithms written in Python, which it may name like the built-in ones.
    ///
    /// Each class is called without arguments: once here, to see that it works, and once for each connection. Its
    /// objects get a seed that depends on the run's (``seed``), so that equal runs have equal results.
    ///
    /// Parameters
    /// ----------
    /// schedulers : dict, optional
    ///     Classes derived from ``subflow.Scheduler``, or callables that return an instance of one, by name.
    /// congestion : dict, optional
    ///     The same with ``subflow.CongestionControl``.
    /// path_managers : dict, optional
    ///     The same with ``subflow.PathManager``.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     A name is that of a built-in algorithm, or has characters that a name in a scenario cannot have.
    /// TypeError
    ///     A value is not such a class.
    #[pyo3(signature = (*, schedulers=None, congestion=None, path_managers=None))]
    fn with_algorithms(
        &self,
        py: Python<'_>,
        schedulers: Option<&Bound<'_, PyDict>>,
        congestion: Option<&Bound<'_, PyDict>>,
        path_managers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut classes = Classes::new();
        let arguments = [("schedulers", schedulers), ("congestion", congestion), ("path_managers", path_managers)];
        for (argument, given) in arguments {
            for (name, class) in given.into_iter().flat_map(|given| given.iter()) {
                let Ok(name) = name.extract::<String>() else {
                    let message = format!("{argument}: found the key {}, expected a str", name.repr()?);
                    return Err(PyTypeError::new_err(message));
                };
                classes.insert((argument.to_owned(), name), class.unbind());
            }
        }
        self.with_classes(py, classes)
    }

    /// Check the scenario at every point of its sweep, without running it.
    ///
    /// Returns
    /// -------
    /// Check
    ///     What it would run.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     It is not valid.
    fn check(&self, py: Python<'_>) -> PyResult<Check> {
        let plan = self.plan(py, self.document.clone())?;
        let scenario = &plan.points[0].scenario;
        Ok(Check {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            hosts: scenario.hosts.len(),
            routers: scenario.routers.len(),
            links: scenario.links.len(),
            flows: scenario.flows.len(),
            points: plan.points.len(),
            runs: plan.jobs().len(),
            parameters: plan.parameters().into_iter().map(str::to_owned).collect(),
            warnings: plan.without_effect.iter().map(|problem| problem.message.clone()).collect(),
        })
    }

    /// Simulate all runs of the scenario.
    ///
    /// Other threads of Python go on meanwhile. Ctrl-C ends the runs.
    ///
    /// Parameters
    /// ----------
    /// seed : int, optional
    ///     Seed of the first run. Default: the scenario's.
    /// repeat : int, optional
    ///     Runs for each point of the sweep; run k has the seed ``seed + k``. Default: the scenario's.
    /// jobs : int, optional
    ///     How many runs to do at once, from 1 to 65535. Default: one for each core, and one with algorithms in Python,
    ///     which take turns; fewer if each has several threads. It does not change the results.
    /// threads : int, optional
    ///     On how many threads to simulate one run, from 1 to 65535; for large networks. A run that cannot be divided into
    ///     parts, such as one with algorithms in Python, is done on one thread. It does not change the results.
    /// series : bool or "all", optional
    ///     Whether to keep metrics over time: of the first run of each point and of at most 100 points, or of all runs.
    ///     All take about a thousand times the memory of the other results.
    /// progress : callable or bool, optional
    ///     Called with the runs that are done and the runs in all, at most twenty times a second, in this thread. An
    ///     exception in it ends the runs. True: a bar of tqdm, or lines on standard error if tqdm is not installed.
    ///
    /// Returns
    /// -------
    /// Results
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     The scenario is not valid; nothing was run.
    /// RunError
    ///     A run failed. If an algorithm in Python raised an exception, that is its ``__cause__``.
    #[pyo3(signature = (*, seed=None, repeat=None, jobs=None, threads=None, series=SeriesOf::First(true), progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<&Bound<'_, PyAny>>,
        repeat: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        series: SeriesOf,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Results> {
        let jobs = jobs.map(|jobs| positive("jobs", jobs)).transpose()?;
        let threads = threads.map_or(Ok(1), |threads| positive("threads", threads))?;
        let progress = shown_by(progress)?;
        let mut document = self.document.clone();
        for (key, value) in [("seed", seed), ("repeat", repeat)] {
            if let Some(value) = value {
                set(&mut document, key, key, value)?;
            }
        }
        let mut plan = self.plan(py, document)?;
        let series = series.set(&mut plan)?;
        let plan = Arc::new(plan);
        let jobs = jobs.unwrap_or_else(|| match (plan.document.custom.is_empty(), threads) {
            (false, _) => 1,
            (true, 1) => 0,
            (true, _) => (available_parallelism().map_or(1, usize::from) / threads).max(1),
        });
        let experiment = run::run(py, &plan, (jobs, threads), series, progress.as_ref())?;
        Ok(Results::new(plan, experiment))
    }

    /// Build the scenario's network on Linux, which stays until it is ended.
    ///
    /// It takes root and the command ``subflow`` with its feature ``linux``, which ``SUBFLOW_COMMAND`` or the PATH names.
    /// Programs of the scenario start; its flows are not run.
    ///
    /// Parameters
    /// ----------
    /// name : str, optional
    ///     The name of the network, of letters, digits, - and _. Default: one that no other network has.
    /// programs : bool, optional
    ///     Whether the programs of the scenario start.
    ///
    /// Returns
    /// -------
    /// Network
    ///     The network. A ``with`` block ends it.
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     The scenario is not valid; nothing was built.
    /// RunError
    ///     The network could not be built. The message says what is missing.
    #[pyo3(signature = (*, name=None, programs=true))]
    fn network<'py>(&self, py: Python<'py>, name: Option<String>, programs: bool) -> PyResult<Bound<'py, PyAny>> {
        self.plan(py, self.document.clone())?;
        let (own, folder) = self.place();
        py.import("subflow._network")?.call_method1("build", (self.text(), folder, own, name, programs))
    }

    /// Run the scenario and show it in a notebook, with sliders and choices for its values.
    ///
    /// A value that is changed there runs the scenario again, in this process; *sweep* runs it with several values. It takes
    /// anywidget: ``pip install 'subflow[explore]'``.
    ///
    /// Parameters
    /// ----------
    /// **options
    ///     Arguments of ``run``, such as ``repeat=5``.
    ///
    /// Returns
    /// -------
    /// Explorer
    ///     A widget with the last ``results``, the ``scenario`` that gave them, and ``selected``, the table ``flows`` of
    ///     the selected points.
    #[pyo3(signature = (**options))]
    fn explore<'py>(slf: &Bound<'py, Self>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let options = options.cloned().unwrap_or_else(|| PyDict::new(py));
        py.import("subflow._explore")?.call_method1("explore_scenario", (slf, options))
    }

    /// Path and value, in JSON, of each value of the text.
    fn _values(&self) -> Vec<(String, String)> {
        explore::values(&self.document)
    }

    /// The scenario's name: the name of its file without the extension.
    #[getter]
    fn name(&self) -> &str {
        &self.document.name
    }

    /// The scenario as TOML, with every override in it.
    #[getter]
    fn text(&self) -> String {
        self.document.text()
    }

    /// Argument of `with_algorithms`, name and class of each algorithm in Python.
    #[getter]
    fn _algorithms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.classes.iter().map(|((argument, name), class)| (argument, name, class)))
    }

    fn __eq__(&self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<bool> {
        let is_same_text = self.place() == other.place() && self.document.text() == other.document.text();
        if !is_same_text || !self.classes.keys().eq(other.classes.keys()) {
            return Ok(false);
        }
        let mut pairs = self.classes.values().zip(other.classes.values());
        pairs.try_fold(true, |equal, (one, other)| Ok(equal && one.bind(py).eq(other)?))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.place(), self.document.text()).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Source,))> {
        let py = slf.py();
        let restore = py.import("subflow._native")?.getattr("restore_scenario")?;
        Ok((restore, (slf.get().source(py)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<subflow.Scenario {:?} of {}>", self.document.name, self.document.path.display())
    }
}

impl Clone for Scenario {
    fn clone(&self) -> Self {
        Self { document: self.document.clone(), classes: Arc::clone(&self.classes) }
    }
}

impl From<Document> for Scenario {
    fn from(document: Document) -> Self {
        Self { document, classes: Arc::default() }
    }
}

impl Scenario {
    /// Its text, and the algorithms it may name.
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    /// What another process needs to make the same scenario.
    pub(crate) fn source(&self, py: Python<'_>) -> PyResult<Source> {
        let path = self.absolute_path();
        let algorithms = self._algorithms(py)?.unbind();
        Ok((path.into_os_string(), self.document.text(), self.document.name.clone(), algorithms))
    }

    fn absolute_path(&self) -> PathBuf {
        std::path::absolute(&self.document.path).unwrap_or_else(|_| self.document.path.clone())
    }

    /// Its name, and the folder that its paths are relative to.
    fn place(&self) -> (&str, PathBuf) {
        (&self.document.name, self.absolute_path().parent().map(Path::to_owned).unwrap_or_default())
    }

    /// The scenario with these algorithms next to those that it has.
    fn with_classes(
        &self,
        py: Python<'_>,
        more: impl IntoIterator<Item = ((String, String), Py<PyAny>)>,
    ) -> PyResult<Self> {
        let mut document = self.document.clone();
        let mut classes: Classes = self.classes.iter().map(|(key, class)| (key.clone(), class.clone_ref(py))).collect();
        for ((argument, name), class) in more {
            algorithms::add(&mut document.custom, &argument, &name, class.bind(py))?;
            classes.insert((argument, name), class);
        }
        Ok(Self { document, classes: Arc::new(classes) })
    }

    pub(crate) fn plan(&self, py: Python<'_>, document: Document) -> PyResult<Plan> {
        py.detach(|| Plan::read(document)).map_err(|problems| not_valid(py, &problems))
    }
}

fn parsed(py: Python<'_>, path: &Path, text: String, name: &str) -> PyResult<Scenario> {
    let mut document = Document::parse(path, text).map_err(|problem| refused(py, problem))?;
    name.clone_into(&mut document.name);
    Ok(document.into())
}

/// The value of the argument `name`, a number of threads.
fn positive(name: &str, found: &Bound<'_, PyAny>) -> PyResult<usize> {
    found.extract::<NonZeroU16>().map(|number| usize::from(number.get())).map_err(|_| {
        let message = format!("{name}: found {found}, expected an integer from 1 to {}", u16::MAX);
        let is_number = found.hasattr("__index__").unwrap_or(false);
        if is_number { PyValueError::new_err(message) } else { PyTypeError::new_err(message) }
    })
}

/// What to call with the progress: what was given, or a bar for True.
fn shown_by<'py>(progress: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(progress) = progress else { return Ok(None) };
    match progress.cast::<PyBool>() {
        Ok(wanted) if wanted.is_true() => Ok(Some(progress.py().import("subflow._progress")?.call_method0("Bar")?)),
        Ok(_) => Ok(None),
        Err(_) => Ok(Some(progress.clone())),
    }
}

fn overridden(
    mut scenario: Scenario,
    overrides: Option<&Bound<'_, PyDict>>,
    values: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scenario> {
    for (path, value) in overrides.into_iter().chain(values).flat_map(|values| values.iter()) {
        let Ok(path) = path.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("overrides: found the key {}, expected a str", path.repr()?)));
        };
        set(&mut scenario.document, "overrides", &path, &value)?;
    }
    Ok(scenario)
}

/// Sets the value at `path`. Errors name `argument`.
pub(crate) fn set(document: &mut Document, argument: &str, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let assignment = format!("{path}={}", value::value(value, path)?);
    document.set(argument, &assignment).map_err(|problem| refused(py, problem))
}
