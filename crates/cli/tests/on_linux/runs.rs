//! Runs that come to their end, and runs that do not.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{
    SCENARIO, command, left_behind, machine_serves, namespaces_of, ours, results, scenario, send_signal,
    start_a_long_run, start_a_run, stop_for_a_moment, subflow, text,
};

#[test]
fn a_run_gives_results_and_leaves_nothing() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let devices = ["tun", "veth"].into_iter().filter(|device| *device == "veth" || Path::new("/dev/net/tun").exists());
    for (device, host) in devices.flat_map(|device| ["", "phone", "server"].map(|host| (device, host))) {
        let stacks = (device, host);
        let mut run = command();
        run.args(["run", &path, "--on", "linux", "--format", "json", "--device", device]).args(ours(host));
        let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends");
        let json = results(&output);
        let flow = &json["runs"][0]["flows"][0];
        assert_eq!(flow["bytes_delivered"], 1_000_000, "{stacks:?}: {flow}");
        assert_eq!(flow["fallback"], false);
        assert_eq!(flow["subflows"].as_array().map(Vec::len), Some(2), "{stacks:?}: {flow}");
        assert!(json["runs"][0]["real_time"]["kernel"].is_string());
        assert_eq!(json["runs"][0]["real_time"]["device"], device);
        assert_eq!(namespaces_of(pid), [""; 0]);
    }
}

/// The kernel keeps some names for itself, and names have at most 15 bytes there.
#[test]
fn interfaces_may_have_names_that_the_kernel_refuses() {
    if !machine_serves() {
        return;
    }
    let named =
        SCENARIO.replace("\"wifi\", \"lte\"", "\"all\", \"default\"").replace("[\"eth\"]", "[\"a-name-of-16-byte\"]");
    let named = named.replace("phone.wifi", "phone.all").replace("phone.lte", "phone.default");
    let (_folder, path) = scenario(&named.replace("server.eth", "server.a-name-of-16-byte"));
    for device in ["tun", "veth"] {
        if device == "tun" && !Path::new("/dev/net/tun").exists() {
            continue;
        }
        let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--device", device]));
        let flow = &json["runs"][0]["flows"][0];
        assert_eq!(flow["bytes_delivered"], 1_000_000, "{device}: {flow}");
        assert_eq!(flow["subflows"][0]["name"], "phone.all-server.a-name-of-16-byte");
    }
}

/// Hosts without TCP have as large an MTU as their datagrams take.
#[test]
fn datagrams_larger_than_1500_bytes_arrive_whole() {
    if !machine_serves() {
        return;
    }
    let flows = SCENARIO.find("[flows.file]").expect("a flow");
    let voice = "[flows.voice]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"udp\"\n\
                 on_off = { rate = \"1 Mbit/s\", packet = \"2 kB\" }\n";
    let (_folder, path) = scenario(&format!("{}{voice}", &SCENARIO[..flows]));
    for device in ["tun", "veth"] {
        if device == "tun" && !Path::new("/dev/net/tun").exists() {
            continue;
        }
        let output = subflow(&["run", &path, "--on", "linux", "--format", "json", "--device", device]);
        let json = results(&output);
        let received = json["runs"][0]["flows"][0]["datagrams"]["received"].as_u64();
        assert!(received > Some(10), "{device}: {json}");
    }
}

/// By netlink, once the connection can have them; the peer is the kernel, or ours.
#[test]
fn a_kernel_opens_the_subflows_that_the_scenario_names() {
    if !machine_serves() {
        return;
    }
    let named = "path_manager = \"default\"\nsubflows = [{ from = \"phone.lte\", to = \"server.eth\" }]\n";
    let (_folder, path) = scenario(&format!("{SCENARIO}{named}"));
    for host in ["", "server"] {
        let mut arguments = vec!["run", &path, "--on", "linux", "--format", "json"];
        let ours = ours(host);
        arguments.extend(ours.iter().map(String::as_str));
        let output = subflow(&arguments);
        let json = results(&output);
        let flow = &json["runs"][0]["flows"][0];
        let subflows = flow["subflows"].as_array().expect("a list");
        let names: Vec<_> = subflows.iter().filter_map(|subflow| subflow["name"].as_str()).collect();
        assert_eq!(names.len(), 2, "{host}: {flow}");
        assert!(subflows.iter().all(|subflow| subflow["goodput_mbps"].as_f64() > Some(0.0)), "{host}: {flow}");
    }
}

