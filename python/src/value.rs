//! Values of Python as values of TOML.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyRange, PyString, PyTuple};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

/// How deep tables and lists may be nested. A dictionary that contains itself is deeper than that.
const DEEPEST: usize = 32;

/// A dictionary as the text of a TOML document with the same content, in the same order.
pub(crate) fn document(content: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut document = DocumentMut::new();
    fill(document.as_table_mut(), content, "")?;
    Ok(document.to_string())
}

/// `value`, which belongs at `path`, as TOML.
pub(crate) fn value(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    nested(value, path, 0)
}

/// Tables within tables become sections, so that lines of the text are short and errors point at one of them.
fn fill(table: &mut Table, content: &Bound<'_, PyDict>, path: &str) -> PyResult<()> {
    let depth = path.matches('.').count();
    for (key, inner) in content.iter() {
        let (key, path) = key_at(&key, path)?;
        let item = match inner.cast::<PyDict>() {
            Ok(inner) if depth < 2 => {
                let mut section = Table::new();
                fill(&mut section, inner, &path)?;
                Item::Table(section)
            }
            _ => Item::Value(nested(&inner, &path, depth)?),
        };
        table.insert(&key, item);
    }
    Ok(())
}

fn nested(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("{path}: it is more than {DEEPEST} levels deep")));
    }
    // A bool is an int, too: it comes first.
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true().into());
    }
    // Arrays and numbers of NumPy, columns of pandas. An array has `__index__`, too.
    if value.hasattr("tolist")? {
        return nested(&value.call_method0("tolist")?, path, depth + 1);
    }
    if value.hasattr("__index__")? {
        let number: i64 = value
            .extract()
            .map_err(|_| PyValueError::new_err(format!("{path}: found {value}, expected an integer of 64 bits")))?;
        return Ok(number.into());
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(value.to_str()?.into());
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() || value.cast::<PyRange>().is_ok() {
        let mut array = Array::new();
        for (index, inner) in value.try_iter()?.enumerate() {
            array.push(nested(&inner?, &format!("{path}.{index}"), depth + 1)?);
        }
        return Ok(array.into());
    }
    if let Ok(content) = value.cast::<PyDict>() {
        let mut table = InlineTable::new();
        for (key, inner) in content.iter() {
            let (key, path) = key_at(&key, path)?;
            table.insert(&key, nested(&inner, &path, depth + 1)?);
        }
        return Ok(table.into());
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{path}: found {found}, expected str, int, float, bool, list, tuple, range, dict, or an array of NumPy"
    )))
}

/// A key, and the path of its value.
fn key_at(key: &Bound<'_, PyAny>, path: &str) -> PyResult<(String, String)> {
    let Ok(text) = key.cast::<PyString>() else {
        let place = if path.is_empty() { "scenario" } else { path };
        return Err(PyTypeError::new_err(format!("{place}: found the key {}, expected a str", key.repr()?)));
    };
    let text = text.to_str()?.to_owned();
    let path = if path.is_empty() { text.clone() } else { format!("{path}.{text}") };
    Ok((text, path))
}
