//! The thesis's findings, each checked against our figures.

use subflow_report::{Finding, Measured};

use super::measurement::{Measurement, Measurements};

/// The algorithms that go by loss.
const LOSS_BASED: [&str; 3] = ["lia", "olia", "cmt-rpv2"];
/// The capacity that the thesis argues with.
const FULL: u32 = 100;

/// The goals for the deviation from the given tables, in percent of capacity: bottleneck and half-bottleneck.
const GOALS_PCT: [(&str, bool, f64); 2] = [("bottleneck", true, 5.0), ("half-bottleneck", false, 8.0)];

/// Whether a finding holds, the figure that decides, and all figures.
type Outcome = (bool, Measured, String);

/// A finding of the thesis.
struct Claim {
    statement: &'static str,
    source: &'static str,
    /// What the thesis prints.
    published: &'static str,
    /// Nothing where its cells were not run.
    check: fn(&Measurements) -> Option<Outcome>,
}

const fn claim(
    statement: &'static str,
    source: &'static str,
    published: &'static str,
    check: fn(&Measurements) -> Option<Outcome>,
) -> Claim {
    Claim { statement, source, published, check }
}

const CLAIMS: [Claim; 11] = [
    claim(
        "Below 1 ms every loss-based algorithm shares about 50:50 with Reno, a little above it",
        "A.1",
        "50 to 53 %",
        even_shares_without_latency,
    ),
    claim("wVegas yields to Reno under tail drop", "A.1", "36 of 95 Mbit/s", wvegas_yields_under_tail_drop),
    claim("wVegas gains on Reno under RED", "A.8", "32 : 25 at 60 Mbit/s", wvegas_gains_under_red),
    claim(
        "At 20 ms efficiency falls against Reno, CMT/RPv2's most",
        "A.3",
        "76 of 100 Mbit/s",
        efficiency_falls_at_20_ms,
    ),
    claim("CMT/RPv2 against itself uses the least at 20 ms", "A.6", "75 %", cmt_against_itself_at_20_ms),
    claim(
        "wVegas against itself loses nothing at any latency",
        "A.4 to A.6",
        "94 of 100 Mbit/s",
        wvegas_against_itself,
    ),
    claim("Every algorithm shares fairly with itself", "A.4 to A.6", "50:50", fair_with_itself),
    claim("OLIA and CMT/RPv2 together take what one Reno takes", "A.7", "46 : 48", two_connections_against_one),
    claim(
        "On the half-bottleneck CMT/RPv2 takes the most",
        "A.11, A.12",
        "most at 100 Mbit/s",
        cmt_takes_most_on_the_half_bottleneck,
    ),
    claim(
        "On the half-bottleneck wVegas collapses at 5 ms",
        "A.11, A.12",
        "from 190 to 165 of 200 Mbit/s",
        wvegas_collapses_at_5_ms,
    ),
    claim(
        "At 20 ms Reno stays at 60 Mbit/s beside wVegas however much there is",
        "A.17, section 5.3",
        "60 Mbit/s",
        ceiling_at_20_ms,
    ),
];

/// All findings. One is undecided where its cells were not run.
pub(super) fn findings(measurements: &Measurements) -> Vec<Finding> {
    let goals = GOALS_PCT.into_iter().map(|(name, bottleneck, most)| {
        let statement = format!("Our figures lie within {most} % of capacity of the tables on the {name}, on average");
        match measurements.deviation_of_topology(bottleneck) {
            Some(deviation) => {
                Finding::new(statement, deviation <= most, format!("mean absolute deviation {deviation:.2} %"))
                    .measured(Measured::new(deviation, None, "% of capacity"))
            }
            None => Finding::new(statement, None, NOT_RUN),
        }
        .source("A.1 to A.17")
        .beyond()
    });
    goals.chain(CLAIMS.iter().map(|claim| claim.judged(measurements))).collect()
}

/// The thesis's findings whose cells were run, with `context` before each.
pub(super) fn of_what_was_run(context: &str, measurements: &Measurements) -> Vec<Finding> {
    CLAIMS.iter().filter_map(|claim| claim.judged_if_run(context, measurements)).collect()
}

const NOT_RUN: &str = "its cells were not run";

