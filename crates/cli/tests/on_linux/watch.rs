//! `subflow watch`: the figures of the kernel's connections, and which subflows share a bottleneck.

use std::process::{Command, Stdio};

use crate::support::{command, machine_serves, text};
use crate::two_hosts::{Transfer, TwoHosts, output_in, wait_for_subflows};

/// Two paths from the client through a router, which sends both over one shaped link to the server, or each over its
/// own.
struct Routed {
    hosts: TwoHosts,
    router: subflow_linux::Namespace,
}

impl Routed {
    fn new(shared: bool) -> Self {
        let name = if shared { "shared" } else { "separate" };
        let hosts = TwoHosts::new(name, 0);
        let router = subflow_linux::Namespace::create(&format!("{name}-router")).expect("a namespace");
        let routed = Self { hosts, router };
        for path in 0..2 {
            routed.join(&routed.hosts.client, "c", path, 78);
            routed.join(&routed.hosts.server, "s", path, 79);
        }
        let Self { hosts, router } = &routed;
        router.run(|| subflow_linux::Sysctl("ipv4/ip_forward").write("1")).expect("set");
        router.run(|| subflow_linux::Sysctl("ipv4/conf/all/rp_filter").write("0")).expect("set");
        hosts.ip(&hosts.client, "route add default via 10.78.0.254");
        hosts.ip(&hosts.client, "rule add from 10.78.1.1 table 101");
        hosts.ip(&hosts.client, "route add default via 10.78.1.254 table 101");
        hosts.ip(&hosts.server, "route add default via 10.79.0.254");
        if !shared {
            hosts.ip(router, "rule add from 10.78.1.1 table 102");
            hosts.ip(router, "route add 10.79.0.1 via 10.79.1.1 table 102");
        }
        routed.shape("s0", "rate 8mbit burst 6kb latency 80ms");
        routed.shape("s1", "rate 5mbit burst 6kb latency 130ms");
        routed
    }

    /// Joins interface `v{path}` of a host, with the address 10.NETWORK.path.1, to the router's, which has 254.
    fn join(&self, host: &subflow_linux::Namespace, letter: &str, path: usize, network: u8) {
        let Self { hosts, router } = self;
        hosts.ip(host, &format!("link add v{path} type veth peer name {letter}{path} netns {}", router.name()));
        hosts.ip(host, &format!("address add 10.{network}.{path}.1/24 dev v{path}"));
        hosts.ip(router, &format!("address add 10.{network}.{path}.254/24 dev {letter}{path}"));
        hosts.ip(host, &format!("link set v{path} up"));
        hosts.ip(router, &format!("link set {letter}{path} up"));
    }

    fn shape(&self, device: &str, how: &str) {
        let arguments = format!("qdisc add dev {device} root tbf {how}");
        let output = output_in(&self.router, Command::new("tc").args(arguments.split(' ')));
        assert!(output.status.success(), "tc {arguments}: {}", text(&output.stderr));
    }

    fn transfer(&self) -> Transfer {
        self.hosts.transfer(["10.78.0.1", "10.79.0.1"], "0.0.0.0")
    }

    /// The reports of some seconds.
    fn watch(&self) -> Vec<serde_json::Value> {
        let mut watch = command();
        watch.args(["watch", "--format", "json", "--interval", "0.5", "--duration", "12", "--capture"]);
        watch.stdin(Stdio::null());
        let output = output_in(&self.hosts.client, &mut watch);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines = text(&output.stdout);
        lines.lines().map(|line| serde_json::from_str(line).expect("an object on each line")).collect()
    }
}

/// What a detector says of the pair of subflows in each report that says something: the degree, and whether they share
/// a bottleneck.
fn verdicts(reports: &[serde_json::Value], detector: &str) -> Vec<(f64, bool)> {
    let of = |report: &serde_json::Value| {
        let detections = report["connections"][0]["shared_bottlenecks"].as_array()?;
        let pair = &detections.iter().find(|detection| detection["detector"] == detector)?["pairs"][0];
        Some((pair["degree"].as_f64()?, pair["shared"].as_bool()?))
    };
    reports.iter().filter_map(of).collect()
}

/// The part of the verdicts of `red-cpi` that say that both subflows share a bottleneck, and the mean degree of `mscm`,
/// which goes by the delays of captured acknowledgments.
fn signs_of_sharing(shared: bool) -> [f64; 2] {
    let routed = Routed::new(shared);
    let [_server, client] = [&routed.hosts.server, &routed.hosts.client]
        .map(|host| routed.hosts.daemon(host, &["--policy", "single-mesh"]));
    let transfer = routed.transfer();
    wait_for_subflows(&routed.hosts.client, 2, &client);
    let reports = routed.watch();
    let subflows = reports.last().expect("a report")["connections"][0]["subflows"].clone();
    assert_eq!(subflows.as_array().map(Vec::len), Some(2), "{subflows}");
    for subflow in subflows.as_array().expect("a list") {
        assert!(subflow["srtt_ms"].as_f64() > Some(1.0) && subflow["cwnd"].as_u64() > Some(0), "{subflow}");
        assert_eq!(subflow["state"], "established");
    }
    transfer.complete();
    let [smoothed, captured] = ["red-cpi", "mscm"].map(|detector| verdicts(&reports, detector));
    assert!(smoothed.len() >= 5 && captured.len() >= 5, "{shared}: {reports:?}");
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let sharing = smoothed.iter().map(|&(_, shared)| f64::from(u8::from(shared))).collect();
    [mean(sharing), mean(captured.iter().map(|&(degree, _)| degree).collect())]
}

