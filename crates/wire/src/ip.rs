//! The fields that the headers of IPv4 and IPv6 share.

use std::net::IpAddr;

use crate::Dscp;
use crate::checksum::ones_complement_add;

/// The protocol number of TCP in the IP header (IANA, "Assigned Internet Protocol Numbers").
pub const PROTOCOL_TCP: u8 = 6;
/// The protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;
/// The protocol number of SCTP.
pub const PROTOCOL_SCTP: u8 = 132;

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not use ECN.
    #[default]
    NotEct = 0,
    /// ECN-capable transport, codepoint ECT(1).
    Ect1 = 1,
    /// ECN-capable transport, codepoint ECT(0).
    Ect0 = 2,
    /// Congestion was experienced on the path.
    CongestionExperienced = 3,
}

impl Ecn {
    /// Reads the field from the two low bits of an IPv4 type-of-service or IPv6 traffic-class byte.
    pub const fn from_traffic_class(traffic_class: u8) -> Self {
        match traffic_class & 0b11 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::CongestionExperienced,
        }
    }
}

/// The fields of an IPv4 or IPv6 header that endpoints and routers use. Both addresses are of the same family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Time to live (IPv4) or hop limit (IPv6).
    pub hop_limit: u8,
    /// Differentiated services codepoint.
    pub dscp: Dscp,
    /// Explicit congestion notification.
    pub ecn: Ecn,
}

impl IpHeader {
    /// IPv4's type of service, or IPv6's traffic class: the codepoint and ECN.
    pub const fn traffic_class(&self) -> u8 {
        self.dscp.traffic_class() | self.ecn as u8
    }
}

/// Sets Congestion Experienced in the IPv4 or IPv6 header of `packet`, with the checksum of IPv4 updated (RFC 1624,
/// equation 3). Bytes that are no IP packet stay as they are.
pub fn set_congestion_experienced(packet: &mut [u8]) {
    const CE: u8 = Ecn::CongestionExperienced as u8;
    match packet {
        [version, traffic_class, _, _, _, _, _, _, _, _, high, low, ..] if *version >> 4 == 4 => {
            let before = u16::from_be_bytes([*version, *traffic_class]);
            *traffic_class |= CE;
            let after = u16::from_be_bytes([*version, *traffic_class]);
            let sum = ones_complement_add(!u16::from_be_bytes([*high, *low]), !before);
            [*high, *low] = (!ones_complement_add(sum, after)).to_be_bytes();
        }
        [version, traffic_class, ..] if *version >> 4 == 6 => *traffic_class |= CE << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Packet, Payload, PayloadBytes, UdpDatagram};

    #[test]
    fn a_packet_with_congestion_experienced_parses_as_such() {
        for (source, destination) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::CongestionExperienced] {
                let [source, destination] = [source, destination].map(|text| text.parse().expect("an address"));
                let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::from_traffic_class(0xB8), ecn };
                let payload = Payload { stream_offset: 0, length: 5, sum: 0 };
                let body = Body::Udp(UdpDatagram { source_port: 1, destination_port: 2, payload });
                let mut bytes = Vec::new();
                Packet { ip, body }.emit(PayloadBytes::Bytes(b"hello"), 1, &mut bytes).expect("it fits");
                set_congestion_experienced(&mut bytes);
                let (parsed, _) = Packet::parse(&bytes).expect("the checksum is right");
                assert_eq!(parsed.ip, IpHeader { ecn: Ecn::CongestionExperienced, ..ip });
            }
        }
        let mut garbage = [0x45, 0, 0];
        set_congestion_experienced(&mut garbage);
        assert_eq!(garbage, [0x45, 0, 0]);
    }
}
