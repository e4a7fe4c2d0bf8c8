//! Rows, tables to read, and figures.

use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::{AFTER, FAIRNESS, GOODPUT, STALL, SURVIVED, at, interval, published, shown};
use crate::study::{Results, distinct};

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

/// A row for each cell.
pub(super) fn rows(results: &Results) -> Table {
    let mut table = Table::new(COLUMNS);
    for row in &results.rows {
        let cut = row.cell.item == "resilience";
        let [goodput, after, stall] = [GOODPUT, AFTER, STALL].map(|metric| interval(row, metric));
        let of_cut = |value: f64| cut.then_some(value).into();
        table.row([
            row.cell.item.as_str().into(),
            row.cell.text("case").into(),
            row.cell.text("mode").into(),
            Cell::Integer(row.runs.len() as i64),
            row.mean(GOODPUT).into(),
            goodput.low.into(),
            goodput.high.into(),
            published(row).into(),
            of_cut(row.mean(AFTER)),
            of_cut(after.low),
            of_cut(after.high),
            of_cut(row.mean(STALL)),
            of_cut(stall.high),
            of_cut(100.0 * row.mean(SURVIVED)),
            (row.cell.item == "load").then(|| row.mean(FAIRNESS)).into(),
        ]);
    }
    table
}

/// A table for each item: modes down, cases across.
pub(super) fn readable(results: &Results) -> Vec<(String, Table)> {
    results
        .items()
        .into_iter()
        .map(|item| match item {
            "resilience" => {
                ("resilience: a link is cut in mid-transfer; goodput in Mbit/s".to_owned(), resilience(results))
            }
            _ => (format!("{item}: goodput in Mbit/s, the paper's in brackets"), goodputs(results, item)),
        })
        .collect()
}

fn goodputs(results: &Results, item: &str) -> Table {
    let [cases, modes] = ["case", "mode"].map(|name| distinct(results.of(item).map(|row| row.cell.text(name))));
    let mut table = Table::new(std::iter::once("routing").chain(cases.iter().map(String::as_str)));
    for mode in &modes {
        let cell = |case: &String| match at(results, item, case, mode) {
            Some(row) => Cell::Text(match published(row) {
                Some(published) => format!("{} ({published})", shown(row)),
                None => shown(row),
            }),
            None => Cell::Empty,
        };
        table.row(std::iter::once(Cell::Text(mode.clone())).chain(cases.iter().map(cell)));
    }
    table
}

fn resilience(results: &Results) -> Table {
    let mut table = Table::new(["routing", "before", "after", "stall, s", "survived, %"]);
    for row in results.of("resilience") {
        let shown = |metric| Cell::Text(row.shown(metric, 2, " ± "));
        let survived = Cell::Text(format!("{:.0}", 100.0 * row.mean(SURVIVED)));
        table.row([row.cell.text("mode").into(), shown(GOODPUT), shown(AFTER), shown(STALL), survived]);
    }
    table
}

/// Goodput by case and mode; for the cut, before and after it, and how long stalls were.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in results.items() {
        let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
        for row in results.of(item) {
            let mut add = |group: &str, metric| {
                bars.add(group, row.cell.text("mode"), row.mean(metric), Some(row.ends(metric)));
            };
            if item == "resilience" {
                add("before the cut", GOODPUT);
                add("after the cut", AFTER);
            } else {
                add(&row.cell.text("case"), GOODPUT);
            }
        }
        let caption = "Means with 95 % intervals.";
        figures.push(Figure::bars(format!("Goodput: {item}"), bars).section(item).caption(caption));
    }
    let stalls = results.of("resilience").map(|row| (row.cell.text("mode"), row.samples(STALL))).collect::<Vec<_>>();
    if !stalls.is_empty() {
        let caption = "The longest time without delivery after the cut; 30 s is the rest of the run.";
        let figure = Figure::distributions("Stalls", Axis::new("stall", "s"), stalls);
        figures.push(figure.section("resilience").caption(caption));
    }
    figures
}
