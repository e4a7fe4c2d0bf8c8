//! A study beyond the paper: coupling only subflows that share a bottleneck (`coupling = "shared-bottleneck"`). LIA
//! keeps two subflows of a connection to what one TCP would get on the better path, wherever they go. That is right
//! where they share a bottleneck, and gives capacity away where they do not.

use subflow_lab::statistics::{mean, mean_interval};
use subflow_report::{Axis, Bars, Cell, Figure, Reference, Table};

use super::part::{Part, less, shown, with_doubt};
use crate::study::{Check, Claim, Outcome, Results, all_hold};

pub(super) const CHECKS: [(&str, Check); 1] = [("gains without harm", gains_without_harm)];

/// The metrics of the paper's file, by their places: goodput of the MPTCP connection in Mbit/s, and the mean of the TCP
/// connections.
const MPTCP: usize = 0;
const TCP: usize = 1;

/// Item `coupling`.
pub(super) fn coupling(results: &Results) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["paths", "coupling", "MPTCP Mbit/s", "TCP Mbit/s", "MPTCP / TCP"]);
    let mut bars = Bars::new(Axis::new("goodput of MPTCP", "Mbit/s"));
    for row in results.of("coupling") {
        let (paths, name) = (row.cell.text("paths"), row.cell.text("way"));
        let (mptcp, tcp) = (row.samples(MPTCP), row.samples(TCP));
        let ratio: Vec<f64> = row.runs.iter().map(|run| run[MPTCP] / run[TCP].max(1e-9)).collect();
        part.row("coupling", &paths, &name, "mptcp_mbps", &mptcp);
        part.row("coupling", &paths, &name, "tcp_mbps", &tcp);
        part.row("coupling", &paths, &name, "mptcp_to_tcp", &ratio);
        let shown = [shown(&mptcp, 2), shown(&tcp, 2), shown(&ratio, 2)].map(Cell::Text);
        table.row([Cell::from(paths.as_str()), Cell::from(name.as_str())].into_iter().chain(shown));
        let interval = mean_interval(&mptcp, 0.95).map(|interval| (interval.low, interval.high));
        if let Some(mean) = mean(&mptcp) {
            bars.add(paths, name, mean, interval);
        }
    }
    bars.mark(Reference::Value { label: "half of one link".to_owned(), at: 10.0 });
    part.readable.push(("Study: coupling by shared bottlenecks (95 % intervals)".to_owned(), table));
    part.figures.push(
        Figure::bars("What coupling by shared bottlenecks gains", bars)
            .section("Coupling")
            .caption("Links of 20 Mbit/s with one Reno connection on each. Means over runs with 95 % intervals."),
    );
    part
}

/// How much more there has to be of MPTCP's goodput for a gain.
const WORTHWHILE: f64 = 0.02;
/// How much of its goodput TCP may lose before it counts as harm.
const HARMLESS: f64 = 0.05;

/// What a user wants to know of a way to couple: the gain where paths are disjoint, and whether TCP is harmed where they
/// are not.
fn gains_without_harm(results: &Results, claim: &Claim) -> Option<Outcome> {
    let samples = |paths: &str, way: &str, metric| {
        let row = results.find("coupling", [("paths", paths.into()), ("way", way.into())])?;
        Some(row.samples(metric))
    };
    let ways = [claim.text("way"), "lia, all coupled", "reno, none coupled"];
    let [Some(mptcp), Some(mptcp_of_all), Some(mptcp_of_none)] = ways.map(|way| samples("disjoint", way, MPTCP)) else {
        return None;
    };
    let [Some(tcp), Some(tcp_of_all), Some(tcp_of_none)] = ways.map(|way| samples("shared", way, TCP)) else {
        return None;
    };
    let scaled = |shares: &[f64], by: f64| shares.iter().map(|share| share * by).collect::<Vec<_>>();
    let (more, left) = (scaled(&mptcp_of_all, 1.0 + WORTHWHILE), scaled(&tcp_of_all, 1.0 - HARMLESS));
    let verdict = all_hold([less(&more, &mptcp), less(&left, &tcp)], true);
    let [mptcp, mptcp_of_all, mptcp_of_none, tcp, tcp_of_all, tcp_of_none] =
        [mptcp, mptcp_of_all, mptcp_of_none, tcp, tcp_of_all, tcp_of_none].map(|samples| shown(&samples, 1));
    let evidence = format!(
        "disjoint: MPTCP {mptcp} Mbit/s, {mptcp_of_all} with all coupled, {mptcp_of_none} with none; shared: TCP {tcp}, \
         {tcp_of_all} with all coupled, {tcp_of_none} with none"
    );
    Some(Outcome::new(verdict, None, with_doubt(verdict, evidence)))
}

#[cfg(test)]
mod tests {
    use super::super::RED2018;
    use crate::study::{Effort, Sample};

    /// The verdicts where MPTCP and TCP had these runs, by paths and way.
    fn verdicts(runs: impl Fn(bool, usize) -> Vec<Sample>) -> Vec<Option<bool>> {
        let mut all = RED2018.invented(Effort::Quick, |_| Vec::new());
        all.rows.retain(|row| row.cell.item == "coupling");
        for (index, row) in all.rows.iter_mut().enumerate() {
            row.runs = runs(row.cell.is("paths", "shared"), index % 6);
        }
        RED2018.findings(&all).iter().map(|finding| finding.verdict.confirmed()).collect()
    }

    #[test]
    fn a_gain_with_no_harm_is_confirmed() {
        let confirmed = verdicts(|is_shared, way| {
            let disjoint = vec![[15.0, 20.0, 20.0, 15.1, 20.0, 20.0][way], 10.0];
            let tcp = [10.0, 10.0, 9.9, 10.0, 7.0, 7.0][way];
            vec![if is_shared { vec![20.0 - tcp, tcp] } else { disjoint }; 2]
        });
        assert_eq!(confirmed, [Some(true), Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn what_two_runs_scatter_over_is_neither_gain_nor_harm() {
        let confirmed = verdicts(|_, way| {
            let mean = if way == 0 { 11.0 } else { 17.0 };
            [mean - 4.0, mean + 4.0].map(|goodput| vec![goodput; 2]).to_vec()
        });
        assert_eq!(confirmed, [None; 4]);
    }
}
