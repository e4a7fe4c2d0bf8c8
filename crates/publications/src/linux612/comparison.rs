//! One flow of a configuration beside the kernel's.

use subflow_lab::statistics::mean;

use super::cases::FlowName;
use super::configuration::{Configuration, Reference, Workload};
use super::criteria::{Criterion, criterion};
use super::run::{Figures, FlowFigures};

/// A configuration and what came out; no figures where it was not run.
pub(super) struct Outcome<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) figures: Option<Figures>,
    /// The runs whose means they are.
    pub(super) runs: &'a [Figures],
}

impl Outcome<'_> {
    /// Whether it was run and no bound is declared for any of its flows.
    pub(super) fn is_unjudged(&self) -> bool {
        let is_judged = self.configuration.is_chaotic() || Comparison::of(self).any(|of| of.criterion().is_some());
        self.figures.is_some() && !is_judged
    }
}

/// One flow of an outcome next to the kernel's.
pub(super) struct Comparison<'a> {
    pub(super) outcome: &'a Outcome<'a>,
    pub(super) reference: &'a Reference,
    pub(super) ours: Option<&'a FlowFigures>,
}

impl<'a> Comparison<'a> {
    pub(super) fn of(outcome: &'a Outcome<'a>) -> impl Iterator<Item = Self> {
        let flow = |figures: &'a Figures, name| match name {
            FlowName::All => &figures.together,
            FlowName::Number(number) => &figures.flows[number as usize - 1],
        };
        outcome.configuration.references.iter().map(move |reference| Self {
            outcome,
            reference,
            ours: outcome.figures.as_ref().map(|figures| flow(figures, reference.flow)),
        })
    }

    pub(super) fn is_transfer(&self) -> bool {
        matches!(self.outcome.configuration.workload, Workload::Bytes(_))
    }

    /// What counts: the completion time of a transfer, else the goodput.
    pub(super) fn ours(&self) -> Option<f64> {
        if self.is_transfer() { self.ours?.completion_s } else { Some(self.ours?.goodput_mbps) }
    }

    /// The same of the kernel.
    pub(super) fn kernel(&self) -> Option<f64> {
        mean(self.reference_samples())
    }

    /// Ours and the kernel's, where there are both and they can be compared.
    pub(super) fn figures(&self) -> Option<(f64, f64)> {
        self.ours().zip(self.kernel()).filter(|&(_, kernel)| kernel > 0.0)
    }

    pub(super) fn deviation_pct(&self) -> Option<f64> {
        self.figures().map(|(ours, kernel)| (ours / kernel - 1.0) * 100.0)
    }

    /// Largest less smallest of the kernel's repetitions, in percent of their mean.
    pub(super) fn spread_pct(&self) -> Option<f64> {
        let samples = self.reference_samples();
        let (low, high) = samples.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        mean(samples).filter(|&mean| mean > 0.0).map(|mean| (high - low) / mean * 100.0)
    }

    /// What counts of the kernel's repetitions.
    pub(super) fn reference_samples(&self) -> &'a [f64] {
        if self.is_transfer() { &self.reference.completion_s } else { &self.reference.goodput_mbps }
    }

    /// The title of the table that it stands in.
    pub(super) fn table_title(&self) -> String {
        let letter = self.outcome.configuration.case.chars().next().unwrap_or('?');
        let what = if self.is_transfer() { "completion in s" } else { "goodput in Mbit/s" };
        format!("{letter}, {what}")
    }

    /// Configuration and flow in one line.
    pub(super) fn name(&self) -> String {
        let configuration = self.outcome.configuration;
        let mut name = format!("{} {} {}", configuration.case, self.reference.protocol, configuration.paths_text);
        if self.reference.cc != "-" {
            name += &format!(" {}", self.reference.cc);
        }
        if configuration.is_lossy() {
            name += &format!(", {} %", configuration.loss_text);
        }
        if configuration.flows.len() > 1 {
            name += &format!(", flow {}", self.reference.flow);
        }
        name
    }

    pub(super) fn criterion(&self) -> Option<Criterion> {
        criterion(self.outcome.configuration, self.reference.flow)
    }
}
