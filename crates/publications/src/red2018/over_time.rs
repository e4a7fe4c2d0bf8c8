//! Figure 9 as it is drawn: duplicate acknowledgments and retransmissions so far, over time.

use subflow_lab::results::RunResult;
use subflow_report::{Axis, Cell, Curve, CurvePoint, Curves, Figure, Table};

use super::part::{Part, shown};
use crate::study::{DUPLICATE_ACKS, RETRANSMISSIONS, Results, Sample, by_second};

/// The item.
pub(super) const ITEM: &str = "cumulative";
/// What is counted so far, by the name of its series.
const COUNTS: [(&str, &str); 2] = [("duplicate ACKs", DUPLICATE_ACKS), ("retransmissions", RETRANSMISSIONS)];
/// Figures before the lists: goodput.
const FIRST: usize = 1;
/// At which share of a run the table has a line.
const LINES: usize = 4;

/// The sample of a run: goodput, then what was counted so far at the end of each second, list after list.
pub(super) fn measure(result: &RunResult) -> Sample {
    let seconds = result.duration_s as usize;
    let so_far = |(_, metric): &(&str, &str)| {
        let values = by_second(result, seconds, metric, |name| name == "data");
        values.into_iter().map(|values| values.iter().sum::<f64>())
    };
    let goodput = result.flows.iter().find(|flow| flow.name == "data").map_or(f64::NAN, |flow| flow.goodput_mbps);
    [goodput].into_iter().chain(COUNTS.iter().flat_map(so_far)).collect()
}

/// Item `cumulative`.
pub(super) fn cumulative(all: &Results) -> Part {
    let mut part = Part::default();
    let seconds = all.of(ITEM).flat_map(|row| &row.runs).map(|run| (run.len() - FIRST) / COUNTS.len()).max();
    let Some(seconds) = seconds else { return part };
    let mut table = Table::new(["scheduler", "until s", "duplicate ACKs", "retransmissions"]);
    for row in all.of(ITEM) {
        let scheduler = row.cell.text("scheduler");
        for second in (1..=LINES).map(|line| seconds * line / LINES).filter(|second| *second > 0) {
            let mut line = vec![Cell::from(scheduler.as_str()), Cell::Integer(second as i64)];
            for (count, (title, _)) in COUNTS.into_iter().enumerate() {
                let samples = row.samples(place(count, seconds, second));
                part.row(ITEM, &scheduler, &format!("until {second} s"), title, &samples);
                line.push(Cell::Text(shown(&samples, 0)));
            }
            table.row(line);
        }
    }
    part.readable.push(("Figure 9: counted so far (95 % intervals)".to_owned(), table));
    for (count, (title, _)) in COUNTS.into_iter().enumerate() {
        let mut curves = Curves::new(Axis::new("time", "s"), Axis::new(title, ""));
        for row in all.of(ITEM) {
            let point = |second: usize| {
                let place = place(count, seconds, second);
                let interval = row.interval(place).map(|interval| (interval.low, interval.high));
                CurvePoint { x: second as f64, y: row.mean(place), interval }
            };
            curves.add(Curve { points: (1..=seconds).map(point).collect(), ..Curve::new(row.cell.text("scheduler")) });
        }
        let title = format!("{title} so far (figure 9)");
        let caption = "Means over runs with 95 % intervals.";
        part.figures.push(Figure::curves(title, curves).section("Scheduler").caption(caption));
    }
    part
}

/// The place of a count at the end of a second in a sample.
fn place(count: usize, seconds: usize, second: usize) -> usize {
    FIRST + seconds * count + second - 1
}

#[cfg(test)]
mod tests {
    use subflow_report::Chart;

    use super::super::RED2018;
    use super::*;
    use crate::study::Effort;

    #[test]
    fn each_count_has_a_curve_for_each_scheduler() {
        // Goodput, then two lists of four seconds.
        let run = || vec![9.0, 1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
        let all = RED2018.invented(Effort::Quick, |cell| if cell.item == ITEM { vec![run(); 2] } else { Vec::new() });
        let Part { figures, rows, .. } = cumulative(&all);
        assert_eq!(rows.len(), 2 * LINES * COUNTS.len());
        let ends = figures.iter().map(|figure| {
            let Chart::Curves(curves) = &figure.chart else { panic!("curves") };
            assert_eq!(curves.curves.len(), 2);
            curves.curves[1].points.last().map(|point| (point.x, point.y))
        });
        assert_eq!(ends.collect::<Vec<_>>(), [Some((4.0, 4.0)), Some((4.0, 40.0))]);
    }
}
