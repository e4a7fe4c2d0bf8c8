//! Felix et al. 2018 (red2018): RED, a redundant scheduler for MPTCP that keeps copies off paths that share a
//! bottleneck. The experiments are in `papers/red2018/`. Detectors read every sample of a run, which no store keeps.
//!
//! | to find | look in |
//! |---|---|
//! | what is measured of the testbed, and its places in a sample | `testbed.rs` |
//! | what detectors say, and what that costs on many paths | `replay.rs` |
//! | figures 6 and 7, and the claims about them | `correlation.rs` |

mod correlation;
mod replay;
mod testbed;

use std::sync::LazyLock;

use subflow_lab::results::RunResult;
use subflow_lab::statistics::mean;

use crate::study::{Code, Own, Results, Row, Sample, Slice, Study, distinct};

pub(crate) static RED2018: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure),
        slices: Some(slices),
        checks: &correlation::CHECKS,
        own: Some(own),
        ..Code::default()
    };
    Study::in_program("red2018", code)
});

/// The subflows of the connection under study, in the order of their opening.
const PATHS: [&str; 3] = ["A", "B", "C"];
/// The pairs of them: the last one shares a bottleneck.
const PAIRS: [(&str, usize, usize, bool); 3] = [("A-B", 0, 1, false), ("A-C", 0, 2, false), ("B-C", 1, 2, true)];
/// The figures of a run of one of the three scenarios.
fn measure(result: &RunResult) -> Result<Sample, String> {
    let bottlenecks = result.links.iter().filter(|link| link.name.starts_with("bottleneck")).count();
    if !result.series.is_empty() {
        return Ok(testbed::counted_so_far(result));
    }
    Ok(match result.paths.first() {
        Some(records) if bottlenecks > 0 => replay::on_many_paths(2 * bottlenecks, records),
        Some(_) => testbed::measure(result),
        None => {
            let of_tcp = result.flows.iter().filter(|flow| flow.name.starts_with("tcp-"));
            let tcp: Vec<f64> = of_tcp.map(|flow| flow.goodput_mbps).collect();
            let mptcp = result.flows.iter().find(|flow| flow.name == "data").map(|flow| flow.goodput_mbps);
            let [mptcp, tcp] = [mptcp, mean(&tcp)].map(|figure| figure.unwrap_or(f64::NAN));
            vec![mptcp, tcp, mptcp / tcp.max(1e-9)]
        }
    })
}

/// What has a row of its own in the results table.
fn slices(row: &Row) -> Vec<Slice> {
    match row.cell.item.as_str() {
        "correlation" => correlation::pairs(row),
        "roc" => correlation::detectors_at_thresholds(row),
        "scheduler" => testbed::paths_and_connection(row),
        "cumulative" => testbed::seconds(row),
        "scaling" => replay::detectors(row),
        _ => vec![Slice::of(row, Vec::new(), &["mptcp_mbps", "tcp_mbps", "mptcp_to_tcp"], 0..)],
    }
}

/// The tables and figures that take all samples of the runs, under each load.
fn own(results: &Results) -> Own {
    let mut all = Own::default();
    for load in distinct(results.rows.iter().map(|row| row.cell.text("load"))) {
        let under = results.only(|row| row.cell.says("load", &load));
        let [degrees, rates] = ["correlation", "roc"].map(|item| correlation::runs(&under, item));
        if !degrees.is_empty() {
            let (table, figure) = correlation::figure_6(&degrees);
            let title = "Figure 6: c by pair, all runs together (rfc8382: 1 in one group, 0 not)";
            all.readable.push((format!("{title}; {load}"), table));
            all.figures.push(figure.section(format!("Correlation, {load}")));
        }
        if !rates.is_empty() {
            all.figures.push(correlation::figure_7b(&rates).section(format!("Correlation, {load}")));
        }
    }
    all
}

#[cfg(test)]
mod tests;
