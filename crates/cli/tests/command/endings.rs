//! How commands end whose runs are done: with standard output closed or full, and with signals while they write.

use std::process::{Command, Output, Stdio};

use crate::desk::{Desk, QUICK};

/// Runs the command with standard output closed or on a full disk, as `stdout` is.
fn subflow(desk: &Desk, arguments: &[&str], stdout: Stdio) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("subflow"));
    command.current_dir(desk.root()).args(arguments).stdout(stdout).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("it ends")
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn nobody_who_reads_is_no_reason_to_keep_the_journal_or_to_forget_a_regression() {
    let desk = Desk::new(QUICK);
    let run = ["run", "quick.toml", "--repeat", "3", "--out", "tz"];
    for _ in 0..2 {
        let output = subflow(&desk, &run, Stdio::piped());
        assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
        assert_eq!(desk.files(), ["quick.toml", "tz"], "the journal is gone");
    }
    let slower = ["--set", "links.cable.delay=50 ms", "--compare", "tz", "--bound", "completion 1 %"];
    for format in ["text", "json"] {
        let output = subflow(&desk, &[&run[..5], &["slow", "--format", format], &slower].concat(), Stdio::piped());
        assert!(output.status.code() == Some(1) && said(&output).contains("beyond"), "{}", said(&output));
    }
    assert_eq!(desk.files(), ["quick.toml", "slow", "tz"]);
    let output = subflow(&desk, &["compare", "tz", "slow", "--bound", "completion 1 %"], Stdio::piped());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error_that_says_where_the_results_are() {
    let desk = Desk::new(QUICK);
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = subflow(&desk, &["run", "quick.toml", "--repeat", "3", "--out", "o6"], full.into());
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("cannot write to standard output") && said.contains("the results are in o6"), "{said}");
    assert_eq!(desk.files(), ["o6", "quick.toml"], "the journal is gone");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_error_costs_no_results_and_changes_no_exit_code() {
    let desk = Desk::new(QUICK);
    let run = |arguments: &[&str]| {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("subflow"));
        command.current_dir(desk.root()).args(["run", "quick.toml"]).args(arguments);
        command.stdout(Stdio::null()).stderr(full).status().expect("the command ends").code()
    };
    assert_eq!(run(&["--until", "goodput ± 50 %", "--out", "a"]), Some(0));
    assert_eq!(run(&["--repeat", "2", "--out", "b", "--compare", "a", "--format", "json"]), Some(0));
    assert_eq!(run(&["--threads", "2", "--pcap", "packets", "--out", "c"]), Some(0));
    assert_eq!(desk.files(), ["a", "b", "c", "packets", "quick.toml"]);
}

#[cfg(unix)]
mod signals {
    use std::fs::File;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::path::PathBuf;
    use std::process::{Child, ChildStderr};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::interrupted::{start, stored};

    const RESUMED: [&str; 8] = ["run", "quick.toml", "--repeat", "3", "--store", "kept", "--out", "whole"];

    /// A command that has done all runs and waits for one of its own files, to make results of them.
    struct Writing {
        child: Child,
        stderr: BufReader<ChildStderr>,
        /// The file, and what it contains.
        file: File,
        content: Vec<u8>,
    }

    impl Writing {
        fn new(desk: &Desk) -> Self {
            assert_eq!(desk.subflow(&RESUMED[..6]).0, Some(0));
            std::fs::remove_dir_all(desk.path("results")).expect("they are not those of this test");
            let run: PathBuf = stored(&desk.path("kept")).into_keys().next().expect("a run");
            let content = std::fs::read(&run).expect("a file");
            std::fs::remove_file(&run).expect("removed");
            assert!(Command::new("mkfifo").arg(&run).status().expect("there is a mkfifo").success());
            let mut child = start(desk, &RESUMED);
            let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
            // This waits until the command reads.
            let file = File::options().write(true).open(&run).expect("it can be opened");
            Self { child, stderr, file, content }
        }

        /// Sends these signals, one right after the other.
        fn signal(&self, signals: &[&str]) {
            let line = signals.iter().map(|signal| format!("kill -{signal} {}", self.child.id()));
            let line = line.collect::<Vec<_>>().join(" && ");
            assert!(Command::new("sh").args(["-c", &line]).status().expect("there is a shell").success());
        }

        fn line(&mut self) -> String {
            let mut line = String::new();
            self.stderr.read_line(&mut line).expect("text");
            line
        }
    }

    #[test]
    fn two_signals_at_once_let_a_command_write_its_results_and_say_so() {
        let desk = Desk::new(QUICK);
        let mut writing = Writing::new(&desk);
        writing.signal(&["TERM", "INT"]);
        let first = writing.line();
        assert!(first.contains("writing results; a second signal ends the command at once"), "{first}");
        assert!(first.contains("are kept in kept; the same command with --resume continues"), "{first}");
        sleep(Duration::from_millis(100));
        assert!(writing.child.try_wait().expect("it can be asked").is_none(), "it was the same request");
        writing.file.write_all(&writing.content).expect("it reads");
        drop(writing.file);
        assert_eq!(writing.child.wait().expect("it ends").code(), Some(0));
        assert!(desk.path("whole/results.json").exists());
    }

    #[test]
    fn a_later_signal_ends_a_command_that_writes_results_and_says_where_the_runs_are() {
        let desk = Desk::new(QUICK);
        let mut writing = Writing::new(&desk);
        writing.signal(&["TERM"]);
        writing.line();
        sleep(Duration::from_millis(600));
        writing.signal(&["TERM"]);
        assert_eq!(writing.child.wait().expect("it ends").code(), Some(143));
        let mut last = String::new();
        writing.stderr.read_to_string(&mut last).expect("text");
        assert!(last.contains("without results") && last.contains("are kept in kept"), "{last}");
        assert!(!desk.path("whole/results.json").exists());
    }
}
