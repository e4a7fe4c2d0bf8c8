//! A study beyond the paper: coupling only subflows that share a bottleneck (`coupling = "shared-bottleneck"`). LIA
//! keeps two subflows of a connection to what one TCP would get on the better path, wherever they go. That is right
//! where they share a bottleneck, and gives capacity away where they do not.

use subflow_lab::statistics::{mean, mean_interval};
use subflow_report::{Axis, Bars, Cell, Figure, Reference, Table};

use super::part::{Part, all, less, shown};
use crate::study::{Results, Row};

/// The metrics of the paper's file, by their places: goodput of the MPTCP connection in Mbit/s, and the mean of the TCP
/// connections.
const MPTCP: usize = 0;
const TCP: usize = 1;

/// Item `coupling`.
pub(super) fn coupling(results: &Results) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["paths", "coupling", "MPTCP Mbit/s", "TCP Mbit/s", "MPTCP / TCP"]);
    let mut bars = Bars::new(Axis::new("goodput of MPTCP", "Mbit/s"));
    for row in &results.rows {
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
    judge(&mut part, results);
    part.findings.iter_mut().for_each(|finding| finding.beyond = true);
    part
}

/// How much more there has to be of MPTCP's goodput for a gain.
const WORTHWHILE: f64 = 0.02;
/// How much of its goodput TCP may lose before it counts as harm.
const HARMLESS: f64 = 0.05;

/// What a user wants to know: the gain where paths are disjoint, and whether TCP is harmed where they are not.
fn judge(part: &mut Part, results: &Results) {
    let of = |paths: &str| results.rows.iter().filter(|row| row.cell.is("paths", paths)).collect::<Vec<&Row>>();
    let (disjoint, shared) = (of("disjoint"), of("shared"));
    let none = disjoint.len().min(shared.len()).saturating_sub(1);
    for way in 1..none {
        let name = disjoint[way].cell.text("way");
        let mptcp = |way: usize| disjoint[way].samples(MPTCP);
        let tcp = |way: usize| shared[way].samples(TCP);
        let scaled = |shares: Vec<f64>, by: f64| shares.iter().map(|share| share * by).collect::<Vec<_>>();
        let (more, left) = (scaled(mptcp(0), 1.0 + WORTHWHILE), scaled(tcp(0), 1.0 - HARMLESS));
        part.finding(
            &format!("Study: {name}, gains on disjoint paths and leaves TCP its share on a shared one"),
            all([less(&more, &mptcp(way)), less(&left, &tcp(way))]),
            format!(
                "disjoint: MPTCP {} Mbit/s, {} with all coupled, {} with none; shared: TCP {}, {} with all coupled, \
                 {} with none",
                shown(&mptcp(way), 1),
                shown(&mptcp(0), 1),
                shown(&mptcp(none), 1),
                shown(&tcp(way), 1),
                shown(&tcp(0), 1),
                shown(&tcp(none), 1)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells;
    use super::*;
    use crate::study::{Effort, Sample};

    /// Results with these runs of MPTCP and TCP, by paths and way.
    fn made(runs: impl Fn(bool, usize) -> Vec<Sample>) -> Results {
        let cells = cells("coupling", Effort::Quick, None, &|_| true).into_iter().enumerate();
        let rows = cells.map(|(index, cell)| Row { runs: runs(cell.is("paths", "shared"), index % 6), cell });
        Results { rows: rows.collect(), ..Results::default() }
    }

    #[test]
    fn a_gain_with_no_harm_is_confirmed() {
        let part = coupling(&made(|is_shared, way| {
            let disjoint = vec![[15.0, 20.0, 20.0, 15.1, 20.0, 20.0][way], 10.0];
            let tcp = [10.0, 10.0, 9.9, 10.0, 7.0, 7.0][way];
            vec![if is_shared { vec![20.0 - tcp, tcp] } else { disjoint }; 2]
        }));
        let confirmed: Vec<_> = part.findings.iter().map(|finding| finding.verdict.confirmed()).collect();
        assert_eq!(confirmed, [Some(true), Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn what_two_runs_scatter_over_is_neither_gain_nor_harm() {
        let part = coupling(&made(|_, way| {
            let mean = if way == 0 { 11.0 } else { 17.0 };
            [mean - 4.0, mean + 4.0].map(|goodput| vec![goodput; 2]).to_vec()
        }));
        assert!(part.findings.iter().all(|finding| finding.verdict.confirmed().is_none()), "{:?}", part.findings);
    }
}
