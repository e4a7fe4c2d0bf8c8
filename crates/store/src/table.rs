//! A table of results: columns with names, units and typed values, and the metadata of the whole.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use subflow_lab::results::Experiment;

/// The key of a column's unit in the metadata of its field in Arrow's format.
pub const UNIT: &str = "unit";
/// The key of a column's description there.
pub const DESCRIPTION: &str = "description";
/// The key of the program's version in the metadata of a table.
pub const VERSION: &str = "subflow.version";
/// The key of the commit that the program was built from, if it is known.
pub const COMMIT: &str = "subflow.commit";
/// The key of the number of the form of results.
pub const SCHEMA: &str = "subflow.schema";
/// The key of the scenario's name.
pub const SCENARIO: &str = "subflow.scenario";
/// The key of the scenario's hash.
pub const SCENARIO_SHA256: &str = "subflow.scenario_sha256";

/// A table. All columns have the same number of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, with names of their own.
    pub columns: Vec<Column>,
    /// What made it of which scenario, by the keys of this crate ([`VERSION`] and others).
    pub metadata: BTreeMap<&'static str, String>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty for words and plain counts.
    pub unit: String,
    /// What its values mean.
    pub description: String,
    /// Its values.
    pub values: Values,
}

/// The values of a column; `None` where a row has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words.
    Words(Words),
    /// Words of which there are few in many rows: in Arrow's format, a dictionary.
    Categories(Words),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Truth values.
    Flags(Vec<Option<bool>>),
}

/// The words of a column. Equal words are stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    known: IndexSet<String, FxBuildHasher>,
    rows: Vec<Option<u32>>,
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The table with the metadata of this experiment.
    pub(crate) fn of(self, experiment: &Experiment) -> Self {
        let (made_by, scenario) = (&experiment.subflow, &experiment.scenario);
        let known = [
            (VERSION, made_by.version.clone()),
            (SCHEMA, made_by.schema.to_string()),
            (SCENARIO, scenario.name.clone()),
            (SCENARIO_SHA256, scenario.sha256.clone()),
        ];
        let commit = made_by.commit.clone().map(|commit| (COMMIT, commit));
        Self { metadata: known.into_iter().chain(commit).collect(), ..self }
    }
}

impl Values {
    /// How many there are, one for each row.
    pub fn len(&self) -> usize {
        match self {
            Self::Words(words) | Self::Categories(words) => words.rows.len(),
            Self::Integers(numbers) => numbers.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Flags(flags) => flags.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Words {
    /// The words in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.rows.iter().map(|row| row.and_then(|index| self.known.get_index(index as usize)).map(String::as_str))
    }

    /// The word of a row.
    ///
    /// # Panics
    ///
    /// There is no such row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.rows[row].and_then(|index| self.known.get_index(index as usize)).map(String::as_str)
    }

    fn index(&mut self, word: &str) -> u32 {
        let index = self.known.get_index_of(word).unwrap_or_else(|| self.known.insert_full(word.to_owned()).0);
        u32::try_from(index).expect("4 billion different words fill the memory of any machine")
    }
}

impl<W: AsRef<str>> FromIterator<Option<W>> for Words {
    fn from_iter<I: IntoIterator<Item = Option<W>>>(rows: I) -> Self {
        let mut words = Self::default();
        for row in rows {
            let index = row.map(|word| words.index(word.as_ref()));
            words.rows.push(index);
        }
        words
    }
}
