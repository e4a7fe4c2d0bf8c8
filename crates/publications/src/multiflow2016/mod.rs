//! Sandri, Silva, Verdi 2016: MultiFlow, an OpenFlow controller that puts the subflows of an MPTCP connection on
//! disjoint paths, against ECMP. The experiments are in `papers/multiflow2016/`.

mod on_linux;

use std::sync::LazyLock;

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{jain_index, mean};

use crate::Routers;
use crate::study::{Code, Linux, Sample, Study};

/// The paper.
pub(crate) static MULTIFLOW2016: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure),
        linux: Some(Linux {
            routers: Routers::OpenVSwitch,
            case: |cell| format!("{}, {}", cell.text("case"), cell.text("mode")),
            quantities: on_linux::quantities,
            sample: <[f64]>::to_vec,
            further_findings: on_linux::findings,
        }),
        ..Code::default()
    };
    Study::in_program("multiflow2016", code)
});

/// The places of metrics in a sample; the paper's file says what they are.
const GOODPUT: usize = 0;
const AFTER: usize = 1;
const STALL: usize = 2;
const SURVIVED: usize = 3;

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
    let are_pairs = result.flows.iter().any(|flow| flow.name.starts_with("pair"));
    let fairness = jain_index(&goodputs).filter(|_| are_pairs).unwrap_or(f64::NAN);
    Ok(vec![goodputs.iter().sum(), f64::NAN, f64::NAN, f64::NAN, fairness])
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
    let survived = if between(END_S - 5.0, END_S) > 0.0 { 100.0 } else { 0.0 };
    vec![between(CUT_S / 2.0, CUT_S), between(CUT_S, END_S), stall, survived, f64::NAN]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    #[test]
    fn a_quick_look_at_the_ring_has_all_modes_and_the_published_findings() {
        let request = Request { items: vec!["ring".to_owned()], quick: true, ..Request::default() };
        let reproduction = MULTIFLOW2016.reproduce(&request, &|_| {}).expect("the runs succeed").reproduction;
        assert_eq!(reproduction.table.rows().len(), 2 * 8);
        assert!(!reproduction.findings.is_empty());
    }
}
