//! What is configured by the commands of a Linux host: addresses, routes and traffic, the same in namespaces and in
//! Mininet.

use subflow_quantity::Duration;
use subflow_scenario::{Flow, Period, Traffic};

use crate::Notes;
use crate::layout::{End, Layout};
use crate::routes::{Route, of_routers};

/// The device of a port, as the tool calls it.
pub(crate) type Device = fn(label: &str, port: usize) -> String;

/// The commands of each node that configure its routes, in the order of the nodes.
pub(crate) fn routing(layout: &Layout<'_>, device: Device) -> Vec<Vec<String>> {
    let routes = of_routers(layout);
    let of_node = |node: usize| match layout.nodes[node].is_host {
        true => of_host(layout, node, device),
        false => of_router(layout, node, &routes, device),
    };
    (0..layout.nodes.len()).map(of_node).collect()
}

fn of_router(layout: &Layout<'_>, node: usize, routes: &[Route], device: Device) -> Vec<String> {
    let label = &layout.nodes[node].label;
    // Answers may come back another way.
    let mut commands =
        vec!["sysctl -qw net.ipv4.ip_forward=1".to_owned(), "sysctl -qw net.ipv4.conf.all.rp_filter=0".to_owned()];
    let own = routes.iter().filter(|route| route.node == node);
    commands.extend(own.map(|Route { network, port, via, .. }| {
        format!("ip route add {network}/30 via {via} dev {}", device(label, *port))
    }));
    commands
}

/// A host sends from each of its addresses over the interface that has it.
fn of_host(layout: &Layout<'_>, node: usize, device: Device) -> Vec<String> {
    let host = &layout.nodes[node];
    let mut commands = vec!["sysctl -qw net.ipv4.conf.all.rp_filter=0".to_owned()];
    let (is_multihomed, has_mptcp) = (host.ports.len() > 1, has_mptcp(layout, node));
    for (port, &(link, end)) in host.ports.iter().enumerate() {
        let [own, other] = [end, 1 - end].map(|end| layout.cables[link].ends[end]);
        let (device, table) = (device(&host.label, port), port + 1);
        if !layout.nodes[other.node].is_host {
            let metric = if is_multihomed { format!(" metric {table}") } else { String::new() };
            commands.push(format!("ip route add default via {} dev {device}{metric}", other.address));
            if is_multihomed {
                commands.push(format!("ip rule add from {} table {table}", own.address));
                commands.push(format!("ip route add default via {} dev {device} table {table}", other.address));
            }
        }
        if is_multihomed && has_mptcp {
            let role = if opens_mptcp(layout, node) { "subflow" } else { "signal" };
            commands.push(format!("ip mptcp endpoint add {} dev {device} {role}", own.address));
        }
    }
    if has_mptcp {
        commands.push("ip mptcp limits set subflows 8 add_addr_accepted 8".to_owned());
    }
    commands
}

fn has_mptcp(layout: &Layout<'_>, node: usize) -> bool {
    let is_at = |flow: &Flow| flow.from.host == node || flow.to.host == node;
    layout.scenario.flows.iter().any(|flow| flow.protocol.mptcp().is_some() && is_at(flow))
}

fn opens_mptcp(layout: &Layout<'_>, node: usize) -> bool {
    layout.scenario.flows.iter().any(|flow| flow.protocol.mptcp().is_some() && flow.from.host == node)
}

/// A flow as a pair of iperf3 processes.
pub(crate) struct Iperf3 {
    /// The nodes that the server and the client run on.
    pub(crate) nodes: [usize; 2],
    pub(crate) server: String,
    pub(crate) client: String,
    /// When the client starts.
    pub(crate) start: Duration,
}

/// The flows that iperf3 can send. The others become notes.
pub(crate) fn iperf3(layout: &Layout<'_>, notes: &mut Notes) -> Vec<Iperf3> {
    let pair = |(flow, ends): (&Flow, [End; 2])| match options(flow, layout.scenario.duration) {
        Ok(options) => {
            let [own, peer] = ends.map(|end| end.address);
            let wrapper = if flow.protocol.mptcp().is_some() { "mptcpize run " } else { "" };
            let source = if flow.fixed_source { format!(" --bind {own}") } else { String::new() };
            Some(Iperf3 {
                nodes: [ends[1].node, ends[0].node],
                server: format!("{wrapper}iperf3 --server --one-off --port {}", flow.port),
                client: format!("{wrapper}iperf3 --client {peer} --port {}{source}{options}", flow.port),
                start: flow.start,
            })
        }
        Err(why) => {
            notes.add(&flow.name, why);
            None
        }
    };
    layout.flows().into_iter().filter_map(pair).collect()
}

fn options(flow: &Flow, duration: Duration) -> Result<String, String> {
    let protocol = match flow.protocol.name() {
        "tcp" | "mptcp" => "",
        "sctp" => " --sctp",
        "udp" => " --udp",
        other => return Err(format!("the flow is left out: iperf3 has no {other}")),
    };
    let seconds = (flow.stop.unwrap_or(duration).as_secs_f64() - flow.start.as_secs_f64()).ceil().max(1.0);
    let amount = match &flow.traffic {
        Traffic::Bulk { bytes: Some(bytes) } => format!(" --bytes {bytes}"),
        Traffic::Bulk { bytes: None } => format!(" --time {seconds}"),
        Traffic::OnOff { rate, packet, off: Period::Constant(off), .. } if *off == Duration::default() => {
            format!(" --bitrate {} --length {packet} --time {seconds}", rate.bits_per_second())
        }
        _ => return Err("the flow is left out: it is no bulk transfer, nor datagrams at a constant rate".to_owned()),
    };
    let congestion = match flow.congestion().map(subflow_policy::catalogue::Catalogue::name) {
        Some(name @ ("reno" | "cubic" | "bbr" | "vegas" | "westwood" | "dctcp")) if protocol.is_empty() => {
            format!(" --congestion {name}")
        }
        _ => String::new(),
    };
    let codepoint = match flow.dscp.traffic_class() {
        0 => String::new(),
        byte => format!(" --tos {byte}"),
    };
    Ok(format!("{protocol}{amount}{congestion}{codepoint}"))
}
