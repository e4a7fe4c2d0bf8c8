//! The proxy between kernels in network namespaces: curl as the client, the kernel's MPTCP as the server.
#![cfg(target_os = "linux")]

mod forwarding;
mod kills;
mod programs;
mod rates;
mod setup;
mod tunnel;
mod undo;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use setup::{Setup, machine_serves};

/// The proxy as a process of its own, which the tests start from this executable.
#[test]
fn process() {
    setup::be_the_proxy();
    tunnel::be_an_end();
}

/// Bytes that take about two seconds over both paths.
const FILE: usize = 16_000_000;

#[test]
fn a_server_without_mptcp_is_reached_by_http_connect_too() {
    let Some(setup) = machine_serves("tcp") else { return };
    let _server = setup.serve(false);
    let _proxy = setup.proxy(&["c0", "c1"]);
    setup.fetch_by("socks5h", 3_000_000);
    setup.fetch_by("http", 3_000_000);
    let refused = setup.curl("socks5h", "http://10.99.0.1:81/1");
    assert_eq!(refused.status.code(), Some(97), "a SOCKS error, and no time-out");
    let loopback = setup.curl("socks5h", "http://127.0.0.1:80/1");
    assert_eq!(loopback.status.code(), Some(97), "this machine's loopback is not reached");
}

#[test]
fn no_address_of_this_machine_is_reached() {
    let Some(setup) = machine_serves("own") else { return };
    let _server = setup.serve(false);
    let _own = setup.serve_on("c", false);
    let _proxy = setup.proxy(&["c0", "c1"]);
    assert_eq!(setup.output("c", &["curl", "-s", "http://10.70.0.1/1"]).len(), 1, "it can be reached directly");
    // With the setting, sockets can be bound to addresses of other machines, too.
    for binds_all in ["0", "1"] {
        setup.output("c", &["sysctl", "-qw", &format!("net.ipv4.ip_nonlocal_bind={binds_all}")]);
        for own in ["10.70.0.1", "10.71.0.1", "10.70.0.255"] {
            let refused = setup.curl("socks5h", &format!("http://{own}:80/1"));
            assert_eq!(refused.status.code(), Some(97), "{own}");
        }
        setup.fetch_by("socks5h", 1000);
    }
}

#[test]
fn two_hundred_connections_at_once_take_little_of_what_they_transfer_as_memory() {
    let Some(setup) = machine_serves("many") else { return };
    let _server = setup.serve(true);
    let proxy = setup.proxy(&["c0", "c1"]);
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("#1").to_string_lossy().into_owned();
    let mut curl = setup.curl_command("socks5h", "http://10.99.0.1/[400000-400199]");
    curl.args(["-o", &files, "--parallel", "--parallel-immediate", "--parallel-max", "200"]);
    let mut curl = curl.spawn().expect("starts");
    let sent = || setup.bytes_sent(0) + setup.bytes_sent(1);
    let mut has_ended = || curl.try_wait().expect("a child").is_some();
    while sent() < 20_000_000 && !has_ended() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let after_a_quarter = proxy.memory_mb("VmRSS:");
    let output = curl.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let at_the_end = proxy.memory_mb("VmRSS:");
    // Of 60 MB since; buffers still grow with the windows.
    assert!(at_the_end < after_a_quarter + 30.0, "{after_a_quarter} MB, {at_the_end} MB");
    for length in 400_000..400_200 {
        let file = std::fs::read(folder.path().join(length.to_string())).expect("a file");
        assert!(file == setup::pattern(length), "{length}");
    }
}

#[test]
fn memory_does_not_grow_with_what_is_transferred() {
    let Some(setup) = machine_serves("memory") else { return };
    let _server = setup.serve(true);
    let proxy = setup.proxy(&["c0", "c1"]);
    setup.fetch_by("socks5h", FILE);
    let before = proxy.largest_memory_mb();
    setup.fetch_by("socks5h", 10 * FILE);
    let after = proxy.largest_memory_mb();
    assert!(after < before + 15.0, "{before} MB, {after} MB");
}

