//! `subflow serve`: the page shows the connections of its namespace, to whoever has its address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use subflow_linux::Namespace;

use crate::support::{command, machine_serves, send_signal};
use crate::two_hosts::{TwoHosts, wait_for_subflows};

/// `subflow serve` in a namespace.
struct Served<'n> {
    namespace: &'n Namespace,
    child: Child,
    host: String,
    /// The path of the page, which ends with a slash.
    path: String,
}

impl<'n> Served<'n> {
    fn start(namespace: &'n Namespace, mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = namespace.run(|| Ok(command.spawn().expect("it starts"))).expect("spawned");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut address).expect("an address");
        let (host, path) = address.trim().trim_start_matches("http://").split_once('/').expect("a path");
        let (host, path) = (host.to_owned(), format!("/{path}"));
        Self { namespace, child, host, path }
    }

    /// Asks for a path, with one more header.
    fn ask(&self, path: &str, header: &str) -> TcpStream {
        let mut stream = self.namespace.run(|| Ok(TcpStream::connect(&self.host).expect("it listens"))).expect("run");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        let host = &self.host;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{header}\r\n").expect("sent");
        stream
    }

    /// The data of the events that come.
    fn events(&self) -> impl Iterator<Item = Value> {
        let lines = BufReader::new(self.ask(&format!("{}live", self.path), "")).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
    }

    fn status(&self, path: &str, header: &str) -> String {
        let mut line = String::new();
        BufReader::new(self.ask(path, header)).read_line(&mut line).expect("an answer");
        line.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        send_signal("-TERM", self.child.id());
        let _ = self.child.wait();
    }
}

fn serve() -> Command {
    let mut serve = command();
    serve.arg("serve");
    serve
}

#[test]
fn a_connection_is_shown_path_by_path_with_verdicts_and_a_slow_page_does_not_hold_up_others() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("live", 2);
    (0..2).for_each(|pair| hosts.number(pair, [1, 1]));
    hosts.limit_client();
    let [_server, client] = [&hosts.server, &hosts.client].map(|host| hosts.daemon(host, &["--policy", "single-mesh"]));
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    wait_for_subflows(&hosts.client, 2, &client);
    let served = Served::start(&hosts.client, serve());
    let slow = served.ask(&format!("{}live", served.path), "");
    let is_busy = |event: &Value| {
        let subflows = event["report"]["connections"][0]["subflows"].as_array();
        subflows.is_some_and(|all| all.len() == 2 && all.iter().all(|one| one["sent_mbps"].as_f64() > Some(0.1)))
    };
    let event = served.events().take(40).find(is_busy).expect("a report with two paths that send");
    let connection = &event["report"]["connections"][0];
    assert!(connection["local"].as_str().is_some_and(|local| local.starts_with("10.77.0.1:")), "{connection}");
    assert!(connection["shared_bottlenecks"].as_array().is_some_and(|all| !all.is_empty()), "{connection}");
    let times: Vec<f64> = served.events().take(4).filter_map(|event| event["report"]["time_s"].as_f64()).collect();
    assert!(times.len() == 4 && times.is_sorted(), "a second page sees the same watch: {times:?}");
    drop(slow);
    let live = format!("{}live", served.path);
    assert_eq!(served.status("/live", ""), "403", "without the token");
    for header in ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n", "Host: evil.example\r\n"] {
        assert_eq!(served.status(&live, header), "403", "{header}");
    }
    transfer.complete();
}

#[test]
fn without_root_the_page_says_what_it_takes() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("live-nobody", 0);
    // Where the command is may be closed to others.
    let copy = hosts.folder.path().join("subflow");
    std::fs::copy(command().get_program(), &copy).expect("copied");
    let open = |path: &std::path::Path| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("opened");
    };
    open(hosts.folder.path());
    open(&copy);
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy).arg("serve");
    let served = Served::start(&hosts.client, nobody);
    let mut answer = String::new();
    served.ask(&format!("{}live", served.path), "").read_to_string(&mut answer).expect("it ends");
    assert!(answer.contains("event: refused") && answer.contains("root rights; run it with sudo"), "{answer}");
}
