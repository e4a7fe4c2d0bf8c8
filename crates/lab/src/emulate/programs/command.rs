//! The command line of a program, and what it needs of the machine.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use std::os::unix::process::CommandExt;
use subflow_linux::{User, is_command};
use subflow_scenario::{Program, ProgramCommand, Scenario};

use crate::RunError;

/// What makes the TCP sockets of a program MPTCP sockets. It loads a library into the program that replaces `socket`: an
/// eBPF program could do the same without it, but takes Linux 6.6 with types (BTF), and clang to build it.
const MPTCPIZE: &str = "mptcpize";
/// The environment variable with the name of a program. Daemons that it leaves have it, too.
pub(in crate::emulate) const PROGRAM_VARIABLE: &str = "SUBFLOW_PROGRAM";

/// Checks that the machine has what the programs of a scenario need.
pub(in crate::emulate) fn check(scenario: &Scenario) -> Result<(), RunError> {
    scenario.programs.iter().try_for_each(check_program)
}

fn check_program(program: &Program) -> Result<(), RunError> {
    let missing = |key: &str, what: String| Err(RunError::Machine(format!("programs.{}.{key}: {what}", program.name)));
    if let Some(directory) = &program.directory
        && !directory.is_dir()
    {
        return missing("directory", format!("{} is not a directory; create it", directory.display()));
    }
    if let Some(user) = &program.user
        && User::find(user).is_none()
    {
        return missing("user", format!("found {user:?}, expected a user of this machine (/etc/passwd)"));
    }
    if program.mptcp && !is_command(OsStr::new(MPTCPIZE)) {
        return missing("mptcp", format!("{MPTCPIZE} is not installed: apt install {MPTCPIZE}"));
    }
    match &program.command {
        ProgramCommand::Words(words) if !is_found(program, &words[0]) => {
            missing("run", format!("there is no program {:?}; install it, or give its path", words[0]))
        }
        _ => Ok(()),
    }
}

/// Whether the program `name` exists: as a path from its directory, or in the PATH of its environment.
fn is_found(program: &Program, name: &str) -> bool {
    if name.contains('/') {
        return working_directory(program).join(name).is_file();
    }
    match program.environment.iter().find(|(variable, _)| variable == "PATH") {
        Some((_, folders)) => env::split_paths(folders).any(|folder| folder.join(name).is_file()),
        None => is_command(OsStr::new(name)),
    }
}

fn working_directory(program: &Program) -> PathBuf {
    let own = || env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    program.directory.as_ref().map_or_else(own, |directory| own().join(directory))
}

/// The command of a program, whose output is read by this process.
pub(super) fn command(program: &Program) -> Command {
    let words = match &program.command {
        ProgramCommand::Words(words) => words.clone(),
        ProgramCommand::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
    };
    let wrapper: &[&str] = if program.mptcp { &[MPTCPIZE, "run"] } else { &[] };
    let mut words = wrapper.iter().map(|word| (*word).to_owned()).chain(words);
    let mut command = Command::new(words.next().expect("a program has a name"));
    command.args(words).current_dir(working_directory(program));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(User { uid, gid, home }) = program.user.as_deref().and_then(User::find) {
        command.uid(uid).gid(gid).env("HOME", home);
    }
    command.env(PROGRAM_VARIABLE, &program.name);
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: ProgramCommand) -> Program {
        Program {
            name: "one".into(),
            host: 0,
            command,
            start: subflow_quantity::Duration::ZERO,
            stop: None,
            after: None,
            environment: Vec::new(),
            user: None,
            directory: None,
            mptcp: false,
            congestion: None,
            path_manager: None,
        }
    }

    fn words(words: &[&str]) -> Program {
        program(ProgramCommand::Words(words.iter().map(|word| (*word).to_owned()).collect()))
    }

    #[test]
    fn what_the_machine_lacks_is_named_with_its_key() {
        let said = |program: Program| check_program(&program).expect_err("it is missing").to_string();
        assert!(check_program(&words(&["sh"])).is_ok());
        assert!(said(words(&["no-such-program"])).contains("programs.one.run: there is no program"));
        assert!(said(words(&["./no-such-file"])).contains("programs.one.run"));
        assert!(said(Program { directory: Some("/no/such".into()), ..words(&["sh"]) }).contains("one.directory"));
        assert!(said(Program { user: Some("no-such-user".into()), ..words(&["sh"]) }).contains("one.user"));
        let environment = vec![("PATH".to_owned(), "/no/such".to_owned())];
        assert!(said(Program { environment, ..words(&["sh"]) }).contains("one.run"), "that PATH has no shell");
    }

    #[test]
    fn a_line_goes_to_the_shell_and_mptcp_to_its_wrapper() {
        let line = program(ProgramCommand::Shell("a | b".into()));
        let shown = |program: &Program| {
            let command = command(program);
            let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
            [command.get_program().to_string_lossy().into_owned()].into_iter().chain(arguments).collect::<Vec<_>>()
        };
        assert_eq!(shown(&line), ["sh", "-c", "a | b"]);
        assert_eq!(shown(&Program { mptcp: true, ..words(&["x", "-y"]) }), ["mptcpize", "run", "x", "-y"]);
    }
}
