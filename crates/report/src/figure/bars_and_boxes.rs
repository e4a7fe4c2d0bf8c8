//! Bars and box plots in groups.

use subflow_lab::statistics::{BoxPlot, box_plot};

use super::{Axis, Reference};

/// Bars in groups, such as a group for each experiment with a bar for each scheduler. Groups and series have the order
/// in which they were first added.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The axis of their lengths.
    pub value: Axis,
    /// The bars.
    pub bars: Vec<Bar>,
    /// Reference lines.
    pub references: Vec<Reference>,
    /// Whether values are differences, which are shown with their signs.
    pub signed: bool,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its group.
    pub group: String,
    /// Its series within the group; a series has the same colour in every group.
    pub series: String,
    /// Its length.
    pub value: f64,
    /// The ends of its whisker, such as the 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The colour of the palette, and whether it is drawn lighter; by default that of its series.
    pub look: Option<(usize, bool)>,
    /// On a page: the number by which a script finds its value, if the reader may choose what is shown.
    pub number: Option<usize>,
}

impl Bars {
    /// An empty figure of bars.
    pub fn new(value: Axis) -> Self {
        Self { value, bars: Vec::new(), references: Vec::new(), signed: false }
    }

    /// Adds a bar.
    pub fn add(
        &mut self,
        group: impl Into<String>,
        series: impl Into<String>,
        value: f64,
        interval: Option<(f64, f64)>,
    ) -> &mut Self {
        self.bars.push(Bar { group: group.into(), series: series.into(), value, interval, look: None, number: None });
        self
    }

    /// Adds a bar in a group of its own, with a colour of the palette, drawn lighter if `is_lighter`.
    pub fn add_coloured(&mut self, name: impl Into<String>, value: f64, colour: usize, is_lighter: bool) -> &mut Self {
        let (group, series, look) = (name.into(), self.value.label.clone(), Some((colour, is_lighter)));
        self.bars.push(Bar { group, series, value, interval: None, look, number: None });
        self
    }

    /// Adds a reference line.
    pub fn mark(&mut self, reference: Reference) -> &mut Self {
        self.references.push(reference);
        self
    }
}

/// Box plots in groups. Groups and series have the order in which they were first added.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    /// The axis of the samples.
    pub value: Axis,
    /// The box plots.
    pub boxes: Vec<BoxOf>,
}

/// One box plot.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxOf {
    /// Its group.
    pub group: String,
    /// Its series within the group; a series has the same colour in every group.
    pub series: String,
    /// Number of samples.
    pub samples: usize,
    /// Its numbers.
    pub plot: BoxPlot,
}

impl Boxes {
    /// An empty figure of box plots.
    pub fn new(value: Axis) -> Self {
        Self { value, boxes: Vec::new() }
    }

    /// Adds the box plot of `samples`, unless there are none.
    pub fn add(&mut self, group: impl Into<String>, series: impl Into<String>, samples: &[f64]) -> &mut Self {
        if let Some(plot) = box_plot(samples) {
            self.boxes.push(BoxOf { group: group.into(), series: series.into(), samples: samples.len(), plot });
        }
        self
    }
}
