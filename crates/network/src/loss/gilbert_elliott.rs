//! `gilbert-elliott`: loss in bursts.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_policy::catalogue::{Attribute, Catalogued, Description};

use super::PacketLoss;
use crate::Probability;

/// A Gilbert–Elliott model with four parameters, as in `tc netem loss gemodel p r 1-h 1-k`.
///
/// As in Linux (`loss_gilb_ell` in net/sched/sch_netem.c), a packet is lost with the probability of the current state;
/// the state for the next packet is drawn at the same time. The long-term loss rate is
/// (p (1 − h) + r (1 − k)) / (p + r). By default a packet is lost in the bad state and none in the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    /// p: transition from the good to the bad state, per packet.
    pub good_to_bad: Probability,
    /// r: transition from the bad to the good state, per packet.
    pub bad_to_good: Probability,
    /// 1 − h: loss in the bad state.
    pub loss_in_bad: Probability,
    /// 1 − k: loss in the good state.
    pub loss_in_good: Probability,
    /// Whether the link is in the bad state. It starts in the good one.
    pub is_bad: bool,
}

impl Default for GilbertElliott {
    fn default() -> Self {
        Self {
            good_to_bad: Probability::NEVER,
            bad_to_good: Probability::NEVER,
            loss_in_bad: Probability::ALWAYS,
            loss_in_good: Probability::NEVER,
            is_bad: false,
        }
    }
}

impl Catalogued for GilbertElliott {
    const DESCRIPTION: Description = Description {
        name: "gilbert-elliott",
        aliases: &[],
        summary: "bursts: a good and a bad state with a loss probability each",
        source: "Gilbert 1960, Elliott 1963; tc netem loss gemodel",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::probability(
            "good_to_bad",
            "the transition probability from the good to the bad state, per packet (p)",
            |model: &Self| model.good_to_bad.into(),
            |model, probability| model.good_to_bad = probability.into(),
        )
        .required(),
        Attribute::probability(
            "bad_to_good",
            "the transition probability from the bad to the good state, per packet (r)",
            |model: &Self| model.bad_to_good.into(),
            |model, probability| model.bad_to_good = probability.into(),
        )
        .required(),
        Attribute::probability(
            "loss_in_bad",
            "the loss probability in the bad state (1 − h)",
            |model| model.loss_in_bad.into(),
            |model, probability| model.loss_in_bad = probability.into(),
        ),
        Attribute::probability(
            "loss_in_good",
            "the loss probability in the good state (1 − k)",
            |model| model.loss_in_good.into(),
            |model, probability| model.loss_in_good = probability.into(),
        ),
    ];
}

impl PacketLoss for GilbertElliott {
    fn loses(&mut self, random: &mut Pcg64Mcg) -> bool {
        let bits = random.next_u64();
        let (transition, loss) = ((bits >> 32) as u32, bits as u32);
        let (leaves, lost) = match self.is_bad {
            true => (self.bad_to_good, self.loss_in_bad),
            false => (self.good_to_bad, self.loss_in_good),
        };
        self.is_bad ^= leaves.hits(transition);
        lost.hits(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fates, share_lost};
    use super::*;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn the_long_term_loss_rate_is_the_stationary_one() {
        let model = GilbertElliott {
            good_to_bad: p(0.01),
            bad_to_good: p(0.2),
            loss_in_bad: p(0.5),
            loss_in_good: p(0.001),
            ..GilbertElliott::default()
        };
        // (p (1 − h) + r (1 − k)) / (p + r) = (0.01 · 0.5 + 0.2 · 0.001) / 0.21
        let share = share_lost(model, 2_000_000);
        assert!((share - 0.0052 / 0.21).abs() < 0.0006, "{share}");
    }

    #[test]
    fn packets_are_lost_in_bursts_of_mean_length_one_over_r() {
        let model = GilbertElliott { good_to_bad: p(0.01), bad_to_good: p(0.25), ..GilbertElliott::default() };
        let fates = fates(model, 1_000_000);
        let lost = fates.iter().filter(|&&lost| lost).count();
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let mean = lost as f64 / bursts as f64;
        assert!((mean - 4.0).abs() < 0.1, "{mean}");
    }
}
