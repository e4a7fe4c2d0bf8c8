//! Packets of the stack as bytes, on the device of their path.

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
    paths: Vec<PathState>,
    packet: Packet,
    identification: u16,
    payload: Vec<u8>,
    bytes: Vec<u8>,
    /// Packets that a device did not accept.
    pub(crate) refused: u64,
}

#[derive(Debug)]
struct PathState {
    path: Path,
    up: bool,
}

impl Transmitter {
    pub(crate) fn new(paths: Vec<Path>) -> Self {
        let paths = paths.into_iter().map(|path| PathState { path, up: true }).collect();
        Self { paths, packet: blank_packet(), identification: 0, payload: Vec::new(), bytes: Vec::new(), refused: 0 }
    }

    /// The addresses of the paths that are up, in the order of the paths.
    pub(crate) fn local_addresses(&self) -> Vec<IpAddr> {
        let up = self.paths.iter().filter(|state| state.up);
        up.flat_map(|state| state.path.addresses.iter().copied()).collect()
    }

    /// Sets whether a path is up. Returns its addresses if it was not so before.
    pub(crate) fn set_up(&mut self, path: usize, up: bool) -> Option<Vec<IpAddr>> {
        let state = self.paths.get_mut(path).filter(|state| state.up != up)?;
        state.up = up;
        Some(state.path.addresses.clone())
    }

    pub(crate) fn is_up(&self, path: usize) -> bool {
        self.paths.get(path).is_some_and(|state| state.up)
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
        let path = self.paths.iter().find(|state| state.path.addresses.contains(&source));
        let sent = written.is_ok() && path.is_some_and(|state| matches!(state.path.device.send(&self.bytes), Ok(true)));
        self.refused += u64::from(!sent);
        self.packet = packet;
    }
}
