//! Input that cannot be used.

/// What cannot be read or compared, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// What was found and expected.
    pub message: String,
    /// The way out.
    pub help: String,
}
