//! From a frame of a link to the IP packet in it, also through VLAN tags, MPLS labels, PPP and tunnels (GRE, PPTP, VXLAN,
//! Geneve, GTP-U).
//!
//! Link types are those of tcpdump.org's list. What a frame or tunnel carries that is not IP is left out and counted.

/// What a packet is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// Its link type is not read: the number of it.
    LinkType(u16),
    /// It is not IP: ARP, LLDP and the like.
    NotIp,
    /// IP with another protocol than TCP, SCTP and UDP: the number of it. ICMP is 1, and 58 with IPv6.
    Protocol(u8),
    /// A fragment, of which others were not captured.
    Fragment,
    /// Headers were not captured whole.
    Cut,
    /// A length or version field is wrong.
    Malformed,
}

mod link_type {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const PPP: u16 = 9;
    pub(super) const RAW_OF_BSD: u16 = 12;
    pub(super) const RAW_OF_OPENBSD: u16 = 14;
    pub(super) const PPP_HDLC: u16 = 50;
    pub(super) const RAW: u16 = 101;
    pub(super) const CISCO_HDLC: u16 = 104;
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_COOKED: u16 = 113;
    pub(super) const IPV4: u16 = 228;
    pub(super) const IPV6: u16 = 229;
    pub(super) const NFLOG: u16 = 239;
    pub(super) const LINUX_COOKED_V2: u16 = 276;
}

mod ether_type {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
    pub(super) const VLAN: u16 = 0x8100;
    pub(super) const SERVICE_VLAN: u16 = 0x88a8;
    pub(super) const OLD_SERVICE_VLAN: u16 = 0x9100;
    pub(super) const MPLS: u16 = 0x8847;
    /// With a label that the receiver has assigned (RFC 5332).
    pub(super) const MPLS_UPSTREAM: u16 = 0x8848;
    pub(super) const PPPOE: u16 = 0x8864;
    pub(super) const PPP: u16 = 0x880b;
    pub(super) const BRIDGED_ETHERNET: u16 = 0x6558;
    /// What a cache is sent instead of a server (Cisco's WCCP).
    pub(super) const REDIRECTED: u16 = 0x883e;
}

/// `AF_INET`, and `AF_INET6` of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
const FAMILIES: [u32; 6] = [2, 10, 23, 24, 28, 30];

/// The IP packet in a frame.
pub(crate) fn ip_packet(link_type: u16, frame: &[u8]) -> Result<&[u8], Unread> {
    match link_type {
        link_type::ETHERNET => ethernet(frame),
        link_type::RAW | link_type::RAW_OF_BSD | link_type::RAW_OF_OPENBSD | link_type::IPV4 | link_type::IPV6 => {
            Ok(frame)
        }
        link_type::NULL | link_type::LOOP => family(frame),
        link_type::LINUX_COOKED => of_type(short(frame, 14)?, frame.get(16..).ok_or(Unread::Cut)?),
        link_type::LINUX_COOKED_V2 => of_type(short(frame, 0)?, frame.get(20..).ok_or(Unread::Cut)?),
        link_type::PPP | link_type::PPP_HDLC => ppp(frame),
        // Address and control, then an EtherType (RFC 1547, section 4.3.1).
        link_type::CISCO_HDLC => of_type(short(frame, 2)?, frame.get(4..).ok_or(Unread::Cut)?),
        link_type::NFLOG => nflog(frame),
        other => Err(Unread::LinkType(other)),
    }
}

/// PPP with or without address and control; the protocol field may be compressed to its last byte, which is odd as no
/// first byte is (RFC 1661, sections 2 and 6.5; RFC 1662, section 3.1).
fn ppp(frame: &[u8]) -> Result<&[u8], Unread> {
    const IPV4: u16 = 0x0021;
    const IPV6: u16 = 0x0057;
    const MPLS: u16 = 0x0281;
    const MPLS_UPSTREAM: u16 = 0x0283;
    let frame = frame.strip_prefix(&[0xff, 3]).unwrap_or(frame);
    let first = *frame.first().ok_or(Unread::Cut)?;
    let (protocol, length) = if first & 1 == 1 { (first.into(), 1) } else { (short(frame, 0)?, 2) };
    match protocol {
        IPV4 | IPV6 => Ok(&frame[length..]),
        MPLS | MPLS_UPSTREAM => in_mpls(&frame[length..]),
        _ => Err(Unread::NotIp),
    }
}

