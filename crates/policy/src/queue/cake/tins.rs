//! The tins of CAKE: which packets belong together by their codepoint, and how much of the rate each tin may take before
//! the others (Linux `cake_config_*`, with the classes of RFC 4594).

use crate::catalogue::Choice;

/// How codepoints are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Diffserv {
    /// One tin.
    BestEffort,
    /// Three tins: best effort, bulk and voice.
    #[default]
    Three,
    /// Four tins: best effort, bulk, video and voice.
    Four,
    /// Eight tins.
    Eight,
    /// Eight tins by the upper three bits of the codepoint.
    Precedence,
}

/// What a tin has of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The rate up to which it precedes tins with smaller numbers, in the unit of the whole rate.
    pub(super) rate: u64,
    /// Bytes per turn where there is no rate to measure by.
    pub(super) quantum: u16,
}

impl Diffserv {
    pub(super) const ALL: [Choice<Self>; 5] = [
        Choice::new("besteffort", Self::BestEffort, "one tin for all"),
        Choice::new("diffserv3", Self::Three, "bulk (CS1, LE), best effort, and voice (CS6, CS7, EF, VOICE-ADMIT)"),
        Choice::new("diffserv4", Self::Four, "bulk, best effort, video (AF2x to AF4x, CS2, CS3), and voice"),
        Choice::new("diffserv8", Self::Eight, "eight tins by classes of RFC 4594"),
        Choice::new("precedence", Self::Precedence, "eight tins by the upper three bits"),
    ];

    /// The tin of a packet with this codepoint.
    pub(super) const fn tin(self, dscp: u8) -> usize {
        match self {
            Self::BestEffort => 0,
            Self::Three => match dscp {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Self::Four => match dscp {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
            Self::Eight => match dscp {
                1 => 0,
                2 | 8 | 10 | 12 | 14 => 1,
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                4 | 18 | 20 | 22 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
            Self::Precedence => (dscp >> 3) as usize,
        }
    }

    /// The shares of all tins in a rate of `rate`, which is 0 if there is none. A share of 0 of a rate is one of 1.
    pub(super) fn shares(self, rate: u64) -> Vec<Share> {
        let parts = |shifts: &[u32]| -> Vec<Share> {
            shifts.iter().map(|&shift| Share { rate: rate >> shift, quantum: 1024 >> shift }).collect()
        };
        let mut shares = match self {
            Self::BestEffort => vec![Share { rate, quantum: u16::MAX }],
            Self::Three => parts(&[0, 4, 2]),
            Self::Four => parts(&[0, 4, 1, 2]),
            Self::Eight | Self::Precedence => {
                let next =
                    |share: &Share| Some(Share { rate: share.rate * 7 / 8, quantum: (share.quantum * 7 / 8).max(1) });
                core::iter::successors(Some(Share { rate, quantum: 256 }), next).take(8).collect()
            }
        };
        shares.iter_mut().for_each(|share| share.rate = share.rate.max(rate.min(1)));
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_are_in_the_tins_of_the_manual_page() {
        // tc-cake(8), "diffserv4" and "diffserv3".
        let bulk = [8, 1];
        let video = [34, 36, 38, 26, 28, 30, 24, 18, 20, 22, 4, 16];
        let voice = [56, 48, 46, 44, 40, 32];
        for dscp in 0..64 {
            let four = match dscp {
                _ if bulk.contains(&dscp) => 1,
                _ if video.contains(&dscp) => 2,
                _ if voice.contains(&dscp) => 3,
                _ => 0,
            };
            assert_eq!(Diffserv::Four.tin(dscp), four, "{dscp}");
            let three = match dscp {
                _ if bulk.contains(&dscp) => 1,
                56 | 48 | 46 | 44 | 4 => 2,
                _ => 0,
            };
            assert_eq!(Diffserv::Three.tin(dscp), three, "{dscp}");
            assert_eq!(Diffserv::BestEffort.tin(dscp), 0);
            assert!(Diffserv::Eight.tin(dscp) < 8 && Diffserv::Precedence.tin(dscp) < 8);
        }
    }

    #[test]
    fn shares_are_those_of_the_manual_page() {
        // "Bulk 1/16th, Best Effort 100%, Video 50%, Voice 25%".
        let rates = |diffserv: Diffserv| diffserv.shares(1600).iter().map(|share| share.rate).collect::<Vec<_>>();
        assert_eq!(rates(Diffserv::Four), [1600, 100, 800, 400]);
        assert_eq!(rates(Diffserv::Three), [1600, 100, 400]);
        assert_eq!(rates(Diffserv::BestEffort), [1600]);
        assert_eq!(rates(Diffserv::Eight)[..3], [1600, 1400, 1225]);
        let quanta: Vec<_> = Diffserv::Four.shares(0).iter().map(|share| share.quantum).collect();
        assert_eq!(quanta, [1024, 64, 512, 256]);
        assert_eq!(Diffserv::Four.shares(8)[1].rate, 1, "no tin is without a rate");
        assert_eq!(Diffserv::Four.shares(0)[1].rate, 0);
    }
}
