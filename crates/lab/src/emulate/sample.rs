//! Metrics over time: from our stacks, and from the latest TCP_INFO of kernel sockets.

use subflow_linux::{Emulator, SubflowInfo, Wake};
use subflow_network::DuplexLink;
use subflow_quantity::Instant;
use subflow_scenario::Scenario;
use subflow_transport::tcp::Ends;
use subflow_transport::{Endpoint, PathState};

use super::kernel_end::{KernelEnd, ends, original_ends, with_original_ends};
use super::kernel_flow::KernelFlow;
use super::measure::our_ends;
use super::userspace::RealWorld;
use crate::simulate::figures::delivered_by_subflow;
use crate::simulate::sample::Sampler;

/// The flows and links that are sampled.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) links: &'a [DuplexLink],
    pub(super) flows: &'a [KernelFlow],
}

impl Sampled<'_> {
    /// Runs until `end` and takes the samples that are due, if there is a sampler.
    pub(super) fn run_until(
        self,
        emulator: &mut Emulator<RealWorld>,
        end: Instant,
        sampler: &mut Option<Sampler>,
    ) -> subflow_linux::Result<Wake> {
        if let Some(sampler) = sampler {
            let mut at = sampler.next(emulator.network().now());
            while at < end {
                let wake = emulator.run_until(at)?;
                if wake == Wake::Interrupted {
                    return Ok(wake);
                }
                self.sample(sampler, emulator, at);
                at = sampler.next(at);
            }
        }
        emulator.run_until(end)
    }

    fn sample(self, sampler: &mut Sampler, emulator: &Emulator<RealWorld>, now: Instant) {
        sampler.begin(now);
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let kernel = &self.flows[index];
            let [our_sender, our_receiver] = our_ends(emulator, self.scenario, index);
            let figures = |end: Option<&KernelEnd>| {
                end.map(|end| with_original_ends(end.figures(kernel.is_udp()), emulator.network()))
            };
            let from = our_sender.map(Endpoint::figures).or_else(|| figures(kernel.sender()));
            let to = our_receiver.map(Endpoint::figures).or_else(|| figures(kernel.receiver()));
            if flow.group.is_some() {
                sampler.add_to_group(self.scenario, index, to.map_or(0, |receiver| receiver.delivered));
                continue;
            }
            let by_subflow = delivered_by_subflow(from.as_ref(), to.as_ref());
            let delivered = |ends: Ends| by_subflow.get(&ends).copied().unwrap_or(0);
            let (series, at) = sampler.flow(index);
            series.push_delivered(to.map_or(0, |receiver| receiver.delivered), at);
            match (our_sender, kernel.sender()) {
                (Some(sender), _) => series.sample_sender(sender, at, |ends, _| delivered(ends)),
                (None, Some(sender)) => {
                    for (number, subflow) in sender.open_subflows() {
                        let ends = original_ends(ends(&subflow), emulator.network());
                        let state = state_of(number, ends, &subflow);
                        match flow.protocol.mptcp() {
                            Some(_) => series.push_subflow(delivered(state.ends), &state, at),
                            None => series.push_own_path(&state, at),
                        }
                    }
                }
                (None, None) => {}
            }
        }
        sampler.sample_groups(self.scenario);
        sampler.sample_queues(emulator.network(), self.links, self.scenario);
    }
}

/// The state of a subflow from the kernel's figures.
pub(super) fn state_of(number: usize, ends: Ends, subflow: &SubflowInfo) -> PathState {
    PathState {
        number,
        ends,
        cwnd: subflow.cwnd.into(),
        ssthresh: subflow.ssthresh.map(f64::from),
        in_flight: subflow.in_flight.into(),
        flight_size: subflow.flight_size,
        srtt: (!subflow.srtt.is_zero()).then_some(subflow.srtt),
        bytes_acknowledged: None,
        pacing_rate: None,
        model: None,
    }
}
