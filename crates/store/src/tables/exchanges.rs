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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_lab::execute::execute;
    use subflow_lab::simulate::RunOptions;
    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;

    #[test]
    fn each_exchange_of_each_run_is_a_row_with_its_seed() {
        let text = "duration = '300 ms'\nrepeat = 2\n[hosts]\na = ['x']\nb = ['x']\n\
                    [links.l]\nbetween = ['a', 'b']\nrate = '10 Mbit/s'\n\
                    [flows.web]\nfrom = 'a'\nto = 'b'\ncount = 2\n\
                    requests = { response = '1 kB', every = '100 ms', deadline = '50 ms' }\n";
        let document = Document::parse(Path::new("rows.toml"), text.to_owned()).expect("TOML");
        let plan = Plan::read(document).expect("a scenario");
        let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("the runs end well");
        let csv = exchanges(&experiment).to_csv();
        let mut lines = csv.lines();
        let header = "run,point,seed,flow,exchange,start_s,first_byte_s,end_s,duration_ms,request_bytes,bytes,in_time";
        assert_eq!(lines.next(), Some(header));
        let begins: Vec<String> = lines.map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",")).collect();
        let expected = ["0,0,1,web.1", "0,0,1,web.2", "1,0,2,web.1", "1,0,2,web.2"];
        let expected: Vec<String> =
            expected.iter().flat_map(|of| (1..=3).map(move |number| format!("{of},{number}"))).collect();
        assert_eq!(begins, expected);
        assert!(csv.lines().skip(1).all(|line| line.ends_with(",1000,1000,true")), "{csv}");
    }
}
