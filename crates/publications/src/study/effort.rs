//! How much is run.

use serde_json::Value;

use crate::Request;

/// How much is run. Values of a paper's file that depend on it are tables: `{ full = 30, quick = 3 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For the figures.
    Full,
    /// For a first look.
    Quick,
    /// For a first look at all items.
    Hurried,
    /// For verdicts under other choices.
    Alternatives,
    /// The same for a first look.
    QuickAlternatives,
}

impl Effort {
    /// That of the figures that `request` asks for.
    pub(crate) fn of(request: &Request) -> Self {
        match (request.quick, request.items.is_empty()) {
            (false, _) => Self::Full,
            (true, false) => Self::Quick,
            (true, true) => Self::Hurried,
        }
    }

    /// The keys of a value that depends on the effort. The first that is there counts.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Full => &["full"],
            Self::Quick => &["quick", "full"],
            Self::Hurried => &["hurried", "quick", "full"],
            Self::Alternatives => &["alternatives", "full"],
            Self::QuickAlternatives => &["quick_alternatives", "alternatives", "quick", "full"],
        }
    }

    /// That of verdicts under other choices beside figures of this one.
    pub(crate) fn alternatives(self) -> Self {
        if self == Self::Full { Self::Alternatives } else { Self::QuickAlternatives }
    }

    /// A text that may be for some efforts only: `{ hurried = "…" }`.
    pub(crate) fn text_of(self, value: &Value) -> Option<&str> {
        match value.as_object() {
            Some(table) => self.keys().iter().find_map(|key| table.get(*key)?.as_str()),
            None => value.as_str(),
        }
    }

    /// What `value` is at this effort.
    pub(crate) fn choose(self, value: &Value) -> &Value {
        match value.as_object() {
            Some(table) if table.contains_key("full") => {
                self.keys().iter().find_map(|key| table.get(*key)).expect("it has the key full")
            }
            _ => value,
        }
    }
}

/// The item of a paper's verdicts where a choice, which its text leaves open, is made otherwise.
const SENSITIVITY: &str = "sensitivity";

impl Request {
    /// Whether nothing but `sensitivity` is requested. A verdict needs the experiments that it is about, so that a
    /// paper repeats all of its published ones then.
    pub(crate) fn is_only_sensitivity(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|item| item == SENSITIVITY)
    }

    /// Whether verdicts under other choices are requested: by the item's name, or with everything if the reproduction
    /// is not a quick one.
    pub(crate) fn wants_alternatives(&self) -> bool {
        if self.items.is_empty() { !self.quick } else { self.wants(SENSITIVITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(items: &[&str], quick: bool) -> Request {
        Request { items: items.iter().map(|&item| item.to_owned()).collect(), quick, ..Request::default() }
    }

    #[test]
    fn alternatives_belong_to_whole_reproductions_and_to_their_own_item() {
        let wants = |items: &[&str], quick| request(items, quick).wants_alternatives();
        assert!(wants(&[], false) && wants(&[SENSITIVITY], true) && wants(&["ring", SENSITIVITY], false));
        assert!(!wants(&[], true) && !wants(&["ring"], false));
        assert!(request(&[SENSITIVITY], true).is_only_sensitivity() && !request(&[], true).is_only_sensitivity());
    }
}