impl Claim {
    fn judged(&self, measurements: &Measurements) -> Finding {
        let not_run = || self.described(Finding::new(self.statement, None, NOT_RUN));
        self.judged_if_run("", measurements).unwrap_or_else(not_run)
    }

    fn judged_if_run(&self, context: &str, measurements: &Measurements) -> Option<Finding> {
        let (holds, measured, evidence) = (self.check)(measurements)?;
        let statement = format!("{context}{}", self.statement);
        Some(self.described(Finding::new(statement, holds, evidence).measured(measured)))
    }

    fn described(&self, finding: Finding) -> Finding {
        finding.source(self.source).published(self.published)
    }
}

fn share(share: f64) -> Measured {
    Measured::new(share * 100.0, None, "%")
}

fn rate(mbps: f64) -> Measured {
    Measured::new(mbps, None, "Mbit/s")
}

/// Adds `why` where a finding is not confirmed.
fn with_reason((holds, measured, evidence): Outcome, why: &str) -> Outcome {
    (holds, measured, if holds { evidence } else { format!("{evidence}. {why}") })
}

fn even_shares_without_latency(all: &Measurements) -> Option<Outcome> {
    let shares = by_algorithm(|name| all.mean_share("A.1", name))?;
    let even = shares.iter().all(|(_, share)| (0.45..=0.58).contains(share));
    let least = shares.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
    Some((even, share(least), format!("mean shares of MPTCP: {}", percentages(&shares))))
}

fn wvegas_yields_under_tail_drop(all: &Measurements) -> Option<Outcome> {
    let wvegas = all.mean_share("A.1", "wvegas")?;
    Some((wvegas < 0.45, share(wvegas), format!("mean share of wVegas: {:.0} %", wvegas * 100.0)))
}

fn wvegas_gains_under_red(all: &Measurements) -> Option<Outcome> {
    let (red, tail_drop) = (all.mean_share("A.8", "wvegas")?, all.mean_share("A.1", "wvegas"));
    let before = tail_drop.map_or_else(String::new, |share| format!(", {:.0} % under tail drop", share * 100.0));
    Some((red > 0.5, share(red), format!("mean share of wVegas: {:.0} %{before}", red * 100.0)))
}

fn efficiency_falls_at_20_ms(all: &Measurements) -> Option<Outcome> {
    let far = by_algorithm(|name| all.at("A.3", name, FULL).map(Measurement::total))?;
    let near = by_algorithm(|name| all.at("A.1", name, FULL).map(Measurement::total))?;
    let falls = far.iter().zip(&near).all(|((_, far), (_, near))| far < near);
    let lowest = far.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("three algorithms");
    let evidence = format!("totals at 100 Mbit/s: {} at 20 ms, {} at 0 ms", goodputs(&far), goodputs(&near));
    let cmt = far.iter().find(|(name, _)| *name == "cmt-rpv2").map_or(0.0, |(_, total)| *total);
    Some((falls && lowest.0 == "cmt-rpv2", rate(cmt), evidence))
}

fn cmt_against_itself_at_20_ms(all: &Measurements) -> Option<Outcome> {
    let total = all.at("A.6", "cmt-rpv2", FULL)?.total();
    let others = by_algorithm(|name| all.at("A.6", name, FULL).map(Measurement::total))?;
    let lowest = others.iter().all(|(_, other)| *other >= total);
    let order = if lowest { ", the least of all three, as in the thesis" } else { "" };
    Some((
        (70.0..=80.0).contains(&total) && lowest,
        rate(total),
        format!("{total:.1} of 100 Mbit/s{order} ({})", goodputs(&others)),
    ))
}

fn wvegas_against_itself(all: &Measurements) -> Option<Outcome> {
    let total = |table| all.at(table, "wvegas", FULL).map(Measurement::total);
    let totals = [total("A.4")?, total("A.5")?, total("A.6")?];
    let [near, middle, far] = totals;
    let stays = totals.iter().all(|total| *total >= 92.0);
    let evidence = format!("{near:.1}, {middle:.1} and {far:.1} of 100 Mbit/s at 0, 5 and 20 ms");
    Some(with_reason(
        (stays, rate(totals.iter().copied().fold(f64::INFINITY, f64::min)), evidence),
        "At 20 ms each window travels as one clump, which nothing in a network free of jitter spreads out. Where \
         clumps meet they queue for a millisecond or two, wVegas takes that for its share of the queue and stops to \
         grow, and between the clumps the link is idle",
    ))
}

