//! `subflow status`: what running proxies and path managers tell, and their logs.

use std::process::Command;
use std::time::Duration;

use subflow_linux::Stream;

use crate::proxy::{hosts, start};
use crate::support::{command, left_behind, machine_has, machine_serves, send_signal, text};
use crate::two_hosts::{Daemon, TwoHosts, output_in, subflows, wait_for_subflows, wait_until};

/// What `subflow status` tells of a process.
fn status_of(process: u32) -> Option<serde_json::Value> {
    let output = command().args(["status", "--format", "json"]).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("a list");
    all.into_iter().find(|status| status["process"] == process)
}

#[test]
fn a_path_manager_tells_its_connections_subflows_and_bytes_by_interface() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("told", 2);
    (0..2).for_each(|pair| hosts.number(pair, [1, 1]));
    hosts.limit_client();
    let client = hosts.daemon(&hosts.client, &["--policy", "single-mesh"]);
    let _server = hosts.daemon(&hosts.server, &["--policy", "single-mesh"]);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 2, &client);
    let of_interface = |name: &str| {
        let status = status_of(client.id())?;
        let interfaces = status["interfaces"].as_array()?;
        interfaces.iter().find(|interface| interface["name"] == name).cloned()
    };
    let sent = |name: &str| of_interface(name).and_then(|found| found["sent_bytes"].as_u64()).unwrap_or(0);
    let told = || format!("{:?}\n{}", status_of(client.id()), client.log());
    wait_until("bytes on both", || sent("v0") > 10_000 && sent("v1") > 10_000, told);
    let status = status_of(client.id()).expect("it runs");
    assert_eq!((status["kind"].as_str(), status["connections"].as_array().map(Vec::len)), (Some("paths"), Some(1)));
    assert_eq!(of_interface("v1").expect("it is used")["addresses"], serde_json::json!(["10.77.1.1"]));
    let subflows = status["connections"][0]["subflows"].as_array().expect("a list").clone();
    assert!(subflows.len() == 2 && subflows.iter().all(|one| one["srtt_ms"].as_f64() > Some(0.0)), "{subflows:?}");
    let shown = text(&command().arg("status").output().expect("it starts").stdout);
    assert!(
        shown.contains(&format!("subflow paths, process {}", client.id())) && shown.contains("10.77.1.1"),
        "{shown}"
    );
    let nobody = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(command().get_program())
        .arg("status")
        .output()
        .expect("it starts");
    // A build folder may be closed to others.
    if nobody.status.code() != Some(126) && nobody.status.code() != Some(127) {
        assert_eq!(nobody.status.code(), Some(2), "{}", text(&nobody.stderr));
        assert!(text(&nobody.stderr).contains("sudo"), "{}", text(&nobody.stderr));
    }
    // What was carried counts when the connection has ended.
    let bytes = transfer.complete();
    let has_ended = || status_of(client.id()).is_some_and(|status| status["connections"] == serde_json::json!([]));
    let is_counted = || has_ended() && sent("v0") + sent("v1") >= bytes;
    wait_until("the bytes of ended subflows", is_counted, || format!("{bytes} bytes\n{}", told()));
    assert!(sent("v0") > 10_000 && sent("v1") > 10_000, "{}", told());
    let process = client.id();
    assert_eq!(client.end("TERM"), Some(0));
    assert_eq!(status_of(process), None);
}

/// What a path manager tells of an interface: bytes sent and received.
fn carried(daemon: &Daemon, interface: &str) -> [u64; 2] {
    let status = status_of(daemon.id()).expect("it runs");
    let interfaces = status["interfaces"].as_array().expect("a list");
    let found = interfaces.iter().find(|one| one["name"] == interface).expect("it has it");
    ["sent_bytes", "received_bytes"].map(|field| found[field].as_u64().expect("a number"))
}

/// Sends so many bytes from one end to the other.
fn pass(from: &Stream, to: &Stream, bytes: usize) {
    let mut left = bytes;
    while left > 0 {
        let written = from.write(&vec![7; left.min(8000)]).expect("written").expect("not interrupted");
        let mut missing = written;
        while missing > 0 {
            missing -= to.read(&mut vec![0; missing]).expect("read").expect("not interrupted");
        }
        left -= written;
    }
}

