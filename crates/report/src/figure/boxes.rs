//! Box plots in groups.

use subflow_lab::statistics::{BoxPlot, box_plot};

use super::Axis;

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