fn fair_with_itself(all: &Measurements) -> Option<Outcome> {
    let mut worst: Option<(f64, &Measurement)> = None;
    for cell in ["A.4", "A.5", "A.6"].into_iter().flat_map(|table| all.of(table, "")) {
        let apart = (cell.first_share() - 0.5).abs();
        if worst.is_none_or(|(most, _)| apart > most) {
            worst = Some((apart, cell));
        }
    }
    let (apart, cell) = worst?;
    let evidence = format!(
        "the first connection's share is at most {:.0} points from 50 % ({}, {} at {} Mbit/s)",
        apart * 100.0,
        cell.cell.table.name,
        cell.cell.case,
        cell.cell.capacity_mbps,
    );
    Some(with_reason(
        (apart <= 0.1, share(0.5 + apart), evidence),
        "wVegas takes the smallest RTT that it has seen for that of the empty path; the connection that starts second \
         sees a queue that the first one keeps, and keeps its own packets on top of it",
    ))
}

fn two_connections_against_one(all: &Measurements) -> Option<Outcome> {
    let of_both = |cell: &Measurement| (cell.flows[0].median + cell.flows[1].median) / cell.total();
    let shares: Vec<f64> = all.of("A.7", "").map(of_both).collect();
    let mean = subflow_lab::statistics::mean(&shares)?;
    let outcome =
        ((0.45..=0.55).contains(&mean), share(mean), format!("mean share of both together: {:.0} %", mean * 100.0));
    Some(with_reason(
        outcome,
        "Each MPTCP connection alone gets about half against Reno, here as in the thesis (A.1), so three connections \
         share in thirds; the thesis calls its own figure surprising",
    ))
}

fn cmt_takes_most_on_the_half_bottleneck(all: &Measurements) -> Option<Outcome> {
    let taken = |table: &'static str| by_algorithm(|name| all.at(table, name, FULL).map(|cell| cell.flows[0].median));
    let (near, far) = (taken("A.11")?, taken("A.12")?);
    let most = |taken: &[(&str, f64)]| taken.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|best| best.0.to_owned());
    let confirmed = most(&near).as_deref() == Some("cmt-rpv2") && most(&far).as_deref() == Some("cmt-rpv2");
    let evidence = format!("MPTCP's goodput at 100 Mbit/s: {} at 0 ms, {} at 5 ms", goodputs(&near), goodputs(&far));
    Some((confirmed, rate(all.at("A.12", "cmt-rpv2", FULL)?.flows[0].median), evidence))
}

fn wvegas_collapses_at_5_ms(all: &Measurements) -> Option<Outcome> {
    let total = |table| all.at(table, "wvegas", FULL).map(Measurement::total);
    let (near, far) = (total("A.11")?, total("A.12")?);
    Some((near - far >= 10.0, rate(far), format!("{near:.0} of 200 Mbit/s at 0 ms, {far:.0} at 5 ms")))
}

fn ceiling_at_20_ms(all: &Measurements) -> Option<Outcome> {
    let reno = |capacity| Some(all.at("A.17", "wvegas", capacity)?.flows.last()?.median);
    let far = reno(FULL)?;
    let shown: Vec<String> =
        [20, 40, 60, 80, 100].into_iter().filter_map(|it| Some(format!("{it}: {:.1}", reno(it)?))).collect();
    Some(((55.0..=65.0).contains(&far), rate(far), format!("Reno's goodput by capacity, Mbit/s: {}", shown.join(", "))))
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
    use super::super::measurement::tests::made;
    use super::*;

    #[test]
    fn a_finding_is_confirmed_refuted_or_left_open() {
        let confirmed = |measurements| {
            let findings = findings(&measurements);
            let of = |statement| {
                findings.iter().find(|f| f.statement == statement).expect("it is checked").verdict.confirmed()
            };
            [0, 1, 8].map(|claim: usize| of(CLAIMS[claim].statement))
        };
        assert_eq!(confirmed(made(0, "lia", &[48.0, 47.0])), [Some(true), Some(false), None]);
        assert_eq!(confirmed(made(0, "lia", &[30.0, 60.0])), [Some(false), Some(true), None]);
    }
}
