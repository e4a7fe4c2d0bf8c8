//! A study as a program: `cargo run -p subflow --example study`.
//!
//! How much does each scheduler gain over the one with the lowest RTT, when one path gets slower and slower? The seeds
//! are the same at each point, so that differences are taken run by run.

use std::error::Error;

use subflow::lab::execute::execute;
use subflow::lab::results::Experiment;
use subflow::lab::simulate::RunOptions;
use subflow::lab::statistics::Summary;
use subflow::quantity::{Duration, Rate, Size};
use subflow::scenario::builder::{FlowBuilder, LinkBuilder, Options, ScenarioBuilder};

/// Two paths, one of them slower and slower.
fn scenario(repeat: u32) -> ScenarioBuilder {
    let path = |from: &str, mbit: u64| {
        let link = LinkBuilder::between(from, "internet").rate(Rate::from_mbit(mbit));
        link.delay(Duration::from_millis(10)).queue(Duration::from_millis(50))
    };
    let buffer = Options::new().set("receive_buffer", Size::from_bytes(256 << 10));
    let file = FlowBuilder::mptcp("phone", "server").send(Size::from_bytes(5_000_000)).set("tcp", buffer);
    ScenarioBuilder::new("study")
        .set("title", "Two paths, one of them slower and slower")
        .duration(Duration::from_secs(120))
        .repeat(repeat)
        .host("phone", ["wifi", "lte"])
        .host("server", ["eth"])
        .router("internet")
        .link("wifi", path("phone.wifi", 20))
        .link("lte", path("phone.lte", 10).set("loss", "0.1 %"))
        .link("core", LinkBuilder::between("internet", "server").rate(Rate::from_mbit(1000)))
        .flow("file", file)
        .sweep("flows.file.scheduler", ["ll", "rr", "blest", "ecf"])
        .sweep("links.lte.delay", [10, 40, 160].map(Duration::from_millis))
}

/// The study with `repeat` runs of each point.
fn study(repeat: u32) -> Result<Experiment, Box<dyn Error>> {
    let plan = scenario(repeat).plan().map_err(|problems| problems.to_string())?;
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
