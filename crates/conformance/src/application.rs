//! What our stack's application and host do.

use subflow_scenario::file::{Problem, did_you_mean, list};
use subflow_transport::quic::Priority;
use subflow_transport::sctp::config::{MessageOptions, Reliability};
use subflow_transport::{ConnectError, Endpoint, EndpointId};
use subflow_wire::quic::StreamId;

use crate::act::{Act, MOST_WRITTEN};
use crate::names;
use crate::script::{Path, Script};
use crate::value::Value;
use crate::world::World;

/// Does what `verb` says with the connection that `world` follows.
pub(crate) fn perform(act: &Act<'_>, verb: &str, world: &mut World) -> Result<(), Problem> {
    match verb {
        "listen" => world.host.listen(act.script.paths[0].local.port(), act.script.settings.listener()),
        "connect" => {
            let id = connect(act, world).map_err(|error| Problem::at(act.place, error.to_string()))?;
            world.follow(id);
        }
        "write" => {
            let bytes = act.amount(0, MOST_WRITTEN)?;
            endpoint(act, world)?.write(bytes);
        }
        "message" => message(act, world)?,
        "stream" => stream(act, world)?,
        "finish" => endpoint(act, world)?.finish(),
        "abort" => endpoint(act, world)?.abort(),
        "reading" => {
            let (reading, now) = (act.switch(0)?, world.now);
            endpoint(act, world)?.set_reading(reading, now);
        }
        "read" => {
            let (bytes, now) = (act.amount(0, MOST_WRITTEN)?, world.now);
            let endpoint = endpoint(act, world)?;
            let total = endpoint.bytes_read().saturating_add(bytes);
            endpoint.set_bytes_read(total, now);
        }
        "stop_listening" => world.host.stop_listening(act.script.paths[0].local.port()),
        "open" => open(act, world)?,
        "backup" => backup(act, world)?,
        "add_address" => world.host.add_address(act.address()?, world.now),
        "remove_address" => world.host.remove_address(act.address()?, world.now),
        "event" => event(act, world)?,
        "no_event" => {
            let name = act.word(0)?;
            if world.events.iter().any(|event| names::of_event(event).0 == name) {
                return Err(Problem::at(act.place, format!("{name} was reported")).help(events_shown(world)));
            }
        }
        _ => assert(act, world)?,
    }
    world.drain();
    Ok(())
}

fn connect(act: &Act<'_>, world: &mut World) -> Result<EndpointId, ConnectError> {
    let Script { settings, paths, .. } = act.script;
    let Path { local, remote, .. } = &paths[0];
    world.host.connect(&settings.listener(), *local, *remote, world.now)
}

fn message(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let (bytes, stream) = (act.amount(0, MOST_WRITTEN)?, act.amount(1, u16::MAX.into())? as u16);
    let words = (2..act.arguments.len()).map(|index| act.word(index)).collect::<Result<Vec<_>, _>>()?;
    if let Some(word) = words.iter().find(|word| !["unordered", "once"].contains(&word.as_str())) {
        return Err(Problem::at(act.place, format!("a message cannot be {word}")).help("unordered, or once"));
    }
    let has = |name: &str| words.iter().any(|word| word == name);
    let reliability = if has("once") { Reliability::Retransmissions(0) } else { Reliability::Full };
    let options = MessageOptions { stream, unordered: has("unordered"), reliability, payload_protocol: 0 };
    let Some(association) = endpoint(act, world)?.as_sctp_mut() else {
        return Err(Problem::at(act.place, "messages are for SCTP").help("use write"));
    };
    if bytes > 1 << 24 || !association.send_message(bytes as u32, options) {
        let problem = Problem::at(act.place, "the association does not take this message");
        return Err(problem.help("it may be over, or have no such stream, or no room"));
    }
    Ok(())
}

