//! `subflow watch`: the events of connections, and that it reads them only where that changes nothing.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use subflow_linux::netlink::{event_listeners, is_passive};
use subflow_linux::{Namespace, Sysctl};

use crate::support::{command, machine_serves, send_signal};
use crate::two_hosts::{TwoHosts, subflows, wait_until};

/// `subflow watch`, as long as it is wanted.
struct Watching {
    child: Child,
    output: PathBuf,
    said: PathBuf,
}

impl Watching {
    /// Starts it in a namespace.
    fn start(hosts: &TwoHosts, host: &Namespace, name: &str, arguments: &[&str]) -> Self {
        let [output, said] = ["jsonl", "log"].map(|ending| hosts.folder.path().join(format!("{name}.{ending}")));
        let [into, errors] = [&output, &said].map(|path| File::create(path).expect("a file"));
        let mut watch = command();
        watch.args(["watch", "--format", "json", "--interval", "0.2"]).args(arguments);
        watch.stdin(Stdio::null()).stdout(into).stderr(errors);
        let child = host.run(|| Ok(watch.spawn().expect("it starts"))).expect("spawned");
        Self { child, output, said }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.said).expect("its log")
    }

    /// The reports so far.
    fn reports(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.output).expect("its output");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect("an object on each line")).collect()
    }

    /// The events so far.
    fn events(&self) -> Vec<Value> {
        let of = |report: Value| report["events"].as_array().expect("a list").clone();
        self.reports().into_iter().flat_map(of).collect()
    }

    fn has(&self, kinds: &[&str]) -> bool {
        let events = self.events();
        kinds.iter().all(|kind| events.iter().any(|event| event["event"] == *kind))
    }

    fn wait_for(&self, kinds: &[&str]) {
        wait_until(&format!("{kinds:?}"), || self.has(kinds), || format!("{:#?}\n{}", self.events(), self.said()));
    }

    /// Ends it as Ctrl-C does.
    fn end(mut self) {
        send_signal("-INT", self.child.id());
        assert!(self.child.wait().expect("it ends").success(), "{}", self.said());
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The listeners in a namespace: how many there are of `subflow watch`, and how many others.
fn listeners(host: &Namespace) -> [usize; 2] {
    let all = host.run(event_listeners).expect("a list");
    let watching = all.iter().filter(|&&port| is_passive(port)).count();
    [watching, all.len() - watching]
}

fn wait_for_listeners(host: &Namespace, count: [usize; 2], watching: &Watching) {
    let what = format!("{count:?} listeners");
    wait_until(&what, || listeners(host) == count, || format!("{:?}\n{}", listeners(host), watching.said()));
}

fn set_path_manager(host: &Namespace, number: &str) {
    host.run(|| Sysctl("mptcp/pm_type").write(number)).expect("set");
}

#[test]
fn a_connection_between_two_looks_is_told_by_its_events() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("brief", 1);
    hosts.number(0, [1, 1]);
    let watching = Watching::start(&hosts, &hosts.client, "watch", &["--sample", "1000"]);
    wait_for_listeners(&hosts.client, [1, 0], &watching);
    // A report is due at the next look.
    std::thread::sleep(Duration::from_millis(300));
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    std::thread::sleep(Duration::from_millis(50));
    transfer.complete();
    watching.wait_for(&["created", "established", "closed"]);
    let events = watching.events();
    let established = events.iter().find(|event| event["event"] == "established").expect("one");
    assert_eq!((&established["client"], &established["remote"]), (&true.into(), &"10.77.0.101:5000".into()));
    assert!(events.iter().all(|event| event["token"] == established["token"]), "{events:?}");
    let times: Vec<f64> = events.iter().map(|event| event["time_s"].as_f64().expect("a number")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let reported: Vec<f64> = watching.reports().iter().map(|r| r["time_s"].as_f64().expect("a number")).collect();
    assert!(reported.windows(2).any(|pair| pair[1] - pair[0] < 0.9), "no look because of an event: {reported:?}");
    for report in watching.reports() {
        assert_eq!(report["events_unread"], Value::Null, "{report}");
        assert_eq!((&report["events_omitted"], &report["events_lost"]), (&0.into(), &false.into()));
    }
    assert_eq!(watching.said(), "");
    watching.end();
}

/// Two paths by the kernel's own path manager. The second has an announced address, and becomes a backup.
#[test]
fn what_happens_to_subflows_is_marked_in_the_report() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("marked", 2);
    hosts.number(0, [1, 1]);
    hosts.number(1, [1, 1]);
    for host in [&hosts.client, &hosts.server] {
        hosts.ip(host, "mptcp limits set subflows 2 add_addr_accepted 2");
    }
    hosts.ip(&hosts.server, "mptcp endpoint add 10.77.1.101 dev v1 id 5 signal");
    let out = hosts.folder.path().join("watched");
    let out_text = out.display().to_string();
    let watching = Watching::start(&hosts, &hosts.client, "watch", &["--sample", "1000", "--out", &out_text]);
    wait_for_listeners(&hosts.client, [1, 0], &watching);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    watching.wait_for(&["announced", "subflow-established"]);
    wait_until("two subflows", || subflows(&hosts.client).len() == 2, String::new);
    hosts.ip(&hosts.server, "mptcp endpoint change 10.77.1.101 id 5 backup");
    watching.wait_for(&["subflow-priority"]);
    hosts.ip(&hosts.server, "mptcp endpoint delete id 5");
    watching.wait_for(&["withdrawn", "subflow-closed"]);
    transfer.complete();
    watching.wait_for(&["closed"]);
    let events = watching.events();
    let event = |kind: &str| events.iter().find(|event| event["event"] == kind).expect("one");
    let announced = event("announced");
    assert_eq!(
        (&announced["id"], &announced["address"], &announced["port"]),
        (&5.into(), &"10.77.1.101".into(), &5000.into())
    );
    assert_eq!((&event("withdrawn")["id"], &event("subflow-priority")["backup"]), (&5.into(), &true.into()));
    watching.end();
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("written");
    assert_eq!(read("events.csv").lines().count(), events.len() + 1);
    assert!(read("summary.txt").contains("events: 1 announced, 1 closed, 1 created"), "{}", read("summary.txt"));
    let report = read("report.html");
    let marked =
        format!("{:.3} s: announced 10.77.1.101, port 5000, id 5", announced["time_s"].as_f64().expect("a number"));
    assert!(report.contains(&marked), "no mark {marked:?}");
}

