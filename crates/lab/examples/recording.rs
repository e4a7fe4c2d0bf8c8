//! What recording costs: CPU time of a scenario's first run without a record, with metrics over time, and with an event
//! log, in alternation.
//!
//!     cargo run --release -p subflow-lab --example recording -- scenarios/wifi-lte.toml [ROUNDS]

use std::error::Error;
use std::path::Path;

use subflow_lab::event_log::EventFolder;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("say which scenario")?;
    let rounds: u32 = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let document = Document::parse(Path::new(&path), std::fs::read_to_string(&path)?)?;
    let plan = Plan::read(document)?;
    let scenario = &plan.points[0].scenario;
    let folder = std::env::temp_dir().join(format!("subflow-recording-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let options = [
        ("without a record", RunOptions::default()),
        ("with series", RunOptions { series: true, ..RunOptions::default() }),
        ("with an event log", RunOptions { events: Some(EventFolder::new(&folder)), ..RunOptions::default() }),
    ];
    let mut least = [f64::INFINITY; 3];
    for _ in 0..rounds {
        for ((name, options), least) in options.iter().zip(&mut least) {
            let cpu_s = simulate(scenario, scenario.seed, options)?.engine.cpu_s;
            println!("{name}: {cpu_s:.4} s");
            *least = least.min(cpu_s);
        }
    }
    std::fs::remove_dir_all(&folder)?;
    for ((name, _), least_s) in options.iter().zip(least).skip(1) {
        println!("{name}: {:.3} times the CPU time without, by the least of {rounds} rounds", least_s / least[0]);
    }
    Ok(())
}
