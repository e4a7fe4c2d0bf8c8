//! Kernels behind middleboxes: what becomes of an MPTCP connection, and of its figures.

use serde_json::Value;

use crate::support::{SCENARIO, machine_serves, results, scenario, subflow};

/// A middlebox on a link, as a scenario has it.
fn behind(link: &str, middlebox: &str) -> String {
    SCENARIO.replace(&format!("[links.{link}]"), &format!("[links.{link}]\nmiddlebox = {middlebox}"))
}

/// The flow of a run on Linux.
fn flow(text: &str, further: &[&str]) -> Value {
    let (_folder, path) = scenario(text);
    let json = results(&subflow(&[&["run", &path, "--on", "linux", "--format", "json"], further].concat()));
    let flow = json["runs"][0]["flows"][0].clone();
    assert_eq!(flow["bytes_delivered"], 1_000_000, "{flow}");
    flow
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
    let flow = flow(&behind("lte", "{ kind = \"strip-option\", option = \"mp-join\" }"), &[]);
    assert_eq!(flow["fallback"], false, "{flow}");
    let over_lte =
        goodputs(&flow).iter().filter(|(name, _)| name.contains("lte")).map(|(_, goodput)| goodput).sum::<f64>();
    assert!(over_lte < 0.01, "{flow}");
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
