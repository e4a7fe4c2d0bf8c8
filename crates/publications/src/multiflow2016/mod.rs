//! Sandri, Silva, Verdi 2016: MultiFlow, an OpenFlow controller that puts the subflows of an MPTCP connection on
//! disjoint paths, against ECMP. The experiments are in `papers/multiflow2016/`.

use std::sync::LazyLock;

use subflow_lab::results::RunResult;
use subflow_lab::statistics::{jain_index, mean};
use subflow_report::Finding;

use crate::Routers;
use crate::emulation::{Measured, Quantity};
use crate::study::{Cell, Code, Linux, Sample, Study, all};

pub(crate) static MULTIFLOW2016: LazyLock<Study> = LazyLock::new(|| {
    let code = Code {
        measure: Some(measure),
        linux: Some(Linux {
            routers: Routers::OpenVSwitch,
            case: |cell| format!("{}, {}", cell.text("case"), cell.text("mode")),
            quantities,
            sample: <[f64]>::to_vec,
            further_findings: findings_on_linux,
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

/// The largest deviation of a mean from the simulator's, as a share, with which both agree.
const BOUND: f64 = 0.15;

/// Mbit/s between what one path of the diamond and what two can carry.
const ONE_PATH: f64 = 70.0;

/// What a cell's runs are compared by.
fn quantities(cell: &Cell) -> Vec<Quantity> {
    let published = MULTIFLOW2016.published.of(cell, &[]);
    let goodput = Quantity { name: "goodput", unit: "Mbit/s", published, bound: Some(BOUND), of: all_goodput };
    let other = |name, unit, of| Quantity { name, unit, published: None, bound: None, of };
    match cell.item.as_str() {
        "resilience" => vec![
            Quantity { name: "goodput before the cut", of: |result| after_cut(result)[GOODPUT], ..goodput },
            other("goodput after it", "Mbit/s", |result| after_cut(result)[AFTER]),
            other("longest stall", "s", |result| after_cut(result)[STALL]),
            other("survived", "%", |result| after_cut(result)[SURVIVED]),
        ],
        // Which path the hash of a switch takes is random: the shares of both kinds of runs are compared apart.
        "diamond" => vec![
            Quantity { bound: (!cell.text("mode").contains("ecmp")).then_some(BOUND), ..goodput },
            other("runs over both paths", "%", |result| if all_goodput(result) > ONE_PATH { 100.0 } else { 0.0 }),
        ],
        "load" => vec![goodput],
        _ => vec![Quantity { of: |result| result.flows[0].goodput_mbps, ..goodput }],
    }
}

/// All flows together, in Mbit/s.
fn all_goodput(result: &RunResult) -> f64 {
    result.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

/// What no check of a claim says: how the kinds of runs of ECMP by flow compare with the simulator's.
fn findings_on_linux(measured: &[Measured]) -> Vec<Finding> {
    let is_hashed = |cell: &Cell| cell.item == "diamond" && cell.is("mode", "ecmp-flow");
    measured.iter().find(|measured| is_hashed(&measured.emulation.cell)).map(by_hash).into_iter().collect()
}

/// ECMP by flow gives either one path or both, by its hash; each kind is as fast as in the simulator.
fn by_hash(measured: &Measured) -> Finding {
    let mean_where = |of: &[f64], both: bool| {
        let these: Vec<f64> = of.iter().copied().filter(|goodput| (*goodput > ONE_PATH) == both).collect();
        (these.len(), mean(&these))
    };
    let (simulated, emulated) = (measured.simulated.samples(0), measured.emulated.samples(0));
    let mut evidence = Vec::new();
    let mut verdicts = Vec::new();
    for (both, name) in [(true, "both paths"), (false, "one path")] {
        let (in_simulator, of_simulator) = mean_where(&simulated, both);
        let (on_linux, of_linux) = mean_where(&emulated, both);
        let shown = |mean: Option<f64>| mean.map_or_else(|| "none".to_owned(), |mean| format!("{mean:.1}"));
        evidence.push(format!(
            "{name}: {on_linux} of {} runs on Linux, mean {}; {in_simulator} of {} simulated, mean {}",
            emulated.len(),
            shown(of_linux),
            simulated.len(),
            shown(of_simulator)
        ));
        verdicts.push(of_linux.zip(of_simulator).map(|(linux, simulator)| (linux / simulator - 1.0).abs() <= BOUND));
    }
    let statement = "On switches, diamond: ECMP by flow takes one path or both by its hash, each as fast as in the \
                     simulator within 15 %.";
    Finding::new(statement, all(verdicts, true), evidence.join("; ") + " Mbit/s").beyond()
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
