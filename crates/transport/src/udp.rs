//! UDP endpoints (RFC 768): datagrams out, datagrams counted in.

use std::collections::VecDeque;

use subflow_wire::{Payload, UdpDatagram};

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

    pub(crate) fn handle_datagram(&mut self, datagram: &UdpDatagram) {
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += u64::from(datagram.payload.length);
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<UdpDatagram> {
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
