//! What the paper claims, and what was found beyond it, against our figures.

use subflow_lab::statistics::Interval;
use subflow_report::{Finding, Measured};

use super::measurement::{Measurement, Measurements};

/// What statements begin with that are not the paper's.
const OWN: [&str; 2] = ["Our reading", "Beyond the paper"];

/// Two means within this share of each other are about equal.
const ABOUT_EQUAL: f64 = 0.03;

/// How two modes compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The first is ahead: the intervals of the means lie apart. Where they overlap it is undecided.
    Ahead,
    /// They are within three per cent of each other.
    Equal,
}

/// Statement, item, cases, the two modes, and how they compare in each case.
type Comparison = (&'static str, &'static str, &'static [&'static str], [&'static str; 2], Claim);

const COMPARISONS: [Comparison; 10] = [
    (
        "Fat tree, 100 MB: MultiFlow (9.26 Mbit/s) is ahead of ECMP by packet (7.29).",
        "fat-tree",
        &["100 MB"],
        ["multiflow", "ecmp-packet"],
        Claim::Ahead,
    ),
    (
        "Fat tree, 1 and 10 MB: ECMP by packet is slightly ahead of MultiFlow.",
        "fat-tree",
        &["1 MB", "10 MB"],
        ["ecmp-packet", "multiflow"],
        Claim::Ahead,
    ),
    (
        "Fat tree, 10 MB: ECMP by flow (9.29 Mbit/s) is ahead of MultiFlow (8.54).",
        "fat-tree",
        &["10 MB"],
        ["ecmp-flow", "multiflow"],
        Claim::Ahead,
    ),
    (
        "Fat tree, 100 MB: MultiFlow (9.24 Mbit/s) and ECMP by flow (9.39) are about equal.",
        "fat-tree",
        &["100 MB"],
        ["multiflow", "ecmp-flow"],
        Claim::Equal,
    ),
    (
        "Ring: MultiFlow is clearly ahead of ECMP by flow at all sizes.",
        "ring",
        &["1 MB", "10 MB", "100 MB"],
        ["multiflow", "ecmp-flow"],
        Claim::Ahead,
    ),
    (
        "Ring, 1 and 10 MB: MultiFlow is ahead of ECMP by packet.",
        "ring",
        &["1 MB", "10 MB"],
        ["multiflow", "ecmp-packet"],
        Claim::Ahead,
    ),
    (
        "Ring, 100 MB: MultiFlow and ECMP by packet are about equal.",
        "ring",
        &["100 MB"],
        ["multiflow", "ecmp-packet"],
        Claim::Equal,
    ),
    (
        "Our reading: where its two subflows are joins next to an initial one, MultiFlow is ahead of ECMP by flow on \
         the ring.",
        "ring",
        &["1 MB", "10 MB", "100 MB"],
        ["multiflow, two joins", "ecmp-flow"],
        Claim::Ahead,
    ),
    (
        "Beyond the paper, 8 pairs at once: MultiFlow, whose ties are the same for every connection, is behind ECMP \
         by flow (36 against 53 to 66 Mbit/s on Open vSwitch).",
        "load",
        &["8 pairs"],
        ["ecmp-flow", "multiflow"],
        Claim::Ahead,
    ),
    (
        "Beyond the paper, which leaves it to future work: between sites with three providers, disjoint paths are \
         ahead of ECMP by flow (values that are made, not measured).",
        "inter-domain",
        &["three providers"],
        ["disjoint", "ecmp-flow"],
        Claim::Ahead,
    ),
];

/// All findings that what was run can tell about.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    let compared = COMPARISONS.iter().filter_map(|comparison| compare(measurements, comparison));
    let others = [resilience(measurements), repaired(measurements)];
    compared.chain(others.into_iter().flatten()).collect()
}

fn compare(measurements: &Measurements, comparison: &Comparison) -> Option<Finding> {
    let &(statement, item, cases, modes, claim) = comparison;
    let pairs: Vec<[&Measurement; 2]> = cases
        .iter()
        .filter_map(|case| Some([measurements.at(item, case, modes[0])?, measurements.at(item, case, modes[1])?]))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let holds = |[a, b]: &[&Measurement; 2]| match claim {
        Claim::Ahead => match (a.interval(|run| run.goodput), b.interval(|run| run.goodput)) {
            (a, b) if a.low > b.high => Some(true),
            (a, b) if a.high <= b.low => Some(false),
            _ => None,
        },
        Claim::Equal => {
            let (a, b) = (a.mean(|run| run.goodput), b.mean(|run| run.goodput));
            Some((a - b).abs() <= ABOUT_EQUAL * a.max(b))
        }
    };
    let shown =
        pairs.iter().map(|[a, b]| format!("{}: {} {}, {} {}", a.cell.case(), modes[0], a.shown(), modes[1], b.shown()));
    let evidence = shown.collect::<Vec<_>>().join("; ") + " Mbit/s";
    // One case that fails refutes; those that hold confirm only where all were run and none is undecided.
    let verdicts: Vec<Option<bool>> = pairs.iter().map(holds).collect();
    let confirmed = match verdicts.len() == cases.len() {
        _ if verdicts.contains(&Some(false)) => Some(false),
        true if !verdicts.contains(&None) => Some(true),
        _ => None,
    };
    let part = verdicts.iter().position(|verdict| *verdict == confirmed).unwrap_or(0);
    let [a, b] = pairs[part];
    let (first, second) = (a.mean(|run| run.goodput), b.mean(|run| run.goodput));
    // With the ends of both intervals: it leaves out 1 where they lie apart.
    let (of_first, of_second) = (a.interval(|run| run.goodput), b.interval(|run| run.goodput));
    let positive = of_second.low > 0.0;
    let interval = positive.then(|| Interval {
        low: of_first.low / of_second.high,
        high: of_first.high / of_second.low,
        confidence: 0.95,
    });
    let finding =
        Finding::new(statement, confirmed, evidence).measured(Measured::new(first / second, interval, "times"));
    let finding = if OWN.iter().any(|own| statement.starts_with(own)) { finding.beyond() } else { finding };
    let finding = finding.source(if item == "fat-tree" {
        "figure 6"
    } else if item == "ring" {
        "figure 7"
    } else {
        ""
    });
    Some(match (a.published(), b.published()) {
        (Some(first), Some(second)) => finding.published(format!("{:.2} times", first / second)),
        _ => finding,
    })
}

