//! What a stack sends and receives packets through.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

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
