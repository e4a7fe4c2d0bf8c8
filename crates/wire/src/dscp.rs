//! The differentiated services codepoint of the IP header (RFC 2474) and the names of its values.

use core::fmt;
use core::str::FromStr;

/// The differentiated services codepoint (DSCP): the upper six bits of IPv4's type of service and of IPv6's traffic class
/// (RFC 2474, section 3). The lower two are [`Ecn`](crate::Ecn).
///
/// ```
/// use subflow_wire::Dscp;
///
/// let expedited: Dscp = "EF".parse().expect("a name");
/// assert_eq!((expedited.value(), expedited.to_string()), (46, "EF".to_owned()));
/// assert_eq!("46".parse(), Ok(expedited));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// The names of codepoints (IANA, "Differentiated Services Field Codepoints"): class selectors (RFC 2474), assured
/// forwarding (RFC 2597), expedited forwarding (RFC 3246), voice admit (RFC 5865) and lower effort (RFC 8622).
const NAMES: [(&str, u8); 23] = [
    ("CS0", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("EF", 46),
    ("VOICE-ADMIT", 44),
    ("LE", 1),
];

impl Dscp {
    /// The codepoint of packets that ask for nothing, CS0.
    pub const DEFAULT: Self = Self(0);

    /// The codepoint with this number; `None` if it has more than six bits.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 64 { Some(Self(value)) } else { None }
    }

    /// The upper six bits of an IPv4 type-of-service or IPv6 traffic-class byte.
    pub const fn from_traffic_class(traffic_class: u8) -> Self {
        Self(traffic_class >> 2)
    }

    /// Its number, from 0 to 63.
    #[inline]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Whether it is [`Self::DEFAULT`].
    #[inline]
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }

    /// The byte of the IP header with this codepoint and no ECN, as the socket option `IP_TOS` takes it.
    pub const fn traffic_class(self) -> u8 {
        self.0 << 2
    }
}

/// Its name if it has one, or else its number.
impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

/// A text that is neither the name nor the number of a codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDscp;

impl fmt::Display for UnknownDscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no codepoint: expected a name such as EF, AF41 or CS1, or a number from 0 to 63")
    }
}

impl core::error::Error for UnknownDscp {}

/// A name, in small or capital letters, or a number.
impl FromStr for Dscp {
    type Err = UnknownDscp;

    fn from_str(text: &str) -> Result<Self, UnknownDscp> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, value)| *value);
        named.or_else(|| text.parse().ok()).and_then(Self::new).ok_or(UnknownDscp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_the_registry() {
        for (text, value) in [("EF", 46), ("ef", 46), ("AF41", 34), ("CS6", 48), ("LE", 1), ("63", 63), ("0", 0)] {
            assert_eq!(text.parse::<Dscp>().map(Dscp::value), Ok(value), "{text}");
        }
        for text in ["64", "-1", "AF14", "AF51", "CS8", ""] {
            assert_eq!(text.parse::<Dscp>(), Err(UnknownDscp), "{text}");
        }
        // RFC 2597, section 6: AFxy is 8 x + 2 y. RFC 2474, section 4.2.2.2: CSx is 8 x.
        for (name, value) in NAMES {
            let digits: Vec<u8> = name.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
            match digits[..] {
                [class, precedence] => assert_eq!(value, 8 * class + 2 * precedence, "{name}"),
                [class] => assert_eq!(value, 8 * class, "{name}"),
                _ => {}
            }
        }
    }

    #[test]
    fn every_codepoint_is_read_as_it_is_written() {
        for codepoint in (0..64).map(|value| Dscp::new(value).expect("six bits")) {
            assert_eq!(codepoint.to_string().parse(), Ok(codepoint));
            assert_eq!(Dscp::from_traffic_class(codepoint.traffic_class() | 3), codepoint);
        }
        assert_eq!(Dscp::new(64), None);
    }
}
