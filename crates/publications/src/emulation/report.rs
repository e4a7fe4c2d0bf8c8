//! Tables, figures, findings and notes: what was published, simulated, and measured on Linux.

use subflow_lab::statistics::{mean, quantile};
use subflow_report::{Axis, Bars, Cell, Figure, Finding, Reproduction, Table};

use super::{ATTEMPTS, Measured, Routers};
use crate::Study;
use crate::study::{Row, all, distinct};

pub(super) fn reproduction(paper: &Study, measured: &[Measured]) -> Reproduction {
    let mut findings = paper.findings_on_linux(measured);
    let items = distinct(measured.iter().map(|measured| measured.emulation.cell.item.as_str()));
    findings.extend(items.iter().flat_map(|item| agreement(item, &of(measured, item))));
    Reproduction {
        paper: paper.name().to_owned(),
        table: rows(measured),
        readable: items.iter().map(|&item| ((*item).to_owned(), readable(&of(measured, item)))).collect(),
        figures: items.iter().flat_map(|item| figures(item, &of(measured, item))).collect(),
        findings,
        notes: notes(measured),
    }
}

fn of<'a>(measured: &'a [Measured], item: &str) -> Vec<&'a Measured> {
    measured.iter().filter(|measured| measured.emulation.cell.item == item).collect()
}

/// The columns of samples, of the `kind` that they are of.
fn columns_of(kind: &str) -> [String; 6] {
    ["", "_ci95_low", "_ci95_high", "_quartile1", "_median", "_quartile3"].map(|suffix| format!("{kind}{suffix}"))
}

fn rows(measured: &[Measured]) -> Table {
    let (simulated, emulated) = (columns_of("simulated"), columns_of("emulated"));
    let simulated = ["simulated_runs"].into_iter().chain(simulated.iter().map(String::as_str));
    let emulated = ["valid_runs"].into_iter().chain(emulated.iter().map(String::as_str));
    let columns = ["item", "case", "figure", "unit", "published"].into_iter().chain(simulated).chain(emulated);
    let mut table = Table::new(columns.chain(["deviation_percent", "invalid_runs"]));
    for measured in measured {
        for (index, quantity) in measured.emulation.quantities.iter().enumerate() {
            let mut row: Vec<Cell> = vec![
                measured.emulation.cell.item.as_str().into(),
                measured.emulation.case.as_str().into(),
                quantity.name.into(),
                quantity.unit.into(),
                quantity.published.into(),
            ];
            for runs in [&measured.simulated, &measured.emulated] {
                let samples = runs.samples(index);
                let (low, high) = runs.has(index).then(|| runs.ends(index)).unzip();
                row.push(Cell::Integer(samples.len() as i64));
                row.extend([mean(&samples), low, high].map(Cell::from));
                row.extend([0.25, 0.5, 0.75].map(|p| quantile(&samples, p).into()));
            }
            row.push(measured.deviation(index).map(|share| 100.0 * share).into());
            row.push(Cell::Integer(measured.invalid.runs.len() as i64));
            table.row(row);
        }
    }
    table
}

