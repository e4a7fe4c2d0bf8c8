//! TCP segments.

use subflow_wire::tcp::{SackBlock, TcpFlags, Timestamps};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, PROTOCOL_TCP, Packet, Payload, TcpSegment};

use super::fields::Fields;
use super::option;
use super::wire::Arrival;
use crate::script::Path;
use crate::value::{Field, Value};

const FLAGS: [(&str, TcpFlags); 8] = [
    ("SYN", TcpFlags::SYN),
    ("FIN", TcpFlags::FIN),
    ("RST", TcpFlags::RST),
    ("PSH", TcpFlags::PSH),
    ("ACK", TcpFlags::ACK),
    ("URG", TcpFlags::URG),
    ("ECE", TcpFlags::ECE),
    ("CWR", TcpFlags::CWR),
];

/// The protocol number, and the start of a segment that left on `path`, as ICMP quotes it.
pub(super) fn quoted(path: &Path, fields: Fields<'_>) -> (u8, Vec<u8>) {
    let sequence = fields.number("seq").unwrap_or(0) as u32;
    (PROTOCOL_TCP, [path.ports().as_slice(), &sequence.to_be_bytes()].concat())
}

pub(super) fn describe(segment: &TcpSegment) -> Vec<Field> {
    let mut fields: Vec<Field> =
        FLAGS.iter().filter(|(_, flag)| segment.flags.contains(*flag)).map(|(name, _)| Field::flag(name)).collect();
    fields.push(Field::number("seq", segment.sequence));
    if segment.flags.contains(TcpFlags::ACK) {
        fields.push(Field::number("ack", segment.acknowledgment));
    }
    fields.push(Field::number("win", segment.window));
    fields.push(Field::number("len", segment.payload.length));
    let options = &segment.options;
    fields.extend(options.syn.mss.map(|mss| Field::number("mss", mss)));
    fields.extend(options.syn.window_scale.map(|shift| Field::number("wscale", shift)));
    fields.extend(options.syn.sack_permitted.then(|| Field::flag("sackok")));
    fields.extend(options.timestamps.map(|timestamps| {
        Field::values("ts", vec![Value::Number(timestamps.value.into()), Value::Number(timestamps.echo.into())])
    }));
    if !options.sack.is_empty() {
        let range = |block: &SackBlock| Value::Range(block.left.into(), block.right.into());
        fields.push(Field::values("sack", options.sack.iter().map(range).collect()));
    }
    fields.extend(options.dss.as_ref().map(option::describe_dss));
    fields.extend(options.mptcp.iter().map(option::describe));
    fields
}

pub(super) fn build(path: &Path, given: &[Field]) -> Result<Arrival, String> {
    let fields = Fields(given);
    let mut segment = TcpSegment {
        source_port: path.remote.port(),
        destination_port: path.local.port(),
        sequence: fields.number("seq").unwrap_or(0) as u32,
        acknowledgment: fields.number("ack").unwrap_or(0) as u32,
        window: fields.number("win").unwrap_or(u16::MAX.into()) as u16,
        payload: Payload { length: fields.number("len").unwrap_or(0) as u32, ..Payload::default() },
        ..TcpSegment::default()
    };
    FLAGS.iter().filter(|(name, _)| fields.has(name)).for_each(|(_, flag)| segment.flags |= *flag);
    let options = &mut segment.options;
    options.syn.mss = fields.number("mss").map(|mss| mss as u16);
    options.syn.window_scale = fields.number("wscale").map(|shift| shift as u8);
    options.syn.sack_permitted = fields.has("sackok");
    options.timestamps =
        fields.find("ts").map(|field| Timestamps { value: field.number_at(0) as u32, echo: field.number_at(1) as u32 });
    if let Some(field) = fields.find("sack") {
        let block = |(left, right)| SackBlock { left: left as u32, right: right as u32 };
        options.sack = field.ranges().map(block).collect();
    }
    for field in given {
        if field.name == "dss" {
            options.dss = Some(option::build_dss(Fields(&field.parts))?);
        } else if let Some(option) = option::build(field)? {
            options.mptcp.push(option);
        }
    }
    let ip = IpHeader {
        source: path.remote.ip(),
        destination: path.local.ip(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    Ok(Arrival {
        packet: Packet { ip, body: Body::Tcp(segment) },
        payload_sum: fields.number("sum").unwrap_or(0) as u16,
        options: fields.bytes("option").unwrap_or_default(),
        corrupt: fields.has("corrupt"),
    })
}
