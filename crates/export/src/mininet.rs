//! A Python program with Mininet's API: hosts and routers are its nodes, links are its `TCLink`s.

use std::fmt::Write;

use crate::Exported;
use crate::Notes;
use crate::commands::{iperf3, routing};
use crate::conditions::{Conditions, FRAME, percent};
use crate::layout::Layout;

/// Mininet's limit for `bw`, in Mbit/s: without a rate there is no token bucket.
const FASTEST_MBIT: f64 = 1000.0;

pub(crate) fn write(layout: Layout<'_>) -> Exported {
    let mut notes = layout.notes.clone();
    let links = links(&layout, &mut notes);
    let flows = iperf3(&layout, &mut notes);
    let mut body = String::new();
    for node in &layout.nodes {
        // Routers are nodes that forward: Mininet's switches do not route.
        let _ = writeln!(body, "    nodes[{0:?}] = net.addHost({0:?}, ip=None)", node.label);
    }
    body.push_str(&links);
    body.push_str("    net.build()\n");
    for (number, cable) in layout.cables.iter().enumerate() {
        for (which, end) in cable.ends.iter().enumerate() {
            let label = &layout.nodes[end.node].label;
            let _ = writeln!(
                body,
                "    nodes[{label:?}].setIP(\"{}\", 30, links[{number}].intf{})",
                end.address,
                which + 1
            );
        }
    }
    for (node, commands) in layout.nodes.iter().zip(routing(&layout, |label, port| format!("{label}-eth{port}"))) {
        for command in commands {
            let _ = writeln!(body, "    run(nodes[{:?}], {command:?})", node.label);
        }
    }
    let mut traffic = String::new();
    for flow in &flows {
        let [server, client] = flow.nodes.map(|node| layout.nodes[node].label.as_str());
        let start = flow.start.as_secs_f64();
        let _ = writeln!(traffic, "    ({server:?}, {:?}, {client:?}, {:?}, {start}),", flow.server, flow.client);
    }
    let title = format!("The network of {:?} for Mininet 2.3", layout.scenario.name);
    let usage = "As root: python3 FILE opens Mininet's command line; python3 FILE flows sends the flows with iperf3.";
    let text = format!(
        "#!/usr/bin/env python3\n{}{PROLOGUE}\nFLOWS = [\n{traffic}]\n\n\ndef build():\n    net = Mininet(link=TCLink, controller=None)\n    \
         nodes, links = {{}}, []\n{body}    return net\n{EPILOGUE}",
        notes.heading("#", &title, usage),
    );
    Exported { text, notes: notes.lines() }
}

const PROLOGUE: &str = r#"import subprocess
import sys
import time

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.net import Mininet

"#;

const EPILOGUE: &str = r#"

def run(node, command):
    """Runs a command in a node, which must succeed."""
    output, error, code = node.pexec(command)
    if code != 0:
        raise SystemExit(f"{node.name}: {command}: {error or output}")


def send(net):
    """Sends all flows, and waits for their ends."""
    servers = [net[server].popen(command, stdout=subprocess.DEVNULL) for server, command, _, _, _ in FLOWS]
    time.sleep(0.5)
    begin, clients = time.monotonic(), []
    for _, _, client, command, start in sorted(FLOWS, key=lambda flow: flow[-1]):
        time.sleep(max(0, start - (time.monotonic() - begin)))
        clients.append(net[client].popen(command, stdout=None, stderr=None))
    failed = [client.wait() for client in clients]
    for server in servers:
        server.terminate()
    if any(failed):
        raise SystemExit(1)


if __name__ == "__main__":
    network = build()
    network.start()
    try:
        send(network) if sys.argv[1:] == ["flows"] else CLI(network)
    finally:
        network.stop()
"#;

fn links(layout: &Layout<'_>, notes: &mut Notes) -> String {
    let mut text = String::new();
    for cable in &layout.cables {
        let [up, down] = [0, 1].map(|way| parameters(&cable.directions[way], &cable.name, notes));
        let [first, second] = cable.ends.map(|end| (layout.nodes[end.node].label.as_str(), end.port));
        let comment = cable.name.replace(['\n', '\r'], " ");
        let _ = writeln!(text, "    # {comment}");
        let _ = writeln!(
            text,
            "    links.append(net.addLink(nodes[{0:?}], nodes[{2:?}], port1={1}, port2={3}, intfName1=\"{4}-eth{1}\",\n        \
             intfName2=\"{5}-eth{3}\", params1=dict({up}), params2=dict({down})))",
            first.0, first.1, second.0, second.1, first.0, second.0
        );
    }
    text
}

/// The parameters of `TCIntf` for one direction.
fn parameters(conditions: &Conditions, name: &str, notes: &mut Notes) -> String {
    let mut parameters = Vec::new();
    let rate = conditions.rate.filter(|rate| rate.as_mbit() <= FASTEST_MBIT);
    match (conditions.rate, rate) {
        (Some(_), None) => notes.add(name, "a TCLink has at most 1000 Mbit/s: the rate is left out"),
        (_, Some(rate)) => parameters.push(format!("bw={}", rate.as_mbit())),
        (None, None) => {}
    }
    if conditions.delay.as_nanos() > 0 {
        parameters.push(format!("delay=\"{}us\"", conditions.delay.as_nanos() / 1000));
    }
    if conditions.loss > 0.0 {
        parameters.push(format!("loss={}", percent(conditions.loss)));
    }
    if let Some(packets) = conditions.packets() {
        // Its netem holds the packets of the delay and those that wait for the token bucket, in one limit.
        let delayed = conditions.rate.map_or(0, |rate| rate.bytes_in(conditions.delay).div_ceil(FRAME));
        if delayed > 0 {
            notes.add(
                "",
                "max_queue_size is the queue and the packets that the delay holds, which Mininet counts with it",
            );
        }
        parameters.push(format!("max_queue_size={}", packets + delayed));
    }
    if !conditions.is_drop_tail() {
        notes.add(name, "the queue is drop-tail: a TCLink has no other discipline that waits behind a rate");
    }
    parameters.join(", ")
}
