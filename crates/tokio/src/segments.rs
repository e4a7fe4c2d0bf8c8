//! Takes apart the segments that a kernel has joined.

use core::ops::Range;

use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

/// The segments of `packet`, each with at most `size` bytes of its payload `bytes`, and the place of those. A packet
/// that is not TCP, or was not joined, is one segment. The options are those of every segment: Linux joins only
/// segments with the same ones, and a DSS mapping covers all of its segments.
pub(crate) fn segments(
    packet: Packet,
    bytes: &[u8],
    size: Option<u16>,
) -> impl Iterator<Item = (Packet, Range<usize>)> + '_ {
    let is_tcp = matches!(packet.body, Body::Tcp(_));
    let size = size.filter(|&size| size > 0 && is_tcp).map_or(bytes.len().max(1), usize::from);
    let count = bytes.len().div_ceil(size).max(1);
    (0..count).map(move |number| {
        let place = number * size..bytes.len().min((number + 1) * size);
        let mut segment = packet.clone();
        if count > 1
            && let Body::Tcp(tcp) = &mut segment.body
        {
            tcp.sequence = tcp.sequence.wrapping_add(place.start as u32);
            tcp.payload.length = place.len() as u32;
            tcp.payload.sum = ones_complement_sum(&bytes[place.clone()]);
            if number + 1 < count {
                tcp.flags = TcpFlags(tcp.flags.0 & !(TcpFlags::FIN | TcpFlags::PSH).0);
            }
        }
        (segment, place)
    })
}