#[test]
fn a_killed_proxy_is_cleaned_up_after() {
    let Some(setup) = machine_serves("kill") else { return };
    let mut proxy = setup.proxy(&["c0", "c1"]);
    assert_ne!(setup.left_behind(), "");
    assert_eq!(proxy.end("-KILL"), None);
    assert_ne!(setup.left_behind(), "", "rules outlive a killed process");
    setup.cleanup();
    assert_eq!(setup.left_behind(), "");
}

/// The names of all journals.
fn journals() -> BTreeSet<OsString> {
    let entries = std::fs::read_dir("/run/subflow").into_iter().flatten().map_while(Result::ok);
    entries.map(|entry| entry.file_name()).collect()
}

#[test]
fn cleanup_anywhere_removes_the_journal_of_a_namespace_that_has_ended_and_no_other() {
    let (Some(ended), Some(kept)) = (machine_serves("gone"), machine_serves("there")) else { return };
    let killed = |setup: &Setup| {
        let mut proxy = setup.proxy(&["c0"]);
        let id = setup.namespace_id();
        assert_eq!(proxy.end("-KILL"), None);
        OsString::from(format!("proxy-{id}-0"))
    };
    let [of_ended, of_kept] = [killed(&ended), killed(&kept)];
    assert!([&of_ended, &of_kept].iter().all(|name| journals().contains(*name)), "{:?}", journals());
    drop(ended);
    // Other tests may do it at the same time.
    subflow_proxy::cleanup(|_| {}).expect("cleans up");
    assert!(!journals().contains(&of_ended));
    assert!(journals().contains(&of_kept), "{:?}", journals());
    kept.cleanup();
    assert!(!journals().contains(&of_kept));
    assert_eq!(kept.left_behind(), "");
}

#[test]
fn a_proxy_leaves_no_empty_folder() {
    let Some(setup) = machine_serves("folder") else { return };
    let mut proxy = setup.proxy(&["c0"]);
    assert!(!journals().is_empty());
    assert_eq!(proxy.end("-TERM"), Some(0));
    // That of another test's proxy is not empty, except for an instant.
    let is_empty = || std::fs::exists("/run/subflow").expect("a file system") && journals().is_empty();
    let mut looks = (0..50).map(|_| is_empty()).inspect(|_| std::thread::sleep(Duration::from_millis(10)));
    assert!(looks.any(|empty| !empty));
}

#[test]
fn what_is_missing_is_said_and_nothing_is_left() {
    let Some(setup) = machine_serves("bad") else { return };
    let said = |via: &[&str]| {
        let output = setup.start(via).wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&["c0", "wlan9"]).contains("there is no interface \"wlan9\""));
    assert!(said(&["c0", "c0"]).contains("twice"));
    let running = setup.proxy(&["c0"]);
    assert!(said(&["c1"]).contains("cannot listen on 127.0.0.1:1080"));
    drop(running);
    // The only interface goes away: the proxy ends by itself.
    let mut running = setup.proxy(&["c1"]);
    setup.ip("c", "link del c1");
    assert_eq!(running.wait(), Some(2));
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn names_and_numbers_in_use_are_left_alone() {
    let Some(setup) = machine_serves("taken") else { return };
    setup.ip("c", "link add subflow0x0 type veth peer name other");
    setup.ip("c", "route add 10.1.2.0/24 dev c0 table 500064");
    setup.ip("c", "addr add 198.19.2.1/32 dev c1");
    let before = setup.left_behind();
    let _server = setup.serve(true);
    let mut proxy = setup.proxy(&["c0", "c1"]);
    assert!(setup.left_behind().contains("subflow3x1"), "{}", setup.left_behind());
    setup.fetch_by("socks5h", 1_000_000);
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(setup.left_behind(), before);
    assert!(setup.output("c", &["ip", "route", "show", "table", "500064"]).contains("10.1.2.0/24"));
}