/// What is behind the labels of MPLS (RFC 3032, section 2.1), which do not say what it is: IP, whose first four bits are
/// its version, or a pseudowire of Ethernet, whose control word begins with four zeros (RFC 4385, section 3).
pub(crate) fn in_mpls(mut payload: &[u8]) -> Result<&[u8], Unread> {
    const IS_LAST: u8 = 1;
    const CONTROL_WORD: usize = 4;
    while let Some((&[_, _, label, _], rest)) = payload.split_first_chunk() {
        payload = rest;
        if label & IS_LAST != 0 {
            return match payload.first().map(|first| first >> 4) {
                Some(4 | 6) => Ok(payload),
                Some(0) => ethernet(payload.get(CONTROL_WORD..).ok_or(Unread::Cut)?),
                Some(_) => Err(Unread::NotIp),
                None => Err(Unread::Cut),
            };
        }
    }
    Err(Unread::Cut)
}

/// What netfilter logs: four bytes, then attributes of which one is the packet, with lengths in the byte order of the
/// machine that captured, which are at least 4 and far below 2^16.
fn nflog(frame: &[u8]) -> Result<&[u8], Unread> {
    const PAYLOAD: u16 = 9;
    let mut rest = frame.get(4..).ok_or(Unread::Cut)?;
    let is_big = rest.first_chunk::<2>().is_some_and(|&length| u16::from_be_bytes(length) < u16::from_le_bytes(length));
    let number = |pair: [u8; 2]| if is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
    while let Some(&[a, b, c, d]) = rest.first_chunk() {
        let (length, kind) = (usize::from(number([a, b])), number([c, d]));
        if length < 4 {
            return Err(Unread::Malformed);
        }
        if kind == PAYLOAD {
            return Ok(&rest[4..rest.len().min(length)]);
        }
        rest = rest.get(length.next_multiple_of(4)..).ok_or(Unread::Cut)?;
    }
    Err(Unread::NotIp)
}

fn ethernet(frame: &[u8]) -> Result<&[u8], Unread> {
    of_type(short(frame, 12)?, frame.get(14..).ok_or(Unread::Cut)?)
}

/// What follows an EtherType, with any number of VLAN tags before it.
fn of_type(mut ether_type: u16, mut payload: &[u8]) -> Result<&[u8], Unread> {
    while matches!(ether_type, ether_type::VLAN | ether_type::SERVICE_VLAN | ether_type::OLD_SERVICE_VLAN) {
        ether_type = short(payload, 2)?;
        payload = payload.get(4..).ok_or(Unread::Cut)?;
    }
    match ether_type {
        ether_type::IPV4 | ether_type::IPV6 => Ok(payload),
        ether_type::MPLS | ether_type::MPLS_UPSTREAM => in_mpls(payload),
        // Version, code, session and length (RFC 2516, section 4).
        ether_type::PPPOE => ppp(payload.get(6..).ok_or(Unread::Cut)?),
        _ => Err(Unread::NotIp),
    }
}

/// The header of the loopback link is a protocol family, in the byte order of the machine that captured.
fn family(frame: &[u8]) -> Result<&[u8], Unread> {
    let (&family, packet) = frame.split_first_chunk::<4>().ok_or(Unread::Cut)?;
    let is_ip = [u32::from_le_bytes(family), u32::from_be_bytes(family)].iter().any(|it| FAMILIES.contains(it));
    if is_ip { Ok(packet) } else { Err(Unread::NotIp) }
}