fn readable(measured: &[&Measured]) -> Table {
    let mut table =
        Table::new(["case", "figure", "published", "simulated", "emulated (kernel)", "deviation", "valid runs"]);
    for measured in measured {
        for (index, quantity) in measured.emulation.quantities.iter().enumerate() {
            let unit = if quantity.unit.is_empty() { String::new() } else { format!(", {}", quantity.unit) };
            let shown = |runs: &Row| runs.shown(index, 2, " ± ");
            let emulated =
                shown(&measured.emulated).or_else(|| Some(format!("not valid ({})", shown(&measured.invalid)?)));
            let valid = measured.emulated.runs.len();
            table.row([
                measured.emulation.case.as_str().into(),
                format!("{}{unit}", quantity.name).into(),
                quantity.published.map_or_else(String::new, |value| format!("{value:.2}")).into(),
                shown(&measured.simulated).unwrap_or_default().into(),
                emulated.unwrap_or_default().into(),
                measured.deviation(index).map_or_else(String::new, percent).into(),
                format!("{valid} of {}", valid + measured.invalid.runs.len()).into(),
            ]);
        }
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}

/// Whether the means, and the quartiles where there are enough runs, are within their bounds.
fn agreement(item: &str, measured: &[&Measured]) -> Vec<Finding> {
    let judge = |what: &str, deviation: &dyn Fn(&Measured, usize) -> Option<f64>, needs_all: bool| {
        let mut verdicts = Vec::new();
        let mut evidence = Vec::new();
        let mut largest: f64 = 0.0;
        for measured in measured {
            for (index, quantity) in measured.emulation.quantities.iter().enumerate() {
                let Some(bound) = quantity.bound else { continue };
                let deviation = deviation(measured, index);
                if deviation.is_none() && !needs_all {
                    continue;
                }
                largest = largest.max(bound);
                verdicts.push(deviation.map(|share| share.abs() <= bound));
                let shown = deviation.map_or_else(|| "no valid run".to_owned(), percent);
                evidence.push(format!("{}, {}: {shown}", measured.emulation.case, quantity.name));
            }
        }
        let verdict = (!verdicts.is_empty()).then(|| all(verdicts, true))?;
        let statement = format!("On Linux, {item}: {what} are within {:.0} % of the simulator's.", 100.0 * largest);
        Some(Finding::new(statement, verdict, evidence.join("; ")).beyond())
    };
    let means = judge("the means", &|measured, index| measured.deviation(index), true);
    let quartiles = judge("the quartiles", &|measured, index| measured.deviation_of_quartiles(index), false);
    means.into_iter().chain(quartiles).collect()
}

/// The first figure of each case, in both kinds of runs.
fn figures(item: &str, measured: &[&Measured]) -> Option<Figure> {
    let quantity = measured.first()?.emulation.quantities.first()?;
    let mut bars = Bars::new(Axis::new(quantity.name, quantity.unit));
    for measured in measured {
        for (kind, runs) in [("simulated", &measured.simulated), ("emulated", &measured.emulated)] {
            if runs.has(0) {
                bars.add(&measured.emulation.case, kind, runs.mean(0), Some(runs.ends(0)));
            }
        }
    }
    let title = format!("Simulated and on Linux: {item}");
    Some(Figure::bars(title, bars).section(item).caption("Means with 95 % intervals; on Linux of valid runs."))
}

fn notes(measured: &[Measured]) -> Vec<String> {
    let mut notes = vec![
        "Simulated and emulated runs have the same scenario and seeds. On Linux each host is a namespace with the \
         kernel's TCP and MPTCP, links are the simulator's in real time. Figures are means with 95 % intervals \
         (Student's t)."
            .to_owned(),
        format!(
            "A run on Linux that its own check calls not valid (late packets, drops, no CPU time left) is repeated, up \
             to {ATTEMPTS} attempts in all. Runs that stay so are counted but not used; where there is no other, \
             their mean is in parentheses."
        ),
    ];
    if measured.iter().any(|measured| measured.emulation.routers == Routers::OpenVSwitch) {
        notes.push(
            "Routers are Open vSwitch bridges with the userspace datapath, and subflow.openflow is their controller."
                .to_owned(),
        );
    }
    for measured in measured {
        let Measured { emulation, invalid, objections, repeated, .. } = measured;
        let of_case = format!("{}, {}", emulation.cell.item, emulation.case);
        if *repeated > 0 {
            notes.push(format!("{of_case}: {repeated} attempts were repeated."));
        }
        if !objections.is_empty() {
            let (invalid, why) = (invalid.runs.len(), objections.join("; "));
            notes.push(format!("{of_case}: {invalid} runs are not valid, such as: {why}"));
        }
    }
    notes
}
