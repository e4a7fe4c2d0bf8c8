//! The data of figures: numbers with names and units, independent of how they are drawn.
//!
//! ```
//! use subflow_report::{Axis, Bars, Curve, Curves, Figure};
//!
//! // Goodput over a swept loss rate, ours with intervals, and what was published as a dashed line of the same colour.
//! let mut curves = Curves::new(Axis::new("random loss", "%"), Axis::new("goodput", "Mbit/s"));
//! let points = [(0.1, 44.0, 43.1, 44.9), (1.0, 12.0, 11.2, 12.8)];
//! curves.add(Curve::new("lia").with_intervals(points).colour(0));
//! curves.add(Curve::new("lia, published").with_points([(0.1, 45.0), (1.0, 11.5)]).colour(0).published());
//! let over_loss = Figure::curves("LIA under loss", curves).caption("Means of ten runs with 95 % intervals.");
//!
//! // Bars in groups: one group for each experiment, one bar in it for each scheduler.
//! let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
//! bars.add("experiment 1", "ll", 23.5, Some((22.9, 24.1)));
//! bars.add("experiment 1", "rr", 21.0, None);
//! let schedulers = Figure::bars("Schedulers", bars).section("Experiment 1");
//!
//! // Distributions come from samples; the receiver operating characteristic from pairs of rates.
//! let delays = Figure::distributions("Delay", Axis::new("delay", "ms"), [("ll", vec![10.0, 12.0, 11.0])]);
//! let detector = Figure::receiver_operating_characteristic("Detection", [("rmcat", vec![(0.1, 0.8), (0.2, 0.95)])]);
//! # let _ = (over_loss, schedulers, delays, detector);
//! ```

mod axis;
mod bars_and_boxes;
mod curves;
mod heat_map;

use subflow_lab::statistics::cumulative;

pub use axis::{Axis, Extent, Scale};
pub use bars_and_boxes::{Bar, Bars, BoxOf, Boxes};
pub use curves::{Curve, CurvePoint, Curves, Mark, Reference, Shape};
pub(crate) use heat_map::Shade;
pub use heat_map::{HeatCell, HeatMap, Names};

/// A figure with its title and caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// The caption: for example, what the points are means of, and what the whiskers show. May be empty.
    pub caption: String,
    /// The heading of its group of figures; may be empty.
    pub section: String,
    /// The numbers.
    pub chart: Chart,
}

/// The data of a figure by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Lines, steps or points over a number: over time, over a swept parameter, distributions.
    Curves(Curves),
    /// Bars in groups, with intervals.
    Bars(Bars),
    /// Box plots in groups.
    Boxes(Boxes),
    /// Coloured cells.
    HeatMap(HeatMap),
}

impl Figure {
    fn new(title: impl Into<String>, chart: Chart) -> Self {
        Self { title: title.into(), caption: String::new(), section: String::new(), chart }
    }

    /// A figure of curves.
    pub fn curves(title: impl Into<String>, curves: Curves) -> Self {
        Self::new(title, Chart::Curves(curves))
    }

    /// A figure of bars.
    pub fn bars(title: impl Into<String>, bars: Bars) -> Self {
        Self::new(title, Chart::Bars(bars))
    }

    /// A figure of box plots.
    pub fn boxes(title: impl Into<String>, boxes: Boxes) -> Self {
        Self::new(title, Chart::Boxes(boxes))
    }

    /// A heat map.
    pub fn heat_map(title: impl Into<String>, map: HeatMap) -> Self {
        Self::new(title, Chart::HeatMap(map))
    }

    /// The empirical distribution functions of samples, by name.
    pub fn distributions<N: Into<String>>(
        title: impl Into<String>,
        of: Axis,
        samples: impl IntoIterator<Item = (N, Vec<f64>)>,
    ) -> Self {
        let mut curves = Curves::new(of.fitted(), Axis::new("share of samples", "").between(0.0, 1.0));
        for (name, samples) in samples {
            let steps = cumulative(&samples);
            // A distribution begins at zero, at its first sample.
            let begin = steps.first().map(|&(x, _)| (x, 0.0));
            curves.add(Curve::new(name).with_points(begin.into_iter().chain(steps)).shape(Shape::Steps));
        }
        Self::curves(title, curves)
    }

    /// Receiver operating characteristics, by name: pairs of false and true positive rate (0 to 1), with the diagonal
    /// of random guessing.
    pub fn receiver_operating_characteristic<N: Into<String>>(
        title: impl Into<String>,
        detectors: impl IntoIterator<Item = (N, Vec<(f64, f64)>)>,
    ) -> Self {
        let rate = |label| Axis::new(label, "").between(0.0, 1.0);
        let mut curves = Curves::new(rate("false positive rate"), rate("true positive rate"));
        for (name, mut rates) in detectors {
            rates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            curves.add(Curve::new(name).with_points(rates).shape(Shape::LineAndPoints));
        }
        curves.mark(Reference::Diagonal { label: "guessing".to_owned() });
        Self::curves(title, curves)
    }

    /// Sets the caption.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Sets the heading.
    #[must_use]
    pub fn section(self, section: impl Into<String>) -> Self {
        Self { section: section.into(), ..self }
    }
}
