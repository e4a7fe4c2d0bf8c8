//! Keys that take one of a few words.

use super::CatalogueEntry;

/// One of the words that a key takes, with what the reader makes of it and what it means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<T> {
    /// The word.
    pub(crate) name: &'static str,
    /// What it stands for.
    pub(crate) value: T,
    summary: &'static str,
    source: &'static str,
}

impl<T: Copy> Choice<T> {
    /// A word without a source.
    pub(crate) const fn new(name: &'static str, value: T, summary: &'static str) -> Self {
        Self { name, value, summary, source: "" }
    }

    /// The same with where it is defined.
    pub(crate) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// The same word for another value.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Choice<U> {
        let Self { name, value, summary, source } = self;
        Choice { name, value: convert(value), summary, source }
    }

    /// What there is to know of it before it is chosen.
    pub(crate) fn entry(&self) -> CatalogueEntry {
        CatalogueEntry { name: self.name, aliases: &[], summary: self.summary, source: self.source }
    }
}
