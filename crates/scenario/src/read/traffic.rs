//! What a flow sends (`send`, `on_off`, `requests`, `streams`, `video` or `exchanges`), and how it is written (`write`) and read
//! (`read`).

use std::net::IpAddr;

use subflow_quantity::Duration;

use super::Traces;
use super::{exchanges, sizes, streams, video};
use crate::file::{Field, Problem, Section, Value};
use crate::protocol_name::ProtocolName;
use crate::size_table::MOST_BYTES;
use crate::{Pause, PauseBegin, Period, Reading, SizeDistribution, Traffic, Writing, schema};

/// The largest payload of a datagram to `address`: with the headers of UDP and IP it makes a packet of 65,535 bytes.
/// RFC 8200 allows IPv6 packets that are 40 bytes longer, but links support at most 65,535 bytes.
pub(super) fn largest_datagram(address: IpAddr) -> u64 {
    let headers = if address.is_ipv4() { 8 + 20 } else { 8 + 40 };
    u64::from(u16::MAX) - headers
}

/// One packet every 10 ns: more than any present link carries.
const MOST_DATAGRAMS_PER_SECOND: u64 = 100_000_000;

/// More often, bursts are a stream of single bytes.
const LEAST_BETWEEN_BURSTS: Duration = Duration::from_micros(1);

/// The traffic of the flow. `largest` is the largest datagram of a UDP flow, `sizes` the distribution in `send`, if it is
/// one: the amount is its mean then.
pub(super) fn read(
    section: &Section<'_>,
    (protocol, largest): (ProtocolName, Option<u64>),
    sizes: Option<&SizeDistribution>,
    traces: &Traces,
) -> Result<Traffic, Problem> {
    let given: Vec<_> = ["send", "on_off", "requests", "streams", "video", "exchanges"]
        .iter()
        .filter_map(|key| section.given(key))
        .collect();
    if let [first, second, ..] = &given[..] {
        return Err(second
            .problem("found two kinds of traffic, expected one")
            .label("one too many")
            .also(first.place(), "the other one")
            .help("a flow has one of send, on_off, requests, streams, video and exchanges"));
    }
    if let Some(largest) = largest {
        return match (section.given("on_off"), given.first()) {
            (Some(field), _) => on_off(&field, largest),
            (None, Some(other)) => Err(other
                .problem("a UDP flow sends at a rate, expected on_off")
                .label("not over UDP")
                .help("for example on_off = { rate = \"5 Mbit/s\" }")),
            (None, None) => Err(section
                .field()
                .problem("on_off is missing, expected the rate of the UDP flow")
                .label("on_off is missing")
                .help("for example on_off = { rate = \"5 Mbit/s\" }")),
        };
    }
    if let Some(field) = section.given("video") {
        return video::read(&field);
    }
    if let Some(field) = section.given("exchanges") {
        return exchanges::read(&field).map(Traffic::Exchanges);
    }
    if let Some(field) = section.given("streams") {
        return streams::read(&field, protocol).map(Traffic::Streams);
    }
    match (section.given("on_off"), section.given("requests"), section.given("send")) {
        (Some(field), ..) => Err(field
            .problem("only UDP sends at a rate; TCP, MPTCP and SCTP send as fast as they can")
            .label("not over this protocol")
            .help("use send, requests, video or exchanges, or protocol = \"udp\"")),
        (None, Some(field), _) => requests(&field, protocol, traces),
        (None, None, Some(field)) => match sizes {
            Some(sizes) => Ok(Traffic::Bulk { bytes: Some(sizes.mean()) }),
            None => bulk(&field),
        },
        (None, None, None) => Ok(Traffic::Bulk { bytes: None }),
    }
}

fn bulk(field: &Field<'_>) -> Result<Traffic, Problem> {
    match field.value() {
        Value::String(text) if text == "unlimited" => Ok(Traffic::Bulk { bytes: None }),
        _ => field.size(1..=MOST_BYTES).map(|bytes| Traffic::Bulk { bytes: Some(bytes) }),
    }
}

fn on_off(field: &Field<'_>, largest: u64) -> Result<Traffic, Problem> {
    let section = field.section(&schema::ON_OFF)?;
    let on_field = section.value("on");
    let on = period(&on_field)?;
    if on.mean().is_zero() {
        return Err(on_field.expected("a period above zero").label("it would never send"));
    }
    let rate_field = section.required("rate")?;
    let rate = rate_field.rate()?;
    let packet = section.value("packet").size(1..=largest)?;
    if rate.bits_per_second() / (8 * packet) > MOST_DATAGRAMS_PER_SECOND {
        return Err(rate_field.expected(&format!("at most {MOST_DATAGRAMS_PER_SECOND} packets per second")));
    }
    Ok(Traffic::OnOff { rate, packet: packet as u32, on, off: period(&section.value("off"))? })
}

