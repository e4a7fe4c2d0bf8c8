//! `mtu` and `mss-clamp`: packets that are too large for what is behind, and a smaller MSS so that there are none.

use subflow_policy::catalogue::{Attribute, Catalogued, Description};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

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

/// A router that lowers the MSS option of SYNs, so that no segment is too large for a tunnel behind it, whether ICMP
/// errors arrive or not. A SYN without the option stays as it is.
///
/// Routers for PPPoE do so (the MTU is 1492, so the MSS 1452); tracebox saw changed MSS options on a few paths (Detal et
/// al., Revealing Middlebox Interference with Tracebox, IMC 2013).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MssClamp {
    /// The largest MSS that passes, in bytes.
    pub mss: u16,
}

impl Default for MssClamp {
    fn default() -> Self {
        Self { mss: 1452 }
    }
}

impl Catalogued for MssClamp {
    const DESCRIPTION: Description = Description {
        name: "mss-clamp",
        aliases: &[],
        summary: "lowers the MSS option of SYNs",
        source: "iptables TCPMSS --set-mss; Detal et al., IMC 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::integer(
        "mss",
        "the largest MSS that passes, in bytes",
        [88, 65_495],
        |clamp| clamp.mss.into(),
        |clamp, mss| clamp.mss = mss as u16,
    )];
}

impl Interference for MssClamp {
    fn process(&mut self, packet: &mut Packet, _: &mut Passage<'_>) -> Fate {
        if let Body::Tcp(segment) = &mut packet.body
            && segment.flags.contains(TcpFlags::SYN)
            && let Some(mss) = &mut segment.options.syn.mss
        {
            *mss = self.mss.min(*mss);
        }
        Fate::Pass
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data, segment, syn};
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

    #[test]
    fn the_mss_is_lowered_and_never_raised() {
        let passed = |mss| {
            let mut bench = Bench::of([PlacedMiddlebox::new(MssClamp { mss })]);
            segment(&bench.up(Duration::ZERO, syn()).expect("it passes")).options.syn.mss
        };
        assert_eq!([1300, 1460, 1461].map(passed), [Some(1300), Some(1460), Some(1460)]);
    }
}
