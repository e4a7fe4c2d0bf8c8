//! Columns of a table, with their units and descriptions.

use std::collections::BTreeMap;

use serde_json::Value;
use subflow_lab::number;
use subflow_scenario::sweep::{Parameters, measures};

use crate::{Column, Table, Values};

/// What a column is called, its unit (empty for words and plain counts), and its meaning.
pub(crate) type Heading<'a> = (&'a str, &'a str, &'a str);

/// A table in the making: each column is made of all `rows`.
pub(crate) struct Columns<'r, R> {
    rows: &'r [R],
    columns: Vec<Column>,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet.
    pub(crate) fn of(rows: &'r [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column of words.
    pub(crate) fn words(&mut self, heading: Heading<'_>, word: impl Fn(&'r R) -> Option<&'r str>) -> &mut Self {
        self.add(heading, Values::Words(self.rows.iter().map(word).collect()))
    }

    /// Adds a column of words of which there are few, in many rows.
    pub(crate) fn categories(&mut self, heading: Heading<'_>, word: impl Fn(&'r R) -> &'r str) -> &mut Self {
        self.add(heading, Values::Categories(self.rows.iter().map(|row| Some(word(row))).collect()))
    }

    /// Adds a column of counts.
    pub(crate) fn counts(&mut self, heading: Heading<'_>, count: impl Fn(&'r R) -> Option<u64>) -> &mut Self {
        let counts = self.rows.iter().map(|row| count(row).map(u64::cast_signed));
        self.add(heading, Values::Integers(counts.collect()))
    }

    /// Adds a column of measured numbers, rounded as in the other formats.
    pub(crate) fn numbers(&mut self, heading: Heading<'_>, number: impl Fn(&'r R) -> Option<f64>) -> &mut Self {
        let numbers = self.rows.iter().map(|row| number(row).map(number::rounded));
        self.add(heading, Values::Numbers(numbers.collect()))
    }

    /// Adds a column of numbers that are not rounded.
    pub(crate) fn exact(&mut self, heading: Heading<'_>, number: impl Fn(&'r R) -> Option<f64>) -> &mut Self {
        self.add(heading, Values::Numbers(self.rows.iter().map(number).collect()))
    }

    /// Adds a column of truth values.
    pub(crate) fn flags(&mut self, heading: Heading<'_>, flag: impl Fn(&'r R) -> Option<bool>) -> &mut Self {
        self.add(heading, Values::Flags(self.rows.iter().map(flag).collect()))
    }

    /// Adds a column for each swept path. Its type is that of all its values; values of several types are words.
    pub(crate) fn parameters(&mut self, of: impl Fn(&'r R) -> &'r Parameters) -> &mut Self {
        self.swept(of, false)
    }

    /// Adds a column for each swept path, and after it, for each kind of quantity among its values, one with the numbers
    /// in one unit: `links.wifi.rate` and `links.wifi.rate_mbps`.
    pub(crate) fn measured_parameters(&mut self, of: impl Fn(&'r R) -> &'r Parameters) -> &mut Self {
        self.swept(of, true)
    }

    fn swept(&mut self, of: impl Fn(&'r R) -> &'r Parameters, is_measured: bool) -> &mut Self {
        let mut paths: Vec<&str> = Vec::new();
        for path in self.rows.iter().flat_map(|row| of(row).keys()) {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
        for path in paths {
            let values: Vec<Option<&Value>> = self.rows.iter().map(|row| of(row).get(path)).collect();
            self.add((path, "", "Swept value, as the scenario names it."), of_values(&values));
            for (measure, numbers) in if is_measured { measures(&values) } else { Vec::new() } {
                let name = format!("{path}_{}", measure.suffix());
                let numbers = Values::Numbers(numbers.into_iter().collect());
                self.add((&name, measure.unit(), "The swept value as a number."), numbers);
            }
        }
        self
    }

    /// A later column with the name of an earlier one is left out: a swept seed is the seed of the run.
    fn add(&mut self, (name, unit, description): Heading<'_>, values: Values) -> &mut Self {
        if self.columns.iter().all(|column| column.name != name) {
            let (name, unit, description) = (name.to_owned(), unit.to_owned(), description.to_owned());
            self.columns.push(Column { name, unit, description, values });
        }
        self
    }

    /// The table with all columns that were added.
    pub(crate) fn table(&mut self, name: &'static str) -> Table {
        Table { name, columns: std::mem::take(&mut self.columns), metadata: BTreeMap::new() }
    }
}

fn of_values(values: &[Option<&Value>]) -> Values {
    let present = || values.iter().flatten();
    if present().all(|value| value.is_i64()) {
        return Values::Integers(values.iter().map(|value| value.and_then(Value::as_i64)).collect());
    }
    if present().all(|value| value.is_number()) {
        return Values::Numbers(values.iter().map(|value| value.and_then(Value::as_f64)).collect());
    }
    if present().all(|value| value.is_boolean()) {
        return Values::Flags(values.iter().map(|value| value.and_then(Value::as_bool)).collect());
    }
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Values::Words(values.iter().map(|value| value.map(word)).collect())
}
