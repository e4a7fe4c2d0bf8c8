//! Runs on the kernel as a user meets them: what is printed, what is left when they end, and when they are ended.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

const SCENARIO: &str = r#"title = "Two paths"
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
fn machine_serves(test: &str) -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let able = root && Path::new("/dev/net/tun").exists() && Path::new("/proc/sys/net/mptcp").exists();
    let tried = able && subflow(&["cleanup"]).status.success();
    if !tried {
        assert!(std::env::var_os("SUBFLOW_REQUIRE_INTEROP").is_none(), "{test}: no root, TUN or MPTCP");
        eprintln!("SKIPPED {test}: it needs root, /dev/net/tun and a kernel with MPTCP");
    }
    tried
}

fn command() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("subflow"))
}

fn subflow(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A scenario file in a folder of its own.
fn scenario(text: &str) -> (TempDir, String) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("two.toml");
    std::fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

/// The namespaces of process `pid`.
fn namespaces_of(pid: u32) -> Vec<String> {
    let prefix = format!("subflow-{pid}-");
    let entries = std::fs::read_dir("/run/netns").map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let names = entries.into_iter().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

/// Starts a run that would take long, and waits until its namespaces are there.
fn start_a_long_run(path: &str) -> Child {
    let mut run = command();
    run.args(["run", path, "--on", "linux", "--format", "json", "--set", "duration=60 s"]);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts");
    for _ in 0..600 {
        if namespaces_of(child.id()).len() == 2 {
            return child;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().and_then(|()| child.wait()).expect("it can be ended");
    panic!("no namespaces after 30 s");
}

#[test]
fn a_run_gives_results_and_leaves_nothing() {
    if !machine_serves("a_run_gives_results_and_leaves_nothing") {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    for stacks in [&[][..], &["phone"], &["server"]] {
        let mut run = command();
        run.args(["run", &path, "--on", "linux", "--format", "json"]);
        for host in stacks {
            let interfaces = if *host == "phone" { "[\"wifi\", \"lte\"]" } else { "[\"eth\"]" };
            run.arg("--set").arg(format!("hosts.{host}={{ interfaces = {interfaces}, stack = \"subflow\" }}"));
        }
        let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{stacks:?}: {}", text(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let flow = &json["runs"][0]["flows"][0];
        assert_eq!(flow["bytes_delivered"], 1_000_000, "{stacks:?}: {flow}");
        assert_eq!(flow["fallback"], false);
        assert_eq!(flow["subflows"].as_array().map(Vec::len), Some(2), "{stacks:?}: {flow}");
        assert!(json["runs"][0]["real_time"]["kernel"].is_string());
        assert_eq!(namespaces_of(pid), [""; 0]);
    }
}

#[test]
fn ctrl_c_ends_a_run_and_leaves_nothing() {
    if !machine_serves("ctrl_c_ends_a_run_and_leaves_nothing") {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let child = start_a_long_run(&path);
    let pid = child.id();
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
    assert_eq!(namespaces_of(pid), [""; 0]);
}

#[test]
fn what_a_killed_run_leaves_is_cleaned_up() {
    if !machine_serves("what_a_killed_run_leaves_is_cleaned_up") {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let mut child = start_a_long_run(&path);
    let pid = child.id();
    child.kill().expect("killed");
    child.wait().expect("it ends");
    assert_eq!(namespaces_of(pid).len(), 2, "names outlive the process");
    let output = subflow(&["cleanup"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(namespaces_of(pid), [""; 0]);
}

#[test]
fn what_is_missing_is_said() {
    if !machine_serves("what_is_missing_is_said") {
        return;
    }
    let (folder, path) = scenario(SCENARIO);
    let output = subflow(&["run", &path, "--on", "linux", "--format", "json", "--set", "flows.file.congestion=olia"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no congestion control \"olia\""), "{}", text(&output.stderr));
    let output = subflow(&["run", &path, "--on", "linux", "--pcap", &folder.path().join("captures").to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2));
    let output = subflow(&["validate", "--case", "tcp-rino"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("tcp-reno"), "{}", text(&output.stderr));
    // Somebody else than root; where the command cannot even be read by others there is nothing to see.
    let mut nobody = command();
    nobody.args(["run", &path, "--on", "linux", "--format", "json"]).uid(65_534);
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("readable");
    if let Ok(output) = nobody.output() {
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("sudo"), "{}", text(&output.stderr));
    }
}
