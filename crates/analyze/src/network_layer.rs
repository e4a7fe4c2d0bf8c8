//! The header of an IP packet, and which part of a packet a fragment is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::link_layer::{Unread, short};

/// An IP packet, without its header.
pub(crate) struct Network<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    /// Of IPv4; 0 with IPv6.
    pub(crate) identification: u16,
    /// With options and extension headers.
    pub(crate) header_length: usize,
    /// What was captured behind the header.
    pub(crate) payload: &'a [u8],
    /// How many bytes are behind the header on the link.
    pub(crate) length: usize,
    /// Which part of a packet it is, if it is not a whole one.
    pub(crate) fragment: Option<Fragment>,
}

/// A part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// That of the whole packet, which has 16 bits in IPv4.
    pub(crate) identification: u32,
    /// Where it begins in what is behind the header of the whole packet.
    pub(crate) offset: usize,
    pub(crate) has_more: bool,
}

impl<'a> Network<'a> {
    /// `on_link` is how long the packet is if its header does not say.
    pub(crate) fn read(bytes: &'a [u8], on_link: usize) -> Result<Self, Unread> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Self::read_v4(bytes, on_link),
            Some(6) => Self::read_v6(bytes, on_link),
            Some(_) => Err(Unread::Malformed),
            None => Err(Unread::Cut),
        }
    }

    fn read_v4(bytes: &'a [u8], on_link: usize) -> Result<Self, Unread> {
        const MORE_FRAGMENTS: u16 = 0x2000;
        const OFFSET: u16 = 0x1fff;
        let header = bytes.first_chunk::<20>().ok_or(Unread::Cut)?;
        let header_length = usize::from(header[0] & 0x0f) * 4;
        let total_length = match usize::from(u16::from_be_bytes([header[2], header[3]])) {
            0 => on_link,
            stated => stated,
        };
        let length = total_length.checked_sub(header_length).ok_or(Unread::Malformed)?;
        if header_length < header.len() {
            return Err(Unread::Malformed);
        }
        let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).into();
        let payload = bytes.get(header_length..).ok_or(Unread::Cut)?;
        let payload = &payload[..payload.len().min(length)];
        let (protocol, identification) = (header[9], u16::from_be_bytes([header[4], header[5]]));
        let flags = u16::from_be_bytes([header[6], header[7]]);
        let fragment = (flags & (MORE_FRAGMENTS | OFFSET) != 0).then_some(Fragment {
            identification: identification.into(),
            offset: usize::from(flags & OFFSET) * 8,
            has_more: flags & MORE_FRAGMENTS != 0,
        });
        let (source, destination) = (address(12), address(16));
        Ok(Self { source, destination, protocol, identification, header_length, payload, length, fragment })
    }

    fn read_v6(bytes: &'a [u8], on_link: usize) -> Result<Self, Unread> {
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const FRAGMENT: u8 = 44;
        const AUTHENTICATION: u8 = 51;
        const DESTINATION: u8 = 60;
        let (header, mut payload) = bytes.split_first_chunk::<40>().ok_or(Unread::Cut)?;
        let mut length = match usize::from(u16::from_be_bytes([header[4], header[5]])) {
            0 => on_link.saturating_sub(header.len()),
            stated => stated,
        };
        payload = &payload[..payload.len().min(length)];
        let (mut protocol, mut header_length) = (header[6], header.len());
        let mut fragment = None;
        while fragment.is_none() && matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION | AUTHENTICATION | FRAGMENT) {
            let &[next, units] = payload.first_chunk().ok_or(Unread::Cut)?;
            let extension = match protocol {
                AUTHENTICATION => (usize::from(units) + 2) * 4,
                FRAGMENT => {
                    fragment = fragment_v6(payload)?;
                    8
                }
                _ => (usize::from(units) + 1) * 8,
            };
            header_length += extension;
            length = length.checked_sub(extension).ok_or(Unread::Malformed)?;
            payload = payload.get(extension..).ok_or(Unread::Cut)?;
            protocol = next;
        }
        let address = |at: usize| {
            let octets: [u8; 16] = header[at..at + 16].try_into().expect("16 bytes");
            Ipv6Addr::from(octets).into()
        };
        let (source, destination, identification) = (address(8), address(24), 0);
        Ok(Self { source, destination, protocol, identification, header_length, payload, length, fragment })
    }
}

/// What the fragment header of IPv6 says (RFC 8200, section 4.5); `None` of one that is all of the packet (RFC 6946).
fn fragment_v6(header: &[u8]) -> Result<Option<Fragment>, Unread> {
    const MORE_FRAGMENTS: u16 = 1;
    const OFFSET: u16 = 0xfff8;
    let flags = short(header, 2)?;
    let identification = u32::from(short(header, 4)?) << 16 | u32::from(short(header, 6)?);
    let fragment =
        Fragment { identification, offset: usize::from(flags & OFFSET), has_more: flags & MORE_FRAGMENTS != 0 };
    Ok((flags & (OFFSET | MORE_FRAGMENTS) != 0).then_some(fragment))
}
