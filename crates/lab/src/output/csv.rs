//! Results as CSV: a row for each connection and each subflow of each run.

use std::collections::BTreeMap;

use serde_json::Value;
use subflow_scenario::sweep::{Measure, measures};

use crate::results::metrics::{FLOW, IDENTITY, Metric, RUN, Read, SUBFLOW};
use crate::results::parameters::word;
use crate::results::{Experiment, FlowResult, Run, SubflowResult};
use crate::table::{Align, Cell, Columns};

/// The position of the column `subflow`; metrics declare theirs.
const SUBFLOW_POSITION: u8 = 2;

/// A row: of a subflow, or else of its whole connection.
struct Row<'r> {
    run: &'r Run,
    flow: &'r FlowResult,
    subflow: Option<&'r SubflowResult>,
}

/// How a column is read from a row.
type Reads<'r> = Vec<Box<dyn Fn(&Row<'r>) -> Cell + 'r>>;

/// The runs as CSV with a header line. Columns: `run`, `seed`, the swept paths, each with the numbers of its quantities
/// ([`measures`]), then the figures of a flow or subflow. A row without `subflow` is for the whole connection. Cells that
/// do not apply are empty. `valid` is false for a run in real time that was not true to time.
pub fn to_csv(experiment: &Experiment) -> String {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for run in &experiment.runs {
        for flow in &run.result.flows {
            rows.push(Row { run, flow, subflow: None });
            rows.extend(flow.subflows.iter().map(|subflow| Row { run, flow, subflow: Some(subflow) }));
        }
    }
    let mut columns = Columns::of(&rows);
    columns.counts(("run", "", ""), |row| Some(row.run.run as u64));
    columns.counts(("seed", "", ""), |row| Some(row.run.result.seed));
    swept(&mut columns, experiment);
    for (name, reads) in by_position(experiment).values() {
        columns.shown(name, 0, Align::Left, |row| {
            reads.iter().map(|read| read(row)).find(|cell| *cell != Cell::Empty).unwrap_or(Cell::Empty)
        });
    }
    columns.table("results").to_csv()
}

/// Adds the swept values, as the scenario writes them, and their numbers.
fn swept(columns: &mut Columns<'_, Row<'_>>, experiment: &Experiment) {
    for path in experiment.runs.first().into_iter().flat_map(|run| run.parameters.keys()) {
        columns.shown(path, 0, Align::Left, |row| row.run.parameters.get(path).map_or(Cell::Empty, |v| word(v).into()));
        // The kind of a quantity is that of all runs, in the order of their numbers.
        let values: Vec<Option<&Value>> = experiment.runs.iter().map(|run| run.parameters.get(path)).collect();
        let position: BTreeMap<usize, usize> =
            experiment.runs.iter().enumerate().map(|(position, run)| (run.run, position)).collect();
        for (measure, numbers) in measures(&values) {
            let measure: Measure = measure;
            columns.exact((&format!("{path}_{}", measure.suffix()), measure.unit(), ""), |row| {
                numbers[*position.get(&row.run.run)?]
            });
        }
    }
}

/// The columns after the swept values: names, and how they are read.
fn by_position<'r>(experiment: &Experiment) -> BTreeMap<u8, (&'static str, Reads<'r>)> {
    let mut columns: BTreeMap<u8, (&'static str, Reads<'r>)> = BTreeMap::new();
    let subflow = |row: &Row<'r>| row.subflow.map(|subflow| subflow.name.as_str()).into();
    columns.insert(SUBFLOW_POSITION, ("subflow", vec![Box::new(subflow)]));
    add(&mut columns, IDENTITY, |row| Some(row.flow));
    add(&mut columns, FLOW.iter().copied().flatten(), |row| row.subflow.is_none().then_some(row.flow));
    add(&mut columns, SUBFLOW.iter().copied().flatten(), |row| row.subflow);
    let runs = || experiment.runs.iter().map(|run| &run.result);
    add(&mut columns, RUN.iter().filter(|metric| metric.has_column(runs())), |row| Some(&row.run.result));
    columns
}

/// Adds the columns of metrics that have a position.
fn add<'r, T: 'static>(
    columns: &mut BTreeMap<u8, (&'static str, Reads<'r>)>,
    metrics: impl IntoIterator<Item = &'static Metric<T>>,
    of: fn(&Row<'r>) -> Option<&'r T>,
) {
    for metric in metrics {
        let Some(position) = metric.csv else { continue };
        let read = move |row: &Row<'r>| of(row).map_or(Cell::Empty, |of| cell(metric, of));
        columns.entry(position).or_insert_with(|| (metric.column, Vec::new())).1.push(Box::new(read));
    }
}

fn cell<T: 'static>(metric: &Metric<T>, of: &T) -> Cell {
    match metric.read {
        Read::Word(read) => read(of).into(),
        Read::Count(read) => read(of).map_or(Cell::Empty, |count| Cell::Integer(count.cast_signed())),
        Read::Number(read) => read(of).into(),
        Read::Flag(read) => read(of).map_or(Cell::Empty, |flag| flag.to_string().into()),
    }
}
