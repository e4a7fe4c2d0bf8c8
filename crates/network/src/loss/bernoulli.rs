//! `bernoulli`: each packet with the same probability, independently.

use rand_pcg::Pcg64Mcg;
use subflow_policy::catalogue::{Attribute, Catalogued, Description};

use super::PacketLoss;
use crate::Probability;

/// Independent losses with one probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bernoulli {
    probability: Probability,
}

impl Bernoulli {
    /// Loses each packet with this probability.
    pub const fn new(probability: Probability) -> Self {
        Self { probability }
    }
}

impl Catalogued for Bernoulli {
    const DESCRIPTION: Description = Description {
        name: "bernoulli",
        aliases: &[],
        summary: "each packet with the same probability; short form: loss = \"1 %\"",
        source: "tc netem loss random",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::probability(
        "probability",
        "the probability that a packet is lost",
        |model: &Self| model.probability.into(),
        |model, probability| model.probability = probability.into(),
    )
    .required()];
}

impl PacketLoss for Bernoulli {
    fn loses(&mut self, random: &mut Pcg64Mcg) -> bool {
        self.probability.draw(random)
    }

    fn never_loses(&self) -> bool {
        self.probability == Probability::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::share_lost;
    use super::*;

    #[test]
    fn packets_are_lost_with_the_probability() {
        let model = |p| Bernoulli::new(Probability::new(p).expect("a probability"));
        let share = share_lost(model(0.02), 1_000_000);
        assert!((share - 0.02).abs() < 0.0005, "{share}");
        assert_eq!(share_lost(model(1.0), 1000), 1.0);
        assert!(model(0.0).never_loses() && !model(1e-9).never_loses());
    }
}
