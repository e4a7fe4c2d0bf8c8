//! How the thesis's findings are checked against our figures.

use subflow_lab::statistics::{mean, mean_interval};
use subflow_report::Measured;

use super::{at, capacity, deviation_of_topology, first_share, flows, mean_share, median, total};
use crate::study::{Check, Claim, Outcome, Results, Row, all_hold};

pub(super) const CHECKS: [(&str, Check); 12] = [
    ("deviation", deviation),
    ("even shares without latency", even_shares_without_latency),
    ("wVegas yields under tail drop", wvegas_yields_under_tail_drop),
    ("wVegas gains under RED", wvegas_gains_under_red),
    ("efficiency falls at 20 ms", efficiency_falls_at_20_ms),
    ("CMT against itself at 20 ms", cmt_against_itself_at_20_ms),
    ("wVegas against itself", wvegas_against_itself),
    ("fair with itself", fair_with_itself),
    ("two connections against one", two_connections_against_one),
    ("CMT takes the most on the half-bottleneck", cmt_takes_most_on_the_half_bottleneck),
    ("wVegas collapses at 5 ms", wvegas_collapses_at_5_ms),
    ("ceiling at 20 ms", ceiling_at_20_ms),
];

/// The algorithms that go by loss.
const LOSS_BASED: [&str; 3] = ["lia", "olia", "cmt-rpv2"];
/// The capacity that the thesis argues with.
const FULL: i64 = 100;

fn share(share: f64) -> Measured {
    Measured::new(share * 100.0, None, "%")
}

fn rate(mbps: f64) -> Measured {
    Measured::new(mbps, None, "Mbit/s")
}

/// Whether a finding holds, the figure that decides, and all figures.
fn outcome((holds, measured, evidence): (impl Into<Option<bool>>, Measured, String)) -> Outcome {
    let holds = holds.into();
    let doubt = if holds.is_none() { ". Intervals overlap: what differs may be chance" } else { "" };
    Outcome::new(holds, measured, evidence + doubt)
}

/// Whether a figure lies below another by the 95 % intervals of both means; `None` where these overlap.
fn is_below(a: &[f64], b: &[f64]) -> Option<bool> {
    let ends = |of: &[f64]| match (mean(of), mean_interval(of, 0.95)) {
        (_, Some(interval)) => (interval.low, interval.high),
        (mean, None) => (mean.unwrap_or(0.0), mean.unwrap_or(0.0)),
    };
    let ((low, high), (least, most)) = (ends(a), ends(b));
    match () {
        () if high < least => Some(true),
        () if low >= most => Some(false),
        () => None,
    }
}

/// Goodput of all flows together in each run.
fn totals(row: &Row) -> Vec<f64> {
    row.runs.iter().map(|run| run.iter().sum()).collect()
}

/// The rows of the loss-based algorithms in a table at the capacity that the thesis argues with, CMT/RPv2 last.
fn at_full<'a>(all: &'a Results, table: &str) -> Option<[&'a Row; 3]> {
    let [lia, olia, cmt] = LOSS_BASED.map(|name| at(all, table, name, FULL));
    Some([lia?, olia?, cmt?])
}

/// Whether the mean absolute deviation from the tables of one of the topologies is small enough.
fn deviation(all: &Results, claim: &Claim) -> Option<Outcome> {
    let bottleneck = claim.arguments["bottleneck"] == true;
    let deviation = deviation_of_topology(all, bottleneck)?;
    let measured = Measured::new(deviation, None, "% of capacity");
    Some(outcome((deviation <= claim.percent?, measured, format!("mean absolute deviation {deviation:.2} %"))))
}

fn even_shares_without_latency(all: &Results, _: &Claim) -> Option<Outcome> {
    let shares = by_algorithm(|name| mean_share(all, "A.1", name))?;
    let even = shares.iter().all(|(_, share)| (0.45..=0.58).contains(share));
    let least = shares.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
    Some(outcome((even, share(least), format!("mean shares of MPTCP: {}", percentages(&shares)))))
}

