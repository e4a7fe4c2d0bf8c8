//! Echo requests and replies of ICMP (RFC 792, RFC 4443), which `ping` sends.
//!
//! The network moves TCP, UDP and SCTP. An echo message moves as a datagram of the same size: both headers take 8 bytes.
//! Its identifier is the port of the host that asks, as translators of addresses treat it (RFC 5508, section 3); the other
//! port is 0. Its bytes are passed on as they are.

use core::ops::Range;
use std::net::IpAddr;

use subflow_wire::checksum::{ones_complement_add, ones_complement_sum};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram};

/// The header of an echo message.
const HEADER_LENGTH: usize = 8;

/// Where the parts of an IP packet with an echo message are.
struct Layout {
    version_4: bool,
    /// Offsets of the source and destination address.
    addresses: [usize; 2],
    /// The ICMP message.
    message: Range<usize>,
}

impl Layout {
    /// `None` if `bytes` is no whole IP packet with an echo request or reply behind the IP header.
    fn of(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
        let (version_4, addresses, message, protocol) = match bytes.first()? >> 4 {
            // Fragments have an offset or More Fragments.
            4 if word(6)? & 0x3fff == 0 && bytes[0] & 15 >= 5 => {
                (true, [12, 16], usize::from(bytes[0] & 15) * 4..word(2)?, (*bytes.get(9)?, 1))
            }
            6 => (false, [8, 24], 40..40 + word(4)?, (*bytes.get(6)?, 58)),
            _ => return None,
        };
        let types: [u8; 2] = if version_4 { [8, 0] } else { [128, 129] };
        let (message_type, code) = (*bytes.get(message.start)?, *bytes.get(message.start + 1)?);
        let is_whole = message.len() >= HEADER_LENGTH && message.end <= bytes.len();
        let is_echo = protocol.0 == protocol.1 && types.contains(&message_type) && code == 0;
        (is_whole && is_echo).then_some(Self { version_4, addresses, message })
    }

    fn is_request(&self, bytes: &[u8]) -> bool {
        [8, 128].contains(&bytes[self.message.start])
    }

    fn address_length(&self) -> usize {
        if self.version_4 { 4 } else { 16 }
    }

    fn address(&self, bytes: &[u8], position: usize) -> IpAddr {
        let octets = &bytes[self.addresses[position]..][..self.address_length()];
        match <[u8; 4]>::try_from(octets) {
            Ok(octets) => octets.into(),
            Err(_) => <[u8; 16]>::try_from(octets).expect("an address of IPv6").into(),
        }
    }
}

/// The datagram as which the echo message in `bytes` moves, and the range of what is behind its header.
pub(crate) fn describe(bytes: &[u8]) -> Option<(Packet, Range<usize>)> {
    let layout = Layout::of(bytes)?;
    let (hop_limit, traffic_class) = match layout.version_4 {
        true => (bytes[8], bytes[1]),
        false => (bytes[7], bytes[0] << 4 | bytes[1] >> 4),
    };
    let [source, destination] = [0, 1].map(|position| layout.address(bytes, position));
    let ip = IpHeader {
        source,
        destination,
        hop_limit,
        dscp: Dscp::from_traffic_class(traffic_class),
        ecn: Ecn::from_traffic_class(traffic_class),
    };
    let payload = layout.message.start + HEADER_LENGTH..layout.message.end;
    let identifier = u16::from_be_bytes([bytes[layout.message.start + 4], bytes[layout.message.start + 5]]);
    let (source_port, destination_port) = if layout.is_request(bytes) { (identifier, 0) } else { (0, identifier) };
    let content = Payload { stream_offset: 0, length: payload.len() as u32, sum: 0 };
    let body = Body::Udp(UdpDatagram { source_port, destination_port, payload: content });
    Some((Packet { ip, body }, payload))
}

/// Whether `packet` is an echo message: one of its ports is 0, as of no datagram that our stack sends.
pub(crate) fn is_description(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Udp(datagram) if datagram.source_port == 0 || datagram.destination_port == 0)
}

/// The echo message in `bytes` after a translator has changed the datagram as which it moves: with the addresses and the
/// identifier of `packet`. `None` for other changes.
pub(crate) fn with_ends_of(packet: &Packet, bytes: &[u8]) -> Option<(Vec<u8>, Range<usize>)> {
    let layout = Layout::of(bytes)?;
    let Body::Udp(datagram) = &packet.body else { return None };
    let (IpAddr::V4(source), IpAddr::V4(destination), true) =
        (packet.ip.source, packet.ip.destination, layout.version_4)
    else {
        return None;
    };
    let mut changed = bytes.to_vec();
    let identifier = if layout.is_request(bytes) { datagram.source_port } else { datagram.destination_port };
    changed[12..16].copy_from_slice(&source.octets());
    changed[16..20].copy_from_slice(&destination.octets());
    let header = 0..layout.message.start;
    set_checksum(&mut changed[header], 10);
    changed[layout.message.start + 4..][..2].copy_from_slice(&identifier.to_be_bytes());
    set_checksum(&mut changed[layout.message.clone()], 2);
    let payload = layout.message.start + HEADER_LENGTH..layout.message.end;
    Some((changed, payload))
}

