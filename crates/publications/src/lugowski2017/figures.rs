//! Goodput against capacity, a figure for each case of each table, and how far the tables are off.

use subflow_report::{Axis, Bars, Curve, Curves, Figure, Reference, Shape};

use super::measurement::{FlowMeasurement, Measurement, Measurements};

/// All figures, under the tables' names.
pub(super) fn figures(measurements: &Measurements) -> Vec<Figure> {
    let mut figures = vec![deviations(measurements)];
    for name in measurements.tables() {
        let mut cells: Vec<(u32, &'static str)> =
            measurements.of(name, "").map(|measurement| (measurement.cell.latency_ms, measurement.cell.case)).collect();
        cells.sort_by_key(|(latency, _)| *latency);
        let mut seen = Vec::new();
        for (latency, case) in cells {
            if !seen.contains(&(latency, case)) {
                seen.push((latency, case));
                let of_case: Vec<&Measurement> =
                    measurements.of(name, case).filter(|measurement| measurement.cell.latency_ms == latency).collect();
                figures.push(goodput(&of_case));
            }
        }
    }
    figures
}

/// One case over its capacities.
fn goodput(measurements: &[&Measurement]) -> Figure {
    let cell = &measurements[0].cell;
    let mut curves = Curves::new(Axis::new("capacity", "Mbit/s"), Axis::new("goodput", "Mbit/s"));
    for (index, congestion) in cell.flows.iter().enumerate() {
        let point = |measurement: &&Measurement| {
            let FlowMeasurement { median, interval, .. } = measurement.flows[index];
            let (low, high) = interval.map_or((median, median), |interval| (interval.low, interval.high));
            (f64::from(measurement.cell.capacity_mbps), median, low, high)
        };
        let published = measurements.iter().filter_map(|measurement| {
            Some((f64::from(measurement.cell.capacity_mbps), measurement.flows[index].published?))
        });
        let name = if cell.flows.iter().filter(|flow| *flow == congestion).count() > 1 {
            format!("{congestion} {}", index + 1)
        } else {
            (*congestion).to_owned()
        };
        curves.add(Curve::new(&name).with_intervals(measurements.iter().map(point)).colour(index));
        let theirs = Curve::new(format!("{name}, thesis")).with_points(published).colour(index).published();
        if !theirs.points.is_empty() {
            curves.add(theirs.shape(Shape::LineAndPoints));
        }
    }
    curves.mark(Reference::Diagonal { label: "capacity of a path".to_owned() });
    let table = cell.table;
    let title = format!("{}: {} at {} ms", table.name, cell.flows.join(" and "), cell.latency_ms);
    let section =
        format!("{}: {}, {}, {}", table.name, table.topology.name(), table.queue.name(), table.matchup.name());
    Figure::curves(title, curves).section(section).caption("Medians with their intervals; dashed is the thesis.")
}

fn deviations(measurements: &Measurements) -> Figure {
    let mut bars = Bars::new(Axis::new("mean absolute deviation", "% of capacity"));
    for name in measurements.tables() {
        if let Some(deviation) = measurements.deviation_of_table(name) {
            bars.add(name, "deviation", deviation, None);
        }
    }
    Figure::bars("Deviation from the thesis, by table", bars)
}

#[cfg(test)]
mod tests {
    use super::super::measurement::tests::made;
    use super::*;
    use subflow_report::Chart;

    #[test]
    fn each_case_has_ours_and_the_thesis_s_in_one_colour() {
        let figures = figures(&made(0, "lia", &[52.0, 44.0]));
        assert_eq!(figures.len(), 1 + 4, "the deviations, and a figure for each algorithm");
        let Chart::Curves(curves) = &figures[1].chart else { panic!("curves") };
        let names: Vec<&str> = curves.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["lia", "lia, thesis", "reno", "reno, thesis"]);
        assert_eq!(curves.curves[0].colour, curves.curves[1].colour);
        // A.1 prints 50 for LIA at 100 Mbit/s.
        assert_eq!((curves.curves[0].points[0].y, curves.curves[1].points[0].y), (52.0, 50.0));
    }
}
