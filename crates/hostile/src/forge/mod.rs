//! Forged packets, made from the knowledge of an eavesdropper.

mod mptcp;
mod quic;
mod sctp;
mod tcp;

use std::net::{IpAddr, SocketAddr};

use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet};

use crate::action::{Forge, Stride};
use crate::forgery::Forgery;
use crate::setup::{ATTACKER, Setup};
use crate::wiretap::Wiretap;

/// First of the attacker's addresses from which floods come; these addresses never answer.
pub(crate) const FLOOD: u16 = 1000;

/// Which packet of a forgery is made, and of what.
pub(crate) struct Forger<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) wiretap: &'a Wiretap,
    /// The flow that it claims to belong to.
    pub(crate) flow: usize,
    /// The end of the flow that gets it.
    pub(crate) to: usize,
    pub(crate) blind: bool,
    pub(crate) stride: Stride,
    /// Which of many it is.
    pub(crate) number: u32,
}

impl Forger<'_> {
    /// The packet; `None` where it cannot be written, because its options do not fit.
    pub(crate) fn packet(&self, forgery: &Forgery, from: SocketAddr, to: SocketAddr) -> Option<Packet> {
        let body = match forgery {
            Forgery::Tcp(forgery) => Body::Tcp(self.segment(forgery, from, to)?),
            Forgery::Sctp(forgery) => Body::Sctp(self.chunks(forgery, from, to)?),
            Forgery::Quic(forgery) => Body::Quic(self.quic(forgery, from, to)?),
        };
        Some(packet(from, to, body))
    }

    /// The ends that the packet names.
    pub(crate) fn ends(&self) -> (SocketAddr, SocketAddr) {
        let ends = self.wiretap.flow(self.flow).ends;
        let (mut from, to) = (ends[1 - self.to], ends[self.to]);
        let step = |by: u16| by.wrapping_mul(self.number as u16);
        from.set_port(from.port().wrapping_add(step(self.stride.port)));
        if self.stride.address > 0 {
            from.set_ip(self.setup.address(ATTACKER, FLOOD.wrapping_add(step(self.stride.address))));
        }
        (from, to)
    }

    /// What has to be added to a number of 32 bits so that it is certainly none that the receiver expects: from a
    /// quarter to three quarters of the number space. Windows are smaller.
    fn off(&self, by: i64) -> u32 {
        const QUARTER: u32 = 1 << 30;
        if self.blind { QUARTER + (by as u32 & (2 * QUARTER - 1)) } else { by as u32 }
    }

    /// A number that grows from packet to packet.
    fn growing(&self, start: i64, by: i32) -> i64 {
        start.wrapping_add(i64::from(by).wrapping_mul(self.number.into()))
    }

    fn identifier(&self, first: u8) -> u8 {
        first.wrapping_add(self.stride.identifier.wrapping_mul(self.number as u8))
    }
}

impl Forge {
    /// Whether every packet comes from an end of its own.
    pub(crate) fn moves(&self) -> bool {
        self.stride.port > 0 || self.stride.address > 0
    }
}

/// A packet between two ends.
pub(crate) fn packet(from: SocketAddr, to: SocketAddr, body: Body) -> Packet {
    let (source, destination): (IpAddr, IpAddr) = (from.ip(), to.ip());
    Packet { ip: IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct }, body }
}
