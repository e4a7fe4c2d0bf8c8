//! The headers of a captured packet: less strict than `subflow_wire`, whose packets are whole.
//!
//! A capture often has only the first bytes of a packet, and checksums that the network card was still to compute. Of
//! such packets the lengths are those that the IP header states, or with segmentation offload, where it states 0, those
//! of the frame.

use std::net::{IpAddr, SocketAddr};

use subflow_wire::tcp::TcpSegment;
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};

use crate::capture::Record;
use crate::link_layer::{Unread, in_datagram, in_gre, in_mpls, ip_packet, short};
use crate::network_layer::{Fragment, Network};

/// A packet.
#[derive(Clone, Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) body: Body<'a>,
    /// Of IPv4; 0 with IPv6.
    pub(crate) identification: u16,
    /// What was captured of it from the ports on.
    pub(crate) transport: &'a [u8],
    /// Whether options of TCP were not captured.
    pub(crate) is_header_cut: bool,
}

/// What it carries.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// A segment; the length of its payload is that on the link.
    Tcp(Box<TcpSegment>),
    /// An SCTP packet from its common header on, as far as it was captured.
    Sctp(&'a [u8]),
    Udp(Datagram<'a>),
}

/// A datagram of UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram<'a> {
    /// Bytes of payload on the link.
    pub(crate) length: u32,
    /// The payload as far as it was captured.
    pub(crate) payload: &'a [u8],
}

const GRE: u8 = 47;
const IPV4_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
/// RFC 4023, section 3.
const MPLS_IN_IP: u8 = 137;
const UDP_HEADER_LENGTH: usize = 8;
const FIXED_TCP_HEADER: usize = 20;
const LONGEST_TCP_HEADER: usize = 60;
/// The UDP port of SCTP in UDP (RFC 6951).
const SCTP_IN_UDP_PORT: u16 = subflow_wire::sctp::UDP_ENCAPSULATION_PORT;
/// Tunnels in tunnels, at most.
const DEEPEST: usize = 4;

/// The packet in a record, the innermost one of tunnels.
pub(crate) fn read<'a>(record: &Record<'a>) -> Result<Packet<'a>, Unread> {
    whole(record)?.1.transport()
}

/// The part of a packet in a record, the innermost one of tunnels.
pub(crate) fn fragment<'a>(record: &Record<'a>) -> Option<(Network<'a>, Fragment)> {
    let (_, network) = in_tunnels(record).ok()?;
    let fragment = network.fragment?;
    Some((network, fragment))
}

/// An IP packet: the innermost one of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpPacket<'a> {
    pub(crate) source: IpAddr,
    pub(crate) bytes: &'a [u8],
    /// With options and extension headers.
    pub(crate) header_length: usize,
    pub(crate) protocol: u8,
    /// How many bytes are behind the header on the link.
    pub(crate) length: usize,
}

/// The innermost IP packet of a record, without what a link adds behind it.
pub(crate) fn innermost<'a>(record: &Record<'a>) -> Result<IpPacket<'a>, Unread> {
    let (bytes, network) = whole(record)?;
    let Network { source, header_length, protocol, length, payload, .. } = network;
    Ok(IpPacket { source, bytes: &bytes[..header_length + payload.len()], header_length, protocol, length })
}

/// No fragment.
fn whole<'a>(record: &Record<'a>) -> Result<(&'a [u8], Network<'a>), Unread> {
    in_tunnels(record).and_then(|it| if it.1.fragment.is_none() { Ok(it) } else { Err(Unread::Fragment) })
}

fn in_tunnels<'a>(record: &Record<'a>) -> Result<(&'a [u8], Network<'a>), Unread> {
    let mut bytes = ip_packet(record.link_type, record.bytes)?;
    for _ in 0..DEEPEST {
        let cut = (record.original_length as usize).saturating_sub(record.bytes.len());
        let network = Network::read(bytes, bytes.len() + cut)?;
        bytes = match network.protocol {
            _ if network.fragment.is_some() => return Ok((bytes, network)),
            GRE => in_gre(network.payload)?,
            IPV4_IN_IP | IPV6_IN_IP => network.payload,
            MPLS_IN_IP => in_mpls(network.payload)?,
            PROTOCOL_UDP => {
                let port = short(network.payload, 2).unwrap_or(0);
                let payload = network.payload.get(UDP_HEADER_LENGTH..).unwrap_or_default();
                match in_datagram(port, payload) {
                    Some(Ok(inner)) => inner,
                    _ => return Ok((bytes, network)),
                }
            }
            _ => return Ok((bytes, network)),
        };
    }
    Err(Unread::Malformed)
}

