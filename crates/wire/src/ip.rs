//! The fields that the headers of IPv4 and IPv6 share.

use std::net::IpAddr;

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
    /// Explicit congestion notification.
    pub ecn: Ecn,
}