/// The IP packet in a GRE packet (RFC 2784, RFC 2890), also in that of PPTP (RFC 2637, section 4.1).
pub(crate) fn in_gre(packet: &[u8]) -> Result<&[u8], Unread> {
    const CHECKSUM_KEY_SEQUENCE: [u16; 3] = [0x8000, 0x2000, 0x1000];
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const VERSION: u16 = 0x0007;
    const PPTP_VERSION: u16 = 1;
    let (flags, protocol) = (short(packet, 0)?, short(packet, 2)?);
    let optional = CHECKSUM_KEY_SEQUENCE.iter().filter(|&&flag| flags & flag != 0).count();
    match (flags & VERSION, protocol) {
        (0, _) => in_tunnel(protocol, packet.get(4 + 4 * optional..).ok_or(Unread::Cut)?),
        (PPTP_VERSION, ether_type::PPP) => {
            let optional = optional + usize::from(flags & ACKNOWLEDGMENT != 0);
            let payload = packet.get(4 + 4 * optional..).ok_or(Unread::Cut)?;
            // The first half of the key is the length of the payload: an acknowledgment alone has none.
            if short(packet, 4)? == 0 { Err(Unread::NotIp) } else { ppp(payload) }
        }
        _ => Err(Unread::NotIp),
    }
}

/// What a tunnel carries that names it by an EtherType.
fn in_tunnel(protocol: u16, payload: &[u8]) -> Result<&[u8], Unread> {
    const REDIRECT_HEADER: usize = 4;
    match protocol {
        ether_type::BRIDGED_ETHERNET => ethernet(payload),
        // Version 2 has a header before the packet, which is IPv4.
        ether_type::REDIRECTED if payload.first().is_some_and(|first| first >> 4 == 4) => Ok(payload),
        ether_type::REDIRECTED => payload.get(REDIRECT_HEADER..).ok_or(Unread::Cut),
        _ => of_type(protocol, payload),
    }
}

/// The IP packet in the payload of a datagram to the port of a tunnel: VXLAN (RFC 7348, section 5, and the port of Linux
/// before it), Geneve (RFC 8926, section 3.3), GTP-U (3GPP TS 29.281, section 4.4.2.3) and MPLS (RFC 7510, section 3).
pub(crate) fn in_datagram(port: u16, payload: &[u8]) -> Option<Result<&[u8], Unread>> {
    match port {
        4789 | 8472 => Some(in_vxlan(payload)),
        6081 => Some(in_geneve(payload)),
        2152 => Some(in_gtp(payload)),
        6635 => Some(in_mpls(payload)),
        _ => None,
    }
}

fn in_geneve(payload: &[u8]) -> Result<&[u8], Unread> {
    const VERSION: u8 = 0xc0;
    let &[first, _, high, low] = payload.first_chunk().ok_or(Unread::Cut)?;
    if first & VERSION != 0 {
        return Err(Unread::NotIp);
    }
    let options = usize::from(first & !VERSION) * 4;
    in_tunnel(u16::from_be_bytes([high, low]), payload.get(8 + options..).ok_or(Unread::Cut)?)
}

/// What a G-PDU of GTP-U carries, behind its extension headers (3GPP TS 29.281, sections 5.1 and 5.2).
fn in_gtp(payload: &[u8]) -> Result<&[u8], Unread> {
    const VERSION_AND_TYPE: u8 = 0xf0;
    const GTP_VERSION_1: u8 = 0x30;
    const HAS_OPTIONAL_FIELDS: u8 = 0x07;
    const HAS_EXTENSIONS: u8 = 0x04;
    const G_PDU: u8 = 255;
    let &[flags, message] = payload.first_chunk().ok_or(Unread::Cut)?;
    if flags & VERSION_AND_TYPE != GTP_VERSION_1 || message != G_PDU {
        return Err(Unread::NotIp);
    }
    let mut at = if flags & HAS_OPTIONAL_FIELDS == 0 { 8 } else { 12 };
    let mut next = if flags & HAS_EXTENSIONS == 0 { 0 } else { *payload.get(at - 1).ok_or(Unread::Cut)? };
    while next != 0 {
        let length = usize::from(*payload.get(at).ok_or(Unread::Cut)?) * 4;
        if length == 0 {
            return Err(Unread::Malformed);
        }
        at += length;
        next = *payload.get(at - 1).ok_or(Unread::Cut)?;
    }
    match payload.get(at).map(|first| first >> 4) {
        Some(4 | 6) => Ok(&payload[at..]),
        Some(_) => Err(Unread::NotIp),
        None => Err(Unread::Cut),
    }
}

