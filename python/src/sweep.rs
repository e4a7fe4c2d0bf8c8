//! Sweeps whose runs are done one by one, in any process and in any order: what `subflow/_sweep.py` is made of.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyException, PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use subflow_lab::Stop;
use subflow_lab::execute::run_job_with;
use subflow_lab::simulate::RunOptions;
use subflow_scenario::sweep::{Job, Plan};
use subflow_store::{Collected, Key, Record, Store as Folder, collect, export};

use crate::algorithms::Failures;
use crate::error::{RunError, StoreError};
use crate::results::Results;
use crate::run::{SeriesOf, in_background, simulation};
use crate::scenario::{Scenario, Source, restore_scenario, set};
use crate::table::Table;

/// All runs of a swept scenario, by number.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Study {
    plan: Arc<Plan>,
    /// The scenario with what is swept.
    scenario: Scenario,
    /// What identifies the algorithms in Python; empty if nothing has to.
    algorithms: String,
    jobs: Vec<Job>,
    series_of: SeriesOf,
    /// Whether any metrics over time are kept.
    series: bool,
    stop: Stop,
}

#[pymethods]
impl Study {
    /// The runs of `scenario` with the values `over` swept, or those of them that `design` draws.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        over: Option<&Bound<'_, PyDict>>,
        design: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        repeat: Option<&Bound<'_, PyAny>>,
        series: SeriesOf,
        algorithms: String,
    ) -> PyResult<Self> {
        let mut scenario = scenario.clone();
        let over = over.map(Bound::as_any);
        let values = [
            ("over", "sweep", over),
            ("design", "sweep.design", design),
            ("seed", "seed", seed),
            ("repeat", "repeat", repeat),
        ];
        for (argument, key, value) in values {
            if let Some(value) = value {
                set(&mut scenario.document, argument, key, value)?;
            }
        }
        Self::of(py, scenario, series, algorithms)
    }

    /// The same study in another process.
    #[staticmethod]
    fn restore(py: Python<'_>, scenario: Source, series: SeriesOf, algorithms: String) -> PyResult<Self> {
        Self::of(py, restore_scenario(py, scenario)?, series, algorithms)
    }

    /// What `restore` takes.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<(Source, SeriesOf, &str)> {
        Ok((self.scenario.source(py)?, self.series_of.clone(), &self.algorithms))
    }

    /// How many points the sweep has.
    #[getter]
    fn points(&self) -> usize {
        self.plan.points.len()
    }

    /// The swept paths.
    #[getter]
    fn parameters(&self) -> Vec<&str> {
        self.plan.parameters()
    }

    fn __len__(&self) -> usize {
        self.jobs.len()
    }

    /// Do a run. Returns its record, and the error if it failed. Ctrl-C ends it.
    fn run<'py>(&self, py: Python<'py>, run: usize) -> PyResult<(Bound<'py, PyBytes>, Option<String>)> {
        let (job, key) = self.job(run)?;
        // Of this run alone: a worker that was interrupted may do others later.
        let stop = Stop::default();
        if self.stop.is_requested() {
            stop.request();
        }
        let options = RunOptions { series: self.series, stop: Some(stop.clone()), ..RunOptions::default() };
        let failures = Arc::new(Failures::default());
        let work = {
            let (plan, failures) = (Arc::clone(&self.plan), Arc::clone(&failures));
            move || run_job_with(&plan, job, &options, simulation(&plan, &failures))
        };
        let outcome = in_background(py, &stop, &failures, work, |_| {
            if stop.is_requested() {
                failures.interrupt(py)?;
            }
            if self.stop.is_requested() {
                stop.request();
            }
            Ok(())
        })?;
        if let Some(cause) = outcome.as_ref().err().and_then(|error| failures.cause_of(error))
            && !cause.is_instance_of::<PyException>(py)
            && !self.stop.is_requested()
        {
            return Err(cause);
        }
        let (file, error) = py.detach(|| {
            let error = outcome.as_ref().err().map(ToString::to_string);
            (Record::from(outcome).encode(&self.plan, job, key), error)
        });
        Ok((PyBytes::new(py, &file), error))
    }

    /// End the runs under way. They fail, and so do later ones.
    fn stop(&self) {
        self.stop.request();
    }

    /// The results, of the records in `store` or else of `records`, by number.
    fn results(
        &self,
        py: Python<'_>,
        store: Option<&Store>,
        records: &Bound<'_, PyDict>,
        keep_going: bool,
    ) -> PyResult<Results> {
        let collected = match store {
            Some(store) => py.detach(|| collect(&self.plan, self.series, |key| store.0.load(key))).map_err(unusable)?,
            None => self.of_records(records)?,
        };
        match (&collected.experiment.failed[..], &collected.missing[..]) {
            ([failed, ..], _) if !keep_going => Err(RunError::new_err(failed.error.clone())),
            (_, [job, ..]) => Err(RunError::new_err(format!("run {} was not done", job.run))),
            _ => Ok(Results::new(Arc::clone(&self.plan), collected.experiment)),
        }
    }
}