#[test]
fn ctrl_c_ends_a_run_and_leaves_nothing() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let child = start_a_long_run(&path);
    let pid = child.id();
    send_signal("-INT", pid);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
    assert_eq!(namespaces_of(pid), [""; 0]);
}

#[test]
fn what_a_killed_run_leaves_is_cleaned_up() {
    if !machine_serves() {
        return;
    }
    let _mine = left_behind();
    let (_folder, path) = scenario(SCENARIO);
    let mut child = start_a_long_run(&path);
    let pid = child.id();
    child.kill().expect("killed");
    child.wait().expect("it ends");
    assert_eq!(namespaces_of(pid).len(), 2, "names outlive the process");
    let output = subflow(&["cleanup"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(namespaces_of(pid), [""; 0]);
}

/// Files as names of namespaces: what is mounted on them does not matter to who judges by names and processes.
#[test]
fn cleaning_up_keeps_running_and_foreign_resources() {
    if !machine_serves() {
        return;
    }
    let _mine = left_behind();
    let pid = std::process::id();
    let stat = std::fs::read_to_string("/proc/self/stat").expect("our own");
    let start: u64 =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok()).expect("a number");
    let stays = [
        (format!("subflow-{pid}.{start}-lives"), ""),
        (format!("subflow-{pid}-names-no-start"), ""),
        ("subflow-lab".to_owned(), ""),
        (format!("other-{pid}.1-x"), ""),
        (format!("subflow-{pid}.1-has-content"), "precious"),
    ];
    let goes = [(format!("subflow-{pid}.1-had-this-pid-before"), ""), ("subflow-4294967295.1-ended".to_owned(), "")];
    std::fs::create_dir_all("/run/netns").expect("a folder");
    let path = |name: &str| Path::new("/run/netns").join(name);
    for (name, content) in stays.iter().chain(&goes) {
        std::fs::write(path(name), content).expect("written");
    }
    let output = subflow(&["cleanup"]);
    let there = |names: &[(String, &str)]| -> Vec<bool> { names.iter().map(|(name, _)| path(name).exists()).collect() };
    let (left, gone) = (there(&stays), there(&goes));
    for (name, _) in stays.iter().chain(&goes) {
        let _ = std::fs::remove_file(path(name));
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!((left, gone), (vec![true; 5], vec![false; 2]), "{}", text(&output.stdout));
}

#[test]
fn concurrent_runs_are_isolated() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let start = || {
        let mut run = command();
        run.args(["run", &path, "--on", "linux", "--format", "json"]);
        run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    };
    for child in [start(), start(), start()] {
        let output = child.wait_with_output().expect("it ends");
        let json = results(&output);
        assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000);
    }
}

/// A pause of the whole process makes packets late, on any machine.
#[test]
fn a_run_that_is_not_valid_ends_with_an_error_and_its_results() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let child = start_a_run(&path, &["--set", "flows.file.send=unlimited", "--set", "duration=4 s"]);
    std::thread::sleep(std::time::Duration::from_secs(1));
    stop_for_a_moment(child.id());
    let output = child.wait_with_output().expect("it ends");
    let json = results(&output);
    let real_time = &json["runs"][0]["real_time"];
    assert_eq!((output.status.code(), &real_time["valid"]), (Some(1), &serde_json::Value::Bool(false)));
    assert!(real_time["objections"].to_string().contains("late"), "{real_time}");
    assert!(text(&output.stderr).contains("1 of 1 runs are not valid"), "{}", text(&output.stderr));
}

