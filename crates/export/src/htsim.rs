//! A topology that htsim's `GenericTopology` loads: hosts, switches, and for each direction of a link a queue and a pipe.

use std::fmt::Write;

use crate::layout::Layout;
use crate::{ExportError, Exported};

/// htsim reads lines of at most so many characters.
const LONGEST_LINE: usize = 253;
/// What stands for a link without a rate or a queue without a limit: htsim demands both.
const FASTEST_MBIT: f64 = 400_000.0;
const LARGEST_QUEUE: u64 = 1 << 30;

pub(crate) fn write(layout: Layout<'_>) -> Result<Exported, ExportError> {
    let mut notes = layout.notes.clone();
    // A host of htsim has one queue: each interface of a multihomed host is a host.
    let hosts: Vec<String> = layout.nodes.iter().filter(|node| node.is_host).flat_map(names_of_interfaces).collect();
    for node in layout.nodes.iter().filter(|node| node.is_host && node.ports.len() > 1) {
        notes.add(&node.name, "a host of htsim has one interface: each of its interfaces is a host");
    }
    let mut pipes = String::new();
    for (number, cable) in layout.cables.iter().enumerate() {
        for (way, conditions) in cable.directions.iter().enumerate() {
            let to = cable.ends[1 - way];
            let far = match layout.nodes[to.node].is_host {
                true => names_of_interfaces(&layout.nodes[to.node])[to.port].clone(),
                false => layout.nodes[to.node].label.clone(),
            };
            if conditions.rate.is_none() {
                notes.add(&cable.name, "a queue of htsim has a rate: 400 Gbit/s stand for an unlimited one");
            }
            if conditions.delay.as_nanos() == 0 {
                notes.add(&cable.name, "a pipe of htsim has a delay: 1 ps stands for none");
            }
            if conditions.loss > 0.0 {
                notes.add(&cable.name, "the loss is left out: htsim loses packets of full queues only");
            }
            if !conditions.is_drop_tail() {
                notes.add(&cable.name, "the queue is drop-tail");
            }
            let speed = conditions.rate.map_or(FASTEST_MBIT, |rate| rate.as_mbit());
            let size = conditions.bytes().unwrap_or(LARGEST_QUEUE).min(LARGEST_QUEUE);
            let latency = match conditions.delay.as_nanos() {
                0 => "1 ps".to_owned(),
                nanos => format!("{} us", nanos as f64 / 1000.0),
            };
            let _ = writeln!(
                pipes,
                "Queue q{number}_{way}, type queue, speed {speed} mbps, size {size}, dst p{number}_{way}"
            );
            let _ = writeln!(pipes, "Pipe p{number}_{way}, latency {latency}, dst {far}");
        }
    }
    let routers = layout.nodes.iter().filter(|node| !node.is_host);
    let switches: Vec<String> = routers.map(|router| switch(&router.label, &router.ports)).collect();
    if let Some(line) = switches.iter().find(|line| line.len() > LONGEST_LINE) {
        let message =
            format!("a switch has too many links: htsim reads lines of {LONGEST_LINE} characters, not {}", line.len());
        return Err(ExportError { message, help: "divide the router into several".to_owned() });
    }
    let title = format!("The network of {:?} for htsim", layout.scenario.name);
    let heading = notes.heading("#", &title, "GenericTopology::load reads it (sim/datacenter/generic_topology.cpp).");
    let mut text =
        format!("Hosts {}\nSwitches {}\nLinks {}\n{heading}", hosts.len(), switches.len(), layout.cables.len());
    for line in host_lines(&layout).into_iter().chain(switches) {
        let _ = writeln!(text, "{line}");
    }
    text.push_str(&pipes);
    Ok(Exported { text, notes: notes.lines() })
}

/// The hosts of htsim that a host is: one for each interface that has a link.
fn names_of_interfaces(host: &crate::layout::Node) -> Vec<String> {
    match host.ports.len() {
        0 | 1 => vec![host.label.clone(); host.ports.len()],
        ports => (0..ports).map(|port| format!("{}_{port}", host.label)).collect(),
    }
}

fn host_lines(layout: &Layout<'_>) -> Vec<String> {
    let hosts = layout.nodes.iter().filter(|node| node.is_host);
    hosts
        .flat_map(|host| {
            let queue = |((link, end), name): (&(usize, usize), String)| format!("Host {name}, queue q{link}_{end}");
            host.ports.iter().zip(names_of_interfaces(host)).map(queue).collect::<Vec<_>>()
        })
        .collect()
}

fn switch(label: &str, ports: &[(usize, usize)]) -> String {
    let queues: Vec<String> = ports.iter().map(|(link, end)| format!("queue q{link}_{end}")).collect();
    format!("Switch {label}, {}", queues.join(", "))
}