/// The claim to check beyond throughput.
fn resilience(measurements: &Measurements) -> Option<Finding> {
    let at = |mode| measurements.at("resilience", "link cut", mode);
    let modes = ["multiflow", "ecmp-flow", "multiflow, initial included", "disjoint", "disjoint, re-routed"];
    let shown = |mode| {
        at(mode).map(|m| {
            let (survived, stall) = (100.0 * m.mean(|run| run.survived), m.mean(|run| run.stall));
            format!("{mode}: {survived:.0} % survive, stalled for {stall:.2} s")
        })
    };
    let evidence = modes.iter().filter_map(|mode| shown(mode)).collect::<Vec<_>>().join("; ");
    let evidence = evidence
        + ". With the initial subflow included, data takes disjoint paths, but as published all acknowledgments come \
           back over the default route, and with it both subflows are cut; \"disjoint\" sends them back over the \
           subflow's own path";
    Some(
        Finding::new(
            "MultiFlow gives every connection resilience: with two subflows it survives the cut of any link between \
         switches.",
            at("multiflow")?.mean(|run| run.survived) == 1.0,
            evidence,
        )
        .source("abstract and section 6"),
    )
}

/// Whether our ties repair what is lost under load.
fn repaired(measurements: &Measurements) -> Option<Finding> {
    let at = |mode| measurements.at("load", "8 pairs", mode);
    let published = at("multiflow")?.interval(|run| run.goodput);
    let better = ["multiflow, random ties", "multiflow, load-aware", "disjoint"];
    let shown = better.iter().filter_map(|mode| at(mode).map(|m| format!("{mode} {}", m.shown())));
    let evidence = format!("{}; multiflow {} Mbit/s", shown.collect::<Vec<_>>().join(", "), at("multiflow")?.shown());
    let ahead = better.iter().filter_map(|mode| at(mode)).all(|m| m.interval(|run| run.goodput).low > published.high);
    let statement = "Beyond the paper, 8 pairs at once: random or load-aware ties repair that.";
    Some(Finding::new(statement, ahead, evidence).beyond())
}

#[cfg(test)]
mod tests {
    use super::super::measurement::Outcome;
    use super::super::modes::mode;
    use super::super::testbed::{Experiment, Topology};
    use super::*;

    fn measured(megabytes: u32, name: &str, goodputs: [f64; 3]) -> Measurement {
        let runs = goodputs.map(|goodput| Outcome { goodput, ..Outcome::default() }).to_vec();
        Measurement { cell: Experiment::Transfer { topology: Topology::Ring, megabytes, mode: mode(name) }, runs }
    }

    #[test]
    fn ahead_or_behind_takes_intervals_that_lie_apart() {
        let verdict = |ecmp: [f64; 3]| {
            let cells = [1, 10, 100].into_iter().flat_map(|size| {
                let ours = measured(size, "multiflow", [9.0, 9.1, 9.2]);
                [ours, measured(size, "ecmp-flow", if size == 10 { ecmp } else { [7.0, 7.1, 7.2] })]
            });
            findings(&Measurements(cells.collect()))[0].verdict.confirmed()
        };
        assert_eq!(verdict([7.0, 7.1, 7.2]), Some(true));
        assert_eq!(verdict([8.0, 9.0, 9.5]), None);
        assert_eq!(verdict([9.5, 9.6, 9.7]), Some(false));
        let apart = [1, 10, 100].into_iter().flat_map(|size| {
            [measured(size, "multiflow", [9.0, 9.1, 9.2]), measured(size, "ecmp-flow", [7.0, 7.1, 7.2])]
        });
        let ratio = findings(&Measurements(apart.collect()))[0].measured.clone().expect("two means");
        assert!(ratio.low.is_some_and(|low| low > 1.0 && low < ratio.value) && ratio.high > Some(ratio.value));
    }

    #[test]
    fn a_case_that_was_not_run_leaves_it_undecided() {
        let cells = vec![measured(1, "multiflow", [9.0, 9.1, 9.2]), measured(1, "ecmp-flow", [7.0, 7.1, 7.2])];
        assert_eq!(findings(&Measurements(cells))[0].verdict.confirmed(), None);
    }
}