#[test]
fn a_server_with_ipv6_is_reached_over_both_paths() {
    let Some(setup) = machine_serves("six") else { return };
    for path in [0, 1] {
        for (host, number) in [("c", 1), ("s", 2)] {
            setup.ip(host, &format!("addr add fd7{path}::{number}/64 dev {host}{path} nodad"));
        }
        setup.ip("c", &format!("-6 route add default via fd7{path}::2 metric {path}00"));
        setup.shape(path, 40);
    }
    setup.ip("s", "addr add fd99::1/128 dev lo nodad");
    if !std::path::Path::new("/proc/sys/net/ipv6/conf/all/force_forwarding").exists() {
        return subflow_prerequisite::Prerequisite::Kernel.missing("it cannot forward IPv6 for single interfaces");
    }
    let _server = setup.serve(true);
    let mut proxy = setup.proxy(&["c0", "c1"]);
    setup.fetch_from("[fd99::1]", "socks5h", FILE);
    let sent = [0, 1].map(|path| setup.bytes_sent(path));
    assert!(sent.iter().all(|&bytes| bytes > FILE / 5), "{sent:?}");
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn the_smallest_mtu_of_the_interfaces_bounds_all_packets() {
    let Some(setup) = machine_serves("mtu") else { return };
    for (host, device) in [("c", "c1"), ("s", "s1")] {
        setup.ip(host, &format!("link set {device} mtu 1300"));
    }
    setup.shape(0, 40);
    setup.shape(1, 40);
    let _server = setup.serve(true);
    let _proxy = setup.proxy(&["c0", "c1"]);
    setup.fetch_by("socks5h", FILE);
    let sent = [0, 1].map(|path| setup.bytes_sent(path));
    assert!(sent.iter().all(|&bytes| bytes > FILE / 5), "{sent:?}");
    // No packet was divided or refused on its way.
    let counters = setup.output("s", &["grep", "^Ip:", "/proc/net/snmp"]);
    let [names, values] = [0, 1].map(|line| counters.lines().nth(line).expect("two lines").split(' '));
    for (name, value) in names.zip(values).filter(|(name, _)| name.starts_with("Frag") || *name == "ReasmReqds") {
        assert_eq!(value, "0", "{name}");
    }
}

#[test]
fn a_router_behind_the_interfaces_tells_the_mtu_of_the_path() {
    let Some(setup) = machine_serves("path-mtu") else { return };
    setup.add_server_behind(1300);
    let _server = setup.serve_on("t", true);
    let _proxy = setup.proxy(&["c0", "c1"]);
    assert_eq!(setup.put("10.98.0.2", 5_000_000), "5000000 right");
    // The router refused packets of 1500 bytes of both subflows, and divided none.
    let refused = setup.output("s", &["sh", "-c", "grep ^Icmp: /proc/net/snmp; grep ^Ip: /proc/net/snmp"]);
    let counter = |protocol: &str, name: &str| -> u32 {
        let mut lines = refused.lines().filter(|line| line.starts_with(protocol)).map(str::split_whitespace);
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        names.zip(values).find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).expect("a number")
    };
    assert!((2..100).contains(&counter("Icmp:", "OutDestUnreachs")), "{refused}");
    assert_eq!(counter("Ip:", "FragCreates"), 0);
}

#[test]
fn a_router_that_tells_nothing_is_found_out() {
    let Some(setup) = machine_serves("black-hole") else { return };
    setup.add_server_behind(1300);
    setup.suppress_icmp_errors();
    let _server = setup.serve_on("t", true);
    let _proxy = setup.proxy(&["c0", "c1"]);
    assert_eq!(setup.put("10.98.0.2", 2_000_000), "2000000 right");
}

#[test]
fn iptables_serves_where_there_is_no_nft() {
    let Some(setup) = machine_serves("iptables") else { return };
    if !(setup::works("iptables --version") && setup::works("ip6tables --version")) {
        return subflow_prerequisite::Prerequisite::Kernel.missing("there are not both iptables and ip6tables");
    }
    let tools = undo::tools(&["ip", "iptables", "ip6tables"]);
    let _server = setup.serve(true);
    let mut proxy =
        Setup::listening(setup.proxy_command(&["c0", "c1"]).env("PATH", tools.path()).spawn().expect("starts"));
    assert!(setup.left_behind().contains("MASQUERADE"), "{}", setup.left_behind());
    setup.fetch_by("socks5h", 1_000_000);
    assert_eq!(proxy.end("-KILL"), None);
    setup.cleanup();
    assert_eq!(setup.left_behind(), "");
}
