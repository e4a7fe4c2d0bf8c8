//! Changes of the machine, as commands and settings that can be printed.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::forwarding::Forwarding;
use crate::error::{CommandFailure, Error, Result};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A command with its standard input.
    Run { words: Vec<String>, input: String },
    /// A setting below `/proc/sys/net`.
    Set { path: String, value: String },
    /// Forwarding from an interface, on or off.
    Forward(Forwarding, bool),
}

impl Step {
    /// The command that consists of these words.
    pub(crate) fn run(line: &str) -> Self {
        Self::Run { words: line.split(' ').map(str::to_owned).collect(), input: String::new() }
    }

    pub(crate) fn set(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Set { path: path.into(), value: value.into() }
    }

    /// Makes the change.
    pub(crate) fn apply(&self) -> Result<()> {
        match self {
            Self::Set { path, value } => {
                let file = format!("/proc/sys/net/{path}");
                std::fs::write(&file, value).map_err(|error| match error.kind() {
                    ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::machine(
                        format!("cannot set {file}: {error}"),
                        "it takes root and a /proc/sys that can be written: in a container, --privileged",
                    ),
                    _ => Error::system(format!("set {file}"), error),
                })
            }
            Self::Forward(of, on) => of.set(*on),
            Self::Run { words, input } => run(words, input).map(drop),
        }
    }

    /// Makes a change that removes something, or sets something back. What is gone already is as it should be.
    pub(crate) fn undo(&self) -> Result<()> {
        self.apply().or_else(|error| if error.is_of_missing_object() { Ok(()) } else { Err(error) })
    }

    /// The value for the journal.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Run { words, input } => json!({ "run": words, "input": input }),
            Self::Set { path, value } => json!({ "set": path, "value": value }),
            Self::Forward(of, on) => of.to_json(*on),
        }
    }

    /// Reads what [`to_json`](Self::to_json) has made.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        if let Some(path) = text("set") {
            return Some(Self::Set { path, value: text("value")? });
        }
        if let Some((of, on)) = Forwarding::from_json(value) {
            return Some(Self::Forward(of, on));
        }
        let words = value.get("run")?.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned()));
        Some(Self::Run { words: words.collect::<Option<_>>()?, input: text("input")? })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { path, value } => write!(formatter, "sysctl -w net/{path}={value}"),
            Self::Forward(of, on) => write!(formatter, "sysctl -w {}", of.assignment(*on)),
            Self::Run { words, input } if input.is_empty() => formatter.write_str(&words.join(" ")),
            Self::Run { words, input } => write!(formatter, "{} <<END\n{input}END", words.join(" ")),
        }
    }
}

/// Runs a command and returns what it prints.
pub(crate) fn run(words: &[String], input: &str) -> Result<String> {
    let failed = |said: String, cause| Error::Command { line: words.join(" "), said, cause };
    let mut command = Command::new(&words[0]);
    command.env("LC_ALL", "C").args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let package = if words[0] == "ip" { "iproute2" } else { "nftables" };
            let help = format!("install it: apt install {package}");
            Error::machine(format!("there is no command {}", words[0]), help)
        }
        _ => failed(error.to_string(), CommandFailure::Other),
    })?;
    // A command that does not read its input says why on standard error.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().map_err(|error| failed(error.to_string(), CommandFailure::Other))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let cause = CommandFailure::of_words(&said);
            Err(failed(said, cause))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::Family;
    use super::*;

    #[test]
    fn steps_come_back_from_a_journal() {
        let with_input = Step::Run { words: vec!["nft".into(), "-f".into(), "-".into()], input: "a \"b\"\n".into() };
        let forwarding = Forwarding::of(Family::V4, "lo", 1).expect("each kernel has it");
        let [on, off] = [true, false].map(|on| Step::Forward(forwarding.clone(), on));
        let rule = Step::run("ip rule add from 10.0.0.1 lookup 7");
        for step in [rule, Step::set("ipv4/ip_forward", "0"), with_input, on, off] {
            assert_eq!(Step::from_json(&step.to_json()), Some(step));
        }
        for damaged in [json!({}), json!({ "run": [1] }), json!({ "set": "x" }), json!(null)] {
            assert_eq!(Step::from_json(&damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_missing_command_and_one_that_fails_are_different_errors() {
        let missing = Step::run("subflow-has-no-such-command x").apply().expect_err("there is none");
        assert!(matches!(missing, Error::Machine { .. }), "{missing}");
        let failed = Step::run("false").apply().expect_err("it fails");
        assert!(matches!(&failed, Error::Command { line, .. } if line == "false"), "{failed}");
    }

    #[test]
    fn to_undo_what_is_gone_is_no_failure_and_all_others_are() {
        let says = |what: &str| Step::Run {
            words: ["sh", "-c", &format!("echo '{what}' >&2; exit 2")].map(str::to_owned).to_vec(),
            input: String::new(),
        };
        let gone = [
            Step::set("ipv4/conf/no-such-interface/forwarding", "0"),
            says("RTNETLINK answers: No such file or directory"),
            says("Error: ipv4: FIB table does not exist."),
            says("iptables: Bad rule (does a matching rule exist in that chain?)."),
        ];
        for step in gone {
            assert!(step.apply().is_err() && step.undo().is_ok(), "{step}");
        }
        let too_many = says("Too many open files");
        for step in [Step::run("subflow-has-no-such-command x"), too_many, says("Operation not permitted")] {
            assert!(step.undo().is_err(), "{step}");
        }
    }
}
