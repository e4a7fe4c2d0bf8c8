//! Goodput against capacity, a figure for each case of each table, and how far the tables are off.

use subflow_report::{Axis, Bars, Curve, Curves, Figure, Reference, Shape};

use super::{capacity, deviation_of_table, flow_name, flows, interval, latency, median, published};
use crate::study::{Results, Row, distinct};

/// All figures, under the tables' names.
pub(super) fn figures(all: &Results) -> Vec<Figure> {
    let mut figures = vec![deviations(all)];
    for table in all.items() {
        let mut cells: Vec<(i64, String)> = all.of(table).map(|row| (latency(row), row.cell.text("case"))).collect();
        cells.sort_by_key(|(latency, _)| *latency);
        for (ms, case) in distinct(cells.into_iter()) {
            let of_case = all.of(table).filter(|row| latency(row) == ms && row.cell.says("case", &case));
            figures.push(goodput(&of_case.collect::<Vec<_>>()));
        }
    }
    figures
}

/// One case over its capacities.
fn goodput(rows: &[&Row]) -> Figure {
    let first = rows[0];
    let mut curves = Curves::new(Axis::new("capacity", "Mbit/s"), Axis::new("goodput", "Mbit/s"));
    let congestion: Vec<String> = (0..flows(first)).map(|index| flow_name(first, index)).collect();
    for (index, of_flow) in congestion.iter().enumerate() {
        let point = |row: &&Row| {
            let median = median(row, index);
            let (low, high) = interval(row, index).map_or((median, median), |interval| (interval.low, interval.high));
            (capacity(row) as f64, median, low, high)
        };
        let theirs = rows.iter().filter_map(|row| Some((capacity(row) as f64, published(row, index)?)));
        let name = match congestion.iter().filter(|other| *other == of_flow).count() {
            1 => of_flow.clone(),
            _ => format!("{of_flow} {}", index + 1),
        };
        curves.add(Curve::new(&name).with_intervals(rows.iter().map(point)).colour(index));
        let theirs = Curve::new(format!("{name}, thesis")).with_points(theirs).colour(index).published();
        if !theirs.points.is_empty() {
            curves.add(theirs.shape(Shape::LineAndPoints));
        }
    }
    curves.mark(Reference::Diagonal { label: "capacity of a path".to_owned() });
    let table = &first.cell.item;
    let title = format!("{table}: {} at {} ms", congestion.join(" and "), latency(first));
    let setup = ["topology", "queue", "matchup"].map(|name| first.cell.text(name)).join(", ");
    Figure::curves(title, curves)
        .section(format!("{table}: {setup}"))
        .caption("Medians with their intervals; dashed is the thesis.")
}

fn deviations(all: &Results) -> Figure {
    let mut bars = Bars::new(Axis::new("mean absolute deviation", "% of capacity"));
    for table in all.items() {
        if let Some(deviation) = deviation_of_table(all, table) {
            bars.add(table, "deviation", deviation, None);
        }
    }
    Figure::bars("Deviation from the thesis, by table", bars)
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;
    use subflow_report::Chart;

    #[test]
    fn each_case_has_ours_and_the_thesis_s_in_one_colour() {
        let figures = figures(&made("A.1", "lia", [52.0, 44.0]));
        assert_eq!(figures.len(), 1 + 4, "the deviations, and a figure for each algorithm");
        let Chart::Curves(curves) = &figures[1].chart else { panic!("curves") };
        let names: Vec<&str> = curves.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["lia", "lia, thesis", "reno", "reno, thesis"]);
        assert_eq!(curves.curves[0].colour, curves.curves[1].colour);
        // A.1 prints 50 for LIA at 100 Mbit/s.
        assert_eq!((curves.curves[0].points[0].y, curves.curves[1].points[0].y), (52.0, 50.0));
    }
}
