//! What can be wrong with a quantity.

/// Why a text is not the quantity that was expected. The message is one sentence without a place or a full stop, to be
/// printed after `file:line:`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationError {
    /// It does not begin with a number.
    #[error("expected {kind} such as {example:?}, found {text:?}")]
    NotANumber {
        /// What was written.
        text: String,
        /// What was expected, with its article.
        kind: &'static str,
        /// A valid quantity of that kind.
        example: &'static str,
    },
    /// It is a bare number.
    #[error("{text:?} has no unit: {kind} is written in {units}, for example {example:?}")]
    MissingUnit {
        /// What was written.
        text: String,
        /// What was expected, with its article.
        kind: &'static str,
        /// The units that this kind accepts.
        units: String,
        /// A valid quantity of that kind.
        example: &'static str,
    },
    /// Its unit is not one of this kind's.
    #[error("unknown unit {unit:?}{}: {kind} is written in {units}", did_you_mean(meant))]
    UnknownUnit {
        /// The unit that was written.
        unit: String,
        /// What was expected, with its article.
        kind: &'static str,
        /// The units that this kind accepts.
        units: String,
        /// The unit that was probably meant.
        meant: Option<&'static str>,
    },
    /// It is below zero.
    #[error("{kind} cannot be negative, found {text:?}")]
    Negative {
        /// What was written.
        text: String,
        /// What was expected, with its article.
        kind: &'static str,
    },
    /// It has more decimals than the quantity can hold.
    #[error("{text:?} is too fine: {kind} is counted in whole {finest}")]
    TooFine {
        /// What was written.
        text: String,
        /// What was expected, with its article.
        kind: &'static str,
        /// What every value is a whole number of.
        finest: &'static str,
    },
    /// It is larger than the quantity can be.
    #[error("{text:?} is too large: {kind} is at most {largest}")]
    OutOfRange {
        /// What was written.
        text: String,
        /// What was expected, with its article.
        kind: &'static str,
        /// The largest valid value, rounded down where it is long.
        largest: &'static str,
    },
}

fn did_you_mean(meant: &Option<&'static str>) -> String {
    meant.map_or_else(String::new, |meant| format!(" (did you mean {meant:?}?)"))
}
