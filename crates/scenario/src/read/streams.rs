//! Streams of a connection of QUIC: `streams = [{ … }]` of a flow, and those of its `requests`.

use std::sync::Arc;

use subflow_transport::quic::Priority;

use crate::file::{Field, Problem, Section};
use crate::protocol_name::ProtocolName;
use crate::schema::RequestStreams;
use crate::size_table::MOST_BYTES;
use crate::{Flow, PlannedStream, schema};

/// The most streams of a flow.
const MOST_STREAMS: usize = 10_000;

/// The streams of a list.
pub(super) fn read(field: &Field<'_>, protocol: ProtocolName) -> Result<Arc<[PlannedStream]>, Problem> {
    if !protocol.has_streams() {
        return Err(refused(field, protocol));
    }
    let elements = field.list("a list of tables, such as [{ send = \"1 MB\", count = 20 }]")?;
    let mut streams = Vec::new();
    for element in &elements {
        let section = element.section(&schema::STREAM)?;
        let stream = PlannedStream {
            bytes: section.required("send")?.size(1..=MOST_BYTES)?,
            at: section.value("at").duration()?,
            priority: priority(&section)?,
        };
        let count = section.value("count").integer(1..=MOST_STREAMS as u64)?;
        streams.extend((0..count).map(|_| stream));
    }
    match streams.len() {
        1..=MOST_STREAMS => Ok(streams.into()),
        found => Err(field.problem(format!("found {found} streams, expected 1 to {MOST_STREAMS}"))),
    }
}

/// The priority of each exchange of `requests`, if each has a stream of its own.
pub(super) fn of_requests(section: &Section<'_>, protocol: ProtocolName) -> Result<Option<Priority>, Problem> {
    let field = section.value("streams");
    match field.choice("what streams requests go over", &schema::REQUEST_STREAMS)? {
        RequestStreams::Each if !protocol.has_streams() => Err(refused(&field, protocol)),
        RequestStreams::Each => priority(section).map(Some),
        RequestStreams::One => match ["urgency", "incremental"].iter().find_map(|key| section.given(key)) {
            Some(stray) => Err(stray
                .problem("found a priority of exchanges that go over one stream, in order")
                .label("nothing to choose from")
                .help("add streams = \"each\", or drop the key")),
            None => Ok(None),
        },
    }
}

fn priority(section: &Section<'_>) -> Result<Priority, Problem> {
    Ok(Priority {
        urgency: section.value("urgency").integer(0..=Priority::MOST.into())? as u8,
        incremental: section.value("incremental").boolean()?,
    })
}

/// Rejects a slow reader of several streams: what they bring is read at once.
pub(super) fn refuse_slow_readers(flow: &Flow, section: &Section<'_>) -> Result<(), Problem> {
    match section.given("read").filter(|_| flow.has_streams()) {
        None => Ok(()),
        Some(field) => Err(field
            .problem("what several streams bring is read at once, expected a flow with one")
            .label("not with several streams")
            .help("drop the key, or the streams")),
    }
}

fn refused(field: &Field<'_>, protocol: ProtocolName) -> Problem {
    field
        .problem(format!("{} has one stream; several are those of QUIC", protocol.name()))
        .label("not over this protocol")
        .help("give the flow the protocol quic or mpquic, or drop the key")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::file::Document;
    use crate::{Scenario, Traffic};

    fn read_with(protocol: &str, traffic: &str) -> Result<Traffic, String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"{protocol}\"\n{traffic}\n"
        );
        let document = Document::parse(Path::new("streams.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| format!("{problems:?}"))?;
        Ok(scenario.flows[0].traffic.clone())
    }

    #[test]
    fn streams_are_counted_in_the_order_of_the_list() {
        let read = read_with("mpquic", "streams = [{ send = \"1 kB\", urgency = 1 }, { send = \"2 kB\", count = 2 }]");
        let Ok(Traffic::Streams(streams)) = read else { panic!("{read:?}") };
        let listed: Vec<_> = streams.iter().map(|stream| (stream.bytes, stream.priority.urgency)).collect();
        assert_eq!(listed, [(1000, 1), (2000, 3), (2000, 3)]);
    }

    #[test]
    fn requests_have_streams_of_their_own_if_they_say_so() {
        let streams = |keys: &str| match read_with("quic", &format!("requests = {{ response = \"1 kB\"{keys} }}")) {
            Ok(Traffic::RequestResponse { streams, .. }) => Ok(streams),
            other => Err(format!("{other:?}")),
        };
        assert_eq!(streams(""), Ok(None));
        let turns = Priority { urgency: 3, incremental: true };
        assert_eq!(streams(", streams = \"each\", incremental = true"), Ok(Some(turns)));
        assert!(streams(", urgency = 1").is_err_and(|said| said.contains("in order")));
    }

    #[test]
    fn other_protocols_have_one_stream() {
        for protocol in ["tcp", "mptcp", "sctp"] {
            for traffic in ["streams = [{ send = \"1 kB\" }]", "requests = { response = \"1 kB\", streams = \"each\" }"]
            {
                let said = read_with(protocol, traffic).expect_err("it has one stream");
                assert!(said.contains(&format!("{protocol} has one stream")), "{said}");
            }
            assert!(read_with(protocol, "requests = { response = \"1 kB\", streams = \"one\" }").is_ok());
        }
        assert!(read_with("quic", "streams = []").is_err_and(|said| said.contains("found 0 streams")));
    }
}
