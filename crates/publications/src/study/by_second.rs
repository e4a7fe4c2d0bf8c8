//! Figures of flows and links second by second, which a run has at its end alone, such as what was sent again so far.

use std::ops::ControlFlow;

use subflow_lab::RunError;
use subflow_lab::results::{FlowResult, LinkResult, RunResult, Series};
use subflow_lab::simulate::simulate_flows;
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

/// How stores tell such runs from others.
pub(super) const IDENTITY: &str = "figures of flows and links by second";

/// The series so far of a flow `NAME` and of its subflows `NAME/SUBFLOW`.
pub(crate) const RETRANSMISSIONS: &str = "retransmissions";
/// Of a flow alone.
pub(crate) const DUPLICATE_ACKS: &str = "duplicate-acks";
/// Payload in Mbit that was delivered, of a subflow what it delivered first.
pub(crate) const DELIVERED: &str = "delivered";
/// The smoothed RTT of a subflow in ms, which is none so far but that of the second's end.
pub(crate) const SRTT: &str = "srtt";
/// Packets that a link has lost so far, and that its queues have dropped, in both directions.
pub(crate) const LOST: &str = "lost";

/// Runs a scenario and notes the figures of its flows and links at the end of each second.
pub(super) fn simulate_by_second(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    let mut series = Vec::new();
    let result = simulate_seconds(scenario, seed, |flows, links, second| {
        flows.iter().for_each(|flow| note_flow(&mut series, flow, second));
        for link in links {
            note(&mut series, second, (&link.name, LOST, ""), (link.drops + link.losses) as f64);
        }
        ControlFlow::Continue(())
    })?;
    Ok(RunResult { series, ..result })
}

/// Like `simulate`, but ends in the second in which the first flow completes: what goes on beside the flow after its end
/// need not be simulated.
pub(super) fn simulate_until_complete(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    simulate_seconds(scenario, seed, |flows, _, _| {
        let is_complete = flows.first().is_none_or(|flow| flow.completion_s.is_some());
        if is_complete { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// Shows `look` flows and links at the end of each second, until it breaks off. The result has figures of flows only.
fn simulate_seconds(
    scenario: &Scenario,
    seed: u64,
    mut look: impl FnMut(&[FlowResult], &[LinkResult], u64) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    let seconds = (1..=scenario.duration.as_nanos() / 1_000_000_000).map(Duration::from_secs);
    let (mut flows, mut second) = (Vec::new(), 0);
    simulate_flows(scenario, seed, seconds, |found, links| {
        second += 1;
        flows = found;
        look(&flows, &links, second)
    })?;
    let duration_s = scenario.duration.as_secs_f64();
    Ok(RunResult { seed, duration_s, flows, ..RunResult::default() })
}

/// Adds a value to the series of an object, a metric and its unit.
fn note(series: &mut Vec<Series>, second: u64, (of, metric, unit): (&str, &str, &str), value: f64) {
    let is_it = |known: &&mut Series| known.of == of && known.metric == metric;
    let at = Instant::ZERO + Duration::from_secs(second);
    match series.iter_mut().find(is_it) {
        Some(known) => known.push(at, value),
        None => {
            let mut new = Series::new(of, metric, unit, Duration::from_secs(1));
            new.push(at, value);
            series.push(new);
        }
    }
}

fn note_flow(series: &mut Vec<Series>, flow: &FlowResult, second: u64) {
    let mut push = |of: &str, metric: &str, unit: &str, value: f64| note(series, second, (of, metric, unit), value);
    push(&flow.name, RETRANSMISSIONS, "", flow.retransmissions as f64);
    push(&flow.name, DUPLICATE_ACKS, "", flow.duplicate_acks as f64);
    push(&flow.name, DELIVERED, "Mbit", flow.goodput_mbps * second as f64);
    for subflow in &flow.subflows {
        let of = format!("{}/{}", flow.name, subflow.name);
        push(&of, RETRANSMISSIONS, "", subflow.retransmissions as f64);
        push(&of, DELIVERED, "Mbit", subflow.goodput_mbps * second as f64);
        subflow.srtt_ms.into_iter().for_each(|srtt| push(&of, SRTT, "ms", srtt));
    }
}

/// What a metric is at the end of each of so many seconds, of all objects whose names `is_of`; none of an object that was
/// not there yet.
pub(crate) fn by_second(
    result: &RunResult,
    seconds: usize,
    metric: &str,
    is_of: impl Fn(&str) -> bool,
) -> Vec<Vec<f64>> {
    let mut values = vec![Vec::new(); seconds];
    for series in result.series.iter().filter(|series| series.metric == metric && is_of(&series.of)) {
        for point in series.points() {
            let second = point.time_s.round() as usize;
            if let Some(values) = second.checked_sub(1).and_then(|index| values.get_mut(index)) {
                values.push(point.value);
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lima2017::LIMA2017;
    use crate::study::Effort;

    #[test]
    fn what_was_counted_so_far_ends_with_the_figures_of_the_run() {
        let cells = LIMA2017.cells(Effort::Quick, None, &[], &|cell| cell.experiment.by_second).expect("good cells");
        let mut scenario = cells[0].scenario(&LIMA2017.folder, 1).expect("a good scenario");
        scenario.duration = Duration::from_secs(3);
        let result = simulate_by_second(&scenario, 1).expect("it runs");
        let flow = &result.flows[0];
        let last = |metric, of: &str| by_second(&result, 3, metric, |name| name == of)[2][0];
        assert_eq!(last(RETRANSMISSIONS, &flow.name), flow.retransmissions as f64);
        let all = by_second(&result, 3, DELIVERED, |name| name.starts_with("upload/"));
        let sums: Vec<f64> = all.iter().map(|values| values.iter().sum()).collect();
        assert!(sums[0] > 0.0 && sums[0] < sums[1] && sums[1] < sums[2], "{sums:?}");
        assert_eq!(all[2].len(), flow.subflows.len());
        assert!(by_second(&result, 3, SRTT, |_| true).iter().flatten().all(|srtt| *srtt > 0.0));
    }
}
