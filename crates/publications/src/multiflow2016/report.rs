//! Rows, tables to read, and figures.

use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::measurement::{Measurements, Outcome};

const COLUMNS: [&str; 15] = [
    "item",
    "case",
    "routing",
    "runs",
    "goodput_mbps",
    "ci95_low",
    "ci95_high",
    "published_mbps",
    "after_cut_mbps",
    "after_cut_ci95_low",
    "after_cut_ci95_high",
    "stall_s",
    "stall_ci95_high",
    "survived_percent",
    "fairness",
];

const ITEMS: [&str; 6] = ["fat-tree", "ring", "resilience", "load", "inter-domain", "diamond"];

/// A row for each cell.
pub(super) fn rows(measurements: &Measurements) -> Table {
    let mut table = Table::new(COLUMNS);
    for measurement in &measurements.0 {
        let cut = measurement.cell.item() == "resilience";
        let goodput = measurement.interval(|run| run.goodput);
        let after = measurement.interval(|run| run.after);
        let of_cut = |value: f64| cut.then_some(value).into();
        table.row([
            measurement.cell.item().into(),
            measurement.cell.case().as_str().into(),
            measurement.cell.mode().name.into(),
            Cell::Integer(measurement.runs.len() as i64),
            measurement.mean(|run| run.goodput).into(),
            goodput.low.into(),
            goodput.high.into(),
            measurement.published().into(),
            of_cut(measurement.mean(|run| run.after)),
            of_cut(after.low),
            of_cut(after.high),
            of_cut(measurement.mean(|run| run.stall)),
            of_cut(measurement.interval(|run| run.stall).high),
            of_cut(100.0 * measurement.mean(|run| run.survived)),
            (measurement.cell.item() == "load").then(|| measurement.mean(|run| run.fairness)).into(),
        ]);
    }
    table
}

/// A table for each item: modes down, cases across.
pub(super) fn readable(measurements: &Measurements) -> Vec<(String, Table)> {
    let wanted = ITEMS.into_iter().filter(|item| measurements.of(item).next().is_some());
    wanted
        .map(|item| match item {
            "resilience" => {
                ("resilience: a link is cut in mid-transfer; goodput in Mbit/s".to_owned(), resilience(measurements))
            }
            _ => (format!("{item}: goodput in Mbit/s, the paper's in brackets"), goodputs(measurements, item)),
        })
        .collect()
}

/// Names without repetition, in the order of their first occurrence.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut names = Vec::new();
    all.for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    names
}

fn goodputs(measurements: &Measurements, item: &str) -> Table {
    let cases = distinct(measurements.of(item).map(|m| m.cell.case()));
    let mut table = Table::new(std::iter::once("routing").chain(cases.iter().map(String::as_str)));
    for mode in distinct(measurements.of(item).map(|m| m.cell.mode().name)) {
        let cell = |case: &String| match measurements.at(item, case, mode) {
            Some(m) => Cell::Text(match m.published() {
                Some(published) => format!("{} ({published})", m.shown()),
                None => m.shown(),
            }),
            None => Cell::Empty,
        };
        table.row(std::iter::once(Cell::Text(mode.to_owned())).chain(cases.iter().map(cell)));
    }
    table
}

fn resilience(measurements: &Measurements) -> Table {
    let mut table = Table::new(["routing", "before", "after", "stall, s", "survived, %"]);
    for m in measurements.of("resilience") {
        let shown = |metric: fn(&Outcome) -> f64| {
            let interval = m.interval(metric);
            Cell::Text(format!("{:.2} ± {:.2}", m.mean(metric), (interval.high - interval.low) / 2.0))
        };
        table.row([
            m.cell.mode().name.into(),
            shown(|run| run.goodput),
            shown(|run| run.after),
            shown(|run| run.stall),
            Cell::Text(format!("{:.0}", 100.0 * m.mean(|run| run.survived))),
        ]);
    }
    table
}

/// Goodput by case and mode; for the cut, before and after it, and how long stalls were.
pub(super) fn figures(measurements: &Measurements) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in ITEMS.into_iter().filter(|item| measurements.of(item).next().is_some()) {
        let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
        for m in measurements.of(item) {
            let mut add = |group: &str, metric: fn(&Outcome) -> f64| {
                let interval = m.interval(metric);
                bars.add(group, m.cell.mode().name, m.mean(metric), Some((interval.low, interval.high)));
            };
            if item == "resilience" {
                add("before the cut", |run| run.goodput);
                add("after the cut", |run| run.after);
            } else {
                add(&m.cell.case(), |run| run.goodput);
            }
        }
        let caption = "Means with 95 % intervals.";
        figures.push(Figure::bars(format!("Goodput: {item}"), bars).section(item).caption(caption));
    }
    let stalls = measurements
        .of("resilience")
        .map(|m| (m.cell.mode().name, m.runs.iter().map(|run| run.stall).collect::<Vec<f64>>()))
        .collect::<Vec<_>>();
    if !stalls.is_empty() {
        let caption = "The longest time without delivery after the cut; 30 s is the rest of the run.";
        let figure = Figure::distributions("Stalls", Axis::new("stall", "s"), stalls);
        figures.push(figure.section("resilience").caption(caption));
    }
    figures
}
