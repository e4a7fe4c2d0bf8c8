//! Checks of claims that need no code of a paper: how two rows compare in each of several cases.
//!
//! | key of the claim | what it is |
//! |---|---|
//! | `item` | where the rows are |
//! | `cases` | values of the variable `case` |
//! | `modes` | two values of the variable `mode` |
//! | `metric`, `unit` | the place of the figure in a sample, 0 unless given; its unit |
//! | `percent` | of `equal`: how far apart the means may be |
//!
//! `ahead` holds where the interval of the first mean lies above that of the second. `equal` holds where the means are
//! within `percent` of the larger one.

use subflow_lab::statistics::Interval;
use subflow_report::Measured;

use super::description::Claim;
use super::results::{Results, Row};
use super::{Check, Outcome};

/// The checks by name.
pub(super) const CHECKS: [(&str, Check); 2] = [("ahead", ahead), ("equal", equal)];

/// Where the intervals overlap it is undecided.
fn ahead(all: &Results, claim: &Claim) -> Option<Outcome> {
    compare(all, claim, |a, b, metric| match (a.ends(metric), b.ends(metric)) {
        ((low, _), (_, high)) if low > high => Some(true),
        ((_, high), (low, _)) if high <= low => Some(false),
        _ => None,
    })
}

fn equal(all: &Results, claim: &Claim) -> Option<Outcome> {
    let share = claim.number("percent") / 100.0;
    compare(all, claim, |a, b, metric| {
        let (a, b) = (a.mean(metric), b.mean(metric));
        Some((a - b).abs() <= share * a.max(b))
    })
}

/// Compares the two modes of a claim in each of its cases by `holds`: one case that fails refutes, and those that hold
/// confirm only where all were run and none is undecided.
fn compare(all: &Results, claim: &Claim, holds: impl Fn(&Row, &Row, usize) -> Option<bool>) -> Option<Outcome> {
    let (item, cases, modes) = (claim.text("item"), claim.texts("cases"), claim.texts("modes"));
    let metric = claim.arguments.get("metric").and_then(serde_json::Value::as_u64).unwrap_or(0) as usize;
    let at = |case: &str, mode: &str| all.find(item, [("case", case.into()), ("mode", mode.into())]);
    let pairs: Vec<[&Row; 2]> =
        cases.iter().filter_map(|case| Some([at(case, modes[0])?, at(case, modes[1])?])).collect();
    if pairs.is_empty() {
        return None;
    }
    let compared = pairs.iter().map(|[a, b]| {
        let [of_a, of_b] = [a, b].map(|row| row.shown(metric, 2, " ± "));
        format!("{}: {} {of_a}, {} {of_b}", a.cell.text("case"), modes[0], modes[1])
    });
    let evidence = format!("{} {}", compared.collect::<Vec<_>>().join("; "), claim.text("unit"));
    let verdicts: Vec<Option<bool>> = pairs.iter().map(|[a, b]| holds(a, b, metric)).collect();
    let confirmed = match verdicts.len() == cases.len() {
        _ if verdicts.contains(&Some(false)) => Some(false),
        true if !verdicts.contains(&None) => Some(true),
        _ => None,
    };
    let [a, b] = pairs[verdicts.iter().position(|verdict| *verdict == confirmed).unwrap_or(0)];
    // With the ends of both intervals: it leaves out 1 where they lie apart.
    let ((low, high), (least, most)) = (a.ends(metric), b.ends(metric));
    let interval = (least > 0.0).then(|| Interval { low: low / most, high: high / least, confidence: 0.95 });
    Some(Outcome::new(confirmed, Measured::new(a.mean(metric) / b.mean(metric), interval, "times"), evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiflow2016::MULTIFLOW2016;
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
