//! Connections of programs as results: their rates, short ones, and what their hosts set of congestion control and paths.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::network::Network;
use crate::support::{SCENARIO, command, in_one_line, machine_has, machine_serves, results, scenario, subflow, text};

const HOSTS: &str = r#"duration = "14 s"
hosts = { phone = ["wifi", "lte"], server = ["eth"] }
routers = { internet = {} }
[links]
wifi = { between = ["phone.wifi", "internet"], rate = "20 Mbit/s", delay = "5 ms" }
lte = { between = ["phone.lte", "internet"], rate = "10 Mbit/s", delay = "10 ms" }
core = { between = ["internet", "server.eth"], rate = "1 Gbit/s" }
"#;

/// The results of a run of the programs, and its folder.
fn run_of(programs: &str, further: &[&str]) -> (Value, tempfile::TempDir, String) {
    let (folder, path) = scenario(&format!("{HOSTS}{programs}"));
    let out = folder.path().join("results").to_string_lossy().into_owned();
    let output = subflow(&[&["run", &path, "--on", "linux", "--format", "json", "--out", &out], further].concat());
    let json = results(&output);
    (json["runs"][0].clone(), folder, in_one_line(&output.stderr))
}

fn flows(run: &Value) -> Vec<&Value> {
    run["flows"].as_array().expect("flows").iter().filter(|flow| flow["connection"].is_object()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_rate_of_iperf3_is_the_one_that_it_reports_with_and_without_mptcp() {
    if !machine_has(&["iperf3", "mptcpize"]) {
        return;
    }
    let programs = r#"[programs]
server = { on = "server", run = ["iperf3", "-s", "--one-off"], mptcp = true }
client = { on = "phone", run = "iperf3 -c server -t 10 --json", mptcp = true, after = { port = 5201, on = "server" } }
"#;
    for (mptcp, subflows) in [("true", 2), ("false", 1)] {
        let sets = ["client", "server"].map(|name| format!("programs.{name}.mptcp={mptcp}"));
        let (run, folder, said) = run_of(programs, &["--set", &sets[0], "--set", &sets[1]]);
        let printed = fs::read_to_string(folder.path().join("results/programs/0-client.stdout")).expect("it is kept");
        let report: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("no report: {printed} {said}"));
        let [sent, received] = ["sum_sent", "sum_received"].map(|sum| number(&report["end"][sum]["bytes"]));
        let found = flows(&run);
        let [control, data] = found[..] else { panic!("expected two connections: {found:?} {said}") };
        assert_eq!([&control["name"], &data["name"]], ["client:1", "client:2"]);
        // The server of iperf3 counts neither what it reads after the client has told it to end nor the 37 bytes of the
        // cookie. The client counts what it writes, and may close the connection before all of that is delivered.
        let delivered = number(&data["bytes_delivered"]);
        let bounds = received + 37.0..=sent + 37.0;
        assert!(bounds.contains(&delivered), "measured {delivered}, iperf3 reports {bounds:?}: {data}");
        let seconds = delivered * 8e-6 / number(&data["goodput_mbps"]);
        assert!((9.9..13.0).contains(&seconds), "of a transfer of 10 s: {data}");
        let connection = &data["connection"];
        assert_eq!((&connection["program"], &connection["peer"]), (&"client".into(), &"server".into()), "{said}");
        assert_eq!(data["subflows"].as_array().map(Vec::len), Some(subflows), "{data}");
        assert_eq!(data["protocol"], if mptcp == "true" { "mptcp" } else { "tcp" });
        let first = &data["subflows"][0];
        assert_eq!((&first["name"], number(&first["srtt_ms"]) > 10.0), (&"phone.wifi-server.eth".into(), true));
        let series = fs::read_to_string(folder.path().join("results/series.json")).expect("metrics over time");
        assert!(series.contains("client:2") && series.contains("cwnd"));
        let table = fs::read_to_string(folder.path().join("results/tables/connections.csv")).expect("a table");
        assert_eq!(table.lines().count(), 3, "{table}");
        let program = &run["real_time"]["programs"][1];
        assert_eq!(program["connections"], 2);
        assert!(number(&program["bytes_sent"]) >= number(&connection["bytes_sent"]));
    }
}

/// A server that counts what arrives, and a client that sends 1000 bytes on each of 60 connections.
const SHORT: &str = r#"
[programs.sink]
on = "b"
run = ["python3", "-c", "import socket as s\nl = s.create_server(('0.0.0.0', 9))\nwhile True:\n c, _ = l.accept()\n while c.recv(9999): pass\n c.close()"]
[programs.burst]
on = "a"
run = ["python3", "-c", "import socket as s\nfor n in range(60):\n c = s.create_connection(('b', 9)); c.sendall(b'x' * 1000); c.shutdown(1); c.recv(9); c.close()"]
after = { port = 9, on = "b" }
"#;

#[test]
fn connections_shorter_than_the_interval_of_looks_are_counted_with_their_bytes() {
    if !machine_serves() {
        return;
    }
    let hosts = "duration = \"15 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.wire]\nbetween = [\"a.eth\", \"b.eth\"]\n\
                 rate = \"100 Mbit/s\"\ndelay = \"100 us\"\n";
    let (_folder, path) = scenario(&format!("{hosts}{SHORT}"));
    let output = subflow(&["run", &path, "--on", "linux", "--format", "json"]);
    let json = results(&output);
    let run = &json["runs"][0];
    let programs = &run["real_time"]["programs"];
    assert_eq!(programs[1]["exit_code"], 0, "{}", in_one_line(&output.stderr));
    assert_eq!(
        (&programs[0]["connections"], &programs[0]["bytes_received"]),
        (&60.into(), &60_000.into()),
        "{programs}"
    );
    let found = flows(run);
    assert!(found.len() >= 50, "of each program at most 50, the others are in the table: {}", found.len());
    assert!(found.iter().all(|flow| flow["bytes_delivered"] == 1000 && flow["connection"]["peer"] == "sink"));
    let notes = run["real_time"]["notes"].to_string();
    assert!(notes.contains("of 60 connections of programs lasted"), "{notes}");
}

#[test]
fn the_hosts_of_programs_have_their_congestion_control_and_path_manager() {
    if !machine_has(&["mptcpize"]) {
        return;
    }
    let programs = r#"[programs.server]
on = "server"
run = ["python3", "-c", "import socket as s\nl = s.create_server(('0.0.0.0', 9))\nc, _ = l.accept()\nwhile c.recv(99999): pass"]
mptcp = true
[programs.client]
on = "phone"
run = ["python3", "-c", "import socket as s\nc = s.create_connection(('server', 9))\nfor n in range(30): c.sendall(b'x' * 100000)"]
mptcp = true
congestion = "reno"
path_manager = { name = "ndiffports", n = 3 }
after = { port = 9, on = "server" }
"#;
    let (run, _folder, said) = run_of(programs, &["--set", "duration=15 s"]);
    let found = flows(&run);
    let [data] = found[..] else { panic!("expected one connection: {found:?} {said}") };
    assert_eq!((&data["congestion"], &data["bytes_delivered"]), (&"reno".into(), &3_000_000.into()), "{data} {said}");
    let names: Vec<&str> =
        data["subflows"].as_array().expect("subflows").iter().filter_map(|subflow| subflow["name"].as_str()).collect();
    let expected = ["phone.wifi-server.eth", "phone.wifi-server.eth#2", "phone.wifi-server.eth#3"];
    assert_eq!(names, expected, "{data}");
}

#[test]
fn programs_of_a_host_that_want_different_things_are_refused() {
    if !machine_serves() {
        return;
    }
    let programs = "[programs]\none = { on = \"phone\", run = [\"true\"], congestion = \"reno\" }\n\
                    two = { on = \"phone\", run = [\"true\"], congestion = \"cubic\" }\n";
    let (_folder, path) = scenario(&format!("{HOSTS}{programs}"));
    let refused = subflow(&["run", &path, "--on", "linux"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = in_one_line(&refused.stderr);
    assert!(said.contains("programs.one.congestion and programs.two.congestion differ"), "{said}");
    let unknown = subflow(&[
        "run",
        &path,
        "--on",
        "linux",
        "--set",
        "programs.one.congestion=nosuch",
        "--set",
        "programs.two.congestion=nosuch",
    ]);
    assert!(
        in_one_line(&unknown.stderr).contains("no congestion control \"nosuch\""),
        "{}",
        in_one_line(&unknown.stderr)
    );
}

/// A server that reads what comes on port 9, and a client that sends 300 kB to it and stays a moment.
const SERVE: &str = "import socket as s
c = s.create_server(('0.0.0.0', 9)).accept()[0]
print(len(c.makefile('rb').read()))";
const FETCH: &str = "import socket as s, time
while True:
    try:
        c = s.create_connection(('server', 9))
        break
    except OSError:
        time.sleep(0.05)
c.sendall(b'x' * 300000)
time.sleep(0.5)";

#[test]
fn connections_of_commands_are_listed_and_written_as_results_when_the_network_ends() {
    if !machine_serves() {
        return;
    }
    let (folder, path) = scenario(SCENARIO);
    let (network, _) = Network::up("recorded", &path, &[]);
    let mut server = command();
    server.args(["exec", "--network", &network.0, "server", "--", "python3", "-c", SERVE]).stdout(Stdio::piped());
    let server = server.spawn().expect("the command starts");
    assert_eq!(network.exec("phone", &["python3", "-c", FETCH]).status.code(), Some(0));
    assert_eq!(text(&server.wait_with_output().expect("it ends").stdout), "300000\n");
    let listing = text(&subflow(&["ps", "--connections"]).stdout);
    assert!(listing.contains(":9, from ") && listing.contains("sent 0.300 MB"), "{listing}");
    let out = folder.path().join("results").to_string_lossy().into_owned();
    let down = subflow(&["down", &network.0, "--out", &out]);
    assert!(down.status.success(), "{}", in_one_line(&down.stderr));
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).expect("it is written");
    let json: Value = serde_json::from_str(&read("results.json")).expect("results");
    let flows = json["runs"][0]["flows"].as_array().expect("flows");
    let sent = flows.iter().filter(|flow| flow["bytes_delivered"] == 300_000);
    let names: Vec<&str> = sent.filter_map(|flow| flow["name"].as_str()).collect();
    assert!(matches!(names[..], [name] if name.starts_with("python3")), "{flows:?}");
    assert!(json["runs"][0]["links"][0]["up"]["packets"].as_u64().is_some_and(|packets| packets > 100));
    let real_time = &json["runs"][0]["real_time"];
    let late = ["late_p50_us", "late_p99_us", "late_p999_us", "late_max_us"].map(|key| number(&real_time[key]));
    assert!(late[1] > 0.0 && late.is_sorted(), "{real_time}");
    // The 2 s of the scenario are for runs.
    assert_eq!(json["scenario"]["duration_s"], json["runs"][0]["duration_s"]);
    assert!(!text(&down.stdout).contains("run of 2 s"), "{}", text(&down.stdout));
    assert!(read("report.html").contains("</html>") && read("series.json").contains("goodput"));
    assert!(network.status().is_none(), "it has ended");
}
