//! A packet without what tells who sent it and what it says: other addresses, no payload.

use std::net::IpAddr;

use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::sctp::{UDP_ENCAPSULATION_PORT, chunk_type};
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};

use super::prefix::PrefixPreserving;
use crate::packet::IpPacket;
use crate::sctp::{COMMON_HEADER, DATA_HEADER, I_DATA, I_DATA_HEADER};

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
        let &IpPacket { bytes, header_length, protocol, length, .. } = packet;
        let mut written = Self { map, bytes: bytes.to_vec(), header_length };
        written.addresses()?;
        written.network_options();
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

    /// The same of what may have been cut: the first bytes of an address are erased.
    fn address_or_nothing(&mut self, at: usize, length: usize) {
        if self.address(at, length).is_none() {
            let begin = self.bytes.len().min(at);
            self.bytes[begin..].fill(0);
        }
    }

    /// Erases the options of IPv4, such as a recorded route, and the content of extension headers of IPv6.
    fn network_options(&mut self) {
        const NO_OPERATION: u8 = 1;
        if self.is_v4() {
            self.bytes[20..self.header_length].fill(NO_OPERATION);
            return;
        }
        let mut at = 40;
        while at < self.header_length {
            let end = at + (usize::from(self.bytes[at + 1]) + 1) * 8;
            // Next header and length stay; zeros are padding (RFC 8200, section 4.2).
            self.bytes[at + 2..end].fill(0);
            at = end;
        }
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
        const HMAC_LENGTH: usize = 8;
        /// MSS, window scale, SACK-permitted, SACK, timestamps.
        const FIGURES: [u8; 5] = [2, 3, 4, 5, 8];
        while let Some(&kind) = self.bytes.get(at) {
            match (kind, self.bytes.get(at + 1).map(|&length| usize::from(length))) {
                (END, _) => {
                    self.bytes[at..].fill(0);
                    return;
                }
                (NO_OPERATION, _) => at += 1,
                (MPTCP, Some(length @ 3..)) => {
                    if self.bytes.get(at + 2).is_some_and(|subtype| subtype >> 4 == ADD_ADDR) && length >= 8 {
                        // With a port and an HMAC it is longer; an IPv6 address takes 12 bytes more.
                        let is_v6 = matches!(length, 20 | 22 | 28 | 30);
                        self.address_or_nothing(at + 4, if is_v6 { 16 } else { 4 });
                        // The keys are in the capture: the HMAC of the address would tell which one it was.
                        if matches!(length, 16 | 18 | 28 | 30) {
                            let [begin, end] = [length - HMAC_LENGTH, length].map(|to| self.bytes.len().min(at + to));
                            self.bytes[begin..end].fill(0);
                        }
                    }
                    at += length;
                }
                (kind, Some(length @ 2..)) if FIGURES.contains(&kind) => at += length,
                (_, Some(length @ 2..)) => {
                    let end = self.bytes.len().min(at + length);
                    self.bytes[(at + 2).min(end)..end].fill(0);
                    at += length;
                }
                // Without a length that is valid, nothing tells what follows.
                _ => {
                    let begin = self.bytes.len().min(at + 2);
                    self.bytes[begin..].fill(0);
                    return;
                }
            }
        }
    }

    fn udp(&mut self, length: usize) -> Option<()> {
        let start = self.header_length;
        let port = |at: usize| Some(u16::from_be_bytes([*self.bytes.get(at)?, *self.bytes.get(at + 1)?]));
        let has_sctp = [port(start)?, port(start + 2)?].contains(&UDP_ENCAPSULATION_PORT);
        let (packet, packet_length) = (start + UDP_HEADER, length.saturating_sub(UDP_HEADER));
        if has_sctp && self.has_chunk(packet, packet_length) {
            self.sctp(packet, packet_length);
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

    /// Whether the first chunk of an SCTP packet ends within it: other datagrams may have the port, too.
    fn has_chunk(&self, start: usize, length: usize) -> bool {
        let header = self.bytes.get(start + COMMON_HEADER..).and_then(|rest| rest.first_chunk::<4>());
        header.is_some_and(|&[_, _, high, low]| {
            let chunk = usize::from(u16::from_be_bytes([high, low]));
            chunk >= 4 && COMMON_HEADER + chunk <= length
        })
    }

    /// SCTP keeps its length: chunks of data stand between others. What is no chunk is erased.
    fn sctp(&mut self, start: usize, length: usize) {
        let mut at = start + COMMON_HEADER;
        while let Some(&[kind, _, high, low]) = self.bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let chunk = usize::from(u16::from_be_bytes([high, low]));
            if chunk < 4 {
                break;
            }
            let end = self.bytes.len().min(at + chunk);
            match kind {
                chunk_type::DATA => self.bytes[(at + DATA_HEADER).min(end)..end].fill(0),
                I_DATA => self.bytes[(at + I_DATA_HEADER).min(end)..end].fill(0),
                chunk_type::INIT | chunk_type::INIT_ACK => self.parameters((at + 20).min(end), end),
                chunk_type::SACK | chunk_type::NR_SACK | chunk_type::SHUTDOWN | chunk_type::SHUTDOWN_ACK => {}
                _ => self.bytes[at + 4..end].fill(0),
            }
            at += chunk.next_multiple_of(4);
            let padded = self.bytes.len().min(at);
            self.bytes[end..padded].fill(0);
        }
        let rest = self.bytes.len().min(at);
        self.bytes[rest..].fill(0);
        // That of the original packet would tell whether a guess of its content is right.
        let [begin, end] = [start + 8, start + COMMON_HEADER].map(|at| self.bytes.len().min(at));
        self.bytes[begin..end].fill(0);
        if self.bytes.len() >= start + length && length >= COMMON_HEADER {
            let checksum = crc32c::crc32c(&self.bytes[start..start + length]);
            self.bytes[start + 8..start + COMMON_HEADER].copy_from_slice(&checksum.to_le_bytes());
        }
    }

    /// Replaces the addresses among the parameters of INIT and INIT ACK; all else in them is erased.
    fn parameters(&mut self, mut at: usize, end: usize) {
        const IPV4_ADDRESS: u16 = 5;
        const IPV6_ADDRESS: u16 = 6;
        while let Some(&[high, low, long, short]) = self.bytes[..end].get(at..).and_then(|rest| rest.first_chunk()) {
            let length = usize::from(u16::from_be_bytes([long, short]));
            if length < 4 {
                break;
            }
            match (u16::from_be_bytes([high, low]), length) {
                (IPV4_ADDRESS, 8) => self.address_or_nothing(at + 4, 4),
                (IPV6_ADDRESS, 20) => self.address_or_nothing(at + 4, 16),
                _ => {
                    let stop = end.min(at + length.next_multiple_of(4));
                    self.bytes[at + 4..stop].fill(0);
                }
            }
            at += length.next_multiple_of(4);
        }
        self.bytes[at.min(end)..end].fill(0);
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

#[cfg(test)]
mod tests {
    use super::super::prefix::KEY_LENGTH;
    use super::*;
    use crate::capture::Record;
    use crate::packet::innermost;

    fn rewritten(packet: &[u8]) -> Vec<u8> {
        let record = Record { time: 0, link_type: 101, original_length: packet.len() as u32, bytes: packet };
        let mut map = PrefixPreserving::new(&[7; KEY_LENGTH]);
        let packet = innermost(&record).expect("its headers are there");
        Rewritten::packet(&mut map, &packet).expect("its transport is known")
    }

    /// A packet of IPv4 without its last `cut` bytes.
    fn packet(protocol: u8, options: &[u8], body: &[u8], cut: usize) -> Vec<u8> {
        let first = 0x45 + (options.len() / 4) as u8;
        let total = (20 + options.len() + body.len()) as u8;
        let mut packet = vec![first, 0, 0, total, 0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend_from_slice(options);
        packet.extend_from_slice(body);
        packet.truncate(usize::from(total) - cut);
        packet
    }

    #[test]
    fn add_addr_keeps_no_hmac_of_its_address() {
        let options = [30, 16, 0x30, 1, 10, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8];
        let header = [0x9c, 0x40, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x90, 16, 0xff, 0xff, 0, 0, 0, 0];
        let written = rewritten(&packet(6, &[], &[&header[..], &options].concat(), 0));
        assert_eq!(written[40..44], [30, 16, 0x30, 1]);
        assert_ne!(written[44..48], [10, 0, 0, 9]);
        assert_eq!(written[48..56], [0; 8]);
    }

    fn sctp(chunks: &[u8]) -> Vec<u8> {
        [&[0x0f, 0xa0, 0, 80, 0, 0, 0, 7, 9, 9, 9, 9][..], chunks].concat()
    }

    /// RFC 9260, section 3.3.1, and RFC 8260, section 2.1.
    #[test]
    fn chunks_of_data_keep_their_headers() {
        for (kind, header) in [(0, 16), (64, 20)] {
            let chunk: Vec<u8> = [kind, 3, 0, 24].into_iter().chain(1..21).collect();
            let written = rewritten(&packet(PROTOCOL_SCTP, &[], &sctp(&chunk), 0));
            let (head, rest) = written[32..].split_at(header);
            assert_eq!((head, rest), (&chunk[..header], &vec![0_u8; 24 - header][..]));
        }
    }

    #[test]
    fn what_is_no_chunk_of_sctp_is_erased() {
        for (chunks, kept) in [
            (&b"\x00\x00\x00\x03a secret"[..], &b""[..]),
            (&b"\x0b\x00\x00\x04abc"[..], &b"\x0b\x00\x00\x04"[..]),
            (&b"\x0b\x00\x00\x05abcd"[..], &b"\x0b\x00\x00\x05"[..]),
        ] {
            let written = rewritten(&packet(PROTOCOL_SCTP, &[], &sctp(chunks), 0));
            let (head, rest) = written[32..].split_at(kept.len());
            assert_eq!((head, rest), (kept, &vec![0_u8; chunks.len() - kept.len()][..]));
        }
    }

    #[test]
    fn a_packet_of_sctp_that_was_cut_has_no_checksum() {
        let mut data = vec![0_u8, 3, 0, 40];
        data.resize(40, 5);
        let whole = rewritten(&packet(PROTOCOL_SCTP, &[], &sctp(&data), 0));
        assert!(whole[28..32] != [9_u8; 4] && whole[28..32] != [0_u8; 4]);
        let cut = rewritten(&packet(PROTOCOL_SCTP, &[], &sctp(&data), 10));
        assert_eq!((&cut[28..32], cut.len()), (&[0_u8; 4][..], whole.len() - 10));
    }

    #[test]
    fn datagrams_of_the_port_of_sctp_that_are_none_lose_their_payload() {
        let udp = |payload: &[u8]| {
            let body = [&[0x26, 0xab, 0x26, 0xab, 0, 8 + payload.len() as u8, 9, 9][..], payload].concat();
            rewritten(&packet(PROTOCOL_UDP, &[], &body, 0)).len()
        };
        assert_eq!(udp(b"the content of the mail"), 28);
        assert_eq!(udp(&sctp(&[11, 0, 0, 4])), 44);
    }

    #[test]
    fn options_of_ip_are_erased() {
        let udp = [0_u8, 1, 0, 2, 0, 8, 0, 0];
        let written = rewritten(&packet(PROTOCOL_UDP, &[7, 7, 8, 10, 9, 9, 9, 0], &udp, 0));
        assert_eq!(written[20..28], [1_u8; 8]);
        assert_eq!(ones_complement_sum(&written[..28]), 0xffff);
        let mut packet = vec![0x60_u8, 0, 0, 0, 0, 24, 0, 64];
        packet.resize(40, 3);
        packet.extend([PROTOCOL_UDP, 1]);
        packet.resize(56, 9);
        packet.extend(udp);
        let written = rewritten(&packet);
        assert_eq!((&written[40..42], &written[42..56]), (&[PROTOCOL_UDP, 1][..], &[0_u8; 14][..]));
    }

    #[test]
    fn nothing_stays_behind_the_last_option_of_tcp() {
        for (options, kept) in [
            ([1_u8, 0, 9, 9, 9, 9, 9, 9], [1_u8, 0, 0, 0, 0, 0, 0, 0]),
            ([1, 99, 1, 9, 9, 9, 9, 9], [1, 99, 1, 0, 0, 0, 0, 0]),
            // An ADD_ADDR whose address is cut.
            ([30, 8, 0x31, 1, 9, 9, 9, 9], [30, 8, 0x31, 1, 0, 0, 0, 0]),
        ] {
            let header = [0x9c_u8, 0x40, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x70, 16, 255, 255, 0, 0, 0, 0];
            let cut = usize::from(options[0] == 30);
            let written = rewritten(&packet(PROTOCOL_TCP, &[], &[&header[..], &options[..]].concat(), cut));
            assert_eq!(written[40..], kept[..8 - cut]);
        }
    }
}
