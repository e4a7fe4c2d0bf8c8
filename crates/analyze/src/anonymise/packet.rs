//! A packet without what tells who sent it and what it says: other addresses, no payload.

use std::net::IpAddr;

use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::sctp::{UDP_ENCAPSULATION_PORT, chunk_type};
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};

use super::prefix::PrefixPreserving;
use crate::packet::IpPacket;

const COMMON_HEADER: usize = 12;
const UDP_HEADER: usize = 8;

/// A packet that is being written: the IP header, and where it ends.
pub(super) struct Rewritten<'a> {
    map: &'a mut PrefixPreserving,
    bytes: Vec<u8>,
    header_length: usize,
}

impl<'a> Rewritten<'a> {
    /// The packet rewritten; `None` if it has no transport that is known, or not its headers.
    pub(super) fn packet(map: &'a mut PrefixPreserving, packet: &IpPacket<'_>) -> Option<Vec<u8>> {
        let &IpPacket { bytes, header_length, protocol, length } = packet;
        let mut written = Self { map, bytes: bytes.to_vec(), header_length };
        written.addresses()?;
        match protocol {
            PROTOCOL_TCP => written.tcp(length)?,
            PROTOCOL_UDP => written.udp(length)?,
            PROTOCOL_SCTP => written.sctp(header_length, length),
            _ => return None,
        }
        written.header_checksum();
        Some(written.bytes)
    }

    fn is_v4(&self) -> bool {
        self.bytes[0] >> 4 == 4
    }

    /// Replaces the addresses of the IP header.
    fn addresses(&mut self) -> Option<()> {
        let places = if self.is_v4() { [(12, 4), (16, 4)] } else { [(8, 16), (24, 16)] };
        places.into_iter().try_for_each(|(at, length)| self.address(at, length))
    }

    /// Replaces the address of 4 or 16 bytes at an offset.
    fn address(&mut self, at: usize, length: usize) -> Option<()> {
        let place = self.bytes.get_mut(at..at + length)?;
        let address = match length {
            4 => IpAddr::from(<[u8; 4]>::try_from(&*place).ok()?),
            _ => IpAddr::from(<[u8; 16]>::try_from(&*place).ok()?),
        };
        match self.map.address(address) {
            IpAddr::V4(image) => place.copy_from_slice(&image.octets()),
            IpAddr::V6(image) => place.copy_from_slice(&image.octets()),
        }
        Some(())
    }

    fn tcp(&mut self, length: usize) -> Option<()> {
        let start = self.header_length;
        let end = start + usize::from(self.bytes.get(start + 12)? >> 4) * 4;
        if end < start + 20 {
            return None;
        }
        self.bytes.truncate(end.min(start + length));
        self.tcp_options(start + 20);
        self.transport_checksum(start + 16, PROTOCOL_TCP, length);
        Some(())
    }

    /// Options that are none of a transport's figures lose their content; ADD_ADDR has an address.
    fn tcp_options(&mut self, mut at: usize) {
        const END: u8 = 0;
        const NO_OPERATION: u8 = 1;
        const MPTCP: u8 = 30;
        const ADD_ADDR: u8 = 3;
        /// MSS, window scale, SACK-permitted, SACK, timestamps.
        const FIGURES: [u8; 5] = [2, 3, 4, 5, 8];
        while let Some(&kind) = self.bytes.get(at) {
            match (kind, self.bytes.get(at + 1).map(|&length| usize::from(length))) {
                (END, _) => return,
                (NO_OPERATION, _) => at += 1,
                (MPTCP, Some(length @ 3..)) => {
                    if self.bytes.get(at + 2).is_some_and(|subtype| subtype >> 4 == ADD_ADDR) && length >= 8 {
                        // With a port and an HMAC it is longer; an IPv6 address takes 12 bytes more.
                        let is_v6 = matches!(length, 20 | 22 | 28 | 30);
                        self.address(at + 4, if is_v6 { 16 } else { 4 });
                    }
                    at += length;
                }
                (kind, Some(length @ 2..)) if FIGURES.contains(&kind) => at += length,
                (_, Some(length @ 2..)) => {
                    let end = self.bytes.len().min(at + length);
                    self.bytes[(at + 2).min(end)..end].fill(0);
                    at += length;
                }
                _ => return,
            }
        }
    }

