//! The results of programs that ran in hosts.

use serde::{Deserialize, Serialize};

use crate::number;

/// How a program ran in a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramResult {
    /// Its name in the scenario.
    pub name: String,
    /// The host that it ran in.
    pub host: String,
    /// Seconds from the start of the run until it started; null if what it waits for did not happen.
    #[serde(serialize_with = "number::optional")]
    pub started_s: Option<f64>,
    /// Seconds from the start of the run until it had exited; null if it was killed with the run.
    #[serde(serialize_with = "number::optional")]
    pub ended_s: Option<f64>,
    /// Its exit code; null if a signal ended it, or if it did not start.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether the run asked it to end: at its `stop`, or at the end of the run.
    pub was_asked_to_end: bool,
    /// The bytes that it wrote to standard output, of which files keep the first ones.
    pub stdout_bytes: u64,
    /// The same for standard error.
    pub stderr_bytes: u64,
    /// The TCP and MPTCP connections that it opened or accepted.
    #[serde(default)]
    pub connections: u64,
    /// Bytes that arrived at the other ends of these.
    #[serde(default)]
    pub bytes_sent: u64,
    /// Bytes that arrived at it over these.
    #[serde(default)]
    pub bytes_received: u64,
}

impl ProgramResult {
    /// How it ended, in words for people.
    pub fn outcome(&self) -> String {
        let asked = if self.was_asked_to_end { ", asked to end" } else { "" };
        match (self.started_s, self.exit_code, self.signal) {
            (None, ..) => "did not start".to_owned(),
            (_, Some(code), _) => format!("exit code {code}{asked}"),
            (_, None, Some(signal)) => format!("signal {signal}{asked}"),
            (_, None, None) => format!("no exit code{asked}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_says_who_ended_the_program() {
        let result = ProgramResult::default();
        assert_eq!(result.outcome(), "did not start");
        let exited = ProgramResult { started_s: Some(0.1), exit_code: Some(3), ..result.clone() };
        assert_eq!(exited.outcome(), "exit code 3");
        let killed = ProgramResult { started_s: Some(0.1), signal: Some(9), was_asked_to_end: true, ..result };
        assert_eq!(killed.outcome(), "signal 9, asked to end");
    }
}