fn wvegas_yields_under_tail_drop(all: &Results, _: &Claim) -> Option<Outcome> {
    let wvegas = mean_share(all, "A.1", "wvegas")?;
    Some(outcome((wvegas < 0.45, share(wvegas), format!("mean share of wVegas: {:.0} %", wvegas * 100.0))))
}

fn wvegas_gains_under_red(all: &Results, _: &Claim) -> Option<Outcome> {
    let (red, tail_drop) = (mean_share(all, "A.8", "wvegas")?, mean_share(all, "A.1", "wvegas"));
    let before = tail_drop.map_or_else(String::new, |share| format!(", {:.0} % under tail drop", share * 100.0));
    Some(outcome((red > 0.5, share(red), format!("mean share of wVegas: {:.0} %{before}", red * 100.0))))
}

fn efficiency_falls_at_20_ms(all: &Results, _: &Claim) -> Option<Outcome> {
    let far = by_algorithm(|name| at(all, "A.3", name, FULL).map(total))?;
    let near = by_algorithm(|name| at(all, "A.1", name, FULL).map(total))?;
    let (rows, rows_near) = (at_full(all, "A.3")?, at_full(all, "A.1")?);
    let falls = rows.iter().zip(rows_near).map(|(far, near)| is_below(&totals(far), &totals(near)));
    let [others @ .., of_cmt] = rows;
    let lowest = others.iter().map(|other| is_below(&totals(of_cmt), &totals(other)));
    let evidence = format!("totals at 100 Mbit/s: {} at 20 ms, {} at 0 ms", goodputs(&far), goodputs(&near));
    let cmt = far.iter().find(|(name, _)| *name == "cmt-rpv2").map_or(0.0, |(_, total)| *total);
    Some(outcome((all_hold(falls.chain(lowest), true), rate(cmt), evidence)))
}

fn cmt_against_itself_at_20_ms(all: &Results, _: &Claim) -> Option<Outcome> {
    let own = at(all, "A.6", "cmt-rpv2", FULL).map(total)?;
    let others = by_algorithm(|name| at(all, "A.6", name, FULL).map(total))?;
    let [rest @ .., of_cmt] = at_full(all, "A.6")?;
    let lowest = rest.iter().map(|other| is_below(&totals(of_cmt), &totals(other)));
    let lowest = all_hold(lowest, true);
    let order = if lowest == Some(true) { ", the least of all three, as in the thesis" } else { "" };
    Some(outcome((
        all_hold([Some((70.0..=80.0).contains(&own)), lowest], true),
        rate(own),
        format!("{own:.1} of 100 Mbit/s{order} ({})", goodputs(&others)),
    )))
}

fn wvegas_against_itself(all: &Results, _: &Claim) -> Option<Outcome> {
    let of = |table| at(all, table, "wvegas", FULL).map(total);
    let totals = [of("A.4")?, of("A.5")?, of("A.6")?];
    let [near, middle, far] = totals;
    let stays = totals.iter().all(|total| *total >= 92.0);
    let evidence = format!("{near:.1}, {middle:.1} and {far:.1} of 100 Mbit/s at 0, 5 and 20 ms");
    let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
    Some(outcome((stays, rate(least), evidence)))
}

fn fair_with_itself(all: &Results, _: &Claim) -> Option<Outcome> {
    let mut worst: Option<(f64, &Row)> = None;
    for row in ["A.4", "A.5", "A.6"].into_iter().flat_map(|table| all.of(table)) {
        let apart = (first_share(row) - 0.5).abs();
        if worst.is_none_or(|(most, _)| apart > most) {
            worst = Some((apart, row));
        }
    }
    let (apart, row) = worst?;
    let evidence = format!(
        "the first connection's share is at most {:.0} points from 50 % ({}, {} at {} Mbit/s)",
        apart * 100.0,
        row.cell.item,
        row.cell.text("case"),
        capacity(row),
    );
    Some(outcome((apart <= 0.1, share(0.5 + apart), evidence)))
}

