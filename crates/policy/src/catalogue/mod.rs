//! The catalogues: what there is to know of an algorithm before it is chosen, declared in the algorithm's own file.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Description`]: name, aliases, summary, source; [`Choice`]: a value with a description |
//! | `attribute.rs` | [`Attribute`]: the declaration of an option, with how it is read and set |
//! | `option.rs` | [`Setting`]: an option with its value; [`Domain`]: the values that one takes |
//! | `list.rs` | the macros that make an enum of all algorithms of one kind |
//!
//! An algorithm implements [`Catalogued`]. The enum of its kind, such as [`Algorithm`](crate::congestion::Algorithm),
//! lists the types. Scenarios, their reference and schema, `subflow list` and error messages are made of this.

mod attribute;
mod list;
mod option;

pub use attribute::{Attribute, Configurable};
#[doc(hidden)]
pub use list::{catalogue, dispatch};
pub use option::{Conflict, Domain, Refused, Setting, Value};

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

impl<T> Choice<T> {
    /// The descriptions of `choices`.
    pub fn descriptions(choices: &[Self]) -> Vec<Description> {
        choices.iter().map(|choice| choice.description).collect()
    }
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

    /// The name of `value`.
    ///
    /// # Panics
    ///
    /// If it is not among the choices.
    pub fn name_of(choices: &[Self], value: T) -> &'static str
    where
        T: PartialEq,
    {
        let choice = choices.iter().find(|choice| choice.value == value);
        choice.expect("every value is among the choices").description.name
    }
}

/// An algorithm of a catalogue. Its default is its prototype, with every option at its default.
pub trait Catalogued: Default + 'static {
    /// Its name, what it does, and where it is defined.
    const DESCRIPTION: Description;

    /// Its options, which scenarios give beside its name.
    const OPTIONS: &'static [Attribute<Self>] = &[];

    /// Options that are switches of a stack, as kernels have them: scenarios give them in `[tcp]`, for all algorithms
    /// that have them.
    const SWITCHES: &'static [Attribute<Self>] = &[];

    /// The option whose value does not go with those of the others, if there is one.
    fn conflict(&self) -> Option<Conflict> {
        None
    }
}

/// All algorithms of one kind as one type. A value of it is a prototype: whoever uses the algorithm takes a clone.
pub trait Catalogue: Clone + Sized {
    /// The built-in ones, in listing order.
    const ALL: &'static [Description];

    /// The built-in one with this name or alias, with every option at its default.
    fn from_name(name: &str) -> Option<Self>;

    /// All built-in ones, in the order of [`ALL`](Self::ALL), with every option at its default.
    fn prototypes() -> Vec<Self>;

    /// Its name in [`ALL`](Self::ALL), or that of a custom one.
    fn name(&self) -> &str;

    /// Its description; `None` for a custom one.
    fn description(&self) -> Option<&'static Description> {
        Self::ALL.iter().find(|description| description.name == self.name())
    }

    /// Its options; `None` for a custom one, which takes its options where it is made.
    fn configurable(&self) -> Option<&dyn Configurable>;

    /// The same, to set them.
    fn configurable_mut(&mut self) -> Option<&mut dyn Configurable>;

    /// Its options with their values.
    fn options(&self) -> Vec<Setting> {
        self.configurable().map(Configurable::options).unwrap_or_default()
    }

    /// Its switches with their values.
    fn switches(&self) -> Vec<Setting> {
        self.configurable().map(Configurable::switches).unwrap_or_default()
    }

    /// Whether every option, except for switches, has its default.
    fn has_default_options(&self) -> bool {
        let values =
            |algorithm: &Self| algorithm.options().into_iter().map(|setting| setting.value).collect::<Vec<_>>();
        Self::from_name(self.name()).is_none_or(|usual| values(self) == values(&usual))
    }

    /// This prototype with the option or switch `key` at `value`.
    ///
    /// # Errors
    ///
    /// If it has no such option, or the option takes no such value.
    fn with(mut self, key: &str, value: Value) -> Result<Self, Refused> {
        self.configurable_mut().ok_or(Refused::Unknown)?.set(key, value)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bottleneck::BottleneckDetection;
    use crate::congestion::Algorithm;
    use crate::path_manager::PathManagement;
    use crate::queue::Discipline;
    use crate::scheduler::Scheduling;

    fn check<A: Catalogue>() {
        let mut names: Vec<_> = A::ALL.iter().flat_map(|entry| entry.aliases.iter().chain([&entry.name])).collect();
        for (description, prototype) in A::ALL.iter().zip(A::prototypes()) {
            assert_eq!(prototype.name(), description.name);
            for name in description.aliases.iter().chain([&description.name]) {
                assert_eq!(A::from_name(name).as_ref().map(A::name), Some(description.name));
            }
            assert!(
                prototype.has_default_options() && prototype.clone().with("no-such-option", Value::Integer(1)).is_err()
            );
            let settings = prototype.options().into_iter().chain(prototype.switches());
            for Setting { key, value, .. } in settings.filter(|setting| !setting.is_required) {
                let same = prototype.clone().with(key, value).expect("it takes its default");
                assert!(same.has_default_options(), "{} {key}", description.name);
            }
        }
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(A::from_name("no-such-algorithm").is_none());
    }

    #[test]
    fn every_name_is_unique_and_makes_the_algorithm_that_it_describes() {
        check::<Algorithm>();
        check::<Scheduling>();
        check::<PathManagement>();
        check::<BottleneckDetection>();
        check::<Discipline>();
    }

    #[test]
    fn options_are_set_and_refused_by_type_and_range() {
        let vegas = Algorithm::from_name("wvegas").expect("a congestion control");
        let changed = vegas.clone().with("alpha", Value::Integer(20)).expect("it takes it");
        assert!(!changed.has_default_options());
        assert_eq!(changed.options()[0].value, Value::Integer(20));
        for value in [Value::Integer(0), Value::Integer(1001), Value::Boolean(true)] {
            assert_eq!(vegas.clone().with("alpha", value.clone()).err(), Some(Refused::Value), "{value}");
        }
        assert_eq!(vegas.with("beta", Value::Integer(1)).err(), Some(Refused::Unknown));
    }
}
