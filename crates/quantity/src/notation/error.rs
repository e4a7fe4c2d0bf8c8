//! Errors of parsing a quantity.

/// Why a text is not the expected quantity. The message is one sentence without a position and without a full stop, to
/// be printed after `file:line:`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationError {
    /// It does not begin with a number.
    #[error("expected {kind} such as {example:?}, found {text:?}")]
    NotANumber {
        /// The text.
        text: String,
        /// The expected kind, with its article.
        kind: &'static str,
        /// A valid quantity of that kind.
        example: &'static str,
    },
    /// It is a bare number.
    #[error("{text:?} has no unit: {kind} is written in {units}, for example {example:?}")]
    MissingUnit {
        /// The text.
        text: String,
        /// The expected kind, with its article.
        kind: &'static str,
        /// The units that this kind accepts.
        units: String,
        /// A valid quantity of that kind.
        example: &'static str,
    },
    /// Its unit is not one of this kind's.
    #[error("unknown unit {unit:?}{}: {kind} is written in {units}", did_you_mean(meant))]
    UnknownUnit {
        /// The unit in the text.
        unit: String,
        /// The expected kind, with its article.
        kind: &'static str,
        /// The units that this kind accepts.
        units: String,
        /// The unit that was probably meant.
        meant: Option<&'static str>,
    },
    /// It is below zero.
    #[error("{kind} cannot be negative, found {text:?}")]
    Negative {
        /// The text.
        text: String,
        /// The expected kind, with its article.
        kind: &'static str,
    },
    /// It has more decimals than the quantity can hold.
    #[error("{text:?} is too fine: {kind} is counted in whole {finest}")]
    TooFine {
        /// The text.
        text: String,
        /// The expected kind, with its article.
        kind: &'static str,
        /// The unit of which every value is a whole number.
        finest: &'static str,
    },
    /// It is larger than the quantity can be.
    #[error("{text:?} is too large: {kind} is at most {largest}")]
    OutOfRange {
        /// The text.
        text: String,
        /// The expected kind, with its article.
        kind: &'static str,
        /// The largest valid value, rounded down if it is long.
        largest: &'static str,
    },
}

fn did_you_mean(meant: &Option<&'static str>) -> String {
    meant.map_or_else(String::new, |meant| format!(" (did you mean {meant:?}?)"))
}
