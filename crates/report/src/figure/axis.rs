//! The quantity, scale and range of an axis.

/// An axis: its quantity, scale and range.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity: `goodput`, `random loss`.
    pub label: String,
    /// Its unit; empty for counts and shares.
    pub unit: String,
    /// The scale.
    pub scale: Scale,
    /// The range of values that is shown.
    pub extent: Extent,
    /// Whether smaller values are better, such as those of a delay: differences have their colours by that.
    pub lower_is_better: bool,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic. Values that are not above zero are left out.
    Logarithmic,
}

/// The range of values that an axis shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extent {
    /// All values, and zero.
    #[default]
    WithZero,
    /// All values.
    Fitted,
    /// From a value to a larger one, independent of the data.
    Between(f64, f64),
}

impl Axis {
    /// A linear axis that shows zero.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        let (scale, extent) = (Scale::default(), Extent::default());
        Self { label: label.into(), unit: unit.into(), scale, extent, lower_is_better: false }
    }

    /// Makes the axis logarithmic, without zero.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { scale: Scale::Logarithmic, extent: Extent::Fitted, ..self }
    }

    /// Fits the range to the values; it need not include zero.
    #[must_use]
    pub fn fitted(self) -> Self {
        Self { extent: Extent::Fitted, ..self }
    }

    /// Sets the range from `low` to `high`.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { extent: Extent::Between(low, high), ..self }
    }

    /// Says that smaller values are better.
    #[must_use]
    pub fn lower_is_better(self, lower_is_better: bool) -> Self {
        Self { lower_is_better, ..self }
    }

    /// Label and unit: `goodput in Mbit/s`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} in {}", self.label, self.unit) }
    }
}
