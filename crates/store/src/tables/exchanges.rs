//! The table `exchanges`: requests with their responses, one by one.

use subflow_lab::results::{ExchangeResult, Experiment, Run};
use subflow_lab::table::{Columns, Table};

use super::identify;
use crate::tables::of_experiment;

/// A row for each exchange of each flow of each run, in the order of requests.
pub fn exchanges(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &ExchangeResult)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.exchanges.iter().map(move |exchange| (run, exchange)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .categories(("flow", "", "Name of the flow."), |row| name(row.0, row.1))
        .counts(("exchange", "", "Number of the exchange in its flow, from 1."), |row| Some(row.1.number))
        .numbers(("start_s", "s", "Time of the request, from the start of the run."), |row| Some(row.1.start_s))
        .numbers(("first_byte_s", "s", "Time of the first byte of the response."), |row| row.1.first_byte_s)
        .numbers(("end_s", "s", "Time of its last byte; absent if the run ended before."), |row| row.1.end_s)
        .numbers(("duration_ms", "ms", "From the request to the last byte."), |row| row.1.duration_ms())
        .counts(("request_bytes", "bytes", "Size of the request."), |row| Some(row.1.request_bytes))
        .counts(("bytes", "bytes", "Size of the response."), |row| Some(row.1.bytes))
        .flags(("in_time", "", "Whether it met its deadline, if it has one."), |row| row.1.in_time);
    of_experiment(columns.table("exchanges"), experiment)
}

fn name<'r>(run: &'r Run, exchange: &ExchangeResult) -> &'r str {
    run.result.flows.get(exchange.flow).map_or("", |flow| &flow.name)
}
