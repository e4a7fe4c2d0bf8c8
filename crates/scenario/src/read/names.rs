//! Named items with fast lookup: every flow and every link looks up names.

use std::collections::BTreeMap;
use std::ops::Deref;

/// A list of named items in the order of insertion. If several have the same name, a lookup finds the first.
pub(super) struct Named<T> {
    things: Vec<T>,
    numbers: BTreeMap<String, usize>,
}

impl<T> Named<T> {
    pub(super) fn push(&mut self, name: &str, thing: T) {
        self.numbers.entry(name.to_owned()).or_insert(self.things.len());
        self.things.push(thing);
    }

    /// The index of the item called `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut T {
        &mut self.things[number]
    }

    /// All items.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.things
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { things: Vec::new(), numbers: BTreeMap::new() }
    }
}

impl<T> Deref for Named<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.things
    }
}
