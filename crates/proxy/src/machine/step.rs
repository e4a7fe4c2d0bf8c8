//! Changes of the machine, as commands and settings that can be printed; and forwarding from an interface.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use serde_json::{Value, json};

use super::Family;
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

/// Forwarding of packets of a family from an interface.
///
/// The kernel keeps the setting when an interface is renamed. Therefore it is known by the index of the interface, which
/// stays: so the one that was opened is closed, whatever its name is by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forwarding {
    pub(super) family: Family,
    /// The name when the proxy came to it.
    interface: String,
    index: u32,
}

impl Forwarding {
    /// That from `interface`, or `None` if this kernel has no such setting. Of IPv6 it is that for single interfaces
    /// (Linux 6.17): `forwarding` does another thing there.
    pub(crate) fn of(family: Family, interface: &str, index: u32) -> Option<Self> {
        let forwarding = Self { family, interface: interface.to_owned(), index };
        std::fs::exists(file_of(family, interface)).is_ok_and(|exists| exists).then_some(forwarding)
    }

    /// Whether the machine forwards nothing from it without proxies. `claims` are the steps that undo the changes of
    /// others: a setting that they have opened counts as closed.
    pub(crate) fn is_closed(&self, claims: &[Step]) -> bool {
        let is_claimed = claims.iter().any(|step| matches!(step, Step::Forward(of, false) if of.is_same(self)));
        is_claimed || std::fs::read_to_string(file_of(self.family, &self.interface)).is_ok_and(|now| now.trim() == "0")
    }

    /// Whether it is the same setting, by whatever name.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.family, self.index) == (other.family, other.index)
    }

    pub(crate) fn is_from(&self, index: u32) -> bool {
        self.index == index
    }

    /// Sets it, by the name that the interface has now.
    pub(super) fn set(&self, on: bool) -> Result<()> {
        let name = self.name_now().map_err(|error| Error::system(format!("find {}", self.interface), error))?;
        Step::set(path_of(self.family, &name), value(on)).apply()
    }

    fn name_now(&self) -> std::io::Result<String> {
        let any = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        Ok(netdevice::index_to_name(any, self.index)?)
    }

    /// The value for a line of a journal.
    pub(super) fn to_json(&self, on: bool) -> Value {
        let family = if self.family == Family::V4 { 4 } else { 6 };
        json!({ "forward": self.interface, "index": self.index, "family": family, "value": value(on) })
    }

    /// Reads what [`to_json`](Self::to_json) has made.
    pub(super) fn from_json(json: &Value) -> Option<(Self, bool)> {
        let family = match json.get("family")?.as_u64()? {
            4 => Family::V4,
            6 => Family::V6,
            _ => return None,
        };
        let interface = json.get("forward")?.as_str()?.to_owned();
        let index = u32::try_from(json.get("index")?.as_u64()?).ok()?;
        Some((Self { family, interface, index }, json.get("value")? == "1"))
    }

    /// The setting as `sysctl` has it.
    pub(super) fn assignment(&self, on: bool) -> String {
        format!("net/{}={}", path_of(self.family, &self.interface), value(on))
    }
}

fn value(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

/// The setting below `/proc/sys/net`.
pub(super) fn path_of(family: Family, interface: &str) -> String {
    match family {
        Family::V4 => format!("ipv4/conf/{interface}/forwarding"),
        Family::V6 => format!("ipv6/conf/{interface}/force_forwarding"),
    }
}

fn file_of(family: Family, interface: &str) -> String {
    format!("/proc/sys/net/{}", path_of(family, interface))
}

#[cfg(test)]
mod tests {
    use super::super::Family;
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

    #[test]
    fn what_another_proxy_has_opened_counts_as_closed_whatever_its_name_was() {
        let of = |index, family| Forwarding { family, interface: format!("was{index}"), index };
        let claim = |index, family| Step::Forward(of(index, family), false);
        let named = |name: &str| Forwarding { interface: name.to_owned(), ..of(7, Family::V4) };
        assert!(named("no-such").is_closed(&[claim(1, Family::V4), claim(7, Family::V4)]));
        for other in [claim(8, Family::V4), claim(7, Family::V6), Step::Forward(of(7, Family::V4), true)] {
            assert!(!named("no-such").is_closed(std::slice::from_ref(&other)), "{other:?}");
        }
    }

    #[test]
    fn an_interface_that_is_gone_has_no_name() {
        let gone = Forwarding { family: Family::V4, interface: "gone0".to_owned(), index: 1 << 30 };
        assert!(gone.set(false).is_err_and(|error| error.is_of_missing_object()));
        let first = Forwarding { index: 1, ..gone };
        assert_eq!(first.name_now().expect("the loopback interface has the index 1"), "lo");
    }
}
