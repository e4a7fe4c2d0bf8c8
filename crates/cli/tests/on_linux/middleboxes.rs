//! Kernels behind middleboxes: what becomes of an MPTCP connection, and of its figures; `ping` behind them.

use serde_json::Value;

use crate::support::{SCENARIO, flow, machine_serves, ours, results, scenario, subflow, text};

/// A middlebox on a link, as a scenario has it.
fn behind(link: &str, middlebox: &str) -> String {
    SCENARIO.replace(&format!("[links.{link}]"), &format!("[links.{link}]\nmiddlebox = {middlebox}"))
}

/// The goodput of each subflow, by its name.
fn goodputs(flow: &Value) -> Vec<(String, f64)> {
    let subflows = flow["subflows"].as_array().expect("subflows").iter();
    let of = |subflow: &Value| {
        let name = subflow["name"].as_str().unwrap_or_default().to_owned();
        (name, subflow["goodput_mbps"].as_f64().unwrap_or_default())
    };
    subflows.map(of).collect()
}

#[test]
fn subflows_behind_nat_have_their_names_and_their_goodput() {
    if !machine_serves() {
        return;
    }
    let nat = behind("wifi", "{ kind = \"nat\" }");
    // Without a time before it counts, and with one: then data that came earlier does not count.
    for further in [&[][..], &["--set", "warm_up=100 ms"]] {
        let flow = flow(&nat, further);
        let found = goodputs(&flow);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["phone.wifi-server.eth", "phone.lte-server.eth"], "{flow}");
        assert!(found.iter().all(|(_, goodput)| *goodput > 0.5), "{found:?}");
        let sum: f64 = found.iter().map(|(_, goodput)| goodput).sum();
        let whole = flow["goodput_mbps"].as_f64().expect("a goodput");
        // Bytes that both subflows have carried count once for the flow.
        assert!(sum > 0.95 * whole && sum < 1.3 * whole, "{sum} of {whole}");
    }
}

#[test]
fn a_kernel_whose_mp_capable_is_removed_falls_back_to_tcp() {
    if !machine_serves() {
        return;
    }
    let flow = flow(&behind("wifi", "{ kind = \"strip-option\", option = \"mp-capable\" }"), &[]);
    assert_eq!(flow["fallback"], true, "{flow}");
    assert_eq!(flow["subflows"].as_array().map(Vec::len), Some(1), "{flow}");
}

#[test]
fn a_kernel_whose_join_is_refused_goes_on_over_the_first_subflow() {
    if !machine_serves() {
        return;
    }
    let refusing = ["{ kind = \"strip-option\", option = \"mp-join\" }", "{ kind = \"block\", answer = \"reset\" }"];
    for middlebox in refusing {
        let flow = flow(&behind("lte", middlebox), &[]);
        assert_eq!(flow["fallback"], false, "{middlebox}: {flow}");
        let over_lte =
            goodputs(&flow).iter().filter(|(name, _)| name.contains("lte")).map(|(_, goodput)| goodput).sum::<f64>();
        assert!(over_lte < 0.01, "{middlebox}: {flow}");
    }
}

#[test]
fn a_kernel_whose_mss_is_clamped_uses_both_paths() {
    if !machine_serves() {
        return;
    }
    let flow = flow(&behind("wifi", "{ kind = \"mss-clamp\", mss = 1000 }"), &[]);
    assert_eq!(flow["fallback"], false, "{flow}");
    let found = goodputs(&flow);
    assert!(found.len() == 2 && found.iter().all(|(_, goodput)| *goodput > 0.5), "{found:?}");
    let packets = |of: &Value| of["subflows"][0]["packets_sent"].as_u64().expect("a number") as f64;
    let bytes = found[0].1 * 1e6 / 8.0 * flow["completion_s"].as_f64().expect("it is done");
    assert!(bytes / packets(&flow) <= 1000.0, "{bytes} bytes in {} packets", packets(&flow));
}

/// What becomes of a connection: "fallback", "both" paths, the one path that has carried most of it, or "stall".
fn outcome(flow: &Value) -> &'static str {
    if flow["completion_s"].is_null() {
        return "stall";
    }
    if flow["fallback"] == true {
        return "fallback";
    }
    let over =
        |path: &str| goodputs(flow).iter().filter(|(name, _)| name.contains(path)).map(|(_, goodput)| goodput).sum();
    let [wifi, lte]: [f64; 2] = ["wifi", "lte"].map(over);
    match (wifi > 0.1 * lte, lte > 0.1 * wifi) {
        (true, true) => "both",
        (true, false) => "wifi",
        _ => "lte",
    }
}

