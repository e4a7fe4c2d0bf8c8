//! `subflow bench`.
// It measures real time.
#![allow(clippy::disallowed_types)]

use std::time::Instant;

use serde::Serialize;
use subflow_lab::benchmark::{Cost, Dumbbell, DumbbellResult, FatTree, FatTreeResult};

use super::on_linux;
use crate::arguments::{Bench, BenchFormat, Benchmark};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn bench(arguments: &Bench) -> Result<(), Failure> {
    let began = Instant::now();
    let clock = || Some(began.elapsed().as_secs_f64());
    match &arguments.benchmark {
        Benchmark::Dumbbell(dumbbell) => {
            let benchmark = Dumbbell {
                flows: dumbbell.flows,
                duration_s: dumbbell.duration,
                protocol: dumbbell.protocol,
                ack_every: dumbbell.ack_every,
            };
            let result = benchmark.run(&clock)?;
            show(dumbbell.format, &result, &dumbbell_rows(&result), &result.cost)
        }
        Benchmark::FatTree(tree) => {
            let benchmark =
                FatTree { k: tree.k, subflows: tree.subflows, duration_s: tree.duration, ack_every: tree.ack_every };
            let result = benchmark.run(tree.threads.into(), &clock)?;
            show(tree.format, &result, &fat_tree_rows(&result), &result.cost)
        }
        Benchmark::Tun(tun) => print(&on_linux::bench_tun(tun)?),
    }
}

type Row = (&'static str, String);

fn show(format: BenchFormat, result: &impl Serialize, rows: &[Row], cost: &Cost) -> Result<(), Failure> {
    match format {
        BenchFormat::Json => {
            let json = serde_json::to_string_pretty(result);
            print(&(json.map_err(|error| Failure::RunFailed(error.to_string()))? + "\n"))
        }
        BenchFormat::Text => {
            let rows = rows
                .iter()
                .chain(&cost_rows(cost))
                .map(|(name, value)| format!("{name:20} {value:>20}\n"))
                .collect::<String>();
            print(&rows)
        }
    }
}

fn dumbbell_rows(result: &DumbbellResult) -> Vec<Row> {
    vec![
        ("flows", result.flows.to_string()),
        ("simulated", format!("{} s", result.duration_s)),
        ("delivered packets", result.delivered_packets.to_string()),
        ("drops", result.drops.to_string()),
        ("goodput", format!("{:.3} Mbit/s", result.goodput_mbps)),
    ]
}

fn fat_tree_rows(result: &FatTreeResult) -> Vec<Row> {
    vec![
        ("ports of a switch", result.k.to_string()),
        ("hosts", result.hosts.to_string()),
        ("subflows each", result.subflows.to_string()),
        ("simulated", format!("{} s", result.duration_s)),
        ("delivered packets", result.delivered_packets.to_string()),
        ("drops", result.drops.to_string()),
        ("goodput", format!("{:.1} % of the hosts' links", result.goodput_percent)),
    ]
}

fn cost_rows(cost: &Cost) -> Vec<Row> {
    let memory = cost.peak_rss_mb.map_or_else(|| "unknown".to_owned(), |mb| format!("{mb:.1} MB"));
    vec![
        ("packet hops", cost.packet_hops.to_string()),
        ("events", cost.events.to_string()),
        ("threads", cost.threads.to_string()),
        ("CPU time", format!("{:.3} s", cost.cpu_s)),
        ("real time", cost.wall_s.map_or_else(|| "unknown".to_owned(), |s| format!("{s:.3} s"))),
        ("hops per CPU second", format!("{:.2} million", cost.hops_per_cpu_s / 1e6)),
        ("peak memory", memory),
    ]
}
