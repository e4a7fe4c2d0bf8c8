//! What metrics over time and event logs add to the CPU time of a run.
//!
//! `cargo bench -p subflow-lab --bench records [-- SCENARIO.toml ROUNDS]`. The first run of a scenario is done with
//! nothing recorded, with metrics over time, and with an event log, in turn, so that whatever else the machine does
//! meets all three alike. Each line has the shortest and the median CPU time, and the median ratio to the run just
//! before with nothing recorded. Event logs go to `/dev/null`: how long a disk takes is not asked. docs/src/sweeps.md
//! has results.

use std::error::Error;
use std::path::{Path, PathBuf};

use mimalloc::MiMalloc;
use subflow_lab::CpuTimer;
use subflow_lab::event_log::EventFolder;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

/// That of the command.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const SCENARIOS: [&str; 3] = ["wifi-lte.toml", "schedulers.toml", "openflow-fat-tree.toml"];
const ROUNDS: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (scenarios, rounds) = match &arguments[..] {
        [] => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
            (SCENARIOS.map(|name| folder.join(name)).to_vec(), ROUNDS)
        }
        [scenario] => (vec![PathBuf::from(scenario)], ROUNDS),
        [scenario, rounds, ..] => (vec![PathBuf::from(scenario)], rounds.parse()?),
    };
    scenarios.iter().try_for_each(|scenario| compare(scenario, rounds))
}

/// Prints the CPU time of the first run of a scenario.
fn compare(path: &Path, rounds: usize) -> Result<(), Box<dyn Error>> {
    let plan = Plan::read(Document::load(path)?)?;
    let job = &plan.jobs()[0];
    let scenario = &plan.points[job.point].scenario;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join(EventFolder::file_name(0));
    let kinds = [
        ("nothing", RunOptions::default()),
        ("metrics over time", RunOptions { series: true, ..RunOptions::default() }),
        ("event log", RunOptions { events: Some(EventFolder::new(folder.path())), ..RunOptions::default() }),
    ];
    discard(&log)?;
    let mut times = kinds.each_ref().map(|_| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        for ((_, options), times) in kinds.iter().zip(&mut times) {
            times.push(seconds(scenario, job.seed, options)?);
        }
    }
    println!("{}, {rounds} rounds, ms of CPU time and ratios to recording nothing", path.display());
    for ((name, _), of_kind) in kinds.iter().zip(&times) {
        let ratios = of_kind.iter().zip(&times[0]).map(|(time, nothing)| time / nothing);
        let [(shortest, typical), (_, ratio)] =
            [shortest_and_median(of_kind.clone()), shortest_and_median(ratios.collect())];
        println!("    {name:<20} {:8.2} {:8.2} {ratio:8.3}", shortest * 1e3, typical * 1e3);
    }
    Ok(())
}

fn shortest_and_median(mut of: Vec<f64>) -> (f64, f64) {
    of.sort_by(f64::total_cmp);
    (of[0], of[of.len() / 2])
}

/// The CPU time of a run, its figures included.
fn seconds(scenario: &Scenario, seed: u64, options: &RunOptions) -> Result<f64, Box<dyn Error>> {
    let timer = CpuTimer::start();
    let result = simulate(scenario, seed, options)?;
    let seconds = timer.seconds();
    drop(result);
    Ok(seconds)
}

/// Makes `log` lead to a device that takes everything.
#[cfg(unix)]
fn discard(log: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink("/dev/null", log)
}

/// Makes `log` an empty file: there is no such device.
#[cfg(not(unix))]
fn discard(log: &Path) -> std::io::Result<()> {
    std::fs::File::create(log).map(drop)
}
