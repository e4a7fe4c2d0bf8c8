//! Writes a typed packet as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Body, Packet};
use crate::checksum::{ones_complement_add, ones_complement_sum, pseudo_header_sum};
use crate::error::EmitError;
use crate::ip::PROTOCOL_UDP;
use crate::payload::PayloadBytes;
use crate::sctp::UdpEncapsulation;
use crate::{IpHeader, Payload, QuicDatagram, SctpPacket, UdpDatagram, ipv4, ipv6, tcp, udp};

impl Packet {
    /// Appends the packet to `out`: IP header, transport header with its options, payload, and the checksums over them.
    ///
    /// `ip_identification` is written into an IPv4 header, where it must differ between packets, and is unused with
    /// IPv6. `payload.sum` is not used: the checksum is computed from `payload`. On an error `out` is unchanged.
    pub fn emit(&self, payload: PayloadBytes<'_>, ip_identification: u16, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let addresses = AddressPair::of(&self.ip)?;
        let transport_length = self.transport_length(payload, addresses.maximum_packet_length())?;
        let protocol = self.body.protocol();
        out.reserve(self.wire_length() as usize);
        match addresses {
            AddressPair::V4(source, destination) => {
                let total_length = transport_length + ipv4::HEADER_LENGTH as u16;
                let may_fragment = matches!(&self.body, Body::Sctp(packet) if packet.may_fragment);
                let addresses = (source, destination);
                ipv4::emit(&self.ip, addresses, protocol, total_length, ip_identification, may_fragment, out);
            }
            AddressPair::V6(source, destination) => {
                ipv6::emit(&self.ip, (source, destination), protocol, transport_length, out);
            }
        }

        let transport = out.len();
        let checksum_offset = match &self.body {
            Body::Sctp(packet) => return self.emit_sctp(packet, payload, transport_length, out),
            Body::Quic(datagram) => return self.emit_quic(datagram, payload, (transport_length, transport), out),
            Body::Tcp(segment) => {
                tcp::emit_header(segment, out);
                tcp::CHECKSUM_OFFSET
            }
            Body::Udp(datagram) => {
                udp::emit_header(datagram, transport_length, out);
                udp::CHECKSUM_OFFSET
            }
        };
        let mut sum = pseudo_header_sum(self.ip.source, self.ip.destination, protocol, u32::from(transport_length));
        sum = ones_complement_add(sum, ones_complement_sum(&out[transport..]));
        match payload {
            PayloadBytes::Zero => out.resize(out.len() + self.payload().length as usize, 0),
            PayloadBytes::Bytes(bytes) => {
                sum = ones_complement_add(sum, ones_complement_sum(bytes));
                out.extend_from_slice(bytes);
            }
        }
        let checksum = match self.body {
            Body::Udp(_) => udp::checksum(sum),
            _ => !sum,
        };
        out[transport + checksum_offset..][..2].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Appends an SCTP packet, preceded by a UDP header if it is encapsulated.
    fn emit_sctp(
        &self,
        packet: &SctpPacket,
        payload: PayloadBytes<'_>,
        length: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let Some(UdpEncapsulation { source_port, destination_port }) = packet.encapsulation else {
            return packet.emit(payload, out);
        };
        let start = out.len();
        let datagram = UdpDatagram { source_port, destination_port, payload: Payload::default() };
        udp::emit_header(&datagram, length, out);
        packet.emit(payload, out)?;
        self.set_udp_checksum(&mut out[start..]);
        Ok(())
    }

    /// Appends a datagram of QUIC at `start`, behind the network header, which is removed on an error.
    fn emit_quic(
        &self,
        quic: &QuicDatagram,
        payload: PayloadBytes<'_>,
        (length, start): (u16, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let QuicDatagram { source_port, destination_port, .. } = *quic;
        let datagram = UdpDatagram { source_port, destination_port, payload: Payload::default() };
        udp::emit_header(&datagram, length, out);
        if let Err(error) = quic.emit(payload, out) {
            out.truncate(start - (self.wire_length() - self.body.header_length()) as usize);
            return Err(error);
        }
        self.set_udp_checksum(&mut out[start..]);
        Ok(())
    }

    /// Sets the checksum of a datagram that starts with the header of UDP.
    fn set_udp_checksum(&self, datagram: &mut [u8]) {
        let length = datagram.len() as u32;
        let pseudo = pseudo_header_sum(self.ip.source, self.ip.destination, PROTOCOL_UDP, length);
        let checksum = udp::checksum(ones_complement_add(pseudo, ones_complement_sum(datagram)));
        datagram[udp::CHECKSUM_OFFSET..][..2].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Length of transport header and payload, after checking that the packet can be written.
    fn transport_length(&self, payload: PayloadBytes<'_>, limit: u32) -> Result<u16, EmitError> {
        let expected = self.payload().length;
        if let Body::Sctp(packet) = &self.body {
            packet.check(payload)?;
        } else if let Body::Quic(datagram) = &self.body {
            datagram.check(payload)?;
        } else if let PayloadBytes::Bytes(bytes) = payload
            && bytes.len() != expected as usize
        {
            return Err(EmitError::PayloadLength { expected, given: bytes.len() });
        }
        if let Body::Tcp(segment) = &self.body {
            segment.options.check()?;
        }
        let needed = self.wire_length();
        if needed > limit {
            return Err(EmitError::PacketTooLong { needed, limit });
        }
        Ok((self.body.header_length() + expected) as u16)
    }
}

/// Source and destination address of the same family.
enum AddressPair {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl AddressPair {
    const fn of(ip: &IpHeader) -> Result<Self, EmitError> {
        match (ip.source, ip.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Self::V4(source, destination)),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Self::V6(source, destination)),
            _ => Err(EmitError::MixedFamilies),
        }
    }

    const fn maximum_packet_length(&self) -> u32 {
        match self {
            Self::V4(..) => ipv4::MAXIMUM_LENGTH,
            Self::V6(..) => ipv6::MAXIMUM_LENGTH,
        }
    }
}