/// Metrics over time, and captures, whoever's stacks they are of.
#[test]
fn a_run_writes_series_and_captures_to_the_requested_folders() {
    if !machine_serves() {
        return;
    }
    let (folder, path) = scenario(SCENARIO);
    for host in ["", "phone", "server"] {
        let place = |what: &str| folder.path().join(format!("{what}-{host}")).to_string_lossy().into_owned();
        let (out, captures) = (place("out"), place("captures"));
        let mut arguments = vec!["run", &path, "--on", "linux", "--out", &out, "--pcap", &captures, "--format", "json"];
        let ours = ours(host);
        arguments.extend(ours.iter().map(String::as_str));
        results(&subflow(&arguments));

        let series = std::fs::read(Path::new(&out).join("series.json")).expect("series");
        let series: serde_json::Value = serde_json::from_slice(&series).expect("JSON");
        let all = series[0]["series"].as_array().expect("a list");
        let mut subflows: Vec<&str> = all.iter().filter_map(|series| series["of"].as_str()).collect();
        subflows.retain(|of| of.starts_with("file/phone."));
        subflows.sort_unstable();
        subflows.dedup();
        assert_eq!(subflows.len(), 2, "{subflows:?}");
        for (of, metric) in subflows.into_iter().flat_map(|of| ["goodput", "cwnd", "srtt"].map(|metric| (of, metric))) {
            let found = all.iter().find(|series| series["of"] == of && series["metric"] == metric);
            let highest = found.and_then(|series| {
                let values = series["points"].as_array()?.iter().filter_map(|point| point["v"].as_f64());
                values.reduce(f64::max)
            });
            assert!(highest.is_some_and(|highest| highest > 0.0), "{host}: {metric} of {of}");
        }
        assert!(all.iter().any(|series| series["of"] == "wifi.up" && series["metric"] == "queue"));
        for name in ["phone", "server"] {
            let capture = std::fs::metadata(Path::new(&captures).join(format!("0-{name}.pcapng"))).expect("a capture");
            // The file's bytes themselves are in it.
            assert!(capture.len() > 1_000_000, "{host}: {name} has {} bytes", capture.len());
        }
    }
}

/// Interfaces, addresses, routes, rules and settings of the network namespace that tests run in.
fn outside() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    for file in ["/proc/net/fib_trie", "/proc/net/if_inet6", "/proc/net/route", "/proc/net/ip_tables_names"] {
        all.insert(file.to_owned(), read(Path::new(file)));
    }
    let ipv6 = read(Path::new("/proc/net/ipv6_route"));
    // Without the columns that count uses.
    let routes = ipv6.lines().map(|line| line.split_whitespace().take(6).collect::<Vec<_>>().join(" "));
    all.insert("routes of IPv6".to_owned(), routes.collect::<Vec<_>>().join("\n"));
    let interfaces = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let mut interfaces: Vec<_> = interfaces.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    interfaces.sort();
    all.insert("interfaces".to_owned(), interfaces.join(" "));
    if let Ok(rules) = Command::new("ip").arg("rule").output() {
        all.insert("rules".to_owned(), text(&rules.stdout));
    }
    let mut folders = vec![std::path::PathBuf::from("/proc/sys/net")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("nf_conntrack_count") {
                all.insert(path.to_string_lossy().into_owned(), read(&path));
            }
        }
    }
    all
}

#[test]
fn a_run_touches_nothing_outside_its_namespaces() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let before = outside();
    assert!(before.len() > 100, "there are settings to look at");
    for (device, host) in [("veth", ""), ("veth", "phone"), ("tun", "server")] {
        if device == "tun" && !Path::new("/dev/net/tun").exists() {
            continue;
        }
        let mut run = command();
        // Settings that are not the defaults: they must stay inside.
        let switches = ["--set", "tcp.sack=false", "--set", "tcp.timestamps=false", "--set", "mptcp.checksum=true"];
        run.args(["run", &path, "--on", "linux", "--format", "json", "--device", device]);
        run.args(ours(host)).args(switches).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = run.spawn().expect("the command starts");
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert_eq!(outside(), before, "{device} {host}, while it runs");
        results(&child.wait_with_output().expect("it ends"));
        assert_eq!(outside(), before, "{device} {host}");
    }
}
