//! What one direction of a link is to other tools.

use subflow_network::{LinkConfig, LossModel, Service};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_policy::queue::{Discipline, Limit};
use subflow_quantity::{Duration, Rate};

use crate::Notes;

/// The length of a full Ethernet frame without its check sequence, in bytes: what limits in packets stand for where a
/// tool counts bytes.
pub(crate) const FRAME: u64 = 1514;

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// `None`: infinitely fast.
    pub(crate) rate: Option<Rate>,
    pub(crate) delay: Duration,
    /// The probability of a loss, from 0 to 1.
    pub(crate) loss: f64,
    pub(crate) limit: Limit,
    pub(crate) discipline: Discipline,
}

impl Conditions {
    /// What of `link` all tools have in common. The rest becomes notes; `named` is the link and its direction.
    pub(crate) fn of(link: &LinkConfig, named: &str, notes: &mut Notes) -> Self {
        let rate = match &link.service {
            Service::Unlimited => None,
            Service::Rate(rate) => Some(*rate),
            Service::TokenBucket(bucket) => {
                notes.add(named, format!("the burst of {} bytes is left out; the rate is constant", bucket.burst));
                Some(bucket.rate)
            }
            Service::Cellular(cellular) => {
                notes.add(named, "the transport blocks are left out; the rate is that without errors, and constant");
                Some(cellular.rate)
            }
            Service::Wifi(wifi) => {
                notes.add(named, "contention and aggregation are left out; the rate is that of frames, and constant");
                Some(wifi.rate)
            }
            Service::Trace(trace) => {
                let rate = Rate::from_bits_per_second((trace.mean_bits_per_second() as u64).max(1));
                notes.add(named, format!("instead of the trace it has the trace's mean rate, {rate}"));
                Some(rate)
            }
        };
        let left_out = [
            (link.jitter.is_some(), "jitter"),
            (link.overtaking.is_some() || link.reordering.is_some(), "reordering"),
            (link.duplication != subflow_network::Probability::NEVER, "duplication"),
            (link.overhead != 0, "overhead of each packet"),
        ];
        for (_, what) in left_out.iter().filter(|(is_set, _)| *is_set) {
            notes.add(named, format!("the {what} is left out"));
        }
        Self {
            rate,
            delay: link.delay,
            loss: link.loss.as_ref().map_or(0.0, |model| mean_loss(model, named, notes)),
            limit: link.queue.limit,
            discipline: link.queue.discipline.clone(),
        }
    }

    /// The limit of the queue in packets; a limit in bytes holds so many full frames, at least one.
    pub(crate) fn packets(&self) -> Option<u64> {
        match self.limit {
            Limit::Unlimited => None,
            Limit::Packets(packets) => Some(packets.into()),
            Limit::Bytes(bytes) => Some((bytes / FRAME).max(1)),
        }
    }

    /// The limit of the queue in bytes; a packet stands for a full frame.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match self.limit {
            Limit::Unlimited => None,
            Limit::Packets(packets) => Some(u64::from(packets) * FRAME),
            Limit::Bytes(bytes) => Some(bytes),
        }
    }

    /// Whether the queue drops packets at its limit only.
    pub(crate) fn is_drop_tail(&self) -> bool {
        self.discipline.name() == Discipline::default().name()
    }
}

fn mean_loss(model: &LossModel, named: &str, notes: &mut Notes) -> f64 {
    let probability = model.options().into_iter().find_map(|setting| match (setting.key, setting.value) {
        ("probability", Value::Probability(probability)) => Some(probability.as_f64()),
        _ => None,
    });
    if probability.is_none() {
        notes.add(named, format!("the losses of the model {} are left out", model.name()));
    }
    probability.unwrap_or(0.0)
}

/// A probability per cent, to six digits behind the point: links hold it as netem does, in 2⁻³².
pub(crate) fn percent(probability: f64) -> f64 {
    (probability * 1e8).round() / 1e6
}
