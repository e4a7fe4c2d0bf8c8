//! UDP between two ports: what each end sends.

use std::net::SocketAddr;

use crate::over_time::OverTime;
use crate::packet::{Datagram, Packet};
use crate::passages::{Passages, mixed_bytes};

/// Bytes of the payload by which a datagram is known at another point: as many as captures of 68 bytes have with IPv4, and
/// captures of 96 bytes with IPv6.
const KNOWN_BY: usize = 24;

/// Datagrams between two ports, of which end 0 sent the first.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) first_time: u64,
    pub(crate) sent: [SentDatagrams; 2],
}

/// What one end sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentDatagrams {
    pub(crate) packets: u64,
    /// Bytes of payload.
    pub(crate) bytes: u64,
    /// When the last one was captured.
    pub(crate) last_time: u64,
    pub(crate) over_time: OverTime,
    /// Their times, if there are several points of capture.
    pub(crate) passages: Passages,
}

impl Datagrams {
    /// Those of which `packet` is the first.
    pub(crate) fn new(packet: &Packet<'_>, time: u64) -> Self {
        Self { ends: [packet.source, packet.destination], first_time: time, sent: Default::default() }
    }

    /// A packet with a datagram; `has_passages` if there are several points of capture.
    pub(crate) fn observe(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>, has_passages: bool, time: u64) {
        let sent = &mut self.sent[usize::from(self.ends[0] != packet.source)];
        sent.packets += 1;
        sent.bytes += u64::from(datagram.length);
        sent.last_time = time;
        sent.over_time.sent(time, datagram.length.into());
        if has_passages {
            // Those with the same payload have other identifications.
            let payload = &datagram.payload[..datagram.payload.len().min(KNOWN_BY)];
            let rest = u64::from(datagram.length) << 16 | u64::from(packet.identification);
            sent.passages.add(mixed_bytes(rest, payload), time);
        }
    }

    /// What the end sends that is the end `end` of `other`, which is between the same ports.
    pub(crate) fn as_in(&self, other: &Self, end: usize) -> &SentDatagrams {
        &self.sent[end ^ usize::from(self.ends != other.ends)]
    }

    /// When the last one of both ends was captured, in nanoseconds.
    pub(crate) fn last_time(&self) -> u64 {
        self.sent.iter().map(|sent| sent.last_time).max().unwrap_or(0)
    }
}
