//! How the paper's claims, and what was found beyond it, are checked against our figures.

use subflow_lab::statistics::Interval;
use subflow_report::Measured;

use super::{GOODPUT, STALL, SURVIVED, at, interval, published, shown};
use crate::study::{Check, Claim, Outcome, Results, Row};

pub(super) const CHECKS: [(&str, Check); 4] = [
    ("ahead", |all, claim| compare(all, claim, is_ahead)),
    ("equal", |all, claim| compare(all, claim, is_equal)),
    ("resilience", resilience),
    ("repaired", repaired),
];

/// Two means within this share of each other are about equal.
const ABOUT_EQUAL: f64 = 0.03;

/// The intervals of the means lie apart. Where they overlap it is undecided.
fn is_ahead(a: &Row, b: &Row) -> Option<bool> {
    match (interval(a, GOODPUT), interval(b, GOODPUT)) {
        (a, b) if a.low > b.high => Some(true),
        (a, b) if a.high <= b.low => Some(false),
        _ => None,
    }
}

fn is_equal(a: &Row, b: &Row) -> Option<bool> {
    let (a, b) = (a.mean(GOODPUT), b.mean(GOODPUT));
    Some((a - b).abs() <= ABOUT_EQUAL * a.max(b))
}

/// Compares the two modes of a claim in each of its cases by `holds`: one case that fails refutes, and those that hold
/// confirm only where all were run and none is undecided.
fn compare(all: &Results, claim: &Claim, holds: fn(&Row, &Row) -> Option<bool>) -> Option<Outcome> {
    let (item, cases, modes) = (claim.text("item"), claim.texts("cases"), claim.texts("modes"));
    let pair = |case: &&str| Some([at(all, item, case, modes[0])?, at(all, item, case, modes[1])?]);
    let pairs: Vec<[&Row; 2]> = cases.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        return None;
    }
    let compared = pairs
        .iter()
        .map(|[a, b]| format!("{}: {} {}, {} {}", a.cell.text("case"), modes[0], shown(a), modes[1], shown(b)));
    let evidence = compared.collect::<Vec<_>>().join("; ") + " Mbit/s";
    let verdicts: Vec<Option<bool>> = pairs.iter().map(|[a, b]| holds(a, b)).collect();
    let confirmed = match verdicts.len() == cases.len() {
        _ if verdicts.contains(&Some(false)) => Some(false),
        true if !verdicts.contains(&None) => Some(true),
        _ => None,
    };
    let part = verdicts.iter().position(|verdict| *verdict == confirmed).unwrap_or(0);
    let [a, b] = pairs[part];
    let (first, second) = (a.mean(GOODPUT), b.mean(GOODPUT));
    // With the ends of both intervals: it leaves out 1 where they lie apart.
    let (of_first, of_second) = (interval(a, GOODPUT), interval(b, GOODPUT));
    let positive = of_second.low > 0.0;
    let interval = positive.then(|| Interval {
        low: of_first.low / of_second.high,
        high: of_first.high / of_second.low,
        confidence: 0.95,
    });
    let published = published(a).zip(published(b)).map(|(first, second)| format!("{:.2} times", first / second));
    let measured = Measured::new(first / second, interval, "times");
    Some(Outcome { published, ..Outcome::new(confirmed, measured, evidence) })
}

/// The claim to check beyond throughput.
fn resilience(all: &Results, _: &Claim) -> Option<Outcome> {
    let at = |mode| at(all, "resilience", "link cut", mode);
    let modes = ["multiflow", "ecmp-flow", "multiflow, initial included", "disjoint", "disjoint, re-routed"];
    let survival = |mode| {
        at(mode).map(|m| {
            let (survived, stall) = (100.0 * m.mean(SURVIVED), m.mean(STALL));
            format!("{mode}: {survived:.0} % survive, stalled for {stall:.2} s")
        })
    };
    let evidence = modes.iter().filter_map(|mode| survival(mode)).collect::<Vec<_>>().join("; ");
    let evidence = evidence
        + ". With the initial subflow included, data takes disjoint paths, but as published all acknowledgments come \
           back over the default route, and with it both subflows are cut; \"disjoint\" sends them back over the \
           subflow's own path";
    Some(Outcome::new(Some(at("multiflow")?.mean(SURVIVED) == 1.0), None, evidence))
}

/// Whether our ties repair what is lost under load.
fn repaired(all: &Results, _: &Claim) -> Option<Outcome> {
    let at = |mode| at(all, "load", "8 pairs", mode);
    let published = interval(at("multiflow")?, GOODPUT);
    let better = ["multiflow, random ties", "multiflow, load-aware", "disjoint"];
    let ours = better.iter().filter_map(|mode| at(mode).map(|m| format!("{mode} {}", shown(m))));
    let evidence = format!("{}; multiflow {} Mbit/s", ours.collect::<Vec<_>>().join(", "), shown(at("multiflow")?));
    let ahead = better.iter().filter_map(|mode| at(mode)).all(|m| interval(m, GOODPUT).low > published.high);
    Some(Outcome::new(Some(ahead), None, evidence))
}

#[cfg(test)]
mod tests {
    use super::super::MULTIFLOW2016;
    use super::*;
    use crate::study::Effort;

    /// Results of the ring in which MultiFlow has 9.1 Mbit/s and ECMP by flow 7.1, but for files of 10 MB what `ecmp` says.
    fn ring(ecmp: [f64; 3], sizes: &[&str]) -> Results {
        let mut all = MULTIFLOW2016.invented(Effort::Full, |cell| {
            let goodputs = match cell.text("mode").as_str() {
                "multiflow" => [9.0, 9.1, 9.2],
                _ if cell.is("case", "10 MB") => ecmp,
                _ => [7.0, 7.1, 7.2],
            };
            goodputs.map(|goodput| vec![goodput, 0.0, 0.0, 0.0, 0.0]).to_vec()
        });
        let is_wanted = |row: &Row| sizes.iter().any(|size| row.cell.is("case", *size));
        let compared = |row: &Row| ["multiflow", "ecmp-flow"].iter().any(|mode| row.cell.is("mode", *mode));
        all.rows.retain(|row| row.cell.item == "ring" && is_wanted(row) && compared(row));
        all
    }

    #[test]
    fn ahead_or_behind_takes_intervals_that_lie_apart() {
        let verdict = |ecmp| MULTIFLOW2016.findings(&ring(ecmp, &["1 MB", "10 MB", "100 MB"]))[0].verdict.confirmed();
        assert_eq!(verdict([7.0, 7.1, 7.2]), Some(true));
        assert_eq!(verdict([8.0, 9.0, 9.5]), None);
        assert_eq!(verdict([9.5, 9.6, 9.7]), Some(false));
        let apart = ring([7.0, 7.1, 7.2], &["1 MB", "10 MB", "100 MB"]);
        let ratio = MULTIFLOW2016.findings(&apart)[0].measured.clone().expect("two means");
        assert!(ratio.low.is_some_and(|low| low > 1.0 && low < ratio.value) && ratio.high > Some(ratio.value));
    }

    #[test]
    fn a_case_that_was_not_run_leaves_it_undecided() {
        let findings = MULTIFLOW2016.findings(&ring([7.0, 7.1, 7.2], &["1 MB"]));
        assert_eq!(findings[0].verdict.confirmed(), None);
    }
}