fn two_connections_against_one(all: &Results, _: &Claim) -> Option<Outcome> {
    let of_both = |row: &Row| (median(row, 0) + median(row, 1)) / total(row);
    let shares: Vec<f64> = all.of("A.7").map(of_both).collect();
    let mean = mean(&shares)?;
    let evidence = format!("mean share of both together: {:.0} %", mean * 100.0);
    Some(outcome(((0.45..=0.55).contains(&mean), share(mean), evidence)))
}

fn cmt_takes_most_on_the_half_bottleneck(all: &Results, _: &Claim) -> Option<Outcome> {
    let taken = |table: &'static str| by_algorithm(|name| at(all, table, name, FULL).map(|row| median(row, 0)));
    let (near, far) = (taken("A.11")?, taken("A.12")?);
    let ahead = |[others @ .., cmt]: [&Row; 3]| others.map(|other| is_below(&other.samples(0), &cmt.samples(0)));
    let confirmed = all_hold([at_full(all, "A.11")?, at_full(all, "A.12")?].into_iter().flat_map(ahead), true);
    let evidence = format!("MPTCP's goodput at 100 Mbit/s: {} at 0 ms, {} at 5 ms", goodputs(&near), goodputs(&far));
    Some(outcome((confirmed, rate(at(all, "A.12", "cmt-rpv2", FULL).map(|row| median(row, 0))?), evidence)))
}

fn wvegas_collapses_at_5_ms(all: &Results, _: &Claim) -> Option<Outcome> {
    let of = |table| at(all, table, "wvegas", FULL).map(total);
    let (near, far) = (of("A.11")?, of("A.12")?);
    Some(outcome((near - far >= 10.0, rate(far), format!("{near:.0} of 200 Mbit/s at 0 ms, {far:.0} at 5 ms"))))
}

fn ceiling_at_20_ms(all: &Results, claim: &Claim) -> Option<Outcome> {
    let reno = |capacity| at(all, &claim.item, claim.text("case"), capacity).map(|row| median(row, flows(row) - 1));
    let far = reno(FULL)?;
    let shown: Vec<String> =
        [20, 40, 60, 80, 100].into_iter().filter_map(|it| Some(format!("{it}: {:.1}", reno(it)?))).collect();
    Some(outcome((
        (55.0..=65.0).contains(&far),
        rate(far),
        format!("Reno's goodput by capacity, Mbit/s: {}", shown.join(", ")),
    )))
}

/// A figure for each loss-based algorithm, if there are all.
fn by_algorithm(figure: impl Fn(&'static str) -> Option<f64>) -> Option<Vec<(&'static str, f64)>> {
    LOSS_BASED.into_iter().map(|name| Some((name, figure(name)?))).collect()
}

fn percentages(figures: &[(&str, f64)]) -> String {
    figures.iter().map(|(name, x)| format!("{name} {:.0} %", x * 100.0)).collect::<Vec<_>>().join(", ")
}

fn goodputs(figures: &[(&str, f64)]) -> String {
    figures.iter().map(|(name, x)| format!("{name} {x:.1}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::LUGOWSKI2017;
    use super::super::tests::made;

    #[test]
    fn a_finding_is_confirmed_refuted_or_left_open() {
        let confirmed = |goodput| {
            let findings = LUGOWSKI2017.findings(&made("A.1", "lia", goodput));
            // The first two are those of the deviations.
            [2, 3, 10].map(|finding: usize| findings[finding].verdict.confirmed())
        };
        assert_eq!(confirmed([48.0, 47.0]), [Some(true), Some(false), None]);
        assert_eq!(confirmed([30.0, 60.0]), [Some(false), Some(true), None]);
    }
}
