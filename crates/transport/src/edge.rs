//! The interface between endpoints, which process byte ranges, and the holder of the bytes: a real interface, or a
//! test.
//!
//! On output, the holder attaches the bytes of [`Payload`](subflow_wire::Payload) `stream_offset..+length` to each
//! packet and calls [`set_payload_sum`]. On input, it passes the packet to the endpoint, determines the place of the
//! payload with [`Endpoint::taken`](crate::Endpoint::taken), stores those bytes, and may deliver to the application
//! everything below [`Endpoint::bytes_received`](crate::Endpoint::bytes_received).

use core::ops::Range;

use subflow_wire::checksum::ones_complement_add;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::{Body, Packet};

/// The part of a packet's payload that an endpoint accepted, and its place in the stream. The bytes may wait for a hole
/// to be filled, or for a checksum that covers several packets. They may arrive again: then they replace those accepted
/// before, whose checksum was wrong if they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Offset in the payload of the first byte accepted.
    pub payload_offset: u32,
    /// The place of the bytes in the peer's stream, which includes their number: data beyond a FIN is not accepted.
    pub stream: Range<u64>,
}

/// Sets the one's-complement sum of the bytes attached to `packet`, in the description of the payload and in the DSS
/// checksum (RFC 8684, section 3.3.1), which endpoints compute as if all bytes were zero.
pub fn set_payload_sum(packet: &mut Packet, sum: u16) {
    let segment = match &mut packet.body {
        Body::Tcp(segment) => segment,
        Body::Udp(datagram) => {
            datagram.payload.sum = sum;
            return;
        }
        // Endpoints of SCTP and QUIC write no checksum into a header.
        Body::Sctp(_) | Body::Quic(_) => return,
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
