//! The `subflow` command: its arguments, its commands, and how they fail. It is internal to `subflow`, whose features
//! say which parts are built.

// Printing by macros panics where nobody reads, or on a full disk: `output.rs` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod commands;
mod failure;
mod output;
mod part;
mod progress;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::FromArgMatches;

/// Does what the arguments of the process ask for. Exit code 0: done; 1: the run failed; 2: bad input.
pub fn run() -> ExitCode {
    // Prints help and usage errors itself and ends with 0 or 2.
    let matches = part::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = match &arguments.command {
        Command::Run(run) => commands::run(run),
        Command::Merge(merge) => commands::merge(merge),
        Command::Export(export) => commands::export(export),
        Command::Compare(compare) => commands::compare(compare),
        Command::Check(check) => commands::check(check),
        Command::Import(import) => commands::import(import),
        Command::New(new) => commands::new(new),
        Command::Serve(serve) => commands::serve(serve),
        Command::Analyze(analyze) => commands::analyze(analyze),
        Command::List(list) => commands::list(list.what),
        Command::Reproduce(reproduce) => commands::reproduce(reproduce),
        Command::Bench(bench) => commands::bench(bench),
        Command::Validate(validate) => commands::validate(validate),
        Command::Cc(cc) => commands::cc(cc),
        Command::Paths(paths) => commands::paths(paths),
        Command::Watch(watch) => commands::watch(watch),
        Command::Proxy(proxy) => commands::proxy(proxy),
        Command::Status(status) => commands::status(status),
        Command::Conform(conform) => commands::conform(conform),
        Command::Up(up) => commands::up(up),
        Command::Exec(exec) => commands::exec(exec),
        Command::Shell(shell) => commands::enter_shell(shell),
        Command::Ps(ps) => commands::ps(ps),
        Command::Link(link) => commands::link(link),
        Command::Set(set) => commands::set(set),
        Command::Down(down) => commands::down(down),
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
