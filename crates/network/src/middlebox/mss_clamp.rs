//! `mss-clamp`: a smaller MSS than the ends have sent.

use subflow_policy::catalogue::{Attribute, Catalogued, Description};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

use super::{Fate, Interference, Passage};

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
    use super::super::test_packets::{Bench, segment, syn};
    use super::*;

    #[test]
    fn the_mss_is_lowered_and_never_raised() {
        let passed = |mss| {
            let mut bench = Bench::of([PlacedMiddlebox::new(MssClamp { mss })]);
            segment(&bench.up(Duration::ZERO, syn()).expect("it passes")).options.syn.mss
        };
        assert_eq!([1300, 1460, 1461].map(passed), [Some(1300), Some(1460), Some(1460)]);
    }
}
