//! What a stack sends and receives packets through.

use core::ops::Range;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

/// A device for IP packets. One task receives; packets are sent from any thread.
pub trait Device: Send + Sync + 'static {
    /// Receives a packet to the start of `buffer`, which has room for 64 KiB. An error means that the device is gone.
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Sends a packet at once. Returns whether it was accepted; if not, for want of room, it is lost, and the stack
    /// repeats it as it repeats one that is lost on the path.
    fn send(&self, packet: &[u8]) -> io::Result<bool>;
}

/// A packet in a receive buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its place in the buffer.
    pub bytes: core::ops::Range<usize>,
    /// Bytes of payload of each TCP segment, if it consists of several that were joined (Linux: GRO).
    pub segment: Option<u16>,
    /// Whether the transport checksum was verified before, or left out.
    pub verified: bool,
}

/// One path to the network: a device, and this host's addresses on it.
#[derive(Clone)]
pub struct Path {
    pub(crate) device: Arc<dyn Device>,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Path {
    /// A path over `device`, with these addresses.
    pub fn new(device: impl Device, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        Self { device: Arc::new(device), addresses: addresses.into_iter().collect() }
    }
}

impl std::fmt::Debug for Path {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Path").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

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