/// The flow of a run in the simulator, or on Linux, which may not be valid.
fn flow_of(arguments: &[&str]) -> Value {
    let output = subflow(arguments);
    let json: Value = match arguments.contains(&"linux") {
        true => results(&output),
        false => serde_json::from_slice(&output.stdout).expect("results"),
    };
    json["runs"][0]["flows"][0].clone()
}

/// The outcome of 1 MB behind a middlebox on the WiFi link.
fn outcome_behind(middlebox: &str, further: &[&str]) -> &'static str {
    let (_folder, path) = scenario(&behind("wifi", middlebox));
    outcome(&flow_of(&[&["run", &path, "--format", "json"], further].concat()))
}

/// What stands on the WiFi link, and the outcomes in the simulator and on a kernel, as docs/src/middleboxes.md has them.
const OUTCOMES: [(&str, [&str; 2]); 17] = [
    ("{ kind = \"strip-option\", option = \"mptcp\" }", ["fallback"; 2]),
    ("{ kind = \"strip-option\", option = \"mp-capable\", on = \"syn-ack\" }", ["fallback"; 2]),
    ("{ kind = \"strip-option\", option = \"mptcp\", on = \"data\" }", ["fallback"; 2]),
    ("{ kind = \"strip-option\", option = \"timestamps\" }", ["both"; 2]),
    ("{ kind = \"strip-option\", option = \"sack\" }", ["both"; 2]),
    ("{ kind = \"strip-option\", option = \"window-scale\" }", ["both"; 2]),
    ("{ kind = \"strip-option\", option = \"add-addr\" }", ["both"; 2]),
    ("{ kind = \"drop-option\", option = \"dss\" }", ["stall"; 2]),
    ("{ kind = \"nat\", preserves_ports = false }", ["both"; 2]),
    ("{ kind = \"rewrite-sequence\", sack = \"unchanged\" }", ["both"; 2]),
    ("{ kind = \"mtu\", mtu = 1420 }", ["both"; 2]),
    ("{ kind = \"mtu\", mtu = 1420, reports = false }", ["stall"; 2]),
    ("{ kind = \"split\" }", ["both"; 2]),
    ("{ kind = \"merge\", kept = \"last\" }", ["fallback"; 2]),
    // The kernel falls back with the first data that has no mapping; here the WiFi subflow carries some data, and is closed.
    ("{ kind = \"merge\" }", ["both", "fallback"]),
    ("{ kind = \"reorder\" }", ["both"; 2]),
    ("{ kind = \"rewrite-payload\" }", ["both"; 2]),
];

#[test]
fn simulator_and_kernel_have_the_outcomes_of_the_table() {
    if !machine_serves() {
        return;
    }
    // Two at a time: they wait for packets most of the time.
    std::thread::scope(|scope| {
        for half in OUTCOMES.chunks(OUTCOMES.len().div_ceil(2)) {
            scope.spawn(move || {
                for (middlebox, expected) in half {
                    let simulated = outcome_behind(middlebox, &["--set", "duration=\"6 s\""]);
                    let measured = outcome_behind(middlebox, &["--on", "linux"]);
                    assert_eq!([simulated, measured], *expected, "{middlebox}");
                }
            });
        }
    });
}

#[test]
fn checksums_and_dropped_syns_end_in_a_fallback_here_and_there() {
    if !machine_serves() {
        return;
    }
    let dropped = "{ kind = \"drop-option\", option = \"mp-capable\" }";
    let rewritten = "{ kind = \"rewrite-payload\" }";
    for on in [&[][..], &["--on", "linux"]] {
        let checksum = [&["--set", "mptcp.checksum=true"], on].concat();
        for middlebox in [rewritten, "{ kind = \"rewrite-payload\", length = \"longer\" }"] {
            assert_eq!(outcome_behind(middlebox, &checksum), "fallback", "{middlebox} {on:?}");
        }
        let (_folder, path) = scenario(&behind("wifi", dropped));
        let further = [&["run", &path, "--format", "json", "--set", "duration=\"5 s\""], on].concat();
        let flow = flow_of(&further);
        // The fourth SYN, after 3 s, is one of TCP.
        let done = flow["completion_s"].as_f64();
        assert!(flow["fallback"] == true && done.is_some_and(|done| (3.0..4.0).contains(&done)), "{on:?}: {flow}");
    }
}

