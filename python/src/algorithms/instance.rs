//! The Python object behind an algorithm: one for each connection, made at its first call.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};
use subflow_policy::custom::FlowEnd;

use super::failure::end_run;

/// What kind of algorithm it is.
#[derive(Debug)]
pub(super) struct Kind {
    /// The base class in `subflow.algorithms`.
    pub(super) base: &'static str,
    /// The argument of `with_algorithms`.
    pub(super) argument: &'static str,
    /// The method that is called most.
    pub(super) method: &'static str,
}

#[derive(Debug)]
struct Class {
    kind: &'static Kind,
    name: String,
    /// Called without arguments, it returns an instance.
    make: Py<PyAny>,
}

#[derive(Debug)]
struct Object {
    this: Py<PyAny>,
    /// [`Kind::method`] of it.
    method: Py<PyAny>,
}

/// A class with, from the first call on, its instance.
#[derive(Debug)]
pub(super) struct Instance {
    class: Arc<Class>,
    seed: u64,
    object: Option<Object>,
}

impl Instance {
    /// The prototype of `make`, and a first object of it, which shows its attributes and serves no connection.
    pub(super) fn new<'py>(
        kind: &'static Kind,
        name: &str,
        make: &Bound<'py, PyAny>,
    ) -> PyResult<(Self, Bound<'py, PyAny>)> {
        if !make.is_callable() {
            let found = make.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{}: found {found} for {name:?}, expected a class derived from subflow.{}, or a callable without \
                 arguments that returns an instance",
                kind.argument, kind.base
            )));
        }
        let class = Class { kind, name: name.to_owned(), make: make.clone().unbind() };
        let object = class.make(make.py())?;
        Ok((Self { class: Arc::new(class), seed: 0, object: None }, object))
    }

    /// Sets what the objects are seeded with.
    pub(super) fn begin(&mut self, end: FlowEnd) {
        self.seed = end.seed;
    }

    /// Calls the kind's method, then `read` with what it returned. An exception in either ends the run.
    pub(super) fn call<'py, A: pyo3::call::PyCallArgs<'py>, R>(
        &mut self,
        py: Python<'py>,
        arguments: A,
        read: impl FnOnce(Bound<'py, PyAny>) -> PyResult<R>,
    ) -> R {
        let outcome = self.object(py).and_then(|object| object.method.bind(py).call1(arguments)).and_then(read);
        outcome.unwrap_or_else(|error| self.fail(error))
    }

    /// Calls another method of the object, then `read` with what it returned.
    pub(super) fn call_method<'py, A: pyo3::call::PyCallArgs<'py>, R>(
        &mut self,
        name: &Bound<'py, PyString>,
        arguments: A,
        read: impl FnOnce(Bound<'py, PyAny>) -> PyResult<R>,
    ) -> R {
        let py = name.py();
        let outcome =
            self.object(py).and_then(|object| object.this.bind(py).call_method1(name, arguments)).and_then(read);
        outcome.unwrap_or_else(|error| self.fail(error))
    }

    fn object(&mut self, py: Python<'_>) -> PyResult<&Object> {
        if self.object.is_none() {
            let this = self.class.make(py)?;
            this.call_method1(intern!(py, "seed"), (self.seed,))?;
            self.object = Some(Object::new(this, self.class.kind)?);
        }
        Ok(self.object.as_ref().expect("it was just made"))
    }

    /// Ends the run with `error`.
    pub(super) fn fail(&self, error: PyErr) -> ! {
        end_run(format!("{} {:?}", self.class.kind.argument, self.class.name), error)
    }
}

impl Object {
    fn new(this: Bound<'_, PyAny>, kind: &Kind) -> PyResult<Self> {
        let method = this.getattr(kind.method)?.unbind();
        Ok(Self { this: this.unbind(), method })
    }
}

impl Class {
    fn make<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.make.bind(py).call0()?;
        let base = py.import(intern!(py, "subflow.algorithms"))?.getattr(self.kind.base)?;
        if object.is_instance(&base)? {
            return Ok(object);
        }
        Err(PyTypeError::new_err(format!(
            "{}: {:?} made a {}, expected an instance of a class derived from subflow.{}",
            self.kind.argument,
            self.name,
            object.get_type().name()?,
            self.kind.base
        )))
    }
}

/// A clone of a prototype makes an object of its own. A clone of one in use, with which a transport asks what the
/// algorithm would do, has a deep copy of the object.
impl Clone for Instance {
    fn clone(&self) -> Self {
        let copy = |object: &Object| {
            Python::attach(|py| {
                let this = py.import("copy")?.call_method1("deepcopy", (&object.this,))?;
                Object::new(this, self.class.kind)
            })
            .unwrap_or_else(|error: PyErr| self.fail(error))
        };
        Self { class: Arc::clone(&self.class), seed: self.seed, object: self.object.as_ref().map(copy) }
    }
}

/// Whether the class of `object` has a method of its own for `name`, other than that of the base class.
pub(super) fn overrides(object: &Bound<'_, PyAny>, kind: &Kind, name: &str) -> PyResult<bool> {
    let base = object.py().import("subflow.algorithms")?.getattr(kind.base)?;
    Ok(!object.get_type().getattr(name)?.is(&base.getattr(name)?))
}

/// The type and the value of an object, for messages.
pub(super) fn shown(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(format!("{} {}", object.get_type().name()?, object.repr()?))
}

/// An integer that is not a bool.
pub(super) fn integer<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyInt>> {
    object.cast_exact::<PyInt>().ok()
}

/// The views as a tuple of Python.
pub(super) fn tuple<'py, T: pyo3::PyClass + Into<pyo3::PyClassInitializer<T>>>(
    py: Python<'py>,
    views: impl ExactSizeIterator<Item = T>,
) -> PyResult<Bound<'py, PyTuple>> {
    let views = views.map(|view| Bound::new(py, view)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, views)
}
