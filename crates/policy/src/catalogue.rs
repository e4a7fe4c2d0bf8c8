//! What there is to know of an algorithm, or of a mode of one, before it is chosen.

/// The description of one thing that can be chosen by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name that scenarios use and results print.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence without a full stop.
    pub summary: &'static str,
    /// Where it is defined; empty if there is nothing to cite.
    pub source: &'static str,
}

impl Description {
    /// Whether `name` is its name or an alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// A value with its name, for settings that take one of a few names.
#[derive(Clone, Copy, Debug)]
pub struct Choice<T> {
    /// Its name and meaning.
    pub description: Description,
    /// What it stands for.
    pub value: T,
}

impl<T: Copy> Choice<T> {
    /// A value without a source.
    pub const fn new(name: &'static str, value: T, summary: &'static str) -> Self {
        Self { description: Description { name, aliases: &[], summary, source: "" }, value }
    }

    /// The same with where it is defined.
    #[must_use]
    pub const fn source(self, source: &'static str) -> Self {
        Self { description: Description { source, ..self.description }, ..self }
    }

    /// The same name for another value.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Choice<U> {
        Choice { description: self.description, value: convert(self.value) }
    }

    /// The value called `name`.
    pub fn find(choices: &[Self], name: &str) -> Option<T> {
        choices.iter().find(|choice| choice.description.is_called(name)).map(|choice| choice.value)
    }
}
