//! `subflow exec` and `subflow shell`: commands in the hosts of a network that is up.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use subflow_lab::emulate::persistent::{self, Answer, Client, Request};
use subflow_linux::{Error, HostNamespaces, is_command, pass_signals_on};

use crate::arguments::{Exec, Shell};
use crate::failure::Failure;
use crate::output::say;

/// What shells add to the number of a signal for the exit code of a program that it ended.
const ENDED_BY_SIGNAL: i32 = 128;
/// The exit codes of shells for a program that does not exist, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// The signals by which programs are told something, and which would end this process.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

pub(crate) fn exec(arguments: &Exec) -> Result<(), Failure> {
    let (program, words) = arguments.command.split_first().expect("the command has at least one word");
    run(arguments.network.as_deref(), &arguments.host, program, words)
}

/// `subflow shell`: the user's shell in a host. A shell that controls jobs needs a terminal whose processes are all in
/// its PID namespace: `script` opens one, and passes on what is typed and shown.
pub(crate) fn enter_shell(arguments: &Shell) -> Result<(), Failure> {
    const SCRIPT: &str = "script";
    let network = arguments.network.as_deref();
    if !std::io::stdin().is_terminal() {
        let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "sh".into());
        return run(network, &arguments.host, &shell, &[]);
    }
    if !is_command(OsStr::new(SCRIPT)) {
        return Err(Failure::bad_input(
            format!("{SCRIPT} is not installed, which opens a terminal in a host"),
            "install it: apt install bsdutils, or the package util-linux",
        ));
    }
    // It runs $SHELL, and returns its exit code.
    run(network, &arguments.host, OsStr::new(SCRIPT), &["--quiet", "--return", "/dev/null"].map(OsString::from))
}

/// Runs a program in a host, with the standard streams and the terminal of this process, and fails with its exit code.
fn run(network: Option<&str>, host: &str, program: &OsStr, words: &[OsString]) -> Result<(), Failure> {
    let network = persistent::select(network)?;
    let inside = entered(&network, host)?;
    let own = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(own);
    pass_signals_on(&PASSED_ON)?;
    let status = inside.run(&mut command).map_err(not_started)?;
    let name = program.display();
    match status.signal() {
        Some(signal) if inside.have_ended() => {
            say(&format!("{name} was ended by {}: the network {network} has ended", signal_name(signal)));
        }
        // Shells say nothing of these either: Ctrl-C, and a reader that has read enough.
        None | Some(SIGINT | SIGPIPE) => {}
        Some(signal) => say(&format!("{name} was ended by {}", signal_name(signal))),
    }
    match code(status) {
        0 => Ok(()),
        code => Err(Failure::Ended(code)),
    }
}

/// Why a program did not start, said, and the exit code that shells have for it.
fn not_started(error: Error) -> Failure {
    let code = match &error {
        Error::System { source, .. } if source.kind() == ErrorKind::NotFound => NOT_FOUND,
        Error::System { source, .. } if source.kind() == ErrorKind::PermissionDenied => NOT_EXECUTABLE,
        _ => return error.into(),
    };
    say(&error.to_string());
    Failure::Ended(code)
}

/// The namespaces of a host.
fn entered(network: &str, host: &str) -> Result<HostNamespaces, Failure> {
    let mut client = Client::connect(network)?;
    let request = Request::Enter { host: host.to_owned() };
    let Answer::Entrance { process } = client.ask(&request)? else {
        return Err(Failure::RunFailed("the network has not said where its host is".to_owned()));
    };
    let inside = HostNamespaces::of_process(process).map_err(|error| {
        Failure::RunFailed(format!(
            "the first process of {host} was killed, and with it all others there ({error}); `subflow down {network}` ends \
             the network"
        ))
    })?;
    // As long as the network answers, the number is that of its process, and of no other.
    client.ask(&request)?;
    Ok(inside)
}

/// The name of a signal, such as `SIGKILL`.
fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// The exit code of a program, as shells have it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| ENDED_BY_SIGNAL + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_shells() {
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code(ExitStatus::from_raw(SIGTERM)), 143);
    }

    #[test]
    fn signals_have_names_as_far_as_they_are_known() {
        assert_eq!((signal_name(9).as_str(), signal_name(64).as_str()), ("SIGKILL", "signal 64"));
    }
}