/// RFC 8684, section 3.7: on the only subflow the stream goes on with what the middlebox has made of it, and neither end
/// sends anything again, whichever of the two is the kernel.
#[test]
fn an_altered_stream_goes_on_as_tcp_between_our_stack_and_the_kernel() {
    if !machine_serves() {
        return;
    }
    // The bytes of our stack come to a kernel unchanged: there the length alone makes a checksum wrong.
    for (host, length, more) in [("server", "kept", 0), ("server", "longer", 3), ("phone", "longer", 3)] {
        let (_folder, path) =
            scenario(&behind("wifi", &format!("{{ kind = \"rewrite-payload\", length = \"{length}\" }}")));
        let ours = ours(host);
        let sets = ["--set", "mptcp.checksum=true", "--set", "flows.file.path_manager=default"];
        let arguments = [&["run", &path, "--on", "linux", "--format", "json", &ours[0], &ours[1]][..], &sets].concat();
        let flow = flow_of(&arguments);
        assert_eq!(outcome(&flow), "fallback", "{host} {length}: {flow}");
        assert_eq!(flow["bytes_delivered"], 1_000_000 + more, "{host} {length}: {flow}");
    }
}

/// Without checksums a kernel sees only that a segment is longer than its mapping. As long as there is one subflow it takes
/// the stream for that of TCP, of which the sender learns nothing; later it closes the subflow.
#[test]
fn a_kernel_falls_back_alone_or_resets_the_subflow_where_a_mapping_is_too_short() {
    let counts = std::fs::read_to_string("/proc/net/netstat").is_ok_and(|text| text.contains("DSSCorruptionFallback"));
    if !machine_serves() || !counts {
        return;
    }
    // The data that arrives again and again would be as long as the file after some seconds.
    for (segment, seconds, expected, counted) in [
        (3, 2, &["stall"][..], "MPTcpExtDSSCorruptionFallback"),
        (200, 6, &["both", "lte"], "MPTcpExtDSSCorruptionReset"),
    ] {
        let middlebox = format!("{{ kind = \"rewrite-payload\", length = \"longer\", segment = {segment} }}");
        let (_folder, path) = scenario(&behind("wifi", &middlebox));
        let duration = format!("duration={seconds} s");
        let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--set", &duration]));
        let run = &json["runs"][0];
        assert!(expected.contains(&outcome(&run["flows"][0])), "{segment}: {}", run["flows"][0]);
        assert_eq!(run["real_time"]["mptcp_counters"]["server"][counted], 1, "{segment}: {}", run["real_time"]);
    }
}

/// The scenario with programs in the place of its flow, and both families.
fn with_programs(middlebox: &str, programs: &str) -> String {
    let (network, _) = SCENARIO.split_once("[flows.file]").expect("a flow");
    let network = network
        .replace(
            "phone = [\"wifi\", \"lte\"]",
            "phone = [{ name = \"wifi\", address = [\"10.1.0.1\", \"fd00:1::1\"] }, \"lte\"]",
        )
        .replace("server = [\"eth\"]", "server = [{ name = \"eth\", address = [\"10.2.0.1\", \"fd00:2::1\"] }]")
        .replace("internet = {}", &format!("internet = {{ middlebox = {middlebox} }}"));
    format!("{network}[programs]\n{programs}\n")
}

#[test]
fn ping_passes_the_links_with_their_round_trip_time() {
    if !machine_serves() || std::process::Command::new("ping").arg("-V").output().is_err() {
        return;
    }
    let line =
        "for to in 10.2.0.1 fd00:2::1; do ping -n -c 4 -i 0.2 -W 1 $to; done; ping -n -c 4 -i 0.2 -W 1 -I lte 10.2.0.1";
    let ours = "hosts.server={ interfaces = [{ name = \"eth\", address = [\"10.2.0.1\", \"fd00:2::1\"] }], stack = \"subflow\" }";
    for further in
        [&[][..], &["--set", ours], &["--set", "links.wifi.middlebox={ kind = \"nat\", preserves_ports = false }"]]
    {
        let (_folder, path) = scenario(&with_programs("[]", &format!("p = {{ on = \"phone\", run = {line:?} }}")));
        let output = subflow(&[&["run", &path, "--on", "linux", "--format", "json"], further].concat());
        let said = text(&output.stderr);
        let times: Vec<f64> =
            said.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next()?.parse().ok()).collect();
        // A busy machine delays single packets.
        let shortest: Vec<f64> =
            times.chunks(4).map(|some| some.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        let fits = |(time, least): (&f64, f64)| (least..least + 5.0).contains(time);
        let all_fit = times.len() == 12 && shortest.iter().zip([10.0, 10.0, 20.0]).all(fits);
        assert!(all_fit && times.iter().all(|&time| time >= 10.0), "{further:?}: {times:?} {said}");
    }
}
