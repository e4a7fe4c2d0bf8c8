//! What the application and the host do.

use core::ops::RangeInclusive;
use std::net::IpAddr;

use subflow_scenario::file::{Place, Problem, did_you_mean, list};
use subflow_transport::sctp::config::{MessageOptions, Reliability};
use subflow_transport::{ConnectError, Endpoint, EndpointId};

use crate::expression::{Expression, Variables};
use crate::names;
use crate::script::{Path, Protocol, Script};
use crate::value::Value;
use crate::world::World;

/// A word that begins what the application does.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    pub(crate) arguments: RangeInclusive<usize>,
    pub(crate) usage: &'static str,
}

const fn verb(name: &'static str, arguments: RangeInclusive<usize>, usage: &'static str) -> Verb {
    Verb { name, arguments, usage }
}

/// All verbs.
pub(crate) const VERBS: &[Verb] = &[
    verb("listen", 0..=0, "listen: accept connections on the port of the first path"),
    verb("connect", 0..=0, "connect: open a connection over the first path"),
    verb("write", 1..=1, "write BYTES"),
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
    /// Does it.
    pub(crate) fn perform(&self, verb: &str, world: &mut World) -> Result<(), Problem> {
        match verb {
            "listen" => world.host.listen(self.script.paths[0].local.port(), self.script.settings.listener()),
            "connect" => {
                let id = self.connect(world).map_err(|error| Problem::at(self.place, error.to_string()))?;
                world.follow(id);
            }
            "write" => {
                let bytes = self.amount(0, MOST_WRITTEN)?;
                self.endpoint(world)?.write(bytes);
            }
            "message" => self.message(world)?,
            "finish" => self.endpoint(world)?.finish(),
            "abort" => self.endpoint(world)?.abort(),
            "reading" => {
                let (reading, now) = (self.switch(0)?, world.now);
                self.endpoint(world)?.set_reading(reading, now);
            }
            "read" => {
                let (bytes, now) = (self.amount(0, MOST_WRITTEN)?, world.now);
                let endpoint = self.endpoint(world)?;
                let total = endpoint.bytes_read().saturating_add(bytes);
                endpoint.set_bytes_read(total, now);
            }
            "stop_listening" => world.host.stop_listening(self.script.paths[0].local.port()),
            "open" => self.open(world)?,
            "backup" => self.backup(world)?,
            "add_address" => world.host.add_address(self.address()?, world.now),
            "remove_address" => world.host.remove_address(self.address()?, world.now),
            "event" => self.event(world)?,
            "no_event" => {
                let name = self.word(0)?;
                if world.events.iter().any(|event| names::of_event(event).0 == name) {
                    return Err(Problem::at(self.place, format!("{name} was reported")).help(events_shown(world)));
                }
            }
            _ => self.assert(world)?,
        }
        world.drain();
        Ok(())
    }

    fn connect(&self, world: &mut World) -> Result<EndpointId, ConnectError> {
        let Script { protocol, settings, paths, .. } = self.script;
        let (Path { local, remote, .. }, now) = (&paths[0], world.now);
        match protocol {
            Protocol::Tcp => world.host.connect_tcp(&settings.tcp_options(), *local, *remote, now),
            Protocol::Mptcp => world.host.connect_mptcp(settings.mptcp(), *local, *remote, now),
            Protocol::Sctp => world.host.connect_sctp(settings.sctp(), *local, *remote, now),
        }
    }

    fn message(&self, world: &mut World) -> Result<(), Problem> {
        let (bytes, stream) = (self.amount(0, MOST_WRITTEN)?, self.amount(1, u16::MAX.into())? as u16);
        let words = (2..self.arguments.len()).map(|index| self.word(index)).collect::<Result<Vec<_>, _>>()?;
        if let Some(word) = words.iter().find(|word| !["unordered", "once"].contains(&word.as_str())) {
            return Err(Problem::at(self.place, format!("a message cannot be {word}")).help("unordered, or once"));
        }
        let has = |name: &str| words.iter().any(|word| word == name);
        let reliability = if has("once") { Reliability::Retransmissions(0) } else { Reliability::Full };
        let options = MessageOptions { stream, unordered: has("unordered"), reliability, payload_protocol: 0 };
        let Endpoint::Sctp(association) = self.endpoint(world)? else {
            return Err(Problem::at(self.place, "messages are for SCTP").help("use write"));
        };
        if bytes > 1 << 24 || !association.send_message(bytes as u32, options) {
            let problem = Problem::at(self.place, "the association does not take this message");
            return Err(problem.help("it may be over, or have no such stream, or no room"));
        }
        Ok(())
    }

    fn open(&self, world: &mut World) -> Result<(), Problem> {
        let name = self.word(0)?;
        let paths = &self.script.paths;
        let Some(path) = paths.iter().find(|path| path.name == name) else {
            let help = did_you_mean(&name, paths.iter().map(|path| path.name.as_str()), "declare it with path");
            return Err(Problem::at(self.place, format!("there is no path {name:?}")).help(help));
        };
        let backup = self.arguments.len() > 1 && self.word(1)? == "backup";
        let id = self.endpoint_id(world)?;
        let port = Some(path.local.port()).filter(|&port| port != 0);
        world.host.open_subflow(id, path.local.ip(), port, path.remote, backup, world.now);
        Ok(())
    }

    fn backup(&self, world: &mut World) -> Result<(), Problem> {
        let (index, backup) = (self.amount(0, MOST_WRITTEN)? as usize, self.switch(1)?);
        match self.endpoint(world)? {
            Endpoint::Mptcp(connection) if index < connection.subflows().len() => connection.set_backup(index, backup),
            _ => return Err(Problem::at(self.place, format!("there is no subflow {index}")).help("they count from 0")),
        }
        Ok(())
    }

    /// Takes events up to the one named.
    fn event(&self, world: &mut World) -> Result<(), Problem> {
        let name = self.word(0)?;
        let how = if self.arguments.len() > 1 { Some(self.word(1)?) } else { None };
        let is_it = |found: (&str, Option<&str>)| found.0 == name && (how.is_none() || found.1 == how.as_deref());
        let Some(index) = world.events.iter().position(|event| is_it(names::of_event(event))) else {
            let expected = format!("{name}{}", how.as_ref().map_or(String::new(), |how| format!(" {how}")));
            return Err(Problem::at(self.place, format!("no event {expected}")).help(events_shown(world)));
        };
        world.events.drain(..=index);
        Ok(())
    }

    fn assert(&self, world: &mut World) -> Result<(), Problem> {
        let name = self.word(0)?;
        let seen = match (world.endpoint(), name.as_str()) {
            (_, "connections") => Some(Value::Number(world.host.endpoint_ids().len() as u64)),
            (None, _) => return Err(self.no_endpoint()),
            (Some(endpoint), name) => observe(endpoint, name),
        };
        let Some(seen) = seen else {
            let help = did_you_mean(&name, OBSERVED, &format!("the names are {}", list(OBSERVED)));
            return Err(Problem::at(self.place, format!("{name:?} cannot be observed here")).help(help));
        };
        self.compare(&seen, &shown_time(world))
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

    fn no_endpoint(&self) -> Problem {
        Problem::at(self.place, "there is no connection").help("connect, or listen and let a peer connect")
    }

    fn endpoint_id(&self, world: &World) -> Result<EndpointId, Problem> {
        world.endpoint_id().ok_or_else(|| self.no_endpoint())
    }

    fn endpoint<'a>(&self, world: &'a mut World) -> Result<&'a mut Endpoint, Problem> {
        world.endpoint_mut().ok_or_else(|| self.no_endpoint())
    }

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

    pub(crate) fn word(&self, index: usize) -> Result<String, Problem> {
        match self.arguments[index].evaluate(self.variables)? {
            Value::Word(word) => Ok(word),
            other => Err(Problem::at(&self.arguments[index].place, format!("{other} is no name")).help("use a word")),
        }
    }

    pub(crate) fn switch(&self, index: usize) -> Result<bool, Problem> {
        match self.word(index)?.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(Problem::at(&self.arguments[index].place, format!("{other:?} is neither on nor off"))),
        }
    }

    fn address(&self) -> Result<IpAddr, Problem> {
        match self.arguments[0].evaluate(self.variables)? {
            Value::Address(address) => Ok(address),
            other => Err(Problem::at(&self.arguments[0].place, format!("{other} is no address"))),
        }
    }
}

