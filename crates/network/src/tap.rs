//! Watching packets at host interfaces.

use subflow_quantity::Instant;
use subflow_wire::Packet;

use crate::{HostId, InterfaceId};

/// Which way a tapped packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host into the network.
    Out,
    /// From the network to the host.
    In,
}

/// Sees the packets of tapped interfaces, for captures.
pub trait Tap {
    /// `packet` passes `interface` of `host` at `time`. A packet that is sent is seen before its first queue, so also
    /// when that queue drops it.
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, direction: Direction, packet: &Packet);
}
