//! What the application or the host does, as a script states it.

use core::ops::RangeInclusive;
use std::net::IpAddr;

use subflow_scenario::file::{Place, Problem};

use crate::expression::{Expression, Variables};
use crate::script::Script;
use crate::value::Value;

/// A word that begins what the application does.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    pub(crate) arguments: RangeInclusive<usize>,
    pub(crate) usage: &'static str,
}

const fn verb(name: &'static str, arguments: RangeInclusive<usize>, usage: &'static str) -> Verb {
    Verb { name, arguments, usage }
}

/// The verb that takes packets of the host which other steps have to expect.
pub(crate) const HANDSHAKE: &str = "handshake";

/// All verbs.
pub(crate) const VERBS: &[Verb] = &[
    verb("listen", 0..=0, "listen: accept connections on the port of the first path"),
    verb("connect", 0..=0, "connect: open a connection over the first path"),
    verb(HANDSHAKE, 0..=0, "handshake: QUIC; the peer completes the handshake, or begins one after listen"),
    verb("write", 1..=1, "write BYTES"),
    verb("stream", 1..=3, "stream BYTES [STREAM] [finish]: QUIC; writes on another stream, a new one if none is named"),
    verb("message", 2..=4, "message BYTES STREAM [unordered] [once]: SCTP; once: it is not retransmitted"),
    verb("finish", 0..=0, "finish: end the stream after what was written; SCTP: SHUTDOWN"),
    verb("abort", 0..=0, "abort: end the connection at once"),
    verb("reading", 1..=1, "reading on or reading off: whether the application takes what arrives"),
    verb("read", 1..=1, "read BYTES: the application reads so many bytes, and from now on only when it is told to"),
    verb("stop_listening", 0..=0, "stop_listening: accept no further connections"),
    verb("open", 1..=2, "open PATH [backup]: open a subflow over a path"),
    verb("backup", 2..=2, "backup SUBFLOW on or off: subflows count from 0"),
    verb("add_address", 1..=1, "add_address ADDRESS: the host gains an address"),
    verb("remove_address", 1..=1, "remove_address ADDRESS: the host loses an address"),
    verb("event", 1..=2, "event NAME: it was reported by now; event closed HOW"),
    verb("no_event", 1..=1, "no_event NAME: it was not reported since the last event asked for"),
    verb("assert", 2..=2, "assert NAME VALUE"),
];

/// The largest amount that a script writes at once.
pub(crate) const MOST_WRITTEN: u64 = 1 << 40;

/// A verb with its arguments.
pub(crate) struct Act<'a> {
    pub(crate) script: &'a Script,
    pub(crate) place: &'a Place,
    pub(crate) arguments: &'a [Expression],
    pub(crate) variables: &'a Variables,
}

impl Act<'_> {
    /// The argument at `index`, a number up to `most`.
    pub(crate) fn amount(&self, index: usize, most: u64) -> Result<u64, Problem> {
        match self.arguments[index].evaluate(self.variables)? {
            Value::Number(number) if number <= most => Ok(number),
            other => {
                let problem = Problem::at(&self.arguments[index].place, format!("{other} cannot be used here"));
                Err(problem.help(format!("a number up to {most}")))
            }
        }
    }

    /// The argument at `index`, a word.
    pub(crate) fn word(&self, index: usize) -> Result<String, Problem> {
        match self.arguments[index].evaluate(self.variables)? {
            Value::Word(word) => Ok(word),
            other => Err(Problem::at(&self.arguments[index].place, format!("{other} is no name")).help("use a word")),
        }
    }

    /// The argument at `index`, `on` or `off`.
    pub(crate) fn switch(&self, index: usize) -> Result<bool, Problem> {
        match self.word(index)?.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(Problem::at(&self.arguments[index].place, format!("{other:?} is neither on nor off"))),
        }
    }

    /// The first argument, an address.
    pub(crate) fn address(&self) -> Result<IpAddr, Problem> {
        match self.arguments[0].evaluate(self.variables)? {
            Value::Address(address) => Ok(address),
            other => Err(Problem::at(&self.arguments[0].place, format!("{other} is no address"))),
        }
    }

    /// Compares what an assertion expects with what is `seen` at the time `at`.
    pub(crate) fn compare(&self, seen: &Value, at: &str) -> Result<(), Problem> {
        let name = self.word(0)?;
        let expected = self.arguments[1].evaluate(self.variables)?;
        let holds = match (&expected, seen) {
            (Value::Range(first, last), Value::Number(number)) => (first..=last).contains(&number),
            _ => expected == *seen,
        };
        if holds {
            return Ok(());
        }
        let problem = Problem::at(&self.arguments[1].place, format!("{name} is {seen}, not {expected}"));
        Err(problem.label(format!("{expected} expected, {seen} seen")).help(format!("at {at}")))
    }
}
