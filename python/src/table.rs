//! A table of results, and how other libraries take it: Arrow's PyCapsule interface.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList};
use subflow_store::{DESCRIPTION, UNIT, to_arrow};

/// A table in Arrow's format. Columns do not change.
///
/// ``to_pandas()`` and ``to_polars()`` make a data frame of it. ``pyarrow.table(table)``, ``polars.DataFrame(table)`` and
/// queries of DuckDB take it without a copy. The metadata of each field has its unit (``unit``; absent for words and
/// plain counts) and its meaning (``description``). Iterating gives the rows, each a dictionary.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Table {
    name: &'static str,
    batch: RecordBatch,
}

impl From<subflow_lab::table::Table> for Table {
    fn from(table: subflow_lab::table::Table) -> Self {
        Self { name: table.name, batch: to_arrow(&table) }
    }
}

#[pymethods]
impl Table {
    /// Export the table as a stream of the Arrow C data interface.
    ///
    /// Parameters
    /// ----------
    /// requested_schema : PyCapsule, optional
    ///     Ignored: the table has one schema.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Export the schema of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.batch.schema())
            .map_err(|error| PyRuntimeError::new_err(format!("internal error: {error}")))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The columns' names.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The units of the columns that have one, by column.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, UNIT)
    }

    /// What the columns mean, by column.
    #[getter]
    fn descriptions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata(py, DESCRIPTION)
    }

    /// Copy the table to a dictionary: for each column the list of its values, None where there is none.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.set_item(field.name(), list(py, column)?)?;
        }
        Ok(columns)
    }

    /// Make a data frame of pandas, without a copy of the numbers.
    ///
    /// Columns of words that repeat are categorical.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     pandas is not installed, or pyarrow, through which it reads Arrow's format.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let frame = py.import("pandas")?.getattr("DataFrame")?;
        // Since pandas 3.
        if frame.hasattr("from_arrow")? {
            return frame.call_method1("from_arrow", (slf,));
        }
        py.import("pyarrow")?.call_method1("table", (slf,))?.call_method0("to_pandas")
    }

    /// Make a data frame of polars, without a copy.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     polars is not installed.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// The rows, each a dictionary of its values by column.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let rows = (0..self.batch.num_rows()).map(|_| PyDict::new(py)).collect::<Vec<_>>();
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            for (row, value) in rows.iter().zip(list(py, column)?) {
                row.set_item(field.name(), value)?;
            }
        }
        PyList::new(py, rows)?.try_iter()
    }

    /// Copy a column to a list.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        match self.batch.column_by_name(column) {
            Some(array) => list(py, array),
            None => Err(PyKeyError::new_err(format!("{column:?}; there are {}", self.columns().join(", ")))),
        }
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<subflow.Table {}: {} rows; {}>", self.name, self.batch.num_rows(), self.columns().join(", "))
    }
}

impl Table {
    fn metadata<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        let schema = self.batch.schema();
        let of = |field: &Field| Some((field.name().clone(), field.metadata().get(key)?.clone()));
        for (name, value) in schema.fields().iter().filter_map(|field| of(field)) {
            values.set_item(name, value)?;
        }
        Ok(values)
    }
}

/// The values of a column of one of the types that tables have.
fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>()),
        DataType::Boolean => PyList::new(py, column.as_boolean().iter().collect::<Vec<_>>()),
        DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter().collect::<Vec<_>>()),
        DataType::Dictionary(..) => {
            let words = column.as_dictionary::<Int32Type>();
            let values = words.values().as_string::<i32>();
            PyList::new(
                py,
                words.keys().iter().map(|key| key.map(|key| values.value(key as usize))).collect::<Vec<_>>(),
            )
        }
        other => Err(PyRuntimeError::new_err(format!("internal error: a column of {other}"))),
    }
}
