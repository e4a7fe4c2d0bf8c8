//! Packets of the stack as bytes, on the device of their path.

use std::collections::BTreeSet;
use std::net::IpAddr;

use subflow_quantity::Instant;
use subflow_transport::edge::set_payload_sum;
use subflow_transport::{EndpointId, Host, blank_packet};
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Packet, PayloadBytes};

use crate::Path;
use crate::stream_buffer::StreamBuffer;

/// Writes packets and chooses their device by their source address.
#[derive(Debug)]
pub(crate) struct Transmitter {
    paths: Vec<Path>,
    /// Addresses that are not usable now.
    down: BTreeSet<IpAddr>,
    packet: Packet,
    identification: u16,
    payload: Vec<u8>,
    bytes: Vec<u8>,
    /// Packets that a device did not accept.
    pub(crate) refused: u64,
}

impl Transmitter {
    pub(crate) fn new(paths: Vec<Path>) -> Self {
        Self {
            paths,
            down: BTreeSet::new(),
            packet: blank_packet(),
            identification: 0,
            payload: Vec::new(),
            bytes: Vec::new(),
            refused: 0,
        }
    }

    /// The addresses that are usable, in the order of the paths.
    pub(crate) fn local_addresses(&self) -> Vec<IpAddr> {
        let all = self.paths.iter().flat_map(|path| path.addresses.iter());
        all.filter(|address| !self.down.contains(address)).copied().collect()
    }

    /// The addresses of a path.
    pub(crate) fn addresses_of(&self, path: usize) -> Vec<IpAddr> {
        self.paths.get(path).map_or_else(Vec::new, |path| path.addresses.clone())
    }

    /// Sets whether an address is usable. Returns whether that is a change of one of ours.
    pub(crate) fn set_up(&mut self, address: IpAddr, up: bool) -> bool {
        let ours = self.paths.iter().any(|path| path.addresses.contains(&address));
        ours && if up { self.down.remove(&address) } else { self.down.insert(address) }
    }

    pub(crate) fn is_up(&self, address: IpAddr) -> bool {
        self.local_addresses().contains(&address)
    }

    /// The next packet of the endpoint `id`, which is to be passed to [`transmit`](Self::transmit).
    pub(crate) fn packet_from(&mut self, host: &mut Host, now: Instant, id: EndpointId) -> Option<Packet> {
        let mut packet = core::mem::replace(&mut self.packet, blank_packet());
        if host.poll_transmit_into(now, id, &mut packet) {
            return Some(packet);
        }
        self.packet = packet;
        None
    }

    /// Sends `packet` with its payload from `stream`.
    pub(crate) fn transmit(&mut self, mut packet: Packet, stream: Option<&StreamBuffer>) {
        let description = *packet.payload();
        self.payload.resize(description.length as usize, 0);
        if let Some(stream) = stream {
            stream.read(description.stream_offset, &mut self.payload);
        }
        set_payload_sum(&mut packet, ones_complement_sum(&self.payload));
        self.identification = self.identification.wrapping_add(1);
        self.bytes.clear();
        let written = packet.emit(PayloadBytes::Bytes(&self.payload), self.identification, &mut self.bytes);
        debug_assert!(written.is_ok(), "endpoints create only packets that can be written: {written:?}");
        let source = packet.ip.source;
        let path = self.paths.iter().find(|path| path.addresses.contains(&source));
        let sent = written.is_ok() && path.is_some_and(|path| matches!(path.device.send(&self.bytes), Ok(true)));
        self.refused += u64::from(!sent);
        self.packet = packet;
    }
}
