//! What an axis measures, and how much of it is shown.

/// What an axis measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What: `goodput`, `random loss`.
    pub label: String,
    /// In which unit; empty for counts and shares.
    pub unit: String,
    /// How values are laid out.
    pub scale: Scale,
    /// What it shows of them.
    pub extent: Extent,
}

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart. What is not above zero is left out.
    Logarithmic,
}

/// What an axis shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extent {
    /// All values, and zero.
    #[default]
    WithZero,
    /// All values.
    Fitted,
    /// From a value to a larger one, whatever there is.
    Between(f64, f64),
}

impl Axis {
    /// A linear axis that shows zero.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: Scale::Linear, extent: Extent::WithZero }
    }

    /// The same, logarithmic; zero is not on it.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { scale: Scale::Logarithmic, extent: Extent::Fitted, ..self }
    }

    /// The same, of the values only: zero need not be on it.
    #[must_use]
    pub fn fitted(self) -> Self {
        Self { extent: Extent::Fitted, ..self }
    }

    /// The same, from `low` to `high`.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Self {
        Self { extent: Extent::Between(low, high), ..self }
    }

    /// Label and unit: `goodput in Mbit/s`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} in {}", self.label, self.unit) }
    }
}
