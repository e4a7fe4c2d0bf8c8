//! Sandri, Silva, Verdi 2016: MultiFlow, an OpenFlow controller that puts the subflows of an MPTCP connection on
//! disjoint paths, against ECMP. The experiments are in `papers/multiflow2016/`.

mod findings;
mod on_linux;
mod report;

use std::sync::LazyLock;

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{Interval, jain_index, mean};

use crate::Routers;
use crate::study::{Code, Linux, OnKernel, Results, Row, Sample, Study};

/// The paper.
pub(crate) static MULTIFLOW2016: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure),
        checks: &findings::CHECKS,
        rows: Some(report::rows),
        readable: Some(report::readable),
        figures: Some(report::figures),
        linux: Some(Linux {
            routers: Routers::OpenVSwitch,
            case: |cell| format!("{}, {}", cell.text("case"), cell.text("mode")),
            quantities: on_linux::quantities,
            findings: OnKernel::Own(on_linux::findings),
        }),
        ..Code::default()
    };
    Study::in_program("multiflow2016", code)
});

/// What is measured, in the order of a sample. Goodput in Mbit/s: of the file, of all pairs together, or before the cut.
const GOODPUT: usize = 0;
/// Mbit/s from the cut to the end of the run.
const AFTER: usize = 1;
/// The longest time without delivery after the cut, in seconds.
const STALL: usize = 2;
/// 1 where something was delivered in the last five seconds, else 0.
const SURVIVED: usize = 3;
/// Jain's index over pairs.
const FAIRNESS: usize = 4;

/// When the link is cut, when the run ends, and how far apart deliveries are looked at, in seconds.
const CUT_S: f64 = 10.0;
const END_S: f64 = 40.0;
const SAMPLE_S: f64 = 0.02;

fn measure(result: &RunResult) -> Result<Sample, String> {
    if !result.series.is_empty() {
        return Ok(after_cut(result));
    }
    let connections = result.flows.iter().filter(|flow| flow.protocol == "mptcp");
    let goodputs: Vec<f64> = connections.map(|flow| flow.goodput_mbps).collect();
    Ok(vec![goodputs.iter().sum(), 0.0, 0.0, 0.0, jain_index(&goodputs).unwrap_or(1.0)])
}

/// What a run showed whose link was cut. It takes metrics over time.
fn after_cut(result: &RunResult) -> Sample {
    let series =
        result.series.iter().find(|series| series.metric == "goodput").expect("the flow's goodput was sampled");
    let points: Vec<(f64, f64)> = series.points().iter().map(|point| (point.time_s, point.value)).collect();
    let between = |from: f64, to: f64| {
        let values: Vec<f64> = points.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, v)| *v).collect();
        mean(&values).unwrap_or(0.0)
    };
    // A sample tells of the time before it; the first after the cut may tell of packets that were past it.
    let (mut stall, mut last): (f64, f64) = (0.0, CUT_S);
    for &(at, _) in points.iter().filter(|(at, value)| *at > CUT_S && *value > 0.0) {
        stall = stall.max(at - last - SAMPLE_S);
        last = at;
    }
    let stall = stall.max(END_S - last - SAMPLE_S).max(0.0);
    let survived = f64::from(u8::from(between(END_S - 5.0, END_S) > 0.0));
    vec![between(CUT_S / 2.0, CUT_S), between(CUT_S, END_S), stall, survived, 0.0]
}

/// One cell.
fn at<'a>(all: &'a Results, item: &str, case: &str, mode: &str) -> Option<&'a Row> {
    all.find(item, [("case", case.into()), ("mode", mode.into())])
}

/// The 95 % interval of a mean, which is the mean alone for one run.
fn interval(row: &Row, metric: usize) -> Interval {
    let mean = row.mean(metric);
    row.interval(metric).unwrap_or(Interval { low: mean, high: mean, confidence: 0.0 })
}

/// Mean goodput with half its interval, to read.
fn shown(row: &Row) -> String {
    row.shown(GOODPUT, 2, " ± ")
}

/// Goodput published for a cell, in Mbit/s.
fn published(row: &Row) -> Option<f64> {
    MULTIFLOW2016.published(&row.cell, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Paper, Request};

    #[test]
    fn a_quick_look_at_the_ring_has_all_modes_and_the_published_findings() {
        let request = Request { items: vec!["ring".to_owned()], quick: true, ..Request::default() };
        let reproduction = MULTIFLOW2016.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        assert_eq!(reproduction.table.rows().len(), 2 * 8);
        assert!(!reproduction.findings.is_empty());
    }
}
