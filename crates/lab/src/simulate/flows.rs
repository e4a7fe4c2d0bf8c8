//! Runs of which only the figures of flows are read, at instants that the caller chooses.

use std::ops::ControlFlow;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::parts::Parts;
use crate::RunError;
use crate::results::FlowResult;

/// Runs `scenario` as [`simulate`](super::simulate) does, and passes the figures of its flows at each of `instants` to
/// `look`. They are those of a run that ends then, so that one run serves for several durations. The instants rise from
/// the scenario's `measure_from` to at most its duration. The run ends after the last of them, or as soon as `look`
/// breaks: what happens after a transfer whose end is all that is asked for need not be simulated.
///
/// # Errors
///
/// Where the run fails.
pub fn simulate_flows(
    scenario: &Scenario,
    seed: u64,
    instants: impl IntoIterator<Item = Duration>,
    mut look: impl FnMut(Vec<FlowResult>) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let scenario = &*scenario.drawn(seed);
    let mut parts = Parts::whole(scenario, seed, false)?;
    parts.run_until(Instant::ZERO + scenario.measure_from)?;
    let baseline = parts.gathered(|run| run.begin_measuring());
    for at in instants {
        debug_assert!((scenario.measure_from..=scenario.duration).contains(&at), "{at:?} is not measured");
        let end = Instant::ZERO + at;
        parts.run_until(end)?;
        parts.first().world.nodes.check_flows()?;
        if look(parts.gathered(|run| run.flows(scenario, &baseline, end, false))).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::super::{RunOptions, simulate};
    use super::*;

    /// A file that takes some two seconds, beside datagrams without end.
    fn file_and_datagrams(duration_s: u64) -> Scenario {
        let text = format!(
            "duration = \"{duration_s} s\"\nwarm_up = \"500 ms\"\n[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n\
             [links.one]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"1 %\"\n\
             [links.two]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n\
             [flows.file]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nsend = \"2 MB\"\n\
             [flows.datagrams]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"udp\"\n\
             on_off = {{ rate = \"2 Mbit/s\", on = {{ exponential = \"1 s\" }}, off = {{ exponential = \"1 s\" }} }}\n"
        );
        let document = Document::parse(Path::new("file.toml"), text).expect("TOML");
        Scenario::read(&document).expect("a good scenario")
    }

    fn flows(duration_s: u64) -> Vec<FlowResult> {
        simulate(&file_and_datagrams(duration_s), 5, &RunOptions::default()).expect("it runs").flows
    }

    #[test]
    fn figures_at_an_instant_are_those_of_a_run_that_ends_then() {
        let mut seen = Vec::new();
        let look = |flows| {
            seen.push(flows);
            ControlFlow::Continue(())
        };
        simulate_flows(&file_and_datagrams(9), 5, [1, 4, 9].map(Duration::from_secs), look).expect("it runs");
        assert_eq!(seen, [1, 4, 9].map(flows));
        assert!(seen[0][0].completion_s.is_none() && seen[1][0].completion_s.is_some());
    }

    #[test]
    fn a_run_ends_when_its_figures_suffice() {
        let mut looks = 0;
        let mut file = None;
        let look = |flows: Vec<FlowResult>| {
            looks += 1;
            file = flows.into_iter().find(|flow| flow.completion_s.is_some());
            if file.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        simulate_flows(&file_and_datagrams(9), 5, (1..=9).map(Duration::from_secs), look).expect("it runs");
        assert!((2..6).contains(&looks), "{looks} looks");
        let (file, whole) = (file.expect("the file arrives"), flows(9).swap_remove(0));
        assert_eq!((file.goodput_mbps, file.completion_s), (whole.goodput_mbps, whole.completion_s));
    }
}
