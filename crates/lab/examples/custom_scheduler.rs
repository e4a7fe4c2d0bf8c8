//! A packet scheduler of one's own, by name in a scenario: `cargo run --example custom_scheduler`.
//!
//! It sends everything on the subflow with the lowest smoothed RTT, like `ll`, but rather waits than uses a subflow
//! whose RTT is more than `patience` times as long.

use std::error::Error;
use std::path::Path;

use subflow_lab::execute::execute;
use subflow_lab::output::to_text;
use subflow_lab::simulate::RunOptions;
use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, SubflowView, next_work};
use subflow_quantity::Duration;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// The state of one connection. A clone of the one in the scenario serves each connection.
#[derive(Clone, Debug)]
struct Patient {
    /// How many times the lowest RTT another one may be.
    patience: u64,
}

impl Scheduler for Patient {
    fn next(&mut self, subflows: &[SubflowView], queue: &QueueView<'_>) -> Option<Assignment> {
        let srtt = |subflow: usize| subflows[subflow].srtt.unwrap_or(Duration::ZERO);
        let (what, candidates) = next_work(subflows, queue)?;
        let subflow = candidates.iter().min_by_key(|&subflow| srtt(subflow))?;
        let live = (0..subflows.len()).filter(|&subflow| subflows[subflow].is_live());
        if srtt(subflow) > live.map(srtt).min()?.saturating_mul(self.patience) {
            return None;
        }
        Some(Assignment { subflow, what })
    }
}

const SCENARIO: &str = r#"
duration = "20 s"
repeat = 5
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers]
internet = {}
[links]
wifi = { between = ["phone.wifi", "internet"], rate = "10 Mbit/s", delay = "10 ms", loss = "0.1 %" }
lte = { between = ["phone.lte", "internet"], rate = "10 Mbit/s", delay = "100 ms", loss = "0.1 %" }
core = { between = ["internet", "server"], rate = "1 Gbit/s" }
[flows.web]
from = "phone"
to = "server"
protocol = "mptcp"
requests = { response = "50 kB", think = "200 ms" }
[sweep]
"flows.web.scheduler" = ["ll", "patient"]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut document = Document::parse(Path::new("patient.toml"), SCENARIO.to_owned()).map_err(|p| p.message)?;
    document.custom.scheduler("patient", Patient { patience: 4 }).map_err(|problem| problem.message)?;
    let plan = Plan::read(document).map_err(|problems| problems.to_string())?;
    let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {})?;
    print!("{}", to_text(&experiment));
    Ok(())
}
