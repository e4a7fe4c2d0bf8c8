//! A directory with a scenario, and the command in it.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// Two hosts, one link, one short transfer.
pub(crate) const QUICK: &str = r#"title = "One short transfer"
duration = "2 s"
[hosts]
client = ["eth"]
server = ["eth"]
[links.cable]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "5 ms"
[flows.short]
from = "client"
to = "server"
protocol = "tcp"
send = "100 kB"
"#;

/// A directory of its own with a scenario in it.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new(scenario: &str) -> Self {
        let desk = Self(TempDir::new().expect("a temporary folder"));
        std::fs::write(desk.path("quick.toml"), scenario).expect("written");
        desk
    }
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// Runs `subflow` here: exit code, standard output, standard error.
    pub(crate) fn subflow(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = command().current_dir(self.0.path()).args(arguments).output().expect("the command starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
    pub(crate) fn files(&self) -> Vec<String> {
        self.files_in(".")
    }
    pub(crate) fn files_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// JSON without the lines that differ from run to run.
pub(crate) fn without_cpu_time(json: &str) -> String {
    json.lines().filter(|line| !line.contains("\"cpu_s\"")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn command() -> Command {
    Command::cargo_bin("subflow").expect("the command is built")
}

/// Whether the machine has bash, whose `ulimit -f` counts in KiB. Says so if not.
#[cfg(unix)]
pub(crate) fn has_bash() -> bool {
    let has = std::process::Command::new("bash").arg("--version").output().is_ok();
    if !has {
        subflow_prerequisite::Prerequisite::Bash.missing("there is no bash");
    }
    has
}