fn requests(field: &Field<'_>, protocol: ProtocolName, traces: &Traces) -> Result<Traffic, Problem> {
    let section = field.section(&schema::REQUESTS)?;
    if let (Some(_), Some(second)) = (section.given("think"), section.given("every")) {
        return Err(second
            .problem("found think and every, expected one of them")
            .label("one too many")
            .help("think is a pause after each response; with every, requests wait for no response"));
    }
    let every = section.given("every").map(|every| positive_period(&every)).transpose()?;
    Ok(Traffic::RequestResponse {
        request: sizes::message(&section.value("request"), traces)?,
        response: sizes::message(&section.required("response")?, traces)?,
        count: section.given("count").map(|count| count.integer(1..=u64::MAX)).transpose()?,
        think: period(&section.value("think"))?,
        every,
        deadline: section.given("deadline").map(|deadline| deadline.positive_duration()).transpose()?,
        streams: streams::of_requests(&section, protocol)?,
    })
}

/// A period whose mean is not zero.
fn positive_period(field: &Field<'_>) -> Result<Period, Problem> {
    match period(field)? {
        period if period.mean().is_zero() => Err(field.expected("a period above zero").label("all at once")),
        period => Ok(period),
    }
}

/// A duration, or `{ exponential = MEAN }`.
pub(super) fn period(field: &Field<'_>) -> Result<Period, Problem> {
    let Value::Table(entries) = field.value() else { return field.duration().map(Period::Constant) };
    let expected = "a duration, or { exponential = \"1 s\" }";
    match &entries[..] {
        [entry] if entry.key == "exponential" => {
            let section = field.section(&schema::PERIOD)?;
            section.required("exponential")?.positive_duration().map(Period::Exponential)
        }
        _ => Err(field.expected(expected)),
    }
}

/// How the application of the flow in `section` writes a transfer, if not all at once.
pub(super) fn writing(section: &Section<'_>) -> Result<Option<Writing>, Problem> {
    let Some(field) = section.given("write") else { return Ok(None) };
    if let Some(other) =
        ["requests", "streams", "video", "on_off", "exchanges"].iter().find_map(|key| section.given(key))
    {
        return Err(field
            .problem("found bursts of a flow whose traffic has times of its own, expected a flow with send")
            .label("not with this traffic")
            .also(other.place(), "this traffic")
            .help("drop one of them"));
    }
    let table = field.section(&schema::WRITE)?;
    let every_field = table.required("every")?;
    let every = period(&every_field)?;
    if every.mean() < LEAST_BETWEEN_BURSTS {
        return Err(every_field.expected(&format!("a period of at least {LEAST_BETWEEN_BURSTS}")));
    }
    Ok(Some(Writing { burst: table.required("burst")?.size(1..=MOST_BYTES)?, every }))
}

/// How the application of the flow in `section` reads, if it does not read at once; `is_udp`: it receives datagrams.
pub(super) fn reading(section: &Section<'_>, is_udp: bool) -> Result<Option<Reading>, Problem> {
    let Some(field) = section.given("read") else { return Ok(None) };
    if is_udp {
        return Err(field
            .problem("datagrams have no receive window that a slow reader could fill")
            .label("not over UDP")
            .help("drop the key, or choose another protocol"));
    }
    let table = field.section(&schema::READ)?;
    Ok(Some(Reading {
        rate: table.given("rate").map(|rate| rate.rate()).transpose()?,
        buffer: table.value("buffer").size(1..=1 << 30)?,
        pauses: table.given("pause").map_or(Ok(Vec::new()), |pause| pauses(&pause))?,
    }))
}

/// One pause, or a list of them.
fn pauses(field: &Field<'_>) -> Result<Vec<Pause>, Problem> {
    match field.value() {
        Value::Array(_) => field.list("a list of tables")?.iter().map(pause).collect(),
        _ => pause(field).map(|pause| vec![pause]),
    }
}

fn pause(field: &Field<'_>) -> Result<Pause, Problem> {
    let section = field.section(&schema::PAUSE)?;
    let begin = match (section.given("at"), section.given("after")) {
        (Some(at), None) => PauseBegin::At(at.duration()?),
        (None, Some(after)) => PauseBegin::After(after.size(0..=MOST_BYTES)?),
        (Some(_), Some(second)) => {
            return Err(second.problem("found at and after, expected one of them").label("one too many"));
        }
        (None, None) => {
            return Err(field
                .problem("found no beginning of the pause, expected at or after")
                .label("when does it begin?")
                .help("for example { at = \"2 s\", for = \"500 ms\" }, or { after = \"1 MB\", for = \"500 ms\" }"));
        }
    };
    let length: Duration = section.required("for")?.positive_duration()?;
    Ok(Pause { begin, length })
}
