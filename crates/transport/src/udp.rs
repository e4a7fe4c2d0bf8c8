//! UDP endpoints (RFC 768): datagrams out, datagrams counted in.

use std::collections::VecDeque;

use subflow_quantity::Instant;
use subflow_wire::{Body, PROTOCOL_UDP, Packet, Payload, UdpDatagram};

use crate::figures::Figures;
use crate::socket::Socket;
use crate::tcp::Ends;

/// A UDP socket bound to one peer.
#[derive(Clone, Debug)]
pub struct UdpEndpoint {
    ends: Ends,
    outgoing: VecDeque<u32>,
    counters: UdpCounters,
}

/// Counters of a UDP endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounters {
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
}

impl UdpEndpoint {
    /// A socket between two ends.
    pub fn new(ends: Ends) -> Self {
        Self { ends, outgoing: VecDeque::new(), counters: UdpCounters::default() }
    }

    /// The socket's two ends.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Counters since the start.
    pub fn counters(&self) -> &UdpCounters {
        &self.counters
    }

    /// Queues a datagram of `length` payload bytes.
    pub fn send(&mut self, length: u32) {
        self.outgoing.push_back(length);
    }

    fn next_datagram(&mut self) -> Option<UdpDatagram> {
        let length = self.outgoing.pop_front()?;
        let stream_offset = self.counters.bytes_sent;
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += u64::from(length);
        Some(UdpDatagram {
            source_port: self.ends.local.port(),
            destination_port: self.ends.remote.port(),
            payload: Payload { stream_offset, length, sum: 0 },
        })
    }
}

impl Socket for UdpEndpoint {
    fn protocol(&self) -> u8 {
        PROTOCOL_UDP
    }

    fn ends(&self) -> Ends {
        self.ends
    }

    fn handle_packet(&mut self, _now: Instant, _subflow: usize, packet: &Packet) {
        if let Body::Udp(datagram) = &packet.body {
            self.counters.datagrams_received += 1;
            self.counters.bytes_received += u64::from(datagram.payload.length);
        }
    }

    fn poll_transmit_into(&mut self, _now: Instant, packet: &mut Packet) -> bool {
        let Some(datagram) = self.next_datagram() else { return false };
        *packet = Packet { ip: self.ends.ip_header(), body: Body::Udp(datagram) };
        true
    }

    fn write(&mut self, bytes: u64) -> u64 {
        self.send(u32::try_from(bytes).unwrap_or(u32::MAX));
        bytes
    }

    fn bytes_written(&self) -> u64 {
        self.counters.bytes_sent
    }

    fn bytes_received(&self) -> u64 {
        self.counters.bytes_received
    }

    fn bytes_read(&self) -> u64 {
        self.counters.bytes_received
    }

    fn describe(&self, figures: &mut Figures) {
        figures.datagrams = Some([self.counters.datagrams_sent, self.counters.datagrams_received]);
    }

    fn is_single_path(&self) -> bool {
        true
    }
}
