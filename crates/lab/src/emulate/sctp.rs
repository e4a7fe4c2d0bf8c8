//! SCTP flows of hosts with a kernel: our SCTP, on the kernel's IP.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use subflow_linux::{PacketWriter, Result, SctpCarrier, SctpSockets};
use subflow_scenario::{Flow, Scenario};
use subflow_wire::{Body, Packet};

use super::hosts::KernelHosts;
use crate::simulate::nodes::Outlet;

/// The largest packet, in bytes.
const LARGEST_PACKET: usize = 1 << 16;

/// The sockets of our SCTP in the namespaces of kernels.
#[derive(Default)]
pub(super) struct KernelSctp {
    /// With the scenario host.
    sockets: Arc<Vec<(usize, SctpSockets)>>,
    buffer: Vec<u8>,
}

impl KernelSctp {
    /// Opens the sockets that the SCTP flows of `scenario` need.
    pub(super) fn open_all(scenario: &Scenario, hosts: &KernelHosts) -> Result<Self> {
        let mut sockets = Vec::new();
        for (index, host) in scenario.hosts.iter().enumerate() {
            let Some(kernel) = hosts.get(index) else { continue };
            let addresses: Vec<_> = host.interfaces.iter().flat_map(|i| i.addresses.iter().copied()).collect();
            let own = |flow: &&Flow| [flow.from.host, flow.to.host].contains(&index);
            let carriers: Vec<_> = scenario.flows.iter().filter(own).filter_map(|flow| carrier(flow, index)).collect();
            for carrier in SctpCarrier::ALL {
                if carriers.contains(&carrier) {
                    let opened = kernel.namespace().run(|| SctpSockets::open(carrier, &addresses))?;
                    sockets.push((index, opened));
                }
            }
        }
        Ok(Self { sockets: Arc::new(sockets), buffer: vec![0; LARGEST_PACKET] })
    }

    /// What sends the SCTP packets of these hosts; `None` if there are no such hosts. A packet that the kernel does not
    /// take is lost.
    pub(super) fn outlet(&self) -> Option<Outlet> {
        if self.sockets.is_empty() {
            return None;
        }
        let (sockets, mut writer) = (Arc::clone(&self.sockets), PacketWriter::default());
        Some(Box::new(move |host, packet| {
            let Body::Sctp(body) = &packet.body else { return false };
            let carrier = SctpCarrier::of(body.encapsulation);
            let Some((_, sockets)) =
                sockets.iter().find(|(owner, sockets)| *owner == host && sockets.carrier() == carrier)
            else {
                return false;
            };
            sockets.send(packet, &mut writer);
            true
        }))
    }

    /// The sockets, to wait for packets.
    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.sockets.iter().flat_map(|(_, sockets)| sockets.descriptors()).collect()
    }

    /// The next packet that has arrived at a host, with its bytes from the common header on.
    pub(super) fn receive(&mut self) -> std::io::Result<Option<(usize, Packet, &[u8])>> {
        for position in 0..self.sockets.len() {
            let (host, sockets) = &self.sockets[position];
            if let Some((packet, range)) = sockets.receive(&mut self.buffer)? {
                return Ok(Some((*host, packet, &self.buffer[range])));
            }
        }
        Ok(None)
    }

    /// The packets that the sockets have dropped.
    pub(super) fn dropped(&self) -> Result<u64> {
        self.sockets.iter().map(|(_, sockets)| sockets.dropped()).sum()
    }
}

/// How the packets of `flow` are carried at `host`; `None` if it is not SCTP.
fn carrier(flow: &Flow, host: usize) -> Option<SctpCarrier> {
    let sctp = flow.protocol.sctp()?;
    let config = if flow.from.host == host { &sctp.ends.from } else { &sctp.ends.to };
    Some(SctpCarrier::of(config.encapsulation))
}
