//! The controller's settings, from the scenario's routing.

use std::fmt::Write;

use subflow_network::RouterMode;
use subflow_policy::routing::{InitialSubflow, ReturnPath, Ties};
use subflow_scenario::Scenario;

/// The settings in the form of the controller's file.
pub(super) fn controller_settings(scenario: &Scenario, seed: u64) -> String {
    let routing = &scenario.routing;
    let options = &routing.multiflow;
    let mode = match scenario.routers.first().map(|router| router.mode) {
        Some(RouterMode::EcmpFlow) => "ecmp-flow",
        Some(RouterMode::EcmpPacket) => "ecmp-packet",
        Some(RouterMode::Multiflow) => "multiflow",
        Some(RouterMode::ShortestPath) | None => "shortest-path",
    };
    let initial = match options.initial {
        InitialSubflow::Included => "included",
        InitialSubflow::Apart => "apart",
        InitialSubflow::DefaultRoute => "default-route",
    };
    let ties = match options.ties {
        Ties::First => "first",
        Ties::Random => "random",
        Ties::LeastLoaded => "least-loaded",
    };
    let return_path = match options.return_path {
        ReturnPath::Forward => "forward",
        ReturnPath::Default => "default",
    };
    let single_ways = scenario.single_ways.iter().flat_map(|&host| &scenario.hosts[host].interfaces);
    let single_ways: Vec<String> =
        single_ways.flat_map(|interface| &interface.addresses).map(ToString::to_string).collect();
    let settings = [
        ("mode", mode.to_owned()),
        ("initial", initial.to_owned()),
        ("ties", ties.to_owned()),
        ("disjoint_set", options.set.clamp(1, 64).to_string()),
        ("return_path", return_path.to_owned()),
        ("reroute", if routing.reroute_after.is_some() { "yes" } else { "no" }.to_owned()),
        // Switches are numbered from 1.
        ("spanning_tree", routing.spanning_tree.map_or(0, |root| root + 1).to_string()),
        ("single_ways", single_ways.join(" ")),
        ("seed", (seed & 0x7FFF_FFFF).to_string()),
        // Links and hosts are to be found soon.
        ("discovery_interval", "0.5".to_owned()),
    ];
    settings.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name} = {value}");
        text
    })
}
