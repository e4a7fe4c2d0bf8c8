//! The table of single exchanges.

use std::path::Path;

use subflow_lab::execute::execute;
use subflow_lab::simulate::RunOptions;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;
use subflow_store::tables;

#[test]
fn each_exchange_of_each_run_is_a_row_with_its_seed() {
    let text = "duration = '300 ms'\nrepeat = 2\n[hosts]\na = ['x']\nb = ['x']\n\
                [links.l]\nbetween = ['a', 'b']\nrate = '10 Mbit/s'\n\
                [flows.web]\nfrom = 'a'\nto = 'b'\ncount = 2\n\
                requests = { response = '1 kB', every = '100 ms', deadline = '50 ms' }\n";
    let document = Document::parse(Path::new("rows.toml"), text.to_owned()).expect("TOML");
    let plan = Plan::read(document).expect("a scenario");
    let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("the runs end well");
    let tables = tables::all(&experiment);
    let (_, table) = tables.iter().find(|(name, _)| *name == "exchanges").expect("the flows have exchanges");
    let csv = table.to_csv();
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
