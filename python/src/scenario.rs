//! Scenarios.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

use crate::algorithms;
use crate::error::{not_valid, refused};
use crate::results::Results;
use crate::{run, value};

/// A scenario: hosts, links, flows, and what to vary.
///
/// Create one with `Scenario.read`, `Scenario.from_toml` or `Scenario.from_dict`. A scenario does not change:
/// `with_overrides` returns another one.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Scenario {
    pub(crate) document: Document,
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
        overridden(document, overrides, values)
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
        overridden(self.document.clone(), overrides, values)
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
        let mut document = self.document.clone();
        algorithms::add(py, &mut document.custom, schedulers, congestion, path_managers)?;
        Ok(Self { document })
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
    ///     which take turns. It does not change the results.
    /// series : bool, optional
    ///     Whether to keep metrics over time, of the first run of each point and of at most 100 points.
    /// progress : callable, optional
    ///     Called with the runs that are done and the runs in all, at most twenty times a second, in this thread. An
    ///     exception in it ends the runs.
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
    #[pyo3(signature = (*, seed=None, repeat=None, jobs=None, series=true, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<&Bound<'_, PyAny>>,
        repeat: Option<&Bound<'_, PyAny>>,
        jobs: Option<NonZeroU16>,
        series: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Results> {
        let mut document = self.document.clone();
        for (key, value) in [("seed", seed), ("repeat", repeat)] {
            if let Some(value) = value {
                set(&mut document, key, key, value)?;
            }
        }
        let plan = Arc::new(self.plan(py, document)?);
        let default = if plan.document.custom.is_empty() { 0 } else { 1 };
        let jobs = jobs.map_or(default, |jobs| usize::from(jobs.get()));
        let experiment = run::run(py, &plan, jobs, series, progress)?;
        Ok(Results::new(plan, experiment))
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

    fn __repr__(&self) -> String {
        format!("<subflow.Scenario {:?} of {}>", self.document.name, self.document.path.display())
    }
}

impl Scenario {
    /// Its text, and the algorithms it may name.
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    pub(crate) fn plan(&self, py: Python<'_>, document: Document) -> PyResult<Plan> {
        py.detach(|| Plan::read(document)).map_err(|problems| not_valid(py, &problems))
    }
}

fn parsed(py: Python<'_>, path: &Path, text: String, name: &str) -> PyResult<Scenario> {
    let mut document = Document::parse(path, text).map_err(|problem| refused(py, problem))?;
    name.clone_into(&mut document.name);
    Ok(Scenario { document })
}

fn overridden(
    mut document: Document,
    overrides: Option<&Bound<'_, PyDict>>,
    values: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scenario> {
    for (path, value) in overrides.into_iter().chain(values).flat_map(|values| values.iter()) {
        let Ok(path) = path.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("overrides: found the key {}, expected a str", path.repr()?)));
        };
        set(&mut document, "overrides", &path, &value)?;
    }
    Ok(Scenario { document })
}

/// Sets the value at `path`. Errors name `argument`.
pub(crate) fn set(document: &mut Document, argument: &str, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let assignment = format!("{path}={}", value::value(value, path)?);
    document.set(argument, &assignment).map_err(|problem| refused(py, problem))
}