impl<'a> Network<'a> {
    fn transport(&self) -> Result<Packet<'a>, Unread> {
        let mut ports = (short(self.payload, 0)?, short(self.payload, 2)?);
        let mut is_header_cut = false;
        let body = match self.protocol {
            PROTOCOL_TCP => {
                let (segment, is_cut) = self.segment()?;
                is_header_cut = is_cut;
                Body::Tcp(Box::new(segment))
            }
            PROTOCOL_SCTP => Body::Sctp(self.payload),
            PROTOCOL_UDP => {
                let payload = self.payload.get(UDP_HEADER_LENGTH..).ok_or(Unread::Cut)?;
                let stated = usize::from(short(self.payload, 4)?);
                if [ports.0, ports.1].contains(&SCTP_IN_UDP_PORT) && payload.len() >= 12 {
                    ports = (short(payload, 0)?, short(payload, 2)?);
                    Body::Sctp(payload)
                } else {
                    let length = if stated == 0 { self.length } else { stated.min(self.length) };
                    let length = length.saturating_sub(UDP_HEADER_LENGTH);
                    let payload = &payload[..payload.len().min(length)];
                    Body::Udp(Datagram { length: length as u32, payload })
                }
            }
            other => return Err(Unread::Protocol(other)),
        };
        let source = SocketAddr::new(self.source, ports.0);
        let destination = SocketAddr::new(self.destination, ports.1);
        let Self { identification, payload: transport, .. } = *self;
        Ok(Packet { source, destination, body, identification, transport, is_header_cut })
    }

    /// A segment, and whether options behind those that it has were not captured.
    fn segment(&self) -> Result<(TcpSegment, bool), Unread> {
        let mut header = [0; LONGEST_TCP_HEADER];
        let is_cut = self.payload.len() < self.length && self.captured_options(&mut header);
        let bytes = if is_cut { &header[..] } else { self.payload };
        let (mut segment, header_length) = TcpSegment::parse_header(bytes).map_err(|error| match error {
            subflow_wire::ParseError::Truncated { .. } if self.payload.len() < self.length => Unread::Cut,
            _ => Unread::Malformed,
        })?;
        segment.payload.length = self.length.saturating_sub(header_length) as u32;
        Ok((segment, is_cut))
    }

    /// Copies a header that was cut behind its fixed part, with the options that were captured whole; zeros end them.
    fn captured_options(&self, header: &mut [u8; LONGEST_TCP_HEADER]) -> bool {
        let captured = self.payload;
        let stated = captured.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4);
        if !(FIXED_TCP_HEADER..stated).contains(&captured.len()) {
            return false;
        }
        let mut end = FIXED_TCP_HEADER;
        while let Some(&kind) = captured.get(end).filter(|kind| **kind != 0) {
            // No operation has no length.
            let length = if kind == 1 { 1 } else { captured.get(end + 1).map_or(0, |length| usize::from(*length)) };
            if length == 0 || end + length > captured.len() {
                break;
            }
            end += length;
        }
        header[..end].copy_from_slice(&captured[..end]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A SYN of 40 bytes, and 100 bytes of payload on the link.
    fn packet() -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 140, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
        packet.resize(140, 0);
        packet
    }

    fn record(bytes: &[u8]) -> Record<'_> {
        Record { time: 0, link_type: 101, original_length: 140, bytes }
    }

    #[test]
    fn a_packet_that_was_cut_behind_its_headers_has_the_length_on_the_link() {
        let bytes = packet();
        for captured in [40, 96, 140] {
            let read = read(&record(&bytes[..captured])).expect("its headers are there");
            let Body::Tcp(segment) = read.body else { panic!("it is TCP") };
            assert_eq!((read.destination.to_string().as_str(), segment.payload.length), ("10.0.0.2:80", 100));
            assert_eq!(segment.sequence, 7);
        }
        assert_eq!(read(&record(&bytes[..39])).map(|_| ()), Err(Unread::Cut));
    }

    #[test]
    fn of_options_that_were_cut_those_before_are_read() {
        let mut bytes = packet();
        // Data offset 15: MSS and SACK permitted are whole, the timestamps of 10 bytes are not.
        bytes[32] = 0xf0;
        bytes[40..54].copy_from_slice(&[2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0]);
        let packet = read(&record(&bytes[..54])).expect("its fixed header is there");
        let Body::Tcp(segment) = &packet.body else { panic!("it is TCP") };
        assert!(packet.is_header_cut && segment.options.syn.sack_permitted && segment.options.timestamps.is_none());
        assert_eq!((segment.options.syn.mss, segment.payload.length), (Some(1460), 60));
        let whole = read(&record(&bytes)).expect("a segment");
        assert!(!whole.is_header_cut);
    }

    #[test]
    fn a_length_of_0_is_that_of_the_frame() {
        let mut bytes = packet();
        bytes[2..4].fill(0);
        let Body::Tcp(segment) = read(&record(&bytes)).expect("a segment").body else { panic!("it is TCP") };
        assert_eq!(segment.payload.length, 100);
    }

    /// An IPv6 packet with extension headers, and 120 bytes behind them on the link.
    fn packet_v6(first: u8, extensions: &[u8]) -> Vec<u8> {
        let length = 120 + extensions.len() as u8;
        [&[0x60, 0, 0, 0, 0, length, first, 64][..], &[0xfd; 32], extensions, &packet()[20..]].concat()
    }

    #[test]
    fn extension_headers_lead_to_the_segment_and_fragments_do_not() {
        let [options, whole, part] = [[0, 1, 4, 0, 0, 0, 0], [0, 0, 0, 1, 2, 3, 4], [0, 0, 1, 1, 2, 3, 4]];
        let chain = |kinds: &[(u8, &[u8])]| {
            let next = kinds.iter().skip(1).map(|(kind, _)| *kind).chain([6]);
            kinds.iter().zip(next).flat_map(|((_, rest), next)| [&[next][..], rest].concat()).collect::<Vec<u8>>()
        };
        let authentication = [&[4][..], &[0; 22]].concat();
        let kinds: [&[(u8, &[u8])]; 4] = [
            &[],
            &[(0, &options), (60, &options), (43, &options)],
            &[(0, &options), (44, &whole)],
            &[(51, &authentication)],
        ];
        for kinds in kinds {
            let bytes = packet_v6(kinds.first().map_or(6, |(kind, _)| *kind), &chain(kinds));
            let read = read(&record(&bytes)).unwrap_or_else(|unread| panic!("{kinds:?}: {unread:?}"));
            let Body::Tcp(segment) = read.body else { panic!("it is TCP") };
            assert_eq!((segment.sequence, segment.payload.length), (7, 100), "{kinds:?}");
        }
        let bytes = packet_v6(44, &chain(&[(44, &part)]));
        assert_eq!(read(&record(&bytes)).map(|_| ()), Err(Unread::Fragment));
    }

    #[test]
    fn packets_of_one_version_of_ip_in_the_other_lead_to_the_segment() {
        let outer_v4 = |protocol: u8, inner: &[u8]| {
            let length = 20 + inner.len() as u8;
            let header = [0x45, 0, 0, length, 0, 1, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
            [&header[..], inner].concat()
        };
        let outer_v6 = |protocol: u8, inner: &[u8]| {
            let header = [0x60, 0, 0, 0, 0, inner.len() as u8, protocol, 64];
            [&header[..], &[0xfc; 32], inner].concat()
        };
        let (v4, v6) = (packet(), packet_v6(6, &[]));
        let label = [&[0, 1, 1, 64][..], &v4].concat();
        for (bytes, source) in [
            (outer_v6(IPV4_IN_IP, &v4), "10.0.0.1:40000"),
            (outer_v4(IPV6_IN_IP, &v6), "[fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd]:40000"),
            (outer_v4(MPLS_IN_IP, &label), "10.0.0.1:40000"),
        ] {
            let packet = read(&record(&bytes)).expect("a segment");
            let Body::Tcp(segment) = packet.body else { panic!("it is TCP") };
            assert_eq!((packet.source.to_string().as_str(), segment.payload.length), (source, 100));
        }
    }

    #[test]
    fn fragments_and_other_protocols_are_named() {
        let mut bytes = packet();
        bytes[6] = 0x20;
        assert_eq!(read(&record(&bytes)).map(|_| ()), Err(Unread::Fragment));
        let mut bytes = packet();
        bytes[9] = 1;
        assert_eq!(read(&record(&bytes)).map(|_| ()), Err(Unread::Protocol(1)));
    }
}