/// Longer than the time between two looks of a path manager at the open sockets.
const QUIET: Duration = Duration::from_millis(1500);

#[test]
fn a_path_manager_knows_what_a_first_subflow_carried_that_the_peer_ended_before_the_connection() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("first-ends", 2);
    hosts.number(0, [1, 1]);
    let client = hosts.daemon(&hosts.client, &["--policy", "single-mesh"]);
    let server = hosts.daemon(&hosts.server, &["--policy", "single-mesh"]);
    let ([phone, program], _listener) = hosts.connected(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    pass(&phone, &program, 300_000);
    pass(&program, &phone, 200_000);
    hosts.number(1, [1, 1]);
    wait_for_subflows(&hosts.server, 2, &client);
    std::thread::sleep(QUIET);
    let has_all = || {
        let [sent, received] = carried(&server, "v0");
        // The kernel counts a FIN as a byte received.
        let is_right = sent == 200_000 && (300_000..=300_001).contains(&received);
        assert!(is_right, "{sent} {received}\n{}", server.log());
    };
    has_all();
    // The phone leaves the first network; the server's program keeps the connection.
    hosts.ip(&hosts.client, "address del 10.77.0.1/24 dev v0");
    wait_for_subflows(&hosts.server, 1, &server);
    std::thread::sleep(QUIET);
    has_all();
    drop((phone, program));
    let has_ended = || status_of(server.id()).is_some_and(|status| status["connections"] == serde_json::json!([]));
    wait_until("the end of the connection", has_ended, || server.log());
    std::thread::sleep(2 * QUIET);
    has_all();
}

#[test]
fn a_path_manager_knows_what_a_connection_carried_whose_program_closes_it_last() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("closed-last", 1);
    hosts.number(0, [1, 1]);
    let server = hosts.daemon(&hosts.server, &["--policy", "single-mesh"]);
    let ([phone, program], _listener) = hosts.connected(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    pass(&phone, &program, 300_000);
    pass(&program, &phone, 200_000);
    std::thread::sleep(QUIET);
    // Both have ended their streams. The phone closes its socket, and the server's program does not.
    for (one, other) in [(&program, &phone), (&phone, &program)] {
        one.finish().expect("finished");
        assert_eq!(other.read(&mut [0; 10]).expect("read"), Some(0));
    }
    drop(phone);
    wait_until("the end of the subflow", || subflows(&hosts.server).is_empty(), || server.log());
    std::thread::sleep(QUIET);
    drop(program);
    let has_ended = || status_of(server.id()).is_some_and(|status| status["connections"] == serde_json::json!([]));
    wait_until("the end of the connection", has_ended, || server.log());
    let [sent, received] = carried(&server, "v0");
    assert!(sent == 200_000 && (300_000..=300_001).contains(&received), "{sent} {received}\n{}", server.log());
}

#[test]
fn a_proxy_tells_its_interfaces_and_leaves_no_socket() {
    if !machine_has(&["nft"]) {
        return;
    }
    let _alone = left_behind();
    let hosts = hosts("proxy-told");
    let mut running = start(&hosts.client);
    wait_until("its status", || status_of(running.id()).is_some(), String::new);
    let status = status_of(running.id()).expect("it answers");
    assert_eq!(status["about"], "listens on 127.0.0.1:1080");
    let names: Vec<_> = status["interfaces"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["v0", "v1"]);
    let socket = format!("/run/subflow/status-proxy-{}", running.id());
    assert!(std::fs::exists(&socket).expect("a file system"));
    send_signal("-TERM", running.id());
    assert_eq!(running.wait().expect("it ends").code(), Some(0));
    assert!(!std::fs::exists(&socket).expect("a file system"));
    // A killed one leaves it, and cleanup removes it.
    let mut killed = start(&hosts.client);
    let socket = format!("/run/subflow/status-proxy-{}", killed.id());
    wait_until("its status", || status_of(killed.id()).is_some(), String::new);
    killed.kill().and_then(|()| killed.wait()).expect("killed");
    assert!(std::fs::exists(&socket).expect("a file system") && status_of(killed.id()).is_none());
    let cleaned = output_in(&hosts.client, command().arg("cleanup"));
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert!(!std::fs::exists(&socket).expect("a file system"));
}