/// Writes on a stream of QUIC, which the host opens unless it is named.
fn stream(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let bytes = act.amount(0, MOST_WRITTEN)?;
    let last = act.arguments.len() - 1;
    let ends = last > 0 && act.word(last).is_ok_and(|word| word == "finish");
    let named = if last > usize::from(ends) { Some(StreamId(act.amount(1, MOST_WRITTEN)?)) } else { None };
    let Some(connection) = endpoint(act, world)?.as_quic_mut() else {
        return Err(Problem::at(act.place, "streams are for QUIC").help("use write"));
    };
    let stream = named.unwrap_or_else(|| connection.open_stream(Priority::TURNS));
    connection.write_on(stream, bytes);
    if ends {
        connection.finish_stream(stream);
    }
    Ok(())
}

fn open(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let name = act.word(0)?;
    let paths = &act.script.paths;
    let Some(path) = paths.iter().find(|path| path.name == name) else {
        let help = did_you_mean(&name, paths.iter().map(|path| path.name.as_str()), "declare it with path");
        return Err(Problem::at(act.place, format!("there is no path {name:?}")).help(help));
    };
    let backup = act.arguments.len() > 1 && act.word(1)? == "backup";
    let id = endpoint_id(act, world)?;
    let port = Some(path.local.port()).filter(|&port| port != 0);
    world.host.open_subflow(id, path.local.ip(), port, path.remote, backup, world.now);
    Ok(())
}

fn backup(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let (index, backup) = (act.amount(0, MOST_WRITTEN)? as usize, act.switch(1)?);
    let connection = endpoint(act, world)?.as_mptcp_mut();
    let Some(connection) = connection.filter(|connection| index < connection.subflows().len()) else {
        return Err(Problem::at(act.place, format!("there is no subflow {index}")).help("they count from 0"));
    };
    connection.set_backup(index, backup);
    Ok(())
}

/// Takes events up to the one named.
fn event(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let name = act.word(0)?;
    let how = if act.arguments.len() > 1 { Some(act.word(1)?) } else { None };
    let is_it = |found: (&str, Option<&str>)| found.0 == name && (how.is_none() || found.1 == how.as_deref());
    let Some(index) = world.events.iter().position(|event| is_it(names::of_event(event))) else {
        let expected = format!("{name}{}", how.as_ref().map_or(String::new(), |how| format!(" {how}")));
        return Err(Problem::at(act.place, format!("no event {expected}")).help(events_shown(world)));
    };
    world.events.drain(..=index);
    Ok(())
}

fn assert(act: &Act<'_>, world: &mut World) -> Result<(), Problem> {
    let name = act.word(0)?;
    let seen = match (world.endpoint(), name.as_str()) {
        (_, "connections") => Some(Value::Number(world.host.endpoint_ids().len() as u64)),
        (None, _) => return Err(no_endpoint(act)),
        (Some(endpoint), name) => observe(endpoint, name),
    };
    let Some(seen) = seen else {
        let help = did_you_mean(&name, OBSERVED, &format!("the names are {}", list(OBSERVED)));
        return Err(Problem::at(act.place, format!("{name:?} cannot be observed here")).help(help));
    };
    act.compare(&seen, &shown_time(world))
}

fn no_endpoint(act: &Act<'_>) -> Problem {
    Problem::at(act.place, "there is no connection").help("connect, or listen and let a peer connect")
}

fn endpoint_id(act: &Act<'_>, world: &World) -> Result<EndpointId, Problem> {
    world.endpoint_id().ok_or_else(|| no_endpoint(act))
}

fn endpoint<'a>(act: &Act<'_>, world: &'a mut World) -> Result<&'a mut Endpoint, Problem> {
    world.endpoint_mut().ok_or_else(|| no_endpoint(act))
}

const OBSERVED: [&str; 13] = [
    "state",
    "received",
    "acknowledged",
    "written",
    "cwnd",
    "ssthresh",
    "srtt",
    "min_rtt",
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
        ("cwnd", Endpoint::Quic(_)) => endpoint.figures().paths.first().map_or(0, |path| path.cwnd as u64),
        ("srtt", Endpoint::Quic(quic)) => quic.rtt().srtt()?.as_micros(),
        ("min_rtt", Endpoint::Quic(quic)) => quic.rtt().min()?.as_micros(),
        ("subflows", Endpoint::Quic(_)) => endpoint.figures().paths.len() as u64,
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
