//! Observing packets at host interfaces.

use subflow_quantity::Instant;
use subflow_wire::Packet;

use crate::{HostId, InterfaceId};

/// The direction of a tapped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host into the network.
    Out,
    /// From the network to the host.
    In,
}

/// Observes the packets of tapped interfaces, for captures.
pub trait Tap {
    /// Called when `packet` passes `interface` of `host` at `time`. A sent packet is observed before its first queue,
    /// even if that queue drops it.
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, direction: Direction, packet: &Packet);
}
