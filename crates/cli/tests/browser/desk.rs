//! A folder with scenarios and results, and the command to run in it.

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("written");
    }

    /// Where the report of the last run is.
    pub(crate) fn report(&self) -> PathBuf {
        self.0.path().join("out/report.html")
    }

    /// `subflow run ARGUMENTS --out out`, and its JSON.
    pub(crate) fn run(&self, arguments: &[&str]) -> Value {
        let output = self.output("run", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&std::fs::read(self.0.path().join("out/results.json")).expect("results")).expect("JSON")
    }

    /// `subflow reproduce ARGUMENTS --out out`.
    pub(crate) fn reproduce(&self, arguments: &[&str]) {
        let output = self.output("reproduce", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The same as [`Self::run`], for what may be refused: exit code and standard error.
    pub(crate) fn try_run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.output("run", arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn output(&self, subcommand: &str, arguments: &[&str]) -> Output {
        let mut command = Command::cargo_bin("subflow").expect("the command is built");
        command.current_dir(self.0.path()).arg(subcommand).args(arguments).args(["--out", "out"]);
        command.output().expect("the command starts")
    }
}

/// A minute over a full mesh of `side` interfaces on both ends: `side`² subflows.
pub(crate) fn mesh(side: usize) -> String {
    let names = |what: &str| (0..side).map(|n| format!("\"{what}{n}\"")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "title = \"A full mesh\"\nduration = \"60 s\"\n[hosts]\na = [{}]\nb = [{}]\n[routers]\nmiddle = {{}}\n",
        names("x"),
        names("y")
    );
    for (host, what) in [("a", "x"), ("b", "y")] {
        for n in 0..side {
            text += &format!(
                "[links.{what}{n}]\nbetween = [\"{host}.{what}{n}\", \"middle\"]\nrate = \"2 Mbit/s\"\n\
                 delay = \"{} ms\"\nqueue = \"20 packets\"\n",
                5 + 3 * n
            );
        }
    }
    let pairs = (0..side).flat_map(|x| (0..side).map(move |y| (x, y)));
    let further = pairs.skip(1).map(|(x, y)| format!("{{ from = \"a.x{x}\", to = \"b.y{y}\" }}"));
    text += &format!(
        "[flows.bulk]\nfrom = \"a.x0\"\nto = \"b.y0\"\nprotocol = \"mptcp\"\ncongestion = \"lia\"\npath_manager = \
         \"default\"\nsubflows = [{}]\n",
        further.collect::<Vec<_>>().join(", ")
    );
    text
}
