//! Networks as other tools read them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use subflow_export::{Exported, Target, export};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_scenario::sweep::Plan;

fn read(text: &str) -> Arc<Scenario> {
    let document = Document::parse(Path::new("test.toml"), text.to_owned()).expect("it is TOML");
    Plan::read(document).expect("a good scenario").points.remove(0).scenario
}

/// A phone with two interfaces, a router in two parts, and a server.
const TWO_PATHS: &str = r#"
duration = "10 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth"]
[routers]
"access-1" = {}
core = {}
[links]
wifi = { between = ["phone.wifi", "access-1"], rate = "50 Mbit/s", delay = "10 ms", loss = "0.1 %", queue = "100 packets" }
lte = { between = ["phone.lte", "core"], rate = { up = "20 Mbit/s", down = "40 Mbit/s" }, delay = "35 ms" }
trunk = { between = ["access-1", "core"], rate = "1 Gbit/s", delay = "1 ms" }
eth = { between = ["core", "server"], rate = "1 Gbit/s", delay = "5 ms", queue = { discipline = "fq-codel", limit = "500 packets" } }
[flows]
file = { from = "phone", to = "server", protocol = "mptcp", send = "4 MB", congestion = "lia" }
bulk = { from = "phone.lte", to = "server", protocol = "tcp", congestion = "cubic", start = "2 s", dscp = "AF41" }
web = { from = "phone", to = "server", protocol = "tcp", requests = { request = "100 B", response = "10 kB" } }
"#;

fn exported(target: Target) -> Exported {
    export(&read(TWO_PATHS), target).expect("it can be expressed")
}

#[test]
fn namespaces_have_addresses_routes_queues_and_endpoints() {
    let Exported { text, notes } = exported(Target::Netem);
    for line in [
        "ip link add eth0 netns phone type veth peer name eth0 netns r1",
        "in_node phone tc qdisc add dev eth0 root handle 1: netem limit 1000000 delay 10000us loss 0.1%",
        "in_node phone tc qdisc add dev eth1 parent 1: handle 2: tbf rate 20000000bit burst 3028 limit 1000000000",
        "in_node core tc qdisc add dev eth0 parent 1: handle 2: tbf rate 40000000bit burst 3028 limit 1000000000",
        "in_node core tc qdisc add dev eth2 parent 2: handle 3: fq_codel limit 500",
        // Each address of the phone has its own way out.
        "in_node phone ip rule add from 10.128.0.5 table 2",
        "in_node phone ip route add default via 10.128.0.6 dev eth1 table 2",
        "in_node phone ip mptcp endpoint add 10.128.0.5 dev eth1 subflow",
        // The way to the server leads over the trunk, and back to the phone's WiFi, too.
        "in_node r1 ip route add 10.128.0.12/30 via 10.128.0.10 dev eth1",
        "in_node core ip route add 10.128.0.0/30 via 10.128.0.9 dev eth1",
        "in_node server mptcpize run iperf3 --server --one-off --port",
        "--bind 10.128.0.5 --time 8 --congestion cubic --tos 136",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let web = "web: the flow is left out: it is no bulk transfer, nor datagrams at a constant rate";
    assert!(
        notes.iter().any(|note| note == "access-1 is called r1") && notes.iter().any(|note| note == web),
        "{notes:?}"
    );
    assert!(notes.iter().all(|note| text.contains(&format!("# - {note}\n"))), "{notes:?}");
}

/// Bringing it up twice would end in the removal of the first network.
#[cfg(unix)]
#[test]
fn namespaces_of_the_same_names_are_left_alone() {
    let script = exported(Target::Netem).text.replace("/var/run/netns/$node", "/dev/null");
    let script = format!("ip() {{ echo \"ip $*\"; }}\n{script}");
    let run = Command::new("sh").args(["-c", &script, "script", "up"]).output().expect("there is a shell");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(error.starts_with("there is a namespace phone already"), "{error}");
    assert_eq!((run.status.code(), run.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn mininet_counts_the_packets_of_the_delay_for_the_queue() {
    let Exported { text, .. } = exported(Target::Mininet);
    // 50 Mbit/s · 10 ms are 62 500 bytes, or 42 full frames.
    assert!(text.contains(r#"params1=dict(bw=50, delay="10000us", loss=0.1, max_queue_size=142)"#), "{text}");
    assert!(text.contains(r#"nodes["phone"].setIP("10.128.0.5", 30, links[1].intf1)"#), "{text}");
    assert!(text.contains(r#"run(nodes["phone"], "ip rule add from 10.128.0.5 table 2")"#), "{text}");
}

#[test]
fn ns3_has_tcp_over_the_first_path() {
    let Exported { text, notes } = exported(Target::Ns3);
    let wifi = r#"connect(nodes.Get(0), nodes.Get(2), "10.128.0.1", {50000000ULL, "99p", 0.00"#;
    assert!(text.contains(wifi), "{text}");
    assert!(text.contains(r#"bulk("bulk", nodes.Get(0), nodes.Get(1), "10.128.0.14", "#), "{text}");
    for note in ["file: ns-3 has no MPTCP: it is TCP over the first path", "bulk: its packets leave without the DSCP"] {
        assert!(notes.iter().any(|line| line == note), "{note} is not in {notes:?}");
    }
}

#[test]
fn a_host_of_htsim_has_one_interface() {
    let Exported { text, .. } = exported(Target::Htsim);
    let counts: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(counts, ["Hosts 3", "Switches 2", "Links 4"]);
    for line in [
        "Host phone_1, queue q1_0",
        "Switch core, queue q1_1, queue q2_1, queue q3_0",
        "Queue q1_1, type queue, speed 40 mbps, size 151400, dst p1_1",
        "Pipe p1_1, latency 35000 us, dst phone_1",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_switch_that_htsim_cannot_read_is_refused() {
    let hosts: String = (0..30).map(|n| format!("h{n} = [\"e\"]\n")).collect();
    let links: String = (0..30)
        .map(|n| format!("l{n} = {{ between = [\"h{n}\", \"hub\"], rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n"))
        .collect();
    let flow = "[flows]\nbulk = { from = \"h0\", to = \"h1\" }\n";
    let star = read(&format!("duration = \"1 s\"\n[hosts]\n{hosts}[routers]\nhub = {{}}\n[links]\n{links}{flow}"));
    let refused = export(&star, Target::Htsim).expect_err("its line is too long");
    assert!(refused.message.starts_with("a switch has too many links"), "{refused}");
}

/// The scenarios of the repository for every tool; the shell reads what is for it.
#[test]
fn every_example_is_exported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let scenarios: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert!(scenarios.len() > 20);
    for path in scenarios {
        let plan = Plan::read(Document::load(&path).expect("TOML")).expect("a good scenario");
        for target in Target::ALL {
            let result = export(&plan.points[0].scenario, target);
            let is_for_the_shell = cfg!(unix) && target == Target::Netem;
            match result {
                Ok(exported) if is_for_the_shell => assert!(shell_reads(&exported.text), "{}", path.display()),
                Ok(_) => {}
                Err(error) => assert_eq!(target, Target::Htsim, "{}: {error}", path.display()),
            }
        }
    }
}

fn shell_reads(script: &str) -> bool {
    use std::io::Write;
    let mut shell = Command::new("sh").arg("-n").stdin(Stdio::piped()).spawn().expect("there is a shell");
    shell.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    shell.wait().expect("it ends").success()
}
