//! Random loss.

use std::sync::Arc;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;

use crate::{Probability, TraceError};

/// The loss model of a link.
#[derive(Clone, Debug, Default)]
pub enum LossConfig {
    /// No loss.
    #[default]
    None,
    /// Each packet with the same probability, independently.
    Bernoulli(Probability),
    /// In bursts, by a Gilbert–Elliott model.
    GilbertElliott(GilbertElliott),
    /// By a recorded pattern.
    Trace(Arc<LossTrace>),
}

/// The four parameters of a Gilbert–Elliott model, as in `tc netem loss gemodel p r 1-h 1-k`.
///
/// As in Linux (`loss_gilb_ell` in net/sched/sch_netem.c), a packet is lost with the probability of the current state;
/// the state for the next packet is drawn at the same time. The link starts in the good state. The long-term loss rate
/// is (p (1 − h) + r (1 − k)) / (p + r).
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
}

/// A recorded loss pattern, repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossTrace {
    lost: Vec<bool>,
}

impl LossTrace {
    /// A pattern with one element per packet: whether it is lost. `None` if it is empty.
    pub fn new(lost: Vec<bool>) -> Option<Self> {
        if lost.is_empty() { None } else { Some(Self { lost }) }
    }

    /// Parses a pattern: one character per packet, `1` if it is lost, else `0`. White space is ignored.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut lost = Vec::new();
        for (number, line) in text.lines().enumerate() {
            for character in line.chars().filter(|c| !c.is_whitespace()) {
                lost.push(match character {
                    '0' => false,
                    '1' => true,
                    other => return Err(TraceError::new(number + 1, "0 (arrives) or 1 (lost)", format!("'{other}'"))),
                });
            }
        }
        Self::new(lost).ok_or_else(|| TraceError::new(1, "0 (arrives) or 1 (lost)", "an empty file".into()))
    }
}

/// The state of a loss model. Links without loss have none, so that they have no cost.
#[derive(Debug)]
pub(crate) enum LossProcess {
    Bernoulli(Probability),
    GilbertElliott { parameters: GilbertElliott, bad: bool },
    Trace { trace: Arc<LossTrace>, next: usize },
}

impl LossProcess {
    /// Creates the process for `config`; `None` if it never loses a packet.
    pub(crate) fn new(config: &LossConfig) -> Option<Self> {
        let process = match config {
            LossConfig::None | LossConfig::Bernoulli(Probability::NEVER) => return None,
            LossConfig::Bernoulli(p) => Self::Bernoulli(*p),
            LossConfig::GilbertElliott(parameters) => Self::GilbertElliott { parameters: *parameters, bad: false },
            LossConfig::Trace(trace) => Self::Trace { trace: trace.clone(), next: 0 },
        };
        Some(process)
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self, random: &mut Pcg64Mcg) -> bool {
        match self {
            Self::Bernoulli(p) => p.draw(random),
            Self::GilbertElliott { parameters, bad } => {
                let bits = random.next_u64();
                let (transition, loss) = ((bits >> 32) as u32, bits as u32);
                let (leaves, lost) = if *bad {
                    (parameters.bad_to_good, parameters.loss_in_bad)
                } else {
                    (parameters.good_to_bad, parameters.loss_in_good)
                };
                *bad ^= leaves.hits(transition);
                lost.hits(loss)
            }
            Self::Trace { trace, next } => {
                let lost = trace.lost[*next];
                *next = if *next + 1 == trace.lost.len() { 0 } else { *next + 1 };
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn fates(config: &LossConfig, packets: usize) -> Vec<bool> {
        let mut process = LossProcess::new(config).expect("a model that loses");
        let mut random = stream(7, "test");
        (0..packets).map(|_| process.loses(&mut random)).collect()
    }

    fn share_lost(config: &LossConfig, packets: usize) -> f64 {
        fates(config, packets).iter().filter(|&&lost| lost).count() as f64 / packets as f64
    }

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn bernoulli_loses_packets_with_its_probability() {
        let share = share_lost(&LossConfig::Bernoulli(p(0.02)), 1_000_000);
        assert!((share - 0.02).abs() < 0.0005, "{share}");
        assert_eq!(share_lost(&LossConfig::Bernoulli(Probability::ALWAYS), 1000), 1.0);
        assert!(LossProcess::new(&LossConfig::Bernoulli(Probability::NEVER)).is_none());
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_rate() {
        let model =
            GilbertElliott { good_to_bad: p(0.01), bad_to_good: p(0.2), loss_in_bad: p(0.5), loss_in_good: p(0.001) };
        // (p (1 − h) + r (1 − k)) / (p + r) = (0.01 · 0.5 + 0.2 · 0.001) / 0.21
        let share = share_lost(&LossConfig::GilbertElliott(model), 2_000_000);
        assert!((share - 0.0052 / 0.21).abs() < 0.0006, "{share}");
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts_of_mean_length_one_over_r() {
        let model = GilbertElliott {
            good_to_bad: p(0.01),
            bad_to_good: p(0.25),
            loss_in_bad: Probability::ALWAYS,
            loss_in_good: Probability::NEVER,
        };
        let fates = fates(&LossConfig::GilbertElliott(model), 1_000_000);
        let lost = fates.iter().filter(|&&lost| lost).count();
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let mean = lost as f64 / bursts as f64;
        assert!((mean - 4.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn a_trace_repeats() {
        let trace = LossTrace::parse("01\n0 0\n").unwrap();
        let fates = fates(&LossConfig::Trace(Arc::new(trace)), 8);
        assert_eq!(fates, [false, true, false, false, false, true, false, false]);
    }

    #[test]
    fn a_bad_trace_is_refused_with_its_line() {
        assert_eq!(
            LossTrace::parse("01\n0x").unwrap_err().to_string(),
            "line 2: expected 0 (arrives) or 1 (lost), found 'x'"
        );
        assert!(LossTrace::parse(" \n").is_err());
    }
}