    fn udp(&mut self, length: usize) -> Option<()> {
        let start = self.header_length;
        let port = |at: usize| Some(u16::from_be_bytes([*self.bytes.get(at)?, *self.bytes.get(at + 1)?]));
        let has_sctp = [port(start)?, port(start + 2)?].contains(&UDP_ENCAPSULATION_PORT);
        if has_sctp && self.bytes.len() >= start + UDP_HEADER + COMMON_HEADER {
            self.sctp(start + UDP_HEADER, length.saturating_sub(UDP_HEADER));
            // 0 is none (RFC 6951, section 5.3 leaves it to the CRC32c).
            self.bytes[start + 6..start + UDP_HEADER].fill(0);
            return Some(());
        }
        self.bytes.truncate(start + UDP_HEADER);
        if self.bytes.len() < start + UDP_HEADER {
            return None;
        }
        self.transport_checksum(start + 6, PROTOCOL_UDP, length);
        Some(())
    }

    /// SCTP keeps its length: chunks of data stand between others.
    fn sctp(&mut self, start: usize, length: usize) {
        let mut at = start + COMMON_HEADER;
        while let Some(&[kind, _, high, low]) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let chunk = usize::from(u16::from_be_bytes([high, low]));
            if chunk < 4 {
                break;
            }
            let end = self.bytes.len().min(at + chunk);
            match kind {
                chunk_type::DATA => self.bytes[(at + 16).min(end)..end].fill(0),
                chunk_type::INIT | chunk_type::INIT_ACK => self.parameters((at + 20).min(end), end),
                chunk_type::SACK | chunk_type::NR_SACK | chunk_type::SHUTDOWN | chunk_type::SHUTDOWN_ACK => {}
                _ => self.bytes[at + 4..end].fill(0),
            }
            at += chunk.next_multiple_of(4);
        }
        if self.bytes.len() >= start + length && length >= COMMON_HEADER {
            self.bytes[start + 8..start + COMMON_HEADER].fill(0);
            let checksum = crc32c::crc32c(&self.bytes[start..start + length]);
            self.bytes[start + 8..start + COMMON_HEADER].copy_from_slice(&checksum.to_le_bytes());
        }
    }

    /// Replaces the addresses among the parameters of INIT and INIT ACK; all else in them is erased.
    fn parameters(&mut self, mut at: usize, end: usize) {
        const IPV4_ADDRESS: u16 = 5;
        const IPV6_ADDRESS: u16 = 6;
        while let Some(&[high, low, long, short]) = self.bytes[..end].get(at..).and_then(|rest| rest.first_chunk()) {
            let length = usize::from(u16::from_be_bytes([long, short])).max(4);
            match (u16::from_be_bytes([high, low]), length) {
                (IPV4_ADDRESS, 8) => drop(self.address(at + 4, 4)),
                (IPV6_ADDRESS, 20) => drop(self.address(at + 4, 16)),
                _ => {
                    let stop = end.min(at + length);
                    self.bytes[at + 4..stop].fill(0);
                }
            }
            at += length.next_multiple_of(4);
        }
    }

    /// The checksum of a transport whose payload is `0` throughout: nothing of the payload is in it.
    fn transport_checksum(&mut self, at: usize, protocol: u8, length: usize) {
        if at + 2 > self.bytes.len() {
            return;
        }
        self.bytes[at..at + 2].fill(0);
        let addresses = if self.is_v4() { 12..20 } else { 8..40 };
        let mut covered = self.bytes[addresses].to_vec();
        covered.extend((length as u32).to_be_bytes());
        covered.extend([0, 0, 0, protocol]);
        covered.extend(&self.bytes[self.header_length..]);
        let checksum = match !ones_complement_sum(&covered) {
            0 if protocol == PROTOCOL_UDP => 0xffff,
            checksum => checksum,
        };
        self.bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    fn header_checksum(&mut self) {
        if self.is_v4() {
            self.bytes[10..12].fill(0);
            let checksum = !ones_complement_sum(&self.bytes[..self.header_length]);
            self.bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
    }
}
