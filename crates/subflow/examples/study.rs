//! A study as a program: `cargo run -p subflow --example study`.
//!
//! How much does each scheduler gain over the one with the lowest RTT, when one path gets slower and slower? The seeds
//! are the same at each point, so that differences are taken run by run.

use std::error::Error;
use std::path::Path;

use subflow::lab::execute::execute;
use subflow::lab::results::Experiment;
use subflow::lab::simulate::RunOptions;
use subflow::lab::statistics::Summary;
use subflow::scenario::file::Document;
use subflow::scenario::sweep::Plan;

const SCENARIO: &str = r#"
title = "Two paths, one of them slower and slower"
duration = "120 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers]
internet = {}
[links]
wifi = { between = ["phone.wifi", "internet"], rate = "20 Mbit/s", delay = "10 ms", queue = "50 ms" }
lte = { between = ["phone.lte", "internet"], rate = "10 Mbit/s", delay = "10 ms", queue = "50 ms", loss = "0.1 %" }
core = { between = ["internet", "server"], rate = "1 Gbit/s" }
[flows.file]
from = "phone"
to = "server"
protocol = "mptcp"
send = "5 MB"
tcp = { receive_buffer = "256 KiB" }
[sweep]
"flows.file.scheduler" = ["ll", "rr", "blest", "ecf"]
"links.lte.delay" = ["10 ms", "40 ms", "160 ms"]
"#;

/// The study with `repeat` runs of each point.
fn study(repeat: u32) -> Result<Experiment, Box<dyn Error>> {
    let mut document = Document::parse(Path::new("study.toml"), SCENARIO.to_owned()).map_err(|p| p.message)?;
    document.set("repeat", &format!("repeat={repeat}")).map_err(|problem| problem.message)?;
    let plan = Plan::read(document).map_err(|problems| problems.to_string())?;
    Ok(execute(&plan, 0, &RunOptions::default(), &|_| {})?)
}

/// The completion times of the runs at a point, by seed; all of them complete.
fn times(experiment: &Experiment, scheduler: &str, delay: &str) -> Vec<f64> {
    let runs = experiment.runs.iter().filter(|run| {
        run.parameters["flows.file.scheduler"] == scheduler && run.parameters["links.lte.delay"] == delay
    });
    runs.filter_map(|run| run.result.flows[0].completion_s).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let experiment = study(10)?;
    println!("seconds less than ll until 5 MB have arrived, mean and 95 % interval of 10 pairs of runs");
    println!("{:<8} {:>22} {:>22} {:>22}", "", "10 ms", "40 ms", "160 ms");
    for scheduler in ["rr", "blest", "ecf"] {
        let cell = |delay: &str| {
            let pairs = times(&experiment, "ll", delay).into_iter().zip(times(&experiment, scheduler, delay));
            let gains: Vec<f64> = pairs.map(|(usual, own)| usual - own).collect();
            let gain = Summary::of(&gains);
            match (gain.mean, gain.ci95_low, gain.ci95_high) {
                (Some(mean), Some(low), Some(high)) => format!("{mean:.3} [{low:.3}, {high:.3}]"),
                _ => "–".to_owned(),
            }
        };
        println!("{scheduler:<8} {:>22} {:>22} {:>22}", cell("10 ms"), cell("40 ms"), cell("160 ms"));
    }
    Ok(())
}

#[test]
fn every_transfer_of_the_study_completes() {
    let experiment = study(2).expect("it runs");
    assert_eq!(experiment.runs.len(), 24);
    for delay in ["10 ms", "40 ms", "160 ms"] {
        assert!(["ll", "rr", "blest", "ecf"].iter().all(|name| times(&experiment, name, delay).len() == 2));
    }
}
