//! A case as a reader follows it: every action, every packet, every end.

use std::fmt::Write as _;

use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Packet, TcpSegment};

use super::World;
use crate::setup::{ATTACKER, CLIENT};
use crate::wiretap::{host_of, index_of, ports};

impl World<'_> {
    /// Prints the text of `what` if the case is traced.
    pub(crate) fn trace(&self, what: impl FnOnce() -> String) {
        if self.traced {
            println!("{:14.6} {}", self.now.as_secs_f64(), what());
        }
    }
}

/// A packet on one line.
pub(super) fn line(packet: &Packet) -> String {
    let (source, destination) = ports(packet);
    let end = |address, port| {
        let host = match host_of(address) {
            CLIENT => "client",
            ATTACKER => "attacker",
            _ => "server",
        };
        format!("{host}.{}:{port}", index_of(address))
    };
    let mut line = format!("{} > {} ", end(packet.ip.source, source), end(packet.ip.destination, destination));
    match &packet.body {
        Body::Tcp(segment) => describe_segment(segment, &mut line),
        Body::Sctp(body) => {
            let _ = write!(line, "tag {:x}", body.verification_tag);
            body.chunks.iter().for_each(|chunk| describe_chunk(chunk, &mut line));
        }
        Body::Quic(datagram) => {
            let _ = write!(line, "{} bytes", datagram.length());
            datagram.packets.iter().for_each(|packet| _ = write!(line, " {packet:?}"));
        }
        Body::Udp(_) => {}
    }
    line
}

fn describe_segment(segment: &TcpSegment, line: &mut String) {
    for (bit, letter) in "FSRPAUEC".chars().enumerate() {
        if segment.flags.0 >> bit & 1 == 1 {
            line.push(letter);
        }
    }
    let TcpSegment { sequence, acknowledgment, window, options, payload, .. } = segment;
    let _ = write!(line, " {sequence}+{} ack {acknowledgment} win {window}", payload.length);
    if let Some(timestamps) = options.timestamps {
        let _ = write!(line, " ts {}/{}", timestamps.value, timestamps.echo);
    }
    for block in &options.sack {
        let _ = write!(line, " sack {}-{}", block.left, block.right);
    }
    if let Some(dss) = options.dss {
        if let Some(ack) = dss.data_ack {
            let _ = write!(line, " data ack {}", ack.value);
        }
        if let Some(mapping) = dss.mapping {
            let _ = write!(line, " map {}@{}+{}", mapping.data_sequence, mapping.subflow_sequence, mapping.length);
        }
        if dss.data_fin {
            line.push_str(" data fin");
        }
    }
    for option in &options.mptcp {
        let _ = write!(line, " {option:?}");
    }
}

fn describe_chunk(chunk: &Chunk, line: &mut String) {
    let _ = match chunk {
        Chunk::Data(data) => {
            write!(line, " DATA {} stream {}/{}+{}", data.tsn, data.stream, data.stream_sequence, data.payload.length)
        }
        Chunk::Sack(sack) => write!(line, " SACK {} {:?} rwnd {}", sack.cumulative_tsn, sack.gaps, sack.a_rwnd),
        Chunk::Init(_) => write!(line, " INIT"),
        Chunk::InitAck(_) => write!(line, " INIT ACK"),
        Chunk::CookieEcho(_) => write!(line, " COOKIE ECHO"),
        Chunk::Heartbeat(_) => write!(line, " HEARTBEAT"),
        Chunk::HeartbeatAck(_) => write!(line, " HEARTBEAT ACK"),
        other => write!(line, " {other:?}"),
    };
}
