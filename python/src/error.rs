//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use subflow_lab::RunError as LabRunError;
use subflow_scenario::file::{Origin, Place, Problem as FileProblem, Problems};

create_exception!(
    subflow,
    ScenarioError,
    PyValueError,
    "A scenario is not valid. Nothing was run.

Attributes
----------
problems : list of Problem
    The first problems, at most 20, in the order of the file.
count : int
    The number of all problems."
);
create_exception!(
    subflow,
    RunError,
    PyRuntimeError,
    "A run of a valid scenario failed. The message names the run and its seed."
);
create_exception!(
    subflow,
    StoreError,
    PyOSError,
    "A store cannot be read or written. The message names the file or folder and the remedy. Runs that it has stay."
);

/// One thing wrong with a scenario.
///
/// Attributes
/// ----------
/// message : str
///     What was found and what was expected.
/// file : str or None
///     The file as it was named, ``<toml>`` or ``<dict>`` for other scenarios, the name of the argument for values
///     of arguments.
/// line, column : int or None
///     The place in the file, counted from 1. For a dictionary: in ``Scenario.text``. None for an argument.
/// label : str
///     What to write at this place.
/// help : str
///     How to correct it. May be empty.
#[pyclass(module = "subflow", frozen, get_all)]
pub(crate) struct Problem {
    message: String,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    label: String,
    help: String,
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> String {
        let place = match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
            // The message about an argument begins with its name.
            (Some(file), ..) if !self.message.starts_with(&format!("{file}:")) => format!("{file}: "),
            _ => String::new(),
        };
        let label = match self.label.as_str() {
            "" | "here" => String::new(),
            label => format!(" ({label})"),
        };
        let help = if self.help.is_empty() { String::new() } else { format!("\n  help: {}", self.help) };
        format!("{place}{}{label}{help}", self.message)
    }

    fn __repr__(&self) -> String {
        format!("<subflow.Problem {}>", self.__str__())
    }
}

impl From<&FileProblem> for Problem {
    fn from(problem: &FileProblem) -> Self {
        // An assignment was made of an argument: its lines are not the user's.
        let in_file = |place: &&Place| place.source.origin != Origin::Assignment;
        let position = problem.place.as_ref().filter(in_file).map(|place| place.line_and_column());
        Self {
            message: problem.message.clone(),
            file: problem.place.as_ref().map(|place| place.source.name.clone()),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            label: problem.label.clone(),
            help: problem.help.clone(),
        }
    }
}

/// The exception for a scenario with these problems.
pub(crate) fn not_valid(py: Python<'_>, problems: &Problems) -> PyErr {
    let list: Vec<Problem> = problems.first.iter().map(Problem::from).collect();
    let mut message: Vec<String> = list.iter().map(Problem::__str__).collect();
    if problems.count > list.len() {
        message.push(format!("and {} more", problems.count - list.len()));
    }
    let error = ScenarioError::new_err(message.join("\n"));
    let instance = error.value(py);
    let filled = instance.setattr("count", problems.count).and_then(|()| instance.setattr("problems", list));
    filled.err().unwrap_or(error)
}

/// The exception for a scenario with this problem.
pub(crate) fn refused(py: Python<'_>, problem: FileProblem) -> PyErr {
    not_valid(py, &Problems::from(problem))
}

/// The exception for a run that failed, because of `cause` if an algorithm raised it. What is to end more than the run,
/// such as `KeyboardInterrupt` and `SystemExit`, is that cause itself.
pub(crate) fn failed(py: Python<'_>, error: &LabRunError, cause: Option<PyErr>) -> PyErr {
    let cause = match cause {
        Some(cause) if !cause.is_instance_of::<PyException>(py) => return cause,
        cause => cause,
    };
    let failed = RunError::new_err(error.to_string());
    failed.set_cause(py, cause);
    failed
}
