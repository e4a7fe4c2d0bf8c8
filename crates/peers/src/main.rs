//! Lets our QUIC stack speak with others for a range of seeds: `cargo run --profile test -p subflow-peers -- --help`.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use subflow_peers::{Case, Stack};

/// Lets our QUIC stack speak with others in virtual time, and checks every byte.
#[derive(Parser)]
struct Arguments {
    /// The other stack; all of them without it.
    #[arg(long)]
    other: Option<Other>,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds, each with our stack as the client and as the server.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// How many paths, one or two; both without it.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    paths: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Other {
    Ours,
    Quinn,
    Noq,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let stacks = [(Other::Ours, Stack::Ours), (Other::Quinn, Stack::Quinn), (Other::Noq, Stack::Noq)];
    let mut failed = 0;
    for (name, other) in stacks.into_iter().filter(|(name, _)| arguments.other.is_none_or(|only| only == *name)) {
        for (serves, paths) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
            let is_repeated = serves && other == Stack::Ours;
            if !is_repeated && arguments.paths.is_none_or(|only| usize::from(only) == paths) {
                failed += run(&arguments, name, Case { other, serves, paths, trusts: true, forgets: false, seed: 0 });
            }
        }
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs the cases of one kind, prints what has happened in all of them together, and returns how many have failed.
fn run(arguments: &Arguments, name: Other, kind: Case) -> u64 {
    let (mut bytes, mut datagrams, mut lost, mut late, mut updates, mut second) = (0, 0, 0, 0, 0, 0);
    let (mut failed, mut lost_closes, mut retries) = (0, 0, 0);
    for seed in arguments.seed..arguments.seed + arguments.seeds {
        match (Case { seed, ..kind.clone() }).run() {
            Ok(report) => {
                bytes += report.bytes.iter().sum::<u64>();
                datagrams += report.datagrams;
                lost += report.lost;
                late += report.late;
                updates += report.key_updates;
                second += report.by_path[1];
                lost_closes += report.lost_closes;
                retries += report.retries;
            }
            Err(failure) => {
                failed += 1;
                eprintln!("seed {seed}, {}: after {} ms: {}", describe(name, &kind), failure.at, failure.what);
            }
        }
    }
    println!(
        "{}: {} cases, {failed} failed; {bytes} bytes checked, {datagrams} datagrams, {lost} lost, {late} late, \
         {second} on the second path, {updates} key updates, {retries} retries, {lost_closes} closes lost",
        describe(name, &kind),
        arguments.seeds
    );
    failed
}

fn describe(name: Other, case: &Case) -> String {
    let name = name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let (client, server) = if case.serves { (name.as_str(), "ours") } else { ("ours", name.as_str()) };
    let paths = if case.paths == 1 { "one path" } else { "two paths" };
    format!("client {client}, server {server}, {paths}")
}
