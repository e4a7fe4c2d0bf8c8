//! Columns of a table, with their units and descriptions.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{Field, Metadata, Schema};
use serde_json::Value;
use subflow_lab::number;
use subflow_lab::results::Latency;
use subflow_scenario::sweep::{Parameters, measures};

use crate::{DESCRIPTION, Table, UNIT};

/// What a column is called, its unit (empty for words and plain counts), and its meaning.
pub(crate) type Heading<'a> = (&'a str, &'a str, &'a str);

/// A table in the making: each column is made of all `rows`.
pub(crate) struct Columns<'r, R> {
    rows: &'r [R],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet.
    pub(crate) fn of(rows: &'r [R]) -> Self {
        Self { rows, fields: Vec::new(), arrays: Vec::new() }
    }

    /// Adds a column of words.
    pub(crate) fn words(&mut self, heading: Heading<'_>, word: impl Fn(&'r R) -> Option<&'r str>) -> &mut Self {
        let array: StringArray = self.rows.iter().map(word).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds a column of words of which there are few, in many rows.
    pub(crate) fn categories(&mut self, heading: Heading<'_>, word: impl Fn(&'r R) -> &'r str) -> &mut Self {
        let array: DictionaryArray<Int32Type> = self.rows.iter().map(word).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds a column of counts.
    pub(crate) fn counts(&mut self, heading: Heading<'_>, count: impl Fn(&'r R) -> Option<u64>) -> &mut Self {
        let array: Int64Array = self.rows.iter().map(|row| count(row).map(u64::cast_signed)).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds a column of measured numbers, rounded as in the other formats.
    pub(crate) fn numbers(&mut self, heading: Heading<'_>, number: impl Fn(&'r R) -> Option<f64>) -> &mut Self {
        let array: Float64Array = self.rows.iter().map(|row| number(row).map(number::rounded)).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds columns for mean and percentiles of times: `NAME_mean_ms`, `NAME_p50_ms`, `NAME_p95_ms`, `NAME_p99_ms`.
    pub(crate) fn latencies(
        &mut self,
        name: &str,
        description: &str,
        latency: impl Fn(&'r R) -> Option<Latency>,
    ) -> &mut Self {
        let mut add = |part: &str, description: &str, value: fn(Latency) -> f64| {
            self.numbers((&format!("{name}_{part}_ms"), "ms", description), |row| latency(row).map(value));
        };
        add("mean", &format!("With series: mean {description}"), |latency| latency.mean_ms);
        add("p50", "Median of it.", |latency| latency.p50_ms);
        add("p95", "95th percentile of it.", |latency| latency.p95_ms);
        add("p99", "99th percentile of it.", |latency| latency.p99_ms);
        self
    }

    /// Adds a column of numbers that are not rounded.
    pub(crate) fn exact(&mut self, heading: Heading<'_>, number: impl Fn(&'r R) -> Option<f64>) -> &mut Self {
        let array: Float64Array = self.rows.iter().map(number).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds a column of bytes.
    pub(crate) fn bytes<'b>(&mut self, heading: Heading<'_>, bytes: impl Fn(&'r R) -> Option<&'b [u8]>) -> &mut Self {
        let array: BinaryArray = self.rows.iter().map(bytes).collect();
        self.add(heading, Arc::new(array))
    }

    /// Adds a column of truth values.
    pub(crate) fn flags(&mut self, heading: Heading<'_>, flag: impl Fn(&'r R) -> Option<bool>) -> &mut Self {
        let array: BooleanArray = self.rows.iter().map(flag).collect();
        self.add(heading, Arc::new(array))
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
                let array: Float64Array = numbers.into_iter().collect();
                self.add((&name, measure.unit(), "The swept value as a number."), Arc::new(array));
            }
        }
        self
    }

    /// A later column with the name of an earlier one is left out: a swept seed is the seed of the run.
    fn add(&mut self, (name, unit, description): Heading<'_>, array: ArrayRef) -> &mut Self {
        if self.fields.iter().any(|field| field.name() == name) {
            return self;
        }
        let unit = (!unit.is_empty()).then(|| (UNIT.to_owned(), unit.to_owned()));
        let metadata = unit.into_iter().chain([(DESCRIPTION.to_owned(), description.to_owned())]);
        self.fields
            .push(Field::new(name, array.data_type().clone(), true).with_metadata(metadata.collect::<Metadata>()));
        self.arrays.push(array);
        self
    }

    /// The table with all columns that were added.
    pub(crate) fn table(&mut self, name: &'static str) -> Table {
        let schema = Arc::new(Schema::new(std::mem::take(&mut self.fields)));
        let batch = RecordBatch::try_new(schema, std::mem::take(&mut self.arrays));
        Table { name, batch: batch.expect("every column is made of all rows") }
    }
}

fn of_values(values: &[Option<&Value>]) -> ArrayRef {
    let present = || values.iter().flatten();
    if present().all(|value| value.is_i64()) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>());
    }
    if present().all(|value| value.is_number()) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>());
    }
    if present().all(|value| value.is_boolean()) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_bool)).collect::<BooleanArray>());
    }
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Arc::new(values.iter().map(|value| value.map(word)).collect::<StringArray>())
}
