//! The bytes between script and stack: packets pass as they would on a wire, with checksums, and what cannot be written
//! as bytes cannot pass.

use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Body, Packet, PayloadBytes};

use super::quic;

/// Something that arrives, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    pub(crate) bytes: Vec<u8>,
    /// Whether its checksum is wrong on purpose.
    pub(crate) corrupt: bool,
}

/// A packet of the peer, and what a typed packet cannot say of it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) packet: Packet,
    /// One's-complement sum that the payload of a TCP segment has.
    pub(crate) payload_sum: u16,
    /// Raw bytes of TCP options behind the others; a multiple of 4.
    pub(crate) options: Vec<u8>,
    /// Whether its checksum is wrong.
    pub(crate) corrupt: bool,
}

/// Where IPv4 and TCP have what has to change when a header grows.
const TOTAL_LENGTH: usize = 2;
const IP_CHECKSUM: usize = 10;
const IP_HEADER: usize = 20;
const DATA_OFFSET: usize = IP_HEADER + 12;
const TCP_CHECKSUM: usize = IP_HEADER + 16;

impl Arrival {
    /// The packet as bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn on_the_wire(&self) -> Result<Arriving, String> {
        let mut bytes = self.bytes()?;
        if self.corrupt {
            let last = bytes.len() - 1;
            bytes[last] ^= 0x10;
        }
        Ok(Arriving { bytes, corrupt: self.corrupt })
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let mut payload = vec![0; self.packet.payload().length as usize];
        if let Some(first) = payload.get_mut(..2) {
            first.copy_from_slice(&self.payload_sum.to_be_bytes());
        }
        let payload = if self.payload_sum == 0 { PayloadBytes::Zero } else { PayloadBytes::Bytes(&payload) };
        let mut bytes = Vec::new();
        self.packet.emit(payload, 0, &mut bytes).map_err(|error| error.to_string())?;
        if !self.options.is_empty() {
            self.insert_options(&mut bytes)?;
        }
        Ok(bytes)
    }

    fn insert_options(&self, bytes: &mut Vec<u8>) -> Result<(), String> {
        if !self.packet.ip.source.is_ipv4() {
            return Err("raw options are supported with IPv4 only".to_owned());
        }
        let header = usize::from(bytes[DATA_OFFSET] >> 4) * 4;
        let longer = header + self.options.len();
        if !self.options.len().is_multiple_of(4) || longer > 60 {
            return Err("raw options take a multiple of 4 bytes, and 40 with all others at most".to_owned());
        }
        let behind = bytes.split_off(IP_HEADER + header);
        bytes.extend_from_slice(&self.options);
        bytes.extend_from_slice(&behind);
        bytes[DATA_OFFSET] = (longer as u8 / 4) << 4;
        let total = bytes.len() as u16;
        bytes[TOTAL_LENGTH..][..2].copy_from_slice(&total.to_be_bytes());
        bytes[IP_CHECKSUM..][..2].fill(0);
        let sum = ones_complement_sum(&bytes[..IP_HEADER]);
        bytes[IP_CHECKSUM..][..2].copy_from_slice(&(!sum).to_be_bytes());
        bytes[TCP_CHECKSUM..][..2].fill(0);
        let mut covered = bytes[12..IP_HEADER].to_vec();
        covered.extend_from_slice(&[0, 6]);
        covered.extend_from_slice(&(total - IP_HEADER as u16).to_be_bytes());
        covered.extend_from_slice(&bytes[IP_HEADER..]);
        bytes[TCP_CHECKSUM..][..2].copy_from_slice(&(!ones_complement_sum(&covered)).to_be_bytes());
        Ok(())
    }
}

/// A packet that left the stack, as a peer gets it.
///
/// # Errors
///
/// If the stack made a packet that cannot be written.
pub(crate) fn parse(packet: &Packet) -> Result<Packet, String> {
    let mut bytes = Vec::new();
    packet.emit(PayloadBytes::Zero, 0, &mut bytes).map_err(|error| error.to_string())?;
    let (parsed, payload) = Packet::parse(&bytes).map_err(|error| error.to_string())?;
    match &packet.body {
        Body::Quic(datagram) => quic::parse(parsed, &bytes[payload], quic::id_length(datagram)),
        _ => Ok(parsed),
    }
}
