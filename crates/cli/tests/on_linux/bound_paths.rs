//! `subflow paths` on a host with two default routes and no rules for sources: packets of a subflow leave by the
//! interface of its address, whatever the metrics of the routes say. And an address that comes before its route.

use subflow_linux::{Namespace, Sysctl};

use crate::support::machine_serves;
use crate::two_hosts::{Daemon, TwoHosts, subflows, wait_for_subflows, wait_until};

/// An address of the server that is of no link.
const BEYOND: &str = "10.99.0.1";

/// A client with a default route over each of two links, the first preferred, to a server at [`BEYOND`].
fn two_uplinks(name: &str) -> TwoHosts {
    let hosts = TwoHosts::new(name, 2);
    for pair in 0..2 {
        hosts.number(pair, [1, 1]);
        hosts.ip(&hosts.client, &format!("route add default via 10.77.{pair}.101 dev v{pair} metric {pair}00"));
    }
    hosts.ip(&hosts.server, &format!("address add {BEYOND}/32 dev lo"));
    hosts
}

/// Bytes that have left by an interface.
fn sent_by(host: &Namespace, interface: &str) -> u64 {
    let counters = host.run(|| Ok(std::fs::read_to_string("/proc/thread-self/net/dev").expect("it shows them")));
    let counters = counters.expect("entered");
    let line = counters.lines().find_map(|line| line.trim().strip_prefix(&format!("{interface}:")));
    let sent = line.expect("the interface").split_ascii_whitespace().nth(8);
    sent.and_then(|bytes| bytes.parse().ok()).expect("a number of bytes")
}

/// Payload bytes of the subflow from an address that the peer has acknowledged.
fn acknowledged_from(host: &Namespace, local: &str) -> u64 {
    let of = subflows(host).into_iter().find(|subflow| subflow.info.local.ip().to_string() == local);
    of.map_or(0, |subflow| subflow.info.bytes_acknowledged)
}

fn assert_in_words(daemon: &Daemon) {
    let log = daemon.log();
    assert!(!log.contains(" { ") && !log.contains("Address"), "no Rust structures: {log}");
}

#[test]
fn each_subflow_leaves_by_the_interface_of_its_address() {
    if !machine_serves() {
        return;
    }
    let hosts = two_uplinks("bound");
    hosts.limit_client();
    let client = hosts.daemon(&hosts.client, &["--policy", "full-mesh"]);
    let transfer = hosts.transfer(["10.77.0.1", BEYOND], "0.0.0.0");
    wait_for_subflows(&hosts.client, 2, &client);
    let before = [0, 1].map(|pair| sent_by(&hosts.client, &format!("v{pair}")));
    let addresses = ["10.77.0.1", "10.77.1.1"];
    let carried = || addresses.map(|local| acknowledged_from(&hosts.client, local));
    wait_until(
        "both subflows carry data",
        || carried().iter().all(|&bytes| bytes > 10_000),
        || format!("{:?}", carried()),
    );
    let carried = carried();
    for pair in 0..2 {
        let sent = sent_by(&hosts.client, &format!("v{pair}"));
        assert!(sent > carried[pair] && sent > before[pair], "v{pair} sent {sent} bytes, the subflow {carried:?}");
    }
    transfer.complete();
    assert_in_words(&client);
}

#[test]
fn a_subflow_that_does_not_open_is_told_with_its_interface_and_the_reason() {
    if !machine_serves() {
        return;
    }
    let hosts = two_uplinks("unopened");
    // Nobody answers on the second link; an address that is asked for in vain is given up after three tries.
    hosts.ip(&hosts.server, "address del 10.77.1.101/24 dev v1");
    hosts.client.run(|| Sysctl("ipv4/neigh/v1/mcast_solicit").write("1")).expect("set");
    let client = hosts.daemon(&hosts.client, &["--policy", "full-mesh"]);
    let transfer = hosts.transfer(["10.77.0.1", BEYOND], "0.0.0.0");
    client.wait_for("the subflow from 10.77.1.1 on v1 to 10.99.0.1:5000 did not open: No route to host");
    let log = client.log();
    let line = log.lines().find(|line| line.contains("did not open")).expect("it was found");
    assert!(line.contains("WARN"), "{line}");
    transfer.complete();
    assert_in_words(&client);
}

/// Two hosts of which the client has no route to the server for what comes from an address that it does not have yet.
fn hosts_without_a_route(name: &str) -> TwoHosts {
    let hosts = TwoHosts::new(name, 2);
    hosts.number(0, [1, 1]);
    hosts.number(1, [0, 1]);
    hosts.ip(&hosts.client, "rule add from 10.77.1.1 table 7");
    hosts.ip(&hosts.client, "route add unreachable default table 7");
    // Bound to its interface and without a route, a subflow asks for the server on its own link. There nobody answers.
    hosts.server.run(|| Sysctl("ipv4/conf/all/arp_ignore").write("1")).expect("set");
    hosts
}

#[test]
fn a_route_that_comes_after_the_address_opens_the_subflow_at_once() {
    if !machine_serves() {
        return;
    }
    let hosts = hosts_without_a_route("soon");
    let client = hosts.daemon(&hosts.client, &["--policy", "full-mesh"]);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 1, &client);
    // As DHCP does.
    hosts.ip(&hosts.client, "address add 10.77.1.1/32 dev v1");
    client.wait_for("opening a subflow from 10.77.1.1 on v1 to 10.77.0.101:5000");
    std::thread::sleep(std::time::Duration::from_millis(300));
    hosts.ip(&hosts.client, "route replace default via 10.77.1.101 dev v1 onlink table 7");
    wait_for_subflows(&hosts.client, 2, &client);
    // The first attempt would have waited for a neighbour for 3 s, and the next one for another second.
    assert!(!client.log().contains("No route to host"), "{}", client.log());
    transfer.complete();
}

#[test]
fn an_address_that_comes_before_its_route_has_its_subflow_when_the_route_is_there() {
    if !machine_serves() {
        return;
    }
    let hosts = hosts_without_a_route("route");
    let client = hosts.daemon(&hosts.client, &["--policy", "full-mesh"]);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 1, &client);
    // As DHCP does.
    hosts.ip(&hosts.client, "address add 10.77.1.1/32 dev v1");
    client.wait_for("to 10.77.0.101:5000 did not open: No route to host");
    assert_eq!(subflows(&hosts.client).len(), 1);
    hosts.ip(&hosts.client, "route replace default via 10.77.1.101 dev v1 onlink table 7");
    wait_for_subflows(&hosts.client, 2, &client);
    transfer.complete();
}
