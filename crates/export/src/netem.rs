//! A shell script: a network namespace for each node, veth pairs, and on each end netem for delay and loss, in front of
//! a token bucket with the queue.

use std::fmt::Write;

use subflow_policy::catalogue::Catalogue;
use subflow_policy::queue::Limit;
use subflow_quantity::Rate;

use crate::Exported;
use crate::Notes;
use crate::commands::{Iperf3, iperf3, routing};
use crate::conditions::{Conditions, percent};
use crate::layout::Layout;

/// What fits into netem, which holds the packets of the delay only; the queue behind it has the scenario's limit.
const DELAYED_PACKETS: u32 = 1_000_000;

pub(crate) fn write(layout: Layout<'_>) -> Exported {
    let mut notes = layout.notes.clone();
    let links = links(&layout, &mut notes);
    let flows = iperf3(&layout, &mut notes);
    notes.add(
        "",
        "netem delays packets before they come to the queue, and loses them there; in the scenario it is after it",
    );
    let title = format!("The network of {:?} in network namespaces", layout.scenario.name);
    let usage = "As root: sh FILE up; sh FILE flows; ip netns exec NAME COMMAND; sh FILE down. It takes iproute2, and \
                 iperf3 for the flows.";
    let mut text = format!("#!/bin/sh\n{}set -eu\n\n", notes.heading("#", &title, usage));
    let names: Vec<&str> = layout.nodes.iter().map(|node| node.label.as_str()).collect();
    let _ = write!(
        text,
        "nodes='{}'\n\nin_node() {{ node=$1; shift; ip netns exec \"$node\" \"$@\"; }}\n",
        names.join(" ")
    );
    let _ = write!(
        text,
        "\nup() {{\n    for node in $nodes; do ip netns add \"$node\"; in_node \"$node\" ip link set lo up; done\n{links}"
    );
    for (node, commands) in layout.nodes.iter().zip(routing(&layout, |_, port| format!("eth{port}"))) {
        for command in commands {
            let _ = writeln!(text, "    in_node {} {command}", node.label);
        }
    }
    let _ = write!(text, "}}\n\nflows() {{\n{}    wait\n}}\n", traffic(&layout, &flows));
    text.push_str("\ndown() { for node in $nodes; do ip netns del \"$node\" 2> /dev/null || true; done; }\n");
    text.push_str(CASES);
    Exported { text, notes: notes.lines() }
}

/// What the script does with its argument. A namespace of another network is neither used nor, after the failure, removed.
const CASES: &str = r#"
case ${1-} in
    up)
        for node in $nodes; do
            [ ! -e "/var/run/netns/$node" ] || { echo "there is a namespace $node already: is the network up?" >&2; exit 1; }
        done
        # Without all its queues it would be another network.
        trap down EXIT; up; trap - EXIT ;;
    flows | down) "$1" ;;
    *) echo "usage: sh $0 up|flows|down" >&2; exit 2 ;;
esac
"#;

fn links(layout: &Layout<'_>, notes: &mut Notes) -> String {
    let mut text = String::new();
    for cable in &layout.cables {
        let [first, second] =
            cable.ends.map(|end| (layout.nodes[end.node].label.as_str(), format!("eth{}", end.port), end));
        let _ = writeln!(text, "    # {}", cable.name.replace(['\n', '\r'], " "));
        let _ = writeln!(
            text,
            "    ip link add {} netns {} type veth peer name {} netns {}",
            first.1, first.0, second.1, second.0
        );
        for ((node, device, end), conditions) in [first, second].into_iter().zip(&cable.directions) {
            let _ = writeln!(text, "    in_node {node} ip address add {}/30 dev {device}", end.address);
            // Packets of the size that the link carries, as the queue counts them.
            let _ = writeln!(text, "    in_node {node} ip link set {device} gso_max_segs 1 up");
            for command in queue(conditions, &cable.name, notes) {
                let _ = writeln!(text, "    in_node {node} tc qdisc add dev {device} {command}");
            }
        }
    }
    text
}

/// The arguments of `tc qdisc add dev DEVICE` for one direction.
fn queue(conditions: &Conditions, name: &str, notes: &mut Notes) -> Vec<String> {
    let loss = match conditions.loss {
        0.0 => String::new(),
        loss => format!(" loss {}%", percent(loss)),
    };
    let delay = conditions.delay.as_nanos() / 1000;
    let mut commands = vec![format!("root handle 1: netem limit {DELAYED_PACKETS} delay {delay}us{loss}")];
    if let Some(rate) = conditions.rate {
        commands.push(format!("parent 1: handle 2: tbf rate {} burst {} limit 1000000000", bits(rate), burst(rate)));
        commands.push(format!("parent 2: handle 3: {}", discipline(conditions, name, notes)));
    }
    commands
}

fn bits(rate: Rate) -> String {
    format!("{}bit", rate.bits_per_second())
}

/// Two full frames, and at high rates what arrives in 50 µs, within which the kernel's timer fires.
fn burst(rate: Rate) -> u64 {
    (rate.bits_per_second() / 8 / 20_000).max(3028)
}

fn discipline(conditions: &Conditions, name: &str, notes: &mut Notes) -> String {
    let limit = match conditions.limit {
        Limit::Unlimited => "pfifo limit 1000000".to_owned(),
        Limit::Packets(packets) => format!("pfifo limit {packets}"),
        Limit::Bytes(bytes) => format!("bfifo limit {bytes}"),
    };
    if conditions.is_drop_tail() {
        return limit;
    }
    let kind = match conditions.discipline.name() {
        "codel" => "codel",
        "fq-codel" => "fq_codel",
        "pie" => "pie",
        "fq-pie" => "fq_pie",
        "fq" => "fq",
        "sfq" => "sfq",
        "cake" => "cake",
        "prio" => "prio",
        "pfifo-fast" => "pfifo_fast",
        other => {
            notes.add(name, format!("the queue is drop-tail instead of {other}"));
            return limit;
        }
    };
    if !conditions.discipline.has_default_options() {
        notes.add(name, format!("{kind} has its defaults, and not the options of the scenario"));
    }
    match conditions.packets() {
        Some(_) if kind == "cake" => format!("cake memlimit {}", conditions.bytes().unwrap_or_default()),
        Some(packets) if !["sfq", "prio", "pfifo_fast"].contains(&kind) => format!("{kind} limit {packets}"),
        _ => kind.to_owned(),
    }
}

fn traffic(layout: &Layout<'_>, flows: &[Iperf3]) -> String {
    let mut text = String::new();
    for flow in flows {
        let [server, client] = flow.nodes.map(|node| layout.nodes[node].label.as_str());
        let _ = writeln!(text, "    in_node {server} {} > /dev/null &", flow.server);
        let pause = 0.5 + flow.start.as_secs_f64();
        let _ = writeln!(text, "    (sleep {pause}; in_node {client} {}) &", flow.client);
    }
    text
}