/// The reply to the echo request in `bytes`; `None` if it is no request.
pub(crate) fn reply(bytes: &[u8]) -> Option<Vec<u8>> {
    let layout = Layout::of(bytes).filter(|layout| layout.is_request(bytes))?;
    let mut reply = bytes[..layout.message.end].to_vec();
    let [source, destination] = layout.addresses;
    for offset in 0..layout.address_length() {
        reply.swap(source + offset, destination + offset);
    }
    let start = layout.message.start;
    reply[start] = if layout.version_4 { 0 } else { 129 };
    // Addresses that change places leave the sum of a pseudo header alone; the type is the first byte of a word.
    let before = u16::from_be_bytes([bytes[start + 2], bytes[start + 3]]);
    let changed = ones_complement_add(u16::from(reply[start]) << 8, !(u16::from(bytes[start]) << 8));
    let checksum = !ones_complement_add(!before, changed);
    reply[start + 2..start + 4].copy_from_slice(&checksum.to_be_bytes());
    Some(reply)
}

/// Sets the checksum at `offset` over `bytes`.
fn set_checksum(bytes: &mut [u8], offset: usize) {
    bytes[offset..offset + 2].fill(0);
    let checksum = !ones_complement_sum(bytes);
    bytes[offset..offset + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ping -s 4` from 10.0.0.1 to 10.0.0.2 with identifier 0x1234.
    fn request() -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 32, 0, 1, 0x40, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([8, 0, 0, 0, 0x12, 0x34, 0, 7, 1, 2, 3, 4]);
        set_checksum(&mut bytes[..20], 10);
        set_checksum(&mut bytes[20..], 2);
        bytes
    }

    fn ends(packet: &Packet) -> (IpAddr, u16, IpAddr, u16) {
        let Body::Udp(datagram) = &packet.body else { panic!("{packet:?}") };
        (packet.ip.source, datagram.source_port, packet.ip.destination, datagram.destination_port)
    }

    #[test]
    fn an_echo_message_moves_as_a_datagram_of_its_size() {
        let (packet, payload) = describe(&request()).expect("an echo request");
        assert_eq!(packet.wire_length(), 32);
        assert!(is_description(&packet));
        assert_eq!(&request()[payload], [1, 2, 3, 4]);
        assert_eq!(ends(&packet), ([10, 0, 0, 1].into(), 0x1234, [10, 0, 0, 2].into(), 0));
    }

    #[test]
    fn a_reply_goes_back_with_a_right_checksum() {
        let reply_bytes = reply(&request()).expect("a reply");
        let (packet, payload) = describe(&reply_bytes).expect("an echo reply");
        assert_eq!(ends(&packet), ([10, 0, 0, 2].into(), 0, [10, 0, 0, 1].into(), 0x1234));
        assert_eq!(&reply_bytes[payload], [1, 2, 3, 4]);
        assert_eq!(ones_complement_sum(&reply_bytes[20..]), 0xffff);
        assert_eq!(reply(&reply_bytes), None);
    }

    #[test]
    fn a_translated_message_has_another_address_and_identifier() {
        let (mut packet, _) = describe(&request()).expect("an echo request");
        packet.ip.source = [100, 64, 0, 1].into();
        if let Body::Udp(datagram) = &mut packet.body {
            datagram.source_port = 1024;
        }
        let (bytes, _) = with_ends_of(&packet, &request()).expect("it can be written");
        assert_eq!(describe(&bytes).map(|(packet, _)| ends(&packet)), Some(ends(&packet)));
        assert_eq!([&bytes[..20], &bytes[20..]].map(ones_complement_sum), [0xffff; 2]);
    }

    #[test]
    fn other_messages_and_fragments_are_none() {
        // A header shorter than an address.
        assert_eq!(describe(&[0x41, 0, 0, 12, 8, 0, 0, 0, 64, 1, 0, 0]), None);
        let changed = |at: usize, value: u8| {
            let mut bytes = request();
            bytes[at] = value;
            describe(&bytes).is_some()
        };
        assert!(describe(&request()).is_some());
        assert!(!changed(20, 3) && !changed(21, 1) && !changed(9, 17) && !changed(6, 0x20) && !changed(3, 33));
        assert!((0..32).all(|length| describe(&request()[..length]).is_none()), "what is cut off");
    }
}
