//! Coupled congestion control in the kernel: `subflow cc`, and runs that load it for themselves.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use subflow_linux::Namespace;

use crate::congestion::assert_refused;
use crate::refusals::Machine;
use crate::support::{
    SCENARIO, command, left_behind, machine_serves, results, scenario, start_a_long_run, subflow, text,
};

const OFFERED: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

fn offered(name: &str) -> bool {
    std::fs::read_to_string(OFFERED).expect("the list is there").split_whitespace().any(|offered| offered == name)
}

/// Waits until the kernel does not offer it any more.
fn assert_gone(name: &str) {
    #[allow(clippy::disallowed_types)] // The kernel is on the wall clock.
    let begun = std::time::Instant::now();
    while offered(name) {
        assert!(begun.elapsed() < Duration::from_secs(5), "{name} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_loaded_is_listed_and_unloaded() {
    let _mine = left_behind();
    if machine_serves() {
        let loaded = subflow(&["cc", "load", "cmt-rpv1", "cmt_rpv2", "cmt-rpv1"]);
        let said = text(&loaded.stdout);
        assert!(loaded.status.success(), "{}", text(&loaded.stderr));
        assert!(said.contains("loaded cmt-rpv1, in the kernel cmt_rpv1\nloaded cmt-rpv2"), "{said}");
        for way in ["setsockopt(TCP_CONGESTION", "sysctl -w net.ipv4.tcp_congestion_control=cmt_rpv1", "mptcpize"] {
            assert!(said.contains(way), "{said}");
        }
        assert!(offered("cmt_rpv1") && offered("cmt_rpv2"));
        let list = subflow(&["cc", "list", "--format", "json"]);
        let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("JSON");
        let state = |name: &str| list.as_array()?.iter().find(|entry| entry["name"] == name)?["state"].as_str();
        assert_eq!([state("cmt-rpv2"), state("balia")], [Some("loaded"), Some("not-loaded")]);
        let unloaded = subflow(&["cc", "unload", "cmt-rpv1", "cmt-rpv2", "balia"]);
        let said = text(&unloaded.stdout);
        assert!(said.contains("unloaded cmt-rpv1") && said.contains("balia was not loaded"), "{said}");
        assert_eq!(text(&unloaded.stderr), "", "what was not loaded is no reason for a warning");
        assert!(!offered("cmt_rpv1") && !offered("cmt_rpv2") && !Path::new("/sys/fs/bpf/subflow").exists());
    }
}

#[test]
fn missing_prerequisites_for_loading_are_reported_and_nothing_is_left() {
    let _mine = left_behind();
    if machine_serves() {
        let machine = Machine::new(SCENARIO);
        let load = "$SUBFLOW cc load lia wvegas";
        let nobody = format!("exec setpriv --reuid=65534 --regid=65534 --clear-groups {load}");
        assert_refused(&machine.run(&nobody), &["requires root rights", "sudo"]);
        let untyped = format!("mount -t tmpfs none /sys/kernel/btf; exec {load}");
        assert_refused(&machine.run(&untyped), &["does not describe its types", "CONFIG_DEBUG_INFO_BTF"]);
        let container = format!("exec setpriv --bounding-set=-sys_admin,-bpf,-net_admin {load}");
        let refused = machine.run(&container);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(!offered("lia") && !offered("wvegas") && !Path::new("/sys/fs/bpf/subflow").exists());
    }
}

#[test]
fn a_run_loads_its_programs_and_unloads_them() {
    let _mine = left_behind();
    if machine_serves() {
        let (_folder, path) = scenario(SCENARIO);
        let run = ["run", &path, "--on", "linux", "--format", "json", "--set", "flows.file.congestion=cmt-rpv2"];
        let json = results(&subflow(&run));
        assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000);
        assert_gone("cmt_rpv2");
    }
}

#[test]
fn a_killed_run_leaves_no_congestion_control() {
    let _mine = left_behind();
    if machine_serves() {
        let (_folder, path) = scenario(&SCENARIO.replace("\"cubic\"", "\"balia\""));
        let mut child = start_a_long_run(&path);
        assert!(offered("balia"));
        child.kill().expect("killed");
        child.wait().expect("it ends");
        assert_gone("balia");
        assert!(subflow(&["cleanup"]).status.success());
    }
}

/// `ip netns exec` gives a command a mount of `/sys` of its own, in which there is no bpf file system.
#[test]
fn what_is_loaded_under_ip_netns_exec_stays_and_is_unloaded_there() {
    let _mine = left_behind();
    if machine_serves() {
        let host = Namespace::create("cc").expect("a namespace");
        let inside = |arguments: &[&str]| {
            let mut ip = Command::new("ip");
            ip.args(["netns", "exec", host.name()]).arg(command().get_program()).arg("cc").args(arguments);
            ip.output().expect("it starts")
        };
        let loaded = inside(&["load", "lia"]);
        assert!(loaded.status.success(), "{}", text(&loaded.stderr));
        // What its mounts alone had kept would be gone by now.
        std::thread::sleep(Duration::from_millis(300));
        assert!(offered("lia"), "it stays when the command has ended");
        let unloaded = inside(&["unload", "lia"]);
        assert!(unloaded.status.success(), "{}", text(&unloaded.stderr));
        assert_eq!(text(&unloaded.stdout), "unloaded lia\n");
        assert_gone("lia");
        assert!(!Path::new("/sys/fs/bpf/subflow").exists());
        // The first process of a PID namespace has no such file system, and the mounts end with the command.
        let script = "umount /sys/fs/bpf; unshare --mount $SUBFLOW cc load lia || exit $?";
        let machine = Machine::new(SCENARIO);
        let refused = machine.run(&format!("exec unshare --pid --fork --mount --mount-proc sh -ec '{script}'"));
        assert_refused(&refused, &["would end with this command", "nsenter --target 1", "outside of `ip netns exec`"]);
        assert!(!offered("lia"));
    }
}

#[test]
fn a_program_that_a_run_uses_is_not_unloaded_which_is_said_and_fails() {
    let _mine = left_behind();
    if machine_serves() {
        let (_folder, path) = scenario(&SCENARIO.replace("\"cubic\"", "\"balia\""));
        let mut run = start_a_long_run(&path);
        let refused = subflow(&["cc", "unload", "wvegas", "balia"]);
        assert_eq!(refused.status.code(), Some(1));
        assert_eq!(text(&refused.stdout), "wvegas was not loaded\n");
        let said = format!("balia is not unloaded: process {} uses it", run.id());
        assert!(text(&refused.stderr).contains(&said), "{}", text(&refused.stderr));
        run.kill().expect("killed");
        run.wait().expect("it ends");
        assert_gone("balia");
        assert!(subflow(&["cleanup"]).status.success());
    }
}
