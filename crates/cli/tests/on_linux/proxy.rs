//! `subflow proxy`: what it would change, what it refuses, and what is left when it is killed. Transfers through it are
//! tests of `crates/proxy`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use subflow_linux::Namespace;

use crate::support::{command, left_behind, machine_has, machine_serves, text};
use crate::two_hosts::{TwoHosts, output_in};

/// The rules, devices and settings of a namespace that a proxy may change.
fn state(host: &Namespace) -> String {
    let script = "ip rule; ip -6 rule; ip -o link | sed 's/state.*//'; ip route show table all type unreachable; \
                  nft list tables 2> /dev/null; iptables-save 2> /dev/null | grep -v '^[#:]'; \
                  cat /proc/sys/net/ipv4/conf/v*/forwarding";
    text(&output_in(host, Command::new("sh").args(["-c", script])).stdout)
}

fn proxy(host: &Namespace, arguments: &[&str]) -> std::process::Output {
    let mut proxy = command();
    output_in(host, proxy.arg("proxy").args(arguments).stdin(Stdio::null()))
}

/// Starts a proxy, and waits until it listens.
pub(crate) fn start(host: &Namespace) -> Child {
    let mut proxy = command();
    proxy.args(["proxy", "--via", "v0", "--via", "v1"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = host.run(|| Ok(proxy.spawn().expect("it starts"))).expect("spawned");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("listening on")), "the proxy has ended");
    std::thread::spawn(move || lines.count());
    child
}

pub(crate) fn hosts(name: &str) -> TwoHosts {
    let hosts = TwoHosts::new(name, 2);
    (0..2).for_each(|pair| hosts.number(pair, [1, 1]));
    hosts
}

#[test]
fn a_dry_run_names_all_changes_and_makes_none() {
    if !machine_has(&["nft"]) {
        return;
    }
    let hosts = hosts("proxy-dry");
    let before = state(&hosts.client);
    let output = proxy(&hosts.client, &["--via", "v0", "--via", "v1", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for part in ["ip tuntap add dev subflow0x1", "rule add from 198.19.0.1", "rule del from 198.19.0.1", "masquerade"] {
        assert!(printed.to_lowercase().contains(part), "{part}: {printed}");
    }
    assert_eq!(state(&hosts.client), before);
}

#[test]
fn bad_arguments_are_refused_with_help() {
    if !machine_serves() {
        return;
    }
    let hosts = hosts("proxy-refused");
    let before = state(&hosts.client);
    let many: Vec<&str> = ["--via", "v0"].repeat(17);
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--via", "wlan9"], &["there is no interface \"wlan9\""]),
        (&["--via", "v0", "--via", "v0"], &["twice"]),
        (&many, &["more than 16"]),
        (&["--via", "v0", "--scheduler", "blast"], &["blast", "did you mean \"blest\"?"]),
        (&["--via", "v0", "--congestion", "lya"], &["lya", "did you mean \"lia\"?"]),
        (&["--via", "v0", "--listen", "127.0.0.1"], &["--listen"]),
        (&[], &["--via"]),
    ];
    for (arguments, words) in cases {
        let output = proxy(&hosts.client, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty() && words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    }
    assert_eq!(state(&hosts.client), before);
}

#[test]
fn an_incomplete_tunnel_is_refused_with_help() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.pem").to_string_lossy().into_owned();
    std::fs::write(&empty, "").expect("written");
    let fingerprint = "ab".repeat(32);
    let client = ["--transport", "mpquic", "--via", "lo", "--to", "127.0.0.1:4433", "--peer", &fingerprint];
    let server = ["--server", "--listen", "127.0.0.1:4433", "--peer", &fingerprint];
    let files = ["--certificate", &empty, "--key", &empty];
    let cases: [(Vec<&str>, &str); 9] = [
        (client.to_vec(), "--certificate"),
        ([&client[..], &files].concat(), "cannot read a certificate from"),
        ([&client[..6], &files, &["--peer", "ab:cd"]].concat(), "cannot read a certificate from ab:cd"),
        (client[..4].to_vec(), "--to"),
        ([&client[..], &["--allow", "all"]].concat(), "--server"),
        (server.to_vec(), "--allow"),
        ([&server[..], &files, &["--allow", "10.0.0.0/40"]].concat(), "--allow \"10.0.0.0/40\" names no destinations"),
        ([&server[..], &files, &["--allow", "all", "--via", "lo"]].concat(), "--via"),
        (vec!["--via", "lo", "--to", "127.0.0.1:4433"], "add --transport mpquic"),
    ];
    for (arguments, words) in cases {
        let output = command().arg("proxy").args(&arguments).output().expect("it runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn cleanup_undoes_what_a_killed_proxy_has_left() {
    if !machine_has(&["nft"]) {
        return;
    }
    let _alone = left_behind();
    let hosts = hosts("proxy-killed");
    let before = state(&hosts.client);
    let mut running = start(&hosts.client);
    let during = state(&hosts.client);
    assert!(during.contains("198.19.0.1") && during.contains("198.19.0.2"), "{during}");
    running.kill().and_then(|()| running.wait()).expect("killed");
    assert_ne!(state(&hosts.client), before, "rules outlive a killed process");
    // Settings can be undone without commands.
    let without_commands = || {
        let output = output_in(&hosts.client, command().arg("cleanup").env("PATH", "/nowhere"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("of proxy 0 are not undone: there is no command"), "{said}");
        text(&output.stdout)
    };
    let removed = without_commands();
    assert!(
        removed.lines().any(|line| line.starts_with("removed ") && line.ends_with(" changes of proxy 0")),
        "{removed}"
    );
    assert!(!state(&hosts.client).ends_with("1\n"), "no forwarding from the interfaces");
    let removed = without_commands();
    assert!(!removed.contains("proxy 0"), "what is undone is not tried again: {removed}");
    let cleaned = output_in(&hosts.client, command().arg("cleanup"));
    assert_eq!(cleaned.status.code(), Some(0), "{}", text(&cleaned.stderr));
    assert!(text(&cleaned.stdout).contains("removed proxy 0"), "{}", text(&cleaned.stdout));
    assert_eq!(state(&hosts.client), before);
}

#[test]
fn cleanup_says_that_it_removed_the_journal_of_a_namespace_that_has_ended() {
    if !machine_has(&["nft"]) {
        return;
    }
    let _alone = left_behind();
    let hosts = hosts("proxy-gone");
    let mut running = start(&hosts.client);
    running.kill().and_then(|()| running.wait()).expect("killed");
    drop(hosts);
    let said = || text(&command().arg("cleanup").output().expect("the command starts").stdout);
    let line = "removed the journal of proxy 0 of a network namespace that no longer exists";
    let first = said();
    assert!(first.contains(line), "{first}");
    assert!(!said().contains(line), "once");
}
