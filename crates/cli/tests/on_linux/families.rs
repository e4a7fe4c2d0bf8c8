//! Hosts with addresses of both families: the kernel's sockets, and which family a flow begins with.

use serde_json::Value;

use crate::support::{SCENARIO, flow, machine_serves};

/// WiFi with IPv4 and LTE with IPv6, and a server with both.
fn mixed(keys: &str) -> String {
    let phone = "phone = [{ name = \"wifi\", address = \"10.1.0.1\" }, { name = \"lte\", address = \"fd00:1::1\" }]";
    let server = "server = [{ name = \"eth\", address = [\"10.2.0.1\", \"fd00:2::1\"] }]";
    let text = SCENARIO.replace("phone = [\"wifi\", \"lte\"]", phone).replace("server = [\"eth\"]", server);
    format!("{text}{keys}\n")
}

/// The goodput over an interface of the phone, in Mbit/s.
fn over(flow: &Value, interface: &str) -> f64 {
    let subflows = flow["subflows"].as_array().expect("subflows").iter();
    let of = |subflow: &&Value| subflow["name"].as_str().is_some_and(|name| name.starts_with(interface));
    subflows.filter(of).filter_map(|subflow| subflow["goodput_mbps"].as_f64()).sum()
}

#[test]
fn a_connection_of_the_kernel_uses_interfaces_of_both_families() {
    if !machine_serves() {
        return;
    }
    for server in ["", "stack = \"subflow\""] {
        let ours = format!(
            "hosts.server={{ interfaces = [{{ name = \"eth\", address = [\"10.2.0.1\", \"fd00:2::1\"] }}], {server} }}"
        );
        let flow = flow(&mixed(""), &["--set", &ours]);
        assert_eq!(flow["fallback"], false, "{server}: {flow}");
        let carried = ["phone.wifi", "phone.lte"].map(|interface| over(&flow, interface));
        assert!(carried.iter().all(|goodput| *goodput > 0.5), "{server}: {carried:?}");
    }
}

#[test]
fn a_flow_begins_with_the_family_that_it_names() {
    if !machine_serves() {
        return;
    }
    for (family, first) in [("ipv4", "phone.wifi"), ("ipv6", "phone.lte")] {
        // TCP has one path: that of the family.
        let flow = flow(&mixed(&format!("family = \"{family}\"")), &["--set", "flows.file.protocol=tcp"]);
        let name = flow["subflows"][0]["name"].as_str().unwrap_or_default();
        assert!(name.starts_with(first), "{family}: {flow}");
    }
}
