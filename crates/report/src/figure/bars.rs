//! Bars in groups.

use super::{Axis, Reference};

/// Bars in groups, such as a group for each experiment with a bar for each scheduler. Groups and series stand in the
/// order in which they were added first.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What their length says.
    pub value: Axis,
    /// The bars.
    pub bars: Vec<Bar>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The group that it stands in.
    pub group: String,
    /// What it is of within the group; the same name has the same colour in each group.
    pub series: String,
    /// How long it is.
    pub value: f64,
    /// The ends of its whisker, such as the 95 % interval.
    pub interval: Option<(f64, f64)>,
}

impl Bars {
    /// No bars yet.
    pub fn new(value: Axis) -> Self {
        Self { value, bars: Vec::new(), references: Vec::new() }
    }

    /// Adds a bar.
    pub fn add(
        &mut self,
        group: impl Into<String>,
        series: impl Into<String>,
        value: f64,
        interval: Option<(f64, f64)>,
    ) -> &mut Self {
        self.bars.push(Bar { group: group.into(), series: series.into(), value, interval });
        self
    }

    /// Adds a line to compare with.
    pub fn mark(&mut self, reference: Reference) -> &mut Self {
        self.references.push(reference);
        self
    }
}
