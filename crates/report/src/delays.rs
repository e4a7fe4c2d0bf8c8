//! Percentiles of delays, as a section of the report: of the flows' data, and of the packets and RTTs of their subflows.

use subflow_lab::results::{Experiment, FlowResult, Latency};
use subflow_lab::table::{Cell, Table};

use super::markup::{paragraphs, table};
use super::parameter::label;

/// Maximum number of rows.
const MOST_ROWS: usize = 120;

/// The section; empty if no run has recorded delays.
pub(super) fn delays(experiment: &Experiment) -> String {
    let is_sweep = experiment.runs.len() > 1;
    let mut rows = Vec::new();
    let mut left_out = 0;
    for run in &experiment.runs {
        let of_run: Vec<Delay<'_>> = run.result.flows.iter().filter(|flow| flow.group.is_none()).flat_map(of).collect();
        if rows.len() + of_run.len() > MOST_ROWS && !rows.is_empty() {
            left_out += of_run.len();
            continue;
        }
        let place = || [Cell::from(label(&run.parameters)), Cell::Integer(run.result.seed.cast_signed())];
        rows.extend(of_run.into_iter().map(|delay| {
            let place = if is_sweep { place().to_vec() } else { Vec::new() };
            place.into_iter().chain(delay.cells()).collect::<Vec<Cell>>()
        }));
    }
    if rows.is_empty() {
        return String::new();
    }
    let place: &[&str] = if is_sweep { &["point", "seed"] } else { &[] };
    let figures = ["flow", "subflow", "delay", "samples", "mean ms", "median ms", "95 % ms", "99 % ms"];
    let mut all = Table::new(place.iter().copied().chain(figures));
    rows.into_iter().for_each(|row| all.row(row));
    let mut notes = vec![
        "To the reader: from the first transmission of data until it could be read; reassembly is the part of it after \
         the arrival. One-way: from the transmission of data until its arrival, of data that was sent once."
            .to_owned(),
    ];
    if left_out > 0 {
        notes.push(format!("{left_out} further rows are in the tables flows and subflows."));
    }
    paragraphs(notes.iter().map(String::as_str)) + &table("delay-percentiles", "", &all)
}

/// A row: the flow, the subflow, what was measured, and its distribution.
struct Delay<'a>(&'a str, Option<String>, &'static str, Latency);

/// The rows of a flow.
fn of(flow: &FlowResult) -> Vec<Delay<'_>> {
    let of_flow = [("to the reader", flow.delay), ("reassembly", flow.reassembly_delay)];
    let of_flow = of_flow.into_iter().map(|(what, latency)| (None, what, latency));
    let of_subflows = flow.subflows.iter().flat_map(|subflow| {
        let name = Some(subflow.label());
        [(name.clone(), "one-way", subflow.one_way_delay), (name, "RTT", subflow.rtt)]
    });
    let all = of_flow.chain(of_subflows);
    all.filter_map(|(subflow, what, latency)| Some(Delay(&flow.name, subflow, what, latency?))).collect()
}

impl Delay<'_> {
    fn cells(self) -> impl Iterator<Item = Cell> + use<> {
        let Self(flow, subflow, what, Latency { samples, mean_ms, p50_ms, p95_ms, p99_ms }) = self;
        let words = [Cell::from(flow), subflow.as_deref().into(), what.into()];
        let numbers = [mean_ms, p50_ms, p95_ms, p99_ms].map(Cell::Number);
        words.into_iter().chain([Cell::Integer(samples.cast_signed())]).chain(numbers)
    }
}