fn in_vxlan(payload: &[u8]) -> Result<&[u8], Unread> {
    const NETWORK_IDENTIFIER_IS_VALID: u8 = 0x08;
    match payload.first() {
        Some(flags) if flags & NETWORK_IDENTIFIER_IS_VALID != 0 => ethernet(payload.get(8..).ok_or(Unread::Cut)?),
        Some(_) => Err(Unread::NotIp),
        None => Err(Unread::Cut),
    }
}

/// The 16-bit number at an offset.
pub(crate) fn short(bytes: &[u8], at: usize) -> Result<u16, Unread> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|&pair| u16::from_be_bytes(pair)).ok_or(Unread::Cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of an IPv4 packet.
    const PACKET: [u8; 4] = [0x45, 0, 0, 40];

    fn frame(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    #[test]
    fn every_link_type_leads_to_the_packet() {
        let addresses = [0; 12];
        let cooked = [&[0; 14][..], &[8, 0]].concat();
        let cooked_v2 = [&[8, 0][..], &[0; 18]].concat();
        let tagged = [&addresses[..], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0]].concat();
        let frames = [
            (1, frame(&[&addresses[..], &[8, 0]].concat())),
            (1, frame(&tagged)),
            (0, frame(&[2, 0, 0, 0])),
            (108, frame(&[0, 0, 0, 2])),
            (113, frame(&cooked)),
            (276, frame(&cooked_v2)),
            (101, frame(&[])),
        ];
        for (link_type, frame) in frames {
            assert_eq!(ip_packet(link_type, &frame), Ok(&PACKET[..]), "{link_type}");
        }
        assert_eq!(ip_packet(127, &PACKET), Err(Unread::LinkType(127)));
        assert_eq!(ip_packet(1, &[0; 13]), Err(Unread::Cut));
        assert_eq!(ip_packet(1, &frame(&[&addresses[..], &[8, 6]].concat())), Err(Unread::NotIp));
    }

    #[test]
    fn each_system_has_its_number_of_ipv6_on_the_loopback_link() {
        for family in [2_u32, 10, 23, 24, 28, 30] {
            for header in [family.to_le_bytes(), family.to_be_bytes()] {
                assert_eq!(ip_packet(0, &frame(&header)), Ok(&PACKET[..]), "{family}");
            }
        }
        assert_eq!(ip_packet(0, &frame(&[7, 0, 0, 0])), Err(Unread::NotIp));
    }

    #[test]
    fn tunnels_lead_to_the_packet() {
        assert_eq!(in_gre(&frame(&[0x20, 0, 8, 0, 0, 0, 0, 7])), Ok(&PACKET[..]));
        let bridged = [&[0, 0, 0x65, 0x58][..], &[0; 12], &[8, 0]].concat();
        assert_eq!(in_gre(&frame(&bridged)), Ok(&PACKET[..]));
        // WCCP in GRE, of both versions.
        assert_eq!(in_gre(&frame(&[0, 0, 0x88, 0x3e])), Ok(&PACKET[..]));
        assert_eq!(in_gre(&frame(&[0, 0, 0x88, 0x3e, 0x80, 1, 2, 3])), Ok(&PACKET[..]));
        let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[0; 12], &[8, 0]].concat();
        assert_eq!(in_vxlan(&frame(&vxlan)), Ok(&PACKET[..]));
        assert_eq!(in_vxlan(&frame(&[0; 8])), Err(Unread::NotIp));
    }

    #[test]
    fn labels_of_mpls_lead_to_the_packet() {
        let addresses = [0; 12];
        // Two labels, of which the second is the last; and one before a pseudowire with its control word.
        let two = [&addresses[..], &[0x88, 0x47], &[0, 1, 0, 64], &[0, 2, 1, 64]].concat();
        let wire = [&addresses[..], &[0x88, 0x47, 0, 2, 1, 64], &[0; 4], &addresses, &[8, 0]].concat();
        for header in [two, wire] {
            assert_eq!(ip_packet(1, &frame(&header)), Ok(&PACKET[..]));
        }
        assert_eq!(in_datagram(6635, &frame(&[0, 2, 1, 64])), Some(Ok(&PACKET[..])));
        assert_eq!(in_mpls(&[0, 1, 0, 64, 0]), Err(Unread::Cut), "no label is the last");
        assert_eq!(in_mpls(&[0, 1, 1, 64, 0x10]), Err(Unread::NotIp), "an associated channel");
    }

    #[test]
    fn ppp_leads_to_the_packet_over_ethernet_serial_lines_and_gre() {
        let addresses = [0; 12];
        // Version and type 1, code 0, session 5, a length of 6 bytes; then the protocol.
        let pppoe = [&addresses[..], &[0x88, 0x64, 0x11, 0, 0, 5, 0, 6, 0, 0x21]].concat();
        assert_eq!(ip_packet(1, &frame(&pppoe)), Ok(&PACKET[..]));
        assert_eq!(ip_packet(9, &frame(&[0xff, 3, 0, 0x21])), Ok(&PACKET[..]));
        assert_eq!(ip_packet(9, &frame(&[0x21])), Ok(&PACKET[..]), "a compressed protocol field");
        assert_eq!(ip_packet(50, &frame(&[0xff, 3, 2, 0x81, 0, 1, 1, 64])), Ok(&PACKET[..]), "MPLS");
        assert_eq!(ip_packet(104, &frame(&[0x0f, 0, 8, 0])), Ok(&PACKET[..]), "Cisco's HDLC");
        assert_eq!(ip_packet(9, &[0xc0, 0x21, 1]), Err(Unread::NotIp), "LCP");
        // PPTP: key and sequence number; the same with an acknowledgment; an acknowledgment alone.
        let [numbers, length] = [[0, 0, 0, 1], [0, 6, 0, 9]];
        let data = [&[0x30, 0x01, 0x88, 0x0b][..], &length, &numbers, &[0, 0x21]].concat();
        let with_acknowledgment =
            [&[0x30, 0x81, 0x88, 0x0b][..], &length, &numbers, &numbers, &[0xff, 3, 0, 0x21]].concat();
        assert_eq!(in_gre(&frame(&data)), Ok(&PACKET[..]));
        assert_eq!(in_gre(&frame(&with_acknowledgment)), Ok(&PACKET[..]));
        assert_eq!(in_gre(&[0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 9, 0, 0, 0, 1]), Err(Unread::NotIp));
    }

    #[test]
    fn gtp_leads_to_the_packet_behind_its_extension_headers() {
        let tunnel = [0, 0, 0, 1];
        let plain = [&[0x30, 255, 0, 4][..], &tunnel].concat();
        let numbered = [&[0x32, 255, 0, 8][..], &tunnel, &[0, 9, 0, 0]].concat();
        // A PDU session container (type 0x85) of one unit of four bytes, as 5G has it.
        let extended = [&[0x34, 255, 0, 12][..], &tunnel, &[0, 0, 0, 0x85], &[1, 0, 9, 0]].concat();
        for header in [plain, numbered, extended] {
            assert_eq!(in_datagram(2152, &frame(&header)), Some(Ok(&PACKET[..])), "{header:?}");
        }
        assert_eq!(in_gtp(&[0x30, 1, 0, 0, 0, 0, 0, 0]), Err(Unread::NotIp), "an echo request");
        assert_eq!(in_gtp(&[0x34, 255, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0x85, 0]), Err(Unread::Malformed), "no length");
    }
}
