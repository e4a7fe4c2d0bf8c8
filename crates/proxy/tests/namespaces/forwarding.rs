//! Which interfaces the machine forwards from: with several proxies, and after an interface was renamed.

use crate::setup::{PROCESS, Setup, comes_true, machine_serves, works};

/// Whether the machine forwards packets of each family from an interface.
fn forwards(setup: &Setup, interface: &str) -> String {
    let script = format!(
        "cat /proc/sys/net/ipv4/conf/{interface}/forwarding; \
         cat /proc/sys/net/ipv6/conf/{interface}/force_forwarding 2> /dev/null || true"
    );
    let settings = setup.output("c", &["sh", "-c", &script]);
    let mut values: Vec<&str> = settings.lines().collect();
    values.dedup();
    values.concat()
}

/// Bytes of a file that arrive by the proxy at a port.
fn fetched(setup: &Setup, port: u16) -> String {
    let proxy = format!("socks5h://127.0.0.1:{port}");
    let how = ["-s", "--max-time", "20", "-o", "/dev/null", "-w", "%{size_download}", "-x", &proxy];
    setup.output("c", &[&["curl"], &how[..], &["http://10.99.0.1/300000"]].concat())
}

#[test]
fn two_proxies_use_the_same_interfaces_and_the_last_one_restores_their_settings() {
    let Some(setup) = machine_serves("both") else { return };
    let _server = setup.serve(true);
    assert_eq!(forwards(&setup, "c0"), "0");
    let mut first = setup.proxy(&["c0", "c1"]);
    let second = setup.proxy_command(&[]).env(PROCESS, "127.0.0.1:1081 c0 c1").spawn().expect("starts");
    let mut second = Setup::listening(second);
    assert_eq!([1080, 1081].map(|port| fetched(&setup, port)), ["300000", "300000"]);
    assert_eq!(first.end("-TERM"), Some(0));
    assert_eq!(fetched(&setup, 1081), "300000", "it still gets packets");
    assert_eq!(forwards(&setup, "c0"), "1");
    if works("nft --version") {
        let table = setup.output("c", &["nft", "list", "table", "inet", "subflow_proxy_1"]);
        assert!(table.contains("iifname \"c0\" oifname != \"subflow*\" drop"), "nothing else is forwarded: {table}");
    }
    // The number of the first is free again.
    let mut first = setup.proxy(&["c0"]);
    assert_eq!(second.end("-TERM"), Some(0));
    assert_eq!([forwards(&setup, "c0"), forwards(&setup, "c1")], ["1", "0"]);
    assert_eq!(fetched(&setup, 1080), "300000");
    assert_eq!(first.end("-TERM"), Some(0));
    assert_eq!(forwards(&setup, "c0"), "0");
    assert_eq!(setup.left_behind(), "");
}

/// Gives `c1` another name, or back. Older kernels do that only while an interface is down.
fn rename(setup: &Setup, from: &str, to: &str) {
    for change in [format!("{from} down"), format!("{from} name {to}"), format!("{to} up")] {
        setup.ip("c", &format!("link set {change}"));
    }
}

#[test]
fn an_interface_that_is_renamed_forwards_nothing_any_more() {
    let Some(setup) = machine_serves("rename") else { return };
    let _server = setup.serve(true);
    let mut proxy = setup.proxy(&["c0", "c1"]);
    assert_eq!(forwards(&setup, "c1"), "1");
    rename(&setup, "c1", "other");
    comes_true("other no longer forwards while the proxy runs", || forwards(&setup, "other") == "0");
    let routes = || setup.output("c", &["ip", "route", "show", "table", "500001"]);
    comes_true("the path's routes no longer lead over other", || !routes().contains("other"));
    assert_eq!(fetched(&setup, 1080), "300000", "over the other interface");
    rename(&setup, "other", "c1");
    comes_true("c1 is the path's again", || forwards(&setup, "c1") == "1");
    // At the end: before the proxy has seen it, or after.
    rename(&setup, "c1", "again");
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!([forwards(&setup, "again"), forwards(&setup, "c0")], ["0", "0"]);
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn the_administrator_may_end_the_forwarding_while_a_proxy_runs() {
    let Some(setup) = machine_serves("off") else { return };
    let _proxy = setup.proxy(&["c0", "c1"]);
    setup.output("c", &["sysctl", "-qw", "net.ipv4.conf.c0.forwarding=0"]);
    setup.ip("c", "route add 10.1.2.0/24 dev c0");
    let routes = || setup.output("c", &["ip", "route", "show", "table", "500000"]);
    comes_true("the proxy has copied the route", || routes().contains("10.1.2.0/24"));
    assert!(setup.output("c", &["cat", "/proc/sys/net/ipv4/conf/c0/forwarding"]).contains('0'));
}