const OBSERVED: [&str; 11] = [
    "state",
    "received",
    "acknowledged",
    "written",
    "cwnd",
    "ssthresh",
    "mss",
    "mtu",
    "subflows",
    "connections",
    "network_error",
];

/// What a script may assert of a connection.
fn observe(endpoint: &Endpoint, name: &str) -> Option<Value> {
    let number = match (name, endpoint) {
        ("state", Endpoint::Tcp(tcp)) => {
            return Some(Value::Word(names::of_tcp_state(tcp.connection().state()).to_owned()));
        }
        ("state", Endpoint::Sctp(sctp)) => return Some(Value::Word(names::of_sctp_state(sctp.state()).to_owned())),
        ("network_error", _) => return Some(Value::Word(names::of_network_error(endpoint.network_error()).to_owned())),
        ("mtu", Endpoint::Tcp(tcp)) => tcp.connection().path_mtu().into(),
        ("mtu", Endpoint::Sctp(sctp)) => sctp.mtu().into(),
        ("received", _) => endpoint.bytes_received(),
        ("acknowledged", _) => endpoint.bytes_acknowledged(),
        ("written", _) => endpoint.bytes_written(),
        ("cwnd", Endpoint::Tcp(tcp)) => tcp.congestion().path(0).cwnd().into(),
        ("cwnd", Endpoint::Sctp(sctp)) => sctp.congestion().path(sctp.primary()).cwnd().into(),
        ("ssthresh", Endpoint::Tcp(tcp)) => tcp.congestion().path(0).ssthresh().into(),
        ("ssthresh", Endpoint::Sctp(sctp)) => sctp.congestion().path(sctp.primary()).ssthresh().into(),
        ("mss", Endpoint::Tcp(tcp)) => tcp.connection().mss().into(),
        ("subflows", Endpoint::Mptcp(mptcp)) => {
            mptcp.subflows().iter().filter(|subflow| subflow.is_established()).count() as u64
        }
        _ => return None,
    };
    Some(Value::Number(number))
}

fn events_shown(world: &World) -> String {
    let shown: Vec<String> = world
        .events
        .iter()
        .map(names::of_event)
        .map(|(name, how)| how.map_or(name.to_owned(), |how| format!("{name} {how}")))
        .collect();
    let events = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    format!("events by {}: {events}", shown_time(world))
}

fn shown_time(world: &World) -> String {
    format!("{:.6} s", world.now.as_secs_f64())
}