impl Study {
    fn of(py: Python<'_>, scenario: Scenario, series_of: SeriesOf, algorithms: String) -> PyResult<Self> {
        let mut plan = scenario.plan(py, scenario.document.clone())?;
        let series = series_of.set(&mut plan)?;
        if !algorithms.is_empty() {
            // The text has only their names.
            plan.identify_by(&algorithms);
        }
        Ok(Self {
            jobs: plan.jobs(),
            plan: Arc::new(plan),
            scenario,
            algorithms,
            series_of,
            series,
            stop: Stop::default(),
        })
    }

    fn job(&self, run: usize) -> PyResult<(Job, Key)> {
        let job = self.jobs.get(run).copied();
        let job = job.ok_or_else(|| PyIndexError::new_err(format!("run {run} of {}", self.jobs.len())))?;
        Ok((job, Key::of(&self.plan, job, self.series)))
    }

    /// Records come in the order of the plan, which is that of the numbers.
    fn of_records(&self, records: &Bound<'_, PyDict>) -> PyResult<Collected> {
        let mut decoded = Vec::with_capacity(self.jobs.len());
        for run in 0..self.jobs.len() {
            let record = records.get_item(run)?.map(|file| decode(self.job(run)?.1, &file.extract::<Vec<u8>>()?));
            decoded.push(record.transpose()?);
        }
        let mut decoded = decoded.into_iter();
        let Ok(collected) = collect(&self.plan, self.series, |_| Ok::<_, Infallible>(decoded.next().flatten()));
        Ok(collected)
    }
}

/// A folder with the record of each run that was done.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Store(Folder);

#[pymethods]
impl Store {
    /// The store in this folder, which is created unless it exists.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        program_is_this_library(py)?;
        Folder::open(path).map(Self).map_err(unusable)
    }

    /// Whether it has the results of a run, with all that the study wants of it.
    fn contains(&self, study: &Study, run: usize) -> PyResult<bool> {
        let (job, _) = study.job(run)?;
        Ok(Key::all_of(&study.plan, job, study.series).into_iter().any(|key| self.0.contains(key)))
    }

    /// Write the record of a run.
    fn save(&self, py: Python<'_>, study: &Study, run: usize, file: &[u8]) -> PyResult<()> {
        let key = study.job(run)?.1;
        let record = decode(key, file)?;
        py.detach(|| self.0.save(key, &record, file)).map_err(unusable)
    }
}

/// The runs that a store has, also during a sweep: a row for each flow of each run, with the swept values.
///
/// Parameters
/// ----------
/// path : path
///     The folder of the store: that of ``sweep(store=…)``, of ``subflow run --store``, or ``DIR.runs`` of a command that
///     is not done.
///
/// Returns
/// -------
/// Table
///     Its columns are ``key``, ``version``, ``scenario``, ``seed``, one for each swept path, ``error``, ``flow``,
///     ``goodput_mbps``, ``bytes_delivered`` and ``completion_s``.
///
/// Raises
/// ------
/// StoreError
///     There is no store, another build has written it, or a file in it is damaged.
#[pyfunction]
pub(crate) fn stored_runs(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    program_is_this_library(py)?;
    let table = py.detach(|| Folder::existing(path).and_then(|store| export(&store))).map_err(unusable)?;
    Ok(table.into())
}

/// The executable of the process is that of Python, whatever build of this library it has loaded.
fn program_is_this_library(py: Python<'_>) -> PyResult<()> {
    subflow_store::program_is(py.import("subflow._native")?.getattr("__file__")?.extract::<PathBuf>()?);
    Ok(())
}

/// Reads a record that came from another process.
fn decode(key: Key, file: &[u8]) -> PyResult<Record> {
    let decoded = Record::decode(file, key);
    decoded.map_err(|reason| PyValueError::new_err(format!("the record of a run is damaged: {reason}")))
}

fn unusable(error: subflow_store::StoreError) -> PyErr {
    StoreError::new_err(error.to_string())
}
