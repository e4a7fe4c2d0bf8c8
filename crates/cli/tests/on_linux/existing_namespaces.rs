//! Namespaces that another tool has made as hosts: what is in them during a network, and after it.

use std::process::Command;

use crate::network::{ECHO, Network};
use crate::support::{
    SCENARIO, in_one_line, left_behind, machine_has, machine_serves, scenario, send_signal, subflow, text,
};

/// A network namespace of the test's own, made as by another tool.
struct Existing(String);

impl Existing {
    fn make(name: &str) -> Self {
        let existing = Self(format!("{name}-{}", std::process::id()));
        ip(&["netns", "add", &existing.0]);
        existing
    }

    /// The scenario of the tests, with this as its phone.
    fn as_phone(&self) -> String {
        let host = format!("phone = {{ interfaces = [\"wifi\", \"lte\"], namespace = \"{}\" }}", self.0);
        format!("{SCENARIO}{ECHO}").replace("phone = [\"wifi\", \"lte\"]", &host)
    }
}

fn ip(words: &[&str]) -> String {
    let output = Command::new("ip").args(words).output().expect("ip starts");
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

impl Drop for Existing {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

#[test]
fn an_existing_namespace_becomes_a_host_and_stays_afterwards() {
    if !machine_has(&["python3"]) {
        return;
    }
    let existing = Existing::make("own");
    let rules = || ip(&["-n", &existing.0, "rule", "list"]);
    let before = rules();
    let (_folder, path) = scenario(&existing.as_phone());
    let (network, _) = Network::up("joined", &path, &["--set", "flows.file.protocol=tcp"]);
    assert!((0..100).any(|_| network.round_trip().is_some_and(|ms| ms >= 10.0)));
    assert!(ip(&["-n", &existing.0, "-brief", "address"]).contains("10.0.1.2"), "its interfaces are there");
    assert!(rules().lines().count() > before.lines().count());
    drop(network);
    assert_eq!(rules(), before);
    assert!(!ip(&["-n", &existing.0, "-brief", "address"]).contains("10.0.1.2"));
    // A flow of TCP in a run.
    let run = ["run", &path, "--on", "linux", "--format", "json", "--without-programs"];
    let refused = subflow(&run);
    assert_eq!(refused.status.code(), Some(2));
    assert!(in_one_line(&refused.stderr).contains("hosts.phone.namespace"), "{}", in_one_line(&refused.stderr));
    let done = subflow(&[&run[..], &["--set", "flows.file.protocol=tcp"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).expect("results");
    assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000);
    let sets = ["--set", "hosts.phone.namespace=no-such", "--set", "flows.file.protocol=tcp"];
    let missing = subflow(&[&["up", path.as_str(), "--name", "missing"], &sets[..]].concat());
    assert_eq!(missing.status.code(), Some(2));
    assert!(in_one_line(&missing.stderr).contains("there is no network namespace \"no-such\""));
}

#[test]
fn cleanup_removes_the_rules_that_a_killed_network_has_left_in_a_namespace() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let existing = Existing::make("killed");
    let rules = || ip(&["-n", &existing.0, "rule", "list"]);
    ip(&["-n", &existing.0, "rule", "add", "from", "10.9.9.9", "lookup", "1000"]);
    let before = rules();
    let (_folder, path) = scenario(&existing.as_phone());
    let up = || Network::up("leaving", &path, &["--set", "flows.file.protocol=tcp", "--without-programs"]).0;
    let network = up();
    assert!(rules().lines().count() > before.lines().count());
    send_signal("-KILL", network.process());
    let cleaned = subflow(&["cleanup"]);
    assert!(cleaned.status.success(), "{}", in_one_line(&cleaned.stderr));
    assert_eq!(rules(), before, "what another tool has made stays");
    drop(up());
    assert_eq!(rules(), before);
}
