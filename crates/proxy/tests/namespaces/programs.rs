//! Programs that nobody here wrote at both ends of the proxy, made MPTCP programs by `mptcpize`.

use std::thread::sleep;
use std::time::Duration;

use subflow_prerequisite::Prerequisite;

use crate::setup::{Setup, machine_serves, pattern, works};

/// Passes connections of 127.0.0.1:5201 to the server's port by the proxy's HTTP CONNECT, for programs that know no
/// proxies.
const RELAY: &str = r"
import socket, threading
def copy(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)
def serve(client):
    proxy = socket.create_connection(('127.0.0.1', 1080))
    proxy.sendall(b'CONNECT 10.99.0.1:5201 HTTP/1.1\r\n\r\n')
    head = b''
    while not head.endswith(b'\r\n\r\n'):
        head += proxy.recv(1)
    assert b' 200 ' in head, head
    threading.Thread(target=copy, args=(client, proxy), daemon=True).start()
    copy(proxy, client)
listener = socket.create_server(('127.0.0.1', 5201))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// Whether the machine has these programs.
fn has(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !works(tool));
    if let Some(tool) = missing {
        Prerequisite::Kernel.missing(format!("`{tool}` does not work"));
    }
    missing.is_none()
}

/// Waits until something listens on a port in a namespace.
fn wait_for(setup: &Setup, host: &str, port: u16) {
    for _ in 0..200 {
        if setup.output(host, &["ss", "-Htln"]).contains(&format!(":{port} ")) {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("nothing listens on port {port}");
}

/// The number of MPTCP connections that the server's kernel has accepted.
fn accepted(setup: &Setup) -> u64 {
    let text = setup.output("s", &["grep", "^MPTcpExt:", "/proc/net/netstat"]);
    let mut lines = text.lines().map(|line| line.split(' '));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let mut pairs = names.zip(values);
    pairs.find(|(name, _)| *name == "MPCapableACKRX").and_then(|(_, value)| value.parse().ok()).expect("a counter")
}

#[test]
fn curl_fetches_from_a_web_server_under_mptcpize() {
    if !has(&["mptcpize --help", "python3 --version", "ss -V"]) {
        return;
    }
    let Some(setup) = machine_serves("mptcpize") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), pattern(5_000_000)).expect("written");
    let folder = folder.path().to_string_lossy().into_owned();
    let server = ["mptcpize", "run", "python3", "-m", "http.server", "80", "--directory", &folder];
    let _server = setup.program("s", &server);
    wait_for(&setup, "s", 80);
    let _proxy = setup.proxy(&["c0", "c1"]);
    let output = setup.curl("socks5h", "http://10.99.0.1/file");
    assert!(output.status.success() && output.stdout == pattern(5_000_000), "{:?}", output.status);
    assert!(accepted(&setup) >= 1, "by MPTCP");
}

/// What iperf3 measures.
fn measured(setup: &Setup, direction: &[&str]) -> serde_json::Value {
    let command = ["iperf3", "-c", "127.0.0.1", "-t", "2", "-J"];
    let printed = setup.output("c", &[&command[..], direction].concat());
    serde_json::from_str(&printed).expect("iperf3 prints JSON")
}

#[test]
fn iperf3_measures_through_the_proxy_in_both_directions() {
    if !has(&["mptcpize --help", "python3 --version", "iperf3 --version", "ss -V"]) {
        return;
    }
    let Some(setup) = machine_serves("iperf3") else { return };
    let _proxy = setup.proxy(&["c0", "c1"]);
    let _relay = setup.program("c", &["python3", "-c", RELAY]);
    wait_for(&setup, "c", 5201);
    for direction in [&[][..], &["-R"]] {
        // A server that has served closes its socket and opens another one: what connects in between is reset.
        let _server = setup.program("s", &["mptcpize", "run", "iperf3", "-s"]);
        wait_for(&setup, "s", 5201);
        let json = measured(&setup, direction);
        assert_eq!(json.get("error"), None, "{direction:?}");
        let received = json["end"]["sum_received"]["bytes"].as_u64();
        assert!(received > Some(1_000_000), "{direction:?}: {received:?}");
    }
    assert!(accepted(&setup) >= 4, "two connections for each test, by MPTCP");
}