#[test]
fn nobody_listens_for_the_sake_of_watching_alone() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("alone", 1);
    hosts.number(0, [1, 1]);
    let host = &hosts.client;
    set_path_manager(host, "1");
    let watches = ["first", "second"].map(|name| Watching::start(&hosts, host, name, &[]));
    for watching in &watches {
        wait_until("it says so", || watching.said().contains("events of MPTCP connections are not read"), String::new);
        wait_until("and reports it", || watching.reports().iter().any(|r| r["events_unread"].is_string()), String::new);
    }
    assert_eq!(listeners(host), [0, 0]);

    let mut monitor = Command::new("ip");
    monitor.args(["mptcp", "monitor"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut monitor = host.run(|| Ok(monitor.spawn().expect("it starts"))).expect("spawned");
    wait_for_listeners(host, [2, 1], &watches[0]);
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    watches.iter().for_each(|watching| watching.wait_for(&["established"]));
    // They do not keep each other.
    monitor.kill().expect("killed");
    monitor.wait().expect("it ends");
    wait_for_listeners(host, [0, 0], &watches[0]);

    // The connection still has the userspace path manager.
    set_path_manager(host, "0");
    let still = "some connections have the userspace path manager";
    watches.iter().for_each(|watching| {
        wait_until("it says why", || watching.said().contains(still), || watching.said());
    });
    assert_eq!(listeners(host), [0, 0]);
    transfer.complete();
    wait_for_listeners(host, [2, 0], &watches[0]);
    set_path_manager(host, "1");
    wait_for_listeners(host, [0, 0], &watches[0]);
    for watching in watches {
        assert_eq!(watching.said().lines().count(), 2, "each reason once: {}", watching.said());
        watching.end();
    }
}

#[test]
fn a_path_manager_starts_beside_a_watch_that_listens() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("beside", 1);
    hosts.number(0, [1, 1]);
    let first = hosts.daemon(&hosts.client, &["--policy", "default"]);
    let watching = Watching::start(&hosts, &hosts.client, "watch", &[]);
    wait_for_listeners(&hosts.client, [1, 1], &watching);
    // Killed, it leaves the setting; the next one starts at once, while the watch still listens.
    first.end("KILL");
    let second = hosts.daemon(&hosts.client, &["--policy", "default"]);
    wait_for_listeners(&hosts.client, [1, 1], &watching);
    assert_eq!(second.end("TERM"), Some(0));
    watching.end();
}
