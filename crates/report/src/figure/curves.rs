//! Curves over a numeric axis.

use super::Axis;

/// Curves over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The x axis: time, or a swept parameter.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Reference lines.
    pub references: Vec<Reference>,
    /// Whether single packets can be zoomed to. On a page all curves are in one chart then, however many there are.
    pub fine: bool,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points in the order of x. A point that is not finite interrupts the curve.
    pub points: Vec<CurvePoint>,
    /// How the points are connected.
    pub shape: Shape,
    /// The colour of the palette; by default, that of its position among the curves.
    pub colour: Option<usize>,
    /// Whether it is drawn dashed, as a published figure.
    pub published: bool,
    /// Whether it is drawn dashed to tell it from another curve of the same colour.
    pub dashed: bool,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Position on its axis.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// The ends of its whisker or band, such as the 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// How the points of a curve are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Straight lines.
    Line,
    /// Straight lines, with a mark at each point.
    #[default]
    LineAndPoints,
    /// Straight lines, with the intervals of the points as a band.
    LineAndBand,
    /// Steps: a value holds until the next one.
    Steps,
    /// Points without lines.
    Points,
    /// Points without lines, of a kind that is distinguished from others of the same colour.
    Marks(Mark),
}

/// A kind of point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A small dot: one of very many.
    Small,
    /// A ring.
    Ring,
    /// A square.
    Square,
    /// A small square in the colour of text, for what has no colour of its own.
    Alarm,
    /// A large one.
    LargeAlarm,
}

/// A reference line.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A value: a capacity, a bound.
    Value {
        /// The label.
        label: String,
        /// Position on its axis.
        at: f64,
    },
    /// The diagonal, y = x.
    Diagonal {
        /// The label.
        label: String,
    },
    /// A position on the x axis: the time of an event.
    Moment {
        /// The label.
        label: String,
        /// Position on the axis.
        at: f64,
    },
}

impl Reference {
    /// The label.
    pub fn label(&self) -> &str {
        match self {
            Self::Value { label, .. } | Self::Diagonal { label } | Self::Moment { label, .. } => label,
        }
    }
}

impl Curves {
    /// An empty figure of curves.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, curves: Vec::new(), references: Vec::new(), fine: false }
    }

    /// Adds a curve.
    pub fn add(&mut self, curve: Curve) -> &mut Self {
        self.curves.push(curve);
        self
    }

    /// Adds a reference line.
    pub fn mark(&mut self, reference: Reference) -> &mut Self {
        self.references.push(reference);
        self
    }
}

impl Curve {
    /// A curve without points, drawn as lines with marks.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            points: Vec::new(),
            shape: Shape::default(),
            colour: None,
            published: false,
            dashed: false,
        }
    }

    /// Adds points (x, y) in the order of x.
    #[must_use]
    pub fn with_points(mut self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.points.extend(points.into_iter().map(|(x, y)| CurvePoint { x, y, interval: None }));
        self
    }

    /// Adds points (x, y, lower end, upper end) in the order of x.
    #[must_use]
    pub fn with_intervals(mut self, points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let point = |(x, y, low, high)| CurvePoint { x, y, interval: Some((low, high)) };
        self.points.extend(points.into_iter().map(point));
        self
    }

    /// Sets how its points are connected.
    #[must_use]
    pub fn shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// Sets its colour of the palette, so that related curves can share one.
    #[must_use]
    pub fn colour(self, colour: usize) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// Draws it dashed, as a published figure.
    #[must_use]
    pub fn published(self) -> Self {
        Self { published: true, ..self }
    }
}
