//! Random loss: which packets of a link are lost, whatever its queue does.
//!
//! A loss model is one file with its source and its options; [`LossModel`] lists the models by name. A link without loss
//! has none, so that it has no cost.

mod bernoulli;
mod gilbert_elliott;
mod trace;

use rand_pcg::Pcg64Mcg;
use subflow_policy::catalogue::{catalogue, dispatch};

pub use bernoulli::Bernoulli;
pub use gilbert_elliott::GilbertElliott;
pub use trace::Trace;

/// The rule of one direction of a link.
pub trait PacketLoss {
    /// Whether the next packet is lost. Random decisions are drawn from `random`.
    fn loses(&mut self, random: &mut Pcg64Mcg) -> bool;

    /// Whether it never loses a packet and needs not be asked. Default: it may lose one.
    fn never_loses(&self) -> bool {
        false
    }
}

// The types of all loss models, in the order of lists. See `catalogue/list.rs` in `subflow-policy`.
macro_rules! loss_models {
    ($macro:ident! $($arguments:tt)*) => { $macro! { [Bernoulli GilbertElliott Trace] [] $($arguments)* } };
}

loss_models! { catalogue!
    /// A loss model, chosen by name. Each direction of a link takes a clone.
    LossModel
}

impl PacketLoss for LossModel {
    #[inline]
    fn loses(&mut self, random: &mut Pcg64Mcg) -> bool {
        loss_models!(dispatch! self, model => model.loses(random))
    }

    fn never_loses(&self) -> bool {
        loss_models!(dispatch! self, model => model.never_loses())
    }
}

#[cfg(test)]
mod tests {
    use subflow_policy::catalogue::Catalogue;

    use super::*;
    use crate::stream;

    /// Which of so many packets are lost.
    pub(super) fn fates(model: impl Into<LossModel>, packets: usize) -> Vec<bool> {
        let (mut model, mut random) = (model.into(), stream(7, "test"));
        (0..packets).map(|_| model.loses(&mut random)).collect()
    }

    pub(super) fn share_lost(model: impl Into<LossModel>, packets: usize) -> f64 {
        fates(model, packets).iter().filter(|&&lost| lost).count() as f64 / packets as f64
    }

    #[test]
    fn every_model_by_name_loses_nothing_before_its_options_are_set() {
        for prototype in LossModel::prototypes() {
            assert_eq!(
                LossModel::from_name(prototype.name()).map(|same| same.name().to_owned()),
                Some(prototype.name().to_owned())
            );
            assert!(!fates(prototype.clone(), 1000).contains(&true), "{}", prototype.name());
        }
    }
}
