//! The command, a scenario for it, and what it leaves.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use subflow_prerequisite::{Prerequisite, programs};
use tempfile::TempDir;

pub(crate) const SCENARIO: &str = r#"title = "Two paths"
duration = "2 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers]
internet = {}
[links.wifi]
between = ["phone.wifi", "internet"]
rate = "20 Mbit/s"
delay = "5 ms"
[links.lte]
between = ["phone.lte", "internet"]
rate = "10 Mbit/s"
delay = "10 ms"
[links.core]
between = ["internet", "server.eth"]
rate = "1 Gbit/s"
[flows.file]
from = "phone"
to = "server"
protocol = "mptcp"
congestion = "cubic"
scheduler = "linux-default"
send = "1 MB"
"#;

/// Whether this machine can run the tests; says why not.
pub(crate) fn machine_serves() -> bool {
    let missing = obstacle();
    if let Some(why) = &missing {
        Prerequisite::Kernel.missing(why);
    }
    missing.is_none()
}

/// The same, and these programs are installed.
pub(crate) fn machine_has(names: &[&str]) -> bool {
    machine_serves() && programs(names)
}

/// What keeps the tests from running here. Root in a container mostly may not make namespaces.
fn obstacle() -> Option<String> {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root || !Path::new("/proc/sys/net/mptcp").exists() {
        return Some("it takes root and a kernel with MPTCP".to_owned());
    }
    let tools = ["ip -V", "tc -V", "setpriv --version", "unshare --net --mount true"];
    let fails = |line: &&&str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut tool = Command::new(words[0]);
        !tool.args(&words[1..]).output().is_ok_and(|output| output.status.success())
    };
    tools.iter().find(fails).map(|line| format!("`{line}` does not work"))
}

/// To hold by who leaves something behind on purpose, or cleans up: another test's cleaning up would take it away.
pub(crate) fn left_behind() -> MutexGuard<'static, ()> {
    static LEFT_BEHIND: Mutex<()> = Mutex::new(());
    LEFT_BEHIND.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn command() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("subflow"))
}

pub(crate) fn subflow(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The flow of a run on Linux, which delivers the 1 MB of [`SCENARIO`].
pub(crate) fn flow(text: &str, further: &[&str]) -> serde_json::Value {
    let (_folder, path) = scenario(text);
    let json = results(&subflow(&[&["run", &path, "--on", "linux", "--format", "json"], further].concat()));
    let flow = json["runs"][0]["flows"][0].clone();
    assert_eq!(flow["bytes_delivered"], 1_000_000, "{flow}");
    flow
}

/// What was said, without the breaks of long lines.
pub(crate) fn in_one_line(said: &[u8]) -> String {
    let words = text(said).replace('│', " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The results of a run with `--format json`. On a busy machine it may not be valid, which the exit code says; nothing
/// else may be wrong with it.
pub(crate) fn results(output: &Output) -> serde_json::Value {
    let said = text(&output.stderr);
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no results: {said}"));
    let valid = json["runs"].as_array().is_some_and(|runs| runs.iter().all(|run| run["real_time"]["valid"] == true));
    assert_eq!(output.status.code(), Some(if valid { 0 } else { 1 }), "{said}");
    assert_eq!(said.contains("not valid"), !valid, "{said}");
    json
}

/// A scenario file in a folder of its own.
pub(crate) fn scenario(text: &str) -> (TempDir, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("two.toml");
    std::fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

/// The namespaces of process `pid`.
pub(crate) fn namespaces_of(pid: u32) -> Vec<String> {
    let prefix = format!("subflow-{pid}.");
    let entries = std::fs::read_dir("/run/netns").map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let names = entries.into_iter().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

/// Starts a run that would take long, and waits until its namespaces are there.
pub(crate) fn start_a_long_run(path: &str) -> Child {
    start_a_run(path, &["--set", "duration=60 s"])
}

/// Starts a run, and waits until its namespaces are there.
pub(crate) fn start_a_run(path: &str, further: &[&str]) -> Child {
    let mut run = command();
    run.args(["run", path, "--on", "linux", "--format", "json"]).args(further);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    for _ in 0..600 {
        if namespaces_of(child.id()).len() == 2 {
            return child;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().and_then(|()| child.wait()).expect("it can be ended");
    panic!("no namespaces after 30 s");
}

/// Tells the command to give a host of the scenario to our stack; nothing for "".
pub(crate) fn ours(host: &str) -> Vec<String> {
    let interfaces = match host {
        "" => return Vec::new(),
        "phone" => "[\"wifi\", \"lte\"]",
        _ => "[\"eth\"]",
    };
    vec!["--set".to_owned(), format!("hosts.{host}={{ interfaces = {interfaces}, stack = \"subflow\" }}")]
}

/// Sends a signal, such as `-INT`. The shell has a `kill` of its own; a program of that name is not everywhere.
pub(crate) fn send_signal(signal: &str, pid: u32) {
    assert!(Command::new("sh").args(["-c", &format!("kill {signal} {pid}")]).status().expect("a shell").success());
}

/// Holds a process up for 200 ms.
pub(crate) fn stop_for_a_moment(pid: u32) {
    for (signal, pause) in [("-STOP", 200), ("-CONT", 0)] {
        send_signal(signal, pid);
        std::thread::sleep(Duration::from_millis(pause));
    }
}
