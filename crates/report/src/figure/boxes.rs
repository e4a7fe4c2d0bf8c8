//! Box plots in groups.

use subflow_lab::statistics::{BoxPlot, box_plot};

use super::Axis;

/// Box plots in groups. Groups and series stand in the order in which they were added first.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    /// What was sampled.
    pub value: Axis,
    /// The box plots.
    pub boxes: Vec<BoxOf>,
}

/// One box plot.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxOf {
    /// The group that it stands in.
    pub group: String,
    /// What it is of within the group; the same name has the same colour in each group.
    pub series: String,
    /// How many samples it is of.
    pub samples: usize,
    /// Its numbers.
    pub plot: BoxPlot,
}

impl Boxes {
    /// No box plots yet.
    pub fn new(value: Axis) -> Self {
        Self { value, boxes: Vec::new() }
    }

    /// Adds the box plot of `samples`; nothing where there are none.
    pub fn add(&mut self, group: impl Into<String>, series: impl Into<String>, samples: &[f64]) -> &mut Self {
        if let Some(plot) = box_plot(samples) {
            self.boxes.push(BoxOf { group: group.into(), series: series.into(), samples: samples.len(), plot });
        }
        self
    }
}
