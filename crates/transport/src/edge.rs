//! The edge between endpoints, which move ranges, and whoever holds the bytes: a real interface, or a test.
//!
//! On the way out the edge attaches the bytes of [`Payload`](subflow_wire::Payload) `stream_offset..+length` to each packet
//! and calls [`set_payload_sum`]. On the way in it hands over the packet, asks
//! [`Endpoint::taken`](crate::Endpoint::taken) where the payload belongs, keeps those bytes, and may give the application
//! everything below [`Endpoint::bytes_received`](crate::Endpoint::bytes_received).

use core::ops::Range;

use subflow_wire::checksum::ones_complement_add;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::{Body, Packet};

/// The part of a packet's payload that an endpoint took in, and where it belongs. It may wait behind a hole, or for a
/// checksum over more than this packet. It may come again: then the bytes replace those that were taken before, whose checksum
/// was wrong if they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Offset in the payload of the first byte taken.
    pub payload_offset: u32,
    /// Where the bytes belong in the peer's stream, and so how many they are: what lies beyond a FIN is not taken.
    pub stream: Range<u64>,
}

/// Notes the one's-complement sum of the bytes attached to `packet`, in the payload's description and in the DSS checksum
/// (RFC 8684, section 3.3.1), which endpoints compute as if all bytes were zero.
pub fn set_payload_sum(packet: &mut Packet, sum: u16) {
    let segment = match &mut packet.body {
        Body::Tcp(segment) => segment,
        Body::Udp(datagram) => {
            datagram.payload.sum = sum;
            return;
        }
        // No checksum of SCTP stands in a header that an endpoint writes.
        Body::Sctp(_) => return,
    };
    segment.payload.sum = sum;
    let mapped = segment.options.dss.as_mut().and_then(|dss| dss.mapping.as_mut()).filter(|mapping| mapping.length > 0);
    let in_dss = mapped.and_then(|mapping| mapping.checksum.as_mut());
    let in_capable = segment.options.mptcp.iter_mut().find_map(|option| match option {
        MptcpOption::Capable(capable) => capable.checksum.as_mut(),
        _ => None,
    });
    for checksum in in_dss.into_iter().chain(in_capable) {
        *checksum = !ones_complement_add(!*checksum, sum);
    }
}
