//! The values of a column.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::Cell;

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
    /// Values each of which has a type of its own.
    Cells(Vec<Cell>),
}

/// The words of a column. Equal words are stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    known: IndexSet<String, FxBuildHasher>,
    rows: Vec<Option<u32>>,
}

impl Default for Values {
    fn default() -> Self {
        Self::Cells(Vec::new())
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
            Self::Cells(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    ///
    /// # Panics
    ///
    /// There is no such row.
    pub fn cell(&self, row: usize) -> Cell {
        match self {
            Self::Words(words) | Self::Categories(words) => words.get(row).into(),
            Self::Integers(numbers) => numbers[row].map_or(Cell::Empty, Cell::Integer),
            Self::Numbers(numbers) => numbers[row].into(),
            Self::Flags(flags) => flags[row].map_or(Cell::Empty, |flag| Cell::Text(flag.to_string())),
            Self::Cells(cells) => cells[row].clone(),
        }
    }

    /// Whether some of them are words.
    pub fn are_words(&self) -> bool {
        match self {
            Self::Words(_) | Self::Categories(_) | Self::Flags(_) => true,
            Self::Integers(_) | Self::Numbers(_) => false,
            Self::Cells(cells) => cells.iter().any(|cell| matches!(cell, Cell::Text(_))),
        }
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Words(words) | Self::Categories(words) => words.rows.truncate(rows),
            Self::Integers(numbers) => numbers.truncate(rows),
            Self::Numbers(numbers) => numbers.truncate(rows),
            Self::Flags(flags) => flags.truncate(rows),
            Self::Cells(cells) => cells.truncate(rows),
        }
    }
}

impl Words {
    /// The words in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.rows.len()).map(|row| self.get(row))
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
