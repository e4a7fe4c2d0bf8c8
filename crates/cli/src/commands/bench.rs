//! `subflow bench`.

use subflow_lab::benchmark::{Dumbbell, DumbbellResult};

use crate::arguments::{Bench, BenchFormat, Benchmark};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn bench(arguments: &Bench) -> Result<(), Failure> {
    let Benchmark::Dumbbell(dumbbell) = &arguments.benchmark;
    let result = Dumbbell { flows: dumbbell.flows, duration_s: dumbbell.duration }.run()?;
    match dumbbell.format {
        BenchFormat::Json => {
            let json = serde_json::to_string_pretty(&result);
            print(&(json.map_err(|error| Failure::RunFailed(error.to_string()))? + "\n"))
        }
        BenchFormat::Text => print(&text(&result)),
    }
}

fn text(result: &DumbbellResult) -> String {
    let memory = result.peak_rss_mb.map_or_else(|| "unknown".to_owned(), |mb| format!("{mb:.1} MB"));
    let rows = [
        ("flows", result.flows.to_string()),
        ("simulated", format!("{} s", result.duration_s)),
        ("delivered packets", result.delivered_packets.to_string()),
        ("drops", result.drops.to_string()),
        ("goodput", format!("{:.3} Mbit/s", result.goodput_mbps)),
        ("packet hops", result.packet_hops.to_string()),
        ("events", result.events.to_string()),
        ("CPU time", format!("{:.3} s", result.cpu_s)),
        ("hops per CPU second", format!("{:.2} million", result.hops_per_cpu_s / 1e6)),
        ("peak memory", memory),
    ];
    rows.iter().map(|(name, value)| format!("{name:20} {value:>20}\n")).collect()
}
