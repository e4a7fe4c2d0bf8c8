//! The bytes: attached when a packet leaves, kept when an endpoint takes them, checked when it reports them.

use core::ops::Range;

use subflow_transport::Endpoint;
use subflow_wire::{Body, Packet, Payload};

/// The byte at `offset` of the stream that side `side` sends.
pub(super) fn pattern(side: usize, offset: u64) -> u8 {
    ((offset ^ (side as u64) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// The bytes `offsets` of the stream that side `side` sends.
pub(crate) fn stream_bytes(side: usize, offsets: Range<u64>) -> Vec<u8> {
    offsets.map(|offset| pattern(side, offset)).collect()
}

/// The bytes that `packet` of side `side` carries.
pub(crate) fn bytes_of(side: usize, packet: &Packet) -> Vec<u8> {
    let bytes = |payload: &Payload| {
        stream_bytes(side, payload.stream_offset..payload.stream_offset + u64::from(payload.length))
    };
    match &packet.body {
        Body::Sctp(body) => body.payloads().flat_map(bytes).collect(),
        _ => bytes(packet.payload()),
    }
}

/// What one side has received.
#[derive(Debug, Default)]
pub(crate) struct Edge {
    bytes: Vec<u8>,
    filled: Vec<bool>,
    checked: u64,
    /// Bytes that were reported and are others than those that were sent.
    pub(crate) differing: usize,
}

impl Edge {
    /// Keeps what `endpoint` took of `payload`.
    pub(crate) fn keep(&mut self, endpoint: &Endpoint, payload: &[u8]) {
        let Some(taken) = endpoint.taken() else { return };
        let (start, end) = (taken.stream.start as usize, taken.stream.end as usize);
        let from = taken.payload_offset as usize;
        assert!(payload.len() - from >= end - start, "no more than the payload from {from} on is taken");
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
            self.filled.resize(end, false);
        }
        self.bytes[start..end].copy_from_slice(&payload[from..from + end - start]);
        self.filled[start..end].fill(true);
    }

    /// Compares everything that `endpoint` reports as received in order with what `sender` sends, but for `altered` bytes;
    /// without a sender only that it arrived at all is checked.
    pub(crate) fn check(&mut self, sender: Option<usize>, altered: usize, endpoint: &Endpoint) {
        let received = endpoint.bytes_received();
        assert!(received >= self.checked, "bytes received were taken back");
        for offset in self.checked..received {
            let at = offset as usize;
            assert!(self.filled.get(at) == Some(&true), "byte {offset} was reported and never taken");
            if let Some(sender) = sender {
                self.differing += usize::from(self.bytes[at] != pattern(sender, offset));
                assert!(self.differing <= altered, "byte {offset} of {received} is another");
            }
        }
        self.checked = received;
    }
}
