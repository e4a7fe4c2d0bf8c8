//! Runs whose path managers drive the kernel's MPTCP.

use crate::support::{SCENARIO, machine_serves, results, scenario, subflow};

/// The names of the subflows of the first flow with the packets that were sent on them.
fn subflows(json: &serde_json::Value) -> Vec<(String, u64)> {
    let subflows = json["runs"][0]["flows"][0]["subflows"].as_array().expect("a list");
    let named = |subflow: &serde_json::Value| {
        let name = subflow["name"].as_str().expect("a name").to_owned();
        (name, subflow["packets_sent"].as_u64().unwrap_or(0))
    };
    subflows.iter().map(named).collect()
}

#[test]
fn a_kernel_has_the_subflows_of_every_path_manager() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let cases = [
        ("\"default\"", 1),
        ("\"single-mesh\"", 2),
        ("{ name = \"ndiffports\", n = 3 }", 3),
        ("{ name = \"full-mesh\", subflows_per_pair = 6 }", 12),
    ];
    for (manager, count) in cases {
        let set = format!("flows.file.path_manager={manager}");
        let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--set", &set]));
        let found = subflows(&json);
        assert_eq!(found.len(), count, "{manager}: {found:?}");
        assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000, "{manager}");
    }
}

#[test]
fn a_kernel_uses_both_gateways_with_binder() {
    if !machine_serves() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/binder.toml");
    let settings = ["--set", "duration=3s", "--set", "flows.upload.congestion=cubic"];
    let mut run = vec!["run", path, "--on", "linux", "--format", "json"];
    run.extend(settings);
    let json = results(&subflow(&run));
    let found = subflows(&json);
    assert_eq!(found.len(), 2, "{found:?}");
    for gateway in ["dsl-east", "dsl-west"] {
        let links = json["runs"][0]["links"].as_array().expect("a list");
        let link = links.iter().find(|link| link["name"] == gateway).expect("the link");
        assert!(link["packets"].as_u64() > Some(100), "{link}");
    }
}

#[test]
fn a_kernel_loses_an_address_and_gets_it_back() {
    if !machine_serves() {
        return;
    }
    let event =
        |at: &str, what: &str| format!("[[timeline]]\nat = \"{at}\"\ninterface = \"phone.lte\"\n{what} = true\n");
    let text = SCENARIO.replace("send = \"1 MB\"", "send = \"6 MB\"").replace("\"2 s\"", "\"4 s\"");
    let (_folder, path) = scenario(&format!("{text}{}{}", event("0.7 s", "down"), event("1.2 s", "up")));
    let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json"]));
    let found = subflows(&json);
    let over_lte = found.iter().filter(|(name, _)| name.contains("lte")).count();
    assert_eq!((found.len(), over_lte), (3, 2), "one before, one after: {found:?}");
    let rows = json["runs"][0]["flows"][0]["subflows"].as_array().expect("a list");
    let again: Vec<&serde_json::Value> = rows.iter().filter(|row| row["opened_again"] == true).collect();
    assert!(again.len() == 1 && again[0]["name"] == "phone.lte-server.eth#2", "{rows:?}");
    assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 6_000_000);
}

#[test]
fn a_kernel_has_subflows_of_both_families() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(
        "duration = '4 s'\n[hosts]\n\
         phone = [{ name = 'wifi', address = '192.0.2.10' }, { name = 'lte', address = '2001:db8:1::10' }]\n\
         server = [{ name = 'eth', address = ['198.51.100.1', '2001:db8:2::1'] }]\n[routers]\nr = {}\n[links]\n\
         wifi = { between = ['phone.wifi', 'r'], rate = '10 Mbit/s', delay = '10 ms' }\n\
         lte = { between = ['phone.lte', 'r'], rate = '10 Mbit/s', delay = '10 ms' }\n\
         s = { between = ['r', 'server'], rate = '100 Mbit/s' }\n\
         [flows.f]\nfrom = 'phone'\nto = 'server'\nprotocol = 'mptcp'\ncongestion = 'cubic'\n",
    );
    let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json"]));
    let found = subflows(&json);
    assert!(found.len() == 2 && found.iter().all(|(_, packets)| *packets > 500), "{found:?}");
}

#[test]
fn an_interface_over_which_no_subflow_opens_is_noted_for_kernels_and_for_our_stack() {
    if !machine_serves() {
        return;
    }
    let failed = "[[timeline]]\nat = \"1 ms\"\nlink = \"lte\"\ndown = true\n";
    let words = "phone.lte: no subflow was opened over it, though the path manager full-mesh asks for one";
    for stack in ["kernel", "subflow"] {
        let ours = "phone = { interfaces = [\"wifi\", \"lte\"], stack = \"subflow\" }";
        let text = match stack {
            "kernel" => SCENARIO.to_owned(),
            _ => SCENARIO.replace("phone = [\"wifi\", \"lte\"]", ours),
        };
        let notes = |text: &str| {
            let (_folder, path) = scenario(text);
            let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json"]));
            assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 1_000_000, "{stack}");
            json["runs"][0]["real_time"]["notes"].as_array().expect("a list").clone()
        };
        let (failing, working) = (notes(&format!("{text}{failed}")), notes(&text));
        assert!(failing.iter().any(|note| note == words), "{stack}: {failing:?}");
        assert!(working.iter().all(|note| note != words), "{stack}: {working:?}");
    }
}
