//! Random loss.

use std::sync::Arc;

use crate::Probability;

/// Which packets a link loses.
#[derive(Clone, Debug, Default)]
pub enum LossConfig {
    /// None.
    #[default]
    None,
    /// Each with the same probability, independently.
    Bernoulli(Probability),
    /// In bursts.
    GilbertElliott(GilbertElliott),
    /// By a recorded pattern.
    Trace(Arc<LossTrace>),
}

/// The four parameters of a Gilbert–Elliott model, as in `tc netem loss gemodel p r 1-h 1-k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliott {
    /// p: good state to bad, per packet.
    pub good_to_bad: Probability,
    /// r: bad state to good, per packet.
    pub bad_to_good: Probability,
    /// 1 − h: loss in the bad state.
    pub loss_in_bad: Probability,
    /// 1 − k: loss in the good state.
    pub loss_in_good: Probability,
}

/// A recorded loss pattern, repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossTrace {
    lost: Vec<bool>,
}
