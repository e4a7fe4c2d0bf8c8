//! Felix et al. 2018 (red2018): RED, a redundant scheduler for MPTCP that keeps copies off paths that share a
//! bottleneck. The experiments are in `papers/red2018/`. Detectors read every sample of a run, which no store keeps.
//!
//! | to find | look in |
//! |---|---|
//! | what is measured of the testbed, and its places in a sample | `testbed.rs`; what detectors say: `replay.rs` |
//! | the items | `correlation.rs` (with `roc`), `scheduler.rs`, `over_time.rs`, `scaling.rs`, `coupling.rs` |
//! | what all of them share | `part.rs` |

mod correlation;
mod coupling;
mod over_time;
mod part;
mod replay;
mod scaling;
mod scheduler;
mod testbed;

use std::sync::LazyLock;

use subflow_lab::results::RunResult;
use subflow_lab::statistics::mean;

use crate::study::{Check, Code, Own, Results, Sample, Study};
use part::joined;

/// The paper.
pub(crate) static RED2018: LazyLock<Study> = LazyLock::new(|| {
    static CHECKS: LazyLock<Vec<(&str, Check)>> =
        LazyLock::new(|| [&correlation::CHECKS[..], &scheduler::CHECKS, &coupling::CHECKS].concat());
    Study::in_program("red2018", Code { measure: Some(measure), checks: &CHECKS, own: Some(own), ..Code::default() })
});

/// The subflows of the connection under study, in the order of their opening.
const PATHS: [&str; 3] = ["A", "B", "C"];
/// The pairs of them: the last one shares a bottleneck.
const PAIRS: [(&str, usize, usize, bool); 3] = [("A-B", 0, 1, false), ("A-C", 0, 2, false), ("B-C", 1, 2, true)];
/// How much the connection under study has to send: less than A carries, or as much as goes.
const LOADS: [&str; 2] = ["limited load", "bulk load"];

/// The figures of a run of one of the three scenarios.
fn measure(result: &RunResult) -> Result<Sample, String> {
    let bottlenecks = result.links.iter().filter(|link| link.name.starts_with("bottleneck")).count();
    if !result.series.is_empty() {
        return Ok(over_time::measure(result));
    }
    Ok(match result.paths.first() {
        Some(records) if bottlenecks > 0 => scaling::measure(2 * bottlenecks, records),
        Some(_) => testbed::measure(result),
        None => {
            let of_tcp = result.flows.iter().filter(|flow| flow.name.starts_with("tcp-"));
            let tcp: Vec<f64> = of_tcp.map(|flow| flow.goodput_mbps).collect();
            let mptcp = result.flows.iter().find(|flow| flow.name == "data").map(|flow| flow.goodput_mbps);
            [mptcp, mean(&tcp)].map(|figure| figure.unwrap_or(f64::NAN)).to_vec()
        }
    })
}

/// The tables and figures: of the testbed under each load, then of what is beyond the paper.
fn own(results: &Results) -> Own {
    let mut parts = Vec::new();
    for load in LOADS {
        let under = results.only(|row| row.cell.is("load", load));
        let items = under.items();
        let [correlation, roc] = ["correlation", "roc"].map(|item| correlation::runs(&under, item));
        let mut of_load = Vec::new();
        of_load.extend(items.contains(&"correlation").then(|| correlation::correlation(&correlation)));
        of_load.extend(items.contains(&"roc").then(|| correlation::roc(&roc)));
        of_load.extend(scheduler::scheduler(&under));
        of_load.extend(items.contains(&over_time::ITEM).then(|| over_time::cumulative(&under)));
        parts.extend(of_load.into_iter().map(|part| part.under(load)));
    }
    let items = results.items();
    parts.extend(items.contains(&"scaling").then(|| scaling::scaling(results)));
    parts.extend(items.contains(&"coupling").then(|| coupling::coupling(results)));
    joined(parts)
}

#[cfg(test)]
mod tests {
    use subflow_lab::simulate::{RunOptions, simulate};

    use super::*;
    use crate::Request;
    use crate::study::{Cell, Effort};

    #[test]
    fn a_quick_look_at_the_characteristic_has_rates_and_curves_under_both_loads() {
        let request = Request { items: vec!["roc".to_owned()], quick: true, ..Request::default() };
        let reproduction = RED2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        let value = |row: &Vec<subflow_report::Cell>| match row[4] {
            subflow_report::Cell::Number(value) => value,
            _ => f64::NAN,
        };
        assert!(reproduction.table.rows().iter().all(|row| (0.0..=1.0).contains(&value(row))));
        assert_eq!((reproduction.figures.len(), reproduction.findings.len()), (4, 2));
        for finding in &reproduction.findings {
            assert!(
                ["0.01 ms apart: ", "read every 0.01 s: "].iter().all(|reading| finding.evidence.contains(reading))
            );
            assert!(finding.alternatives.iter().any(|alternative| alternative.choice == "bulk load"));
        }
    }

    #[test]
    fn sensitivity_judges_the_findings_that_a_choice_can_change_under_it() {
        let request = Request { items: vec!["sensitivity".to_owned()], quick: true, ..Request::default() };
        let findings = RED2018.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction.findings;
        assert_eq!(findings.len(), 9);
        for finding in &findings {
            let choices: Vec<_> = finding.alternatives.iter().map(|alternative| alternative.choice.as_str()).collect();
            let about_red = ["fig. 8a, b", "fig. 8c, d", "fig. 9", "fig. 10"].contains(&finding.source.as_str());
            let all = &RED2018.description.choices;
            let tried = all.iter().filter(|choice| choices.contains(&choice.name.as_str())).count();
            assert_eq!(tried, if about_red { all.len() } else { 3 }, "{}", finding.statement);
        }
    }

    #[test]
    fn items_ask_for_the_runs_they_need() {
        let runs = |wanted: &'static str| {
            let cells = RED2018.cells(Effort::Quick, None, &[], &|cell| cell.item == wanted).expect("good cells");
            cells.iter().map(Cell::runs).sum::<u64>()
        };
        assert_eq!(["roc", "scheduler", "coupling"].map(runs), [6, 12, 24]);
    }

    #[test]
    fn on_the_full_mesh_two_paths_share_the_bottleneck_and_the_others_nothing() {
        let mesh = RED2018.description.choices.iter().find(|choice| choice.scenario.is_some());
        let is_wanted = |cell: &Cell| cell.item == "scheduler";
        let cells = RED2018.cells(Effort::QuickAlternatives, mesh, &[], &is_wanted).expect("good cells");
        let mut scenario = cells[0].scenario(&RED2018.folder, 1).expect("a good scenario");
        scenario.duration = subflow_quantity::Duration::from_secs(3);
        let result = simulate(&scenario, 1, &RunOptions::default()).expect("it runs");
        let carried: Vec<bool> = result.flows[0].subflows.iter().map(|subflow| subflow.packets_sent > 10).collect();
        assert_eq!(carried, [true; 4]);
        let packets = |name: &str| {
            let link = result.links.iter().find(|link| link.name == name).expect("a link's name");
            [link.up.packets > 10, link.down.packets > 10]
        };
        for used in ["r1-r5", "r2-r6", "r3-r4", "r4-r5", "r4-r6", "r1-r3", "r2-r3"] {
            assert_eq!(packets(used), [true; 2], "{used}");
        }
    }
}
