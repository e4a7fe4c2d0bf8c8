//! Rows, and tables to read.

use subflow_report::{Cell, Table};

use super::adaptive;
use super::grid::{ADAPTIVE, CONGESTION, SCHEDULERS, Study};
use super::measurement::{Measurement, Measurements};

const COLUMNS: [&str; 12] = [
    "item",
    "case",
    "congestion",
    "scheduler",
    "path_manager",
    "goodput_mbps",
    "sd_mbps",
    "ci95_low",
    "ci95_high",
    "runs",
    "background_tcp_mbps",
    "transfer_s",
];

/// All rows, one for each cell.
pub(super) fn rows(measurements: &Measurements) -> Table {
    let mut table = Table::new(COLUMNS);
    for measurement in &measurements.0 {
        table.row(row(measurement));
    }
    table
}

fn row(measurement: &Measurement) -> [Cell; 12] {
    let setup = &measurement.cell.setup;
    [
        measurement.cell.study.name().into(),
        measurement.cell.case_name().into(),
        setup.congestion.into(),
        setup.scheduler.into(),
        setup.path_manager.into(),
        measurement.mean.into(),
        measurement.sd.into(),
        measurement.interval.map(|interval| interval.low).into(),
        measurement.interval.map(|interval| interval.high).into(),
        Cell::Integer(measurement.runs as i64),
        measurement.background_tcp.into(),
        measurement.transfer.map(|(seconds, _)| seconds).into(),
    ]
}

/// For each study and congestion control a table with a line for each case, schedulers or meshes side by side.
pub(super) fn readable(measurements: &Measurements) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for study in Study::ALL {
        if measurements.of(study).next().is_none() {
            continue;
        }
        for congestion in CONGESTION {
            let title = format!("{}, {congestion}: goodput in Mbit/s ± half the 95 % interval", study.name());
            tables.push((title, side_by_side(measurements, study, congestion)));
        }
    }
    tables.extend(adaptive::readable(measurements));
    tables
}

/// What stands side by side: heading, scheduler, path manager.
pub(super) fn variants(study: Study) -> Vec<(&'static str, &'static str, &'static str)> {
    let schedulers = SCHEDULERS.into_iter().chain([ADAPTIVE]).map(|name| (name, name, "full-mesh"));
    let meshes = [("full-mesh", "ll", "full-mesh"), ("single-mesh", "ll", "single-mesh")];
    match study {
        Study::Congested | Study::Design => schedulers.collect(),
        Study::Mesh => meshes.to_vec(),
        Study::Background => schedulers.chain([meshes[1]]).collect(),
        Study::Transfer => meshes[..1].to_vec(),
    }
}

fn side_by_side(measurements: &Measurements, study: Study, congestion: &str) -> Table {
    let variants = variants(study);
    let headings = std::iter::once("case").chain(variants.iter().map(|(heading, ..)| *heading));
    let mut table = Table::new(headings);
    for case in measurements.cases(study) {
        let of_case =
            || measurements.of(study).filter(|m| m.cell.case == case && m.cell.setup.congestion == congestion);
        let Some(first) = of_case().next() else { continue };
        let mut row = |name: String, shown: &dyn Fn(&Measurement) -> String| {
            let cells = variants.iter().map(|(_, scheduler, path_manager)| {
                let is_it = |m: &&Measurement| {
                    m.cell.setup.scheduler == *scheduler && m.cell.setup.path_manager == *path_manager
                };
                Cell::Text(of_case().find(is_it).map_or_else(String::new, shown))
            });
            table.row(std::iter::once(Cell::Text(name)).chain(cells));
        };
        row(first.cell.case_name(), &shown);
        if first.background_tcp.is_some() {
            row("  TCP beside it".to_owned(), &|m| {
                m.background_tcp.map_or_else(String::new, |tcp| format!("{tcp:.1}"))
            });
        }
        if first.transfer.is_some() {
            row("  time of 1.5 GB, s".to_owned(), &|m| {
                m.transfer.map_or_else(String::new, |(seconds, _)| format!("{seconds:.1}"))
            });
        }
    }
    table
}

/// The mean and half its interval.
pub(super) fn shown(measurement: &Measurement) -> String {
    let half = measurement.interval.map_or(0.0, |interval| (interval.high - interval.low) / 2.0);
    format!("{:.1} ±{half:.1}", measurement.mean)
}

#[cfg(test)]
mod tests {
    use super::super::measurement::tests::made;
    use super::*;

    #[test]
    fn a_row_names_the_cell_and_its_figures() {
        let csv = rows(&made(Study::Mesh, |cell| f64::from(cell.case) * 10.0)).to_csv();
        let first = csv.lines().nth(1).expect("a row");
        assert!(first.starts_with("mesh,Exp 1,lia,ll,full-mesh,11.0,1.414214,"), "{first}");
        assert_eq!(csv.lines().count(), 65);
    }

    #[test]
    fn tables_fit_and_have_a_line_for_each_case() {
        for study in Study::ALL {
            let tables = readable(&made(study, |_| 123.4));
            assert!(tables.len() >= CONGESTION.len());
            for (title, table) in tables {
                let text = table.to_text();
                assert!(text.lines().all(|line| line.chars().count() <= 110), "{title}\n{text}");
            }
        }
    }
}
