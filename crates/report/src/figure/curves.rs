//! Curves over a number.

use super::Axis;

/// Curves over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What they run over: time, a swept parameter.
    pub x: Axis,
    /// What they show.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by x. One that is not finite interrupts the curve.
    pub points: Vec<CurvePoint>,
    /// How points are joined.
    pub shape: Shape,
    /// Which colour of the palette; by its place among the curves where absent.
    pub colour: Option<usize>,
    /// Whether it is drawn dashed, as a figure of others beside ours.
    pub published: bool,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Where.
    pub x: f64,
    /// How much.
    pub y: f64,
    /// The ends of its whisker, such as the 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// How the points of a curve are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// By straight lines.
    Line,
    /// By straight lines, with a mark at each.
    #[default]
    LineAndPoints,
    /// A value holds until the next one.
    Steps,
    /// Not at all.
    Points,
}

/// A line to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A value: a capacity, a bound.
    Value {
        /// What it is.
        label: String,
        /// Where.
        at: f64,
    },
    /// Where y equals x.
    Diagonal {
        /// What it is.
        label: String,
    },
}

impl Curves {
    /// No curves yet.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, curves: Vec::new(), references: Vec::new() }
    }

    /// Adds a curve.
    pub fn add(&mut self, curve: Curve) -> &mut Self {
        self.curves.push(curve);
        self
    }

    /// Adds a line to compare with.
    pub fn mark(&mut self, reference: Reference) -> &mut Self {
        self.references.push(reference);
        self
    }
}

impl Curve {
    /// A curve without points: lines with a mark at each.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), points: Vec::new(), shape: Shape::default(), colour: None, published: false }
    }

    /// The same with points (x, y), in the order of x.
    #[must_use]
    pub fn with_points(mut self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.points.extend(points.into_iter().map(|(x, y)| CurvePoint { x, y, interval: None }));
        self
    }

    /// The same with points (x, y, lower end, upper end), in the order of x.
    #[must_use]
    pub fn with_intervals(mut self, points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let point = |(x, y, low, high)| CurvePoint { x, y, interval: Some((low, high)) };
        self.points.extend(points.into_iter().map(point));
        self
    }

    /// The same, its points joined in this way.
    #[must_use]
    pub fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// The same in this colour of the palette, so that curves that belong together look so.
    #[must_use]
    pub fn colour(self, colour: usize) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// The same, dashed: a figure of others beside ours.
    #[must_use]
    pub fn published(self) -> Self {
        Self { published: true, ..self }
    }
}
