//! `mtu`: packets that are too large for what is behind.

use subflow_policy::catalogue::{Attribute, Catalogued, Description};
use subflow_wire::Packet;

use super::{Fate, Interference, Passage};

/// A link with a smaller MTU than those before it: PPPoE (1492), WireGuard (1420), another tunnel. A larger packet is
/// dropped, since all packets here have the flag Don't Fragment.
///
/// Its source gets an ICMP error with the MTU (RFC 1191, RFC 8201), or it gets none: then the path is a black hole for
/// large packets (RFC 2923, section 2.1), which only TCP connections notice whose MSS is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// The largest packet that passes, in bytes of IP.
    pub mtu: u32,
    /// Whether the source of a larger one gets an ICMP error.
    pub reports: bool,
}

impl Default for Mtu {
    fn default() -> Self {
        Self { mtu: 1492, reports: true }
    }
}

impl Catalogued for Mtu {
    const DESCRIPTION: Description = Description {
        name: "mtu",
        aliases: &[],
        summary: "drops packets that are too large, with an ICMP error or without",
        source: "RFC 1191, RFC 8201; RFC 2923, section 2.1",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "mtu",
            "the largest packet that passes, in bytes of IP",
            [68, 65_535],
            |mtu| mtu.mtu.into(),
            |mtu, bytes| mtu.mtu = bytes as u32,
        ),
        Attribute::flag(
            "reports",
            "whether the source of a larger packet gets an ICMP error",
            |mtu| mtu.reports,
            |mtu, reports| mtu.reports = reports,
        ),
    ];
}

impl Interference for Mtu {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        if packet.wire_length() <= self.mtu {
            return Fate::Pass;
        }
        passage.too_big = self.reports.then_some(self.mtu);
        Fate::Drop
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data};
    use super::*;

    #[test]
    fn the_largest_packet_that_passes_is_the_mtu() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Mtu::default())]);
        // IPv4 and TCP headers take 40 bytes.
        assert!(bench.up(Duration::ZERO, data(0, 1452)).is_some());
        assert!(bench.up(Duration::ZERO, data(0, 1453)).is_none());
        assert_eq!(bench.outcome.too_big, Some(1492));
    }

    #[test]
    fn a_black_hole_reports_nothing() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Mtu { reports: false, ..Mtu::default() })]);
        assert!(bench.up(Duration::ZERO, data(0, 1453)).is_none());
        assert_eq!(bench.outcome.too_big, None);
    }
}
