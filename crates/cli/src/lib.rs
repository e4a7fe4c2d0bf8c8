//! The `subflow` command. Exit 0: done; 1: the run failed; 2: bad input.

// Printing by macros panics where nobody reads, or on a full disk: `output.rs` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod commands;
mod failure;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

use arguments::{Arguments, Command};

/// Keeps objects of one kind together, on aligned and often huge pages: a fat tree of a thousand subflows runs a sixth
/// faster than with the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Prints help and usage errors itself and ends with 0 or 2.
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Run(run) => commands::run(run),
        Command::Merge(merge) => commands::merge(merge),
        Command::Compare(compare) => commands::compare(compare),
        Command::Check(check) => commands::check(check),
        Command::New(new) => commands::new(new),
        Command::List(list) => commands::list(list.what),
        Command::Reproduce(reproduce) => commands::reproduce(reproduce),
        Command::Bench(bench) => commands::bench(bench),
        Command::Validate(validate) => commands::validate(validate),
        Command::Cc(cc) => commands::cc(cc),
        Command::Paths(paths) => commands::paths(paths),
        Command::Watch(watch) => commands::watch(watch),
        Command::Proxy(proxy) => commands::proxy(proxy),
        Command::Conform(conform) => commands::conform(conform),
        Command::Cleanup => commands::cleanup(),
        Command::Schema => commands::schema(),
        Command::Completions(completions) => commands::completions(completions),
        Command::Man(man) => commands::man(man),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