#[test]
fn subflows_that_share_a_bottleneck_are_told_from_others() {
    if !machine_serves() {
        return;
    }
    // A busy machine delays both paths at once, and chance correlates some of about ten windows; the two situations
    // still differ. Three attempts leave less to chance.
    let mut attempts = Vec::new();
    let told_apart = (0..3).any(|_| {
        let [shared, separate] = [true, false].map(signs_of_sharing);
        attempts.push([shared, separate]);
        shared[0] >= 0.5 && shared[0] > separate[0] + 0.2 && shared[1] > separate[1] + 0.1
    });
    eprintln!("red-cpi and mscm, shared and separate: {attempts:?}");
    assert!(told_apart, "red-cpi and mscm, shared and separate: {attempts:?}");
}

#[test]
fn a_report_of_what_was_watched_has_each_subflow_over_time() {
    if !machine_serves() {
        return;
    }
    let routed = Routed::new(false);
    let [_server, client] = [&routed.hosts.server, &routed.hosts.client]
        .map(|host| routed.hosts.daemon(host, &["--policy", "single-mesh"]));
    let transfer = routed.transfer();
    wait_for_subflows(&routed.hosts.client, 2, &client);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("watched");
    let watch = |further: &[&str]| {
        let mut watch = command();
        watch.args(["watch", "--interval", "0.2", "--duration", "3", "--figures", "svg", "--out"]).arg(&out);
        output_in(&routed.hosts.client, watch.args(further).stdin(Stdio::null()))
    };
    let output = watch(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("written");
    let series: Vec<serde_json::Value> = serde_json::from_str(&read("series.json")).expect("a list");
    for metric in ["sent", "cwnd", "srtt"] {
        let of: Vec<_> = series.iter().filter(|series| series["metric"] == metric).collect();
        assert_eq!(of.len(), 2, "{metric}: {of:?}");
        assert!(of.iter().all(|series| series["points"].as_array().map(Vec::len) > Some(5)), "{metric}: {of:?}");
    }
    assert_eq!(read("subflows.csv").lines().count(), 3);
    assert!(read("report.html").contains("Smoothed round-trip time") && out.join("figures").is_dir());
    let again = watch(&[]);
    assert_eq!(again.status.code(), Some(2), "nothing can be watched twice: {}", text(&again.stderr));
    transfer.complete();
}

#[test]
fn a_short_connection_has_figures_and_the_receiving_end_none_of_a_sender() {
    if !machine_serves() {
        return;
    }
    let hosts = TwoHosts::new("short", 1);
    hosts.number(0, [1, 1]);
    let out = |end: &str| hosts.folder.path().join(end);
    let ends = [("client", &hosts.client), ("server", &hosts.server)];
    let watching = ends.map(|(end, host)| {
        let mut watch = command();
        // The only report is that of the end, when there is no connection any more.
        watch.args(["watch", "--interval", "60", "--duration", "4", "--out"]).arg(out(end));
        watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        host.run(|| Ok(watch.spawn().expect("it starts"))).expect("spawned")
    });
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let transfer = hosts.transfer(["10.77.0.1", "10.77.0.101"], "0.0.0.0");
    std::thread::sleep(std::time::Duration::from_millis(1000));
    transfer.complete();
    for child in watching {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let read = |end: &str, name: &str| std::fs::read_to_string(out(end).join(name)).expect("written");
    let metrics = |end: &str| {
        let series: Vec<serde_json::Value> = serde_json::from_str(&read(end, "series.json")).expect("a list");
        assert!(series.iter().all(|one| one["points"].as_array().map(Vec::len) > Some(1)), "{end}: {series:?}");
        series.iter().map(|one| one["metric"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let sending = metrics("client");
    assert!(["sent", "cwnd", "srtt"].iter().all(|metric| sending.iter().any(|found| found == metric)), "{sending:?}");
    assert!(!sending.contains(&"received".to_owned()), "{sending:?}");
    assert_eq!(metrics("server"), ["received"]);
    let rate = |end: &str, column: &str| -> f64 {
        let csv = read(end, "subflows.csv");
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let position = rows[0].iter().position(|name| *name == column).expect("a column");
        rows[1][position].parse().expect("a rate, though there was no report")
    };
    assert!(rate("client", "mean_sent_mbps") > 1.0 && rate("server", "mean_received_mbps") > 1.0);
    let page = read("server", "report.html");
    assert!(page.contains("mean received (Mbit/s)") && page.contains("first (s)"), "headings for people");
    assert!(!page.contains("Congestion window") && !page.contains("first_"), "nothing of a sender");
}
