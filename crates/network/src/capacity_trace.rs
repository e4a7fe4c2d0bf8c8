//! Capacity traces in the mahimahi format.

/// Delivery opportunities over time, repeating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityTrace {
    milliseconds: Vec<u64>,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

impl CapacityTrace {
    /// Reads a trace: one line per opportunity to send 1500 bytes, its time in whole milliseconds, never falling. The
    /// last line's time is the trace's period.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let _ = text;
        todo!()
    }
}
