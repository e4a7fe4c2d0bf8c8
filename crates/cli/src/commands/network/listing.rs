//! `subflow ps`: the networks that are up, their hosts, and what runs in them.

use std::fmt::Write as _;

use serde::Serialize;
use subflow_lab::emulate::persistent::{self, Answer, Client, Emulation, NetworkStatus, Request};
use subflow_lab::results::ConnectionResult;
use subflow_quantity::Packets;

use crate::arguments::{BenchFormat, Ps};
use crate::failure::Failure;
use crate::output::{print, say};

/// What is printed with `--format json`.
#[derive(Serialize)]
struct Listing {
    networks: Vec<Listed>,
}

/// A network, with the connections in it if they were asked for.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    status: NetworkStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<Vec<ConnectionResult>>,
}

/// The most connections that text shows of a network.
const MOST_SHOWN: usize = 40;

fn connections_of(answer: Option<Answer>) -> Option<Vec<ConnectionResult>> {
    match answer {
        Some(Answer::Results(results)) => Some(results.connections),
        _ => None,
    }
}

pub(crate) fn ps(arguments: &Ps) -> Result<(), Failure> {
    let mut networks = Vec::new();
    for name in persistent::names() {
        let request = |mut client: Client| {
            let status = client.ask(&Request::Status)?;
            Ok((status, arguments.connections.then(|| client.ask(&Request::Results)).transpose()?))
        };
        match Client::connect(&name).and_then(request) {
            Ok((Answer::Status(status), results)) => {
                networks.push(Listed { status: *status, connections: connections_of(results) })
            }
            Ok(_) => say(&format!("{name}: the network has not said how it is")),
            Err(error) => say(&format!("{name}: {error}")),
        }
    }
    match arguments.format {
        BenchFormat::Text if networks.is_empty() => print("no network is up\n"),
        BenchFormat::Text => print(&networks.iter().map(Listed::described).collect::<Vec<_>>().join("\n")),
        BenchFormat::Json => {
            let text = serde_json::to_string_pretty(&Listing { networks });
            print(&(text.map_err(|error| Failure::RunFailed(error.to_string()))? + "\n"))
        }
    }
}

impl Listed {
    fn described(&self) -> String {
        let shown = self.connections.as_deref().unwrap_or_default();
        described(&self.status) + &shown.iter().rev().take(MOST_SHOWN).rev().map(connection).collect::<String>()
    }
}

/// A connection as a line.
fn connection(connection: &ConnectionResult) -> String {
    let ConnectionResult { name, protocol, local, remote, start_s, end_s, bytes_sent, bytes_received, .. } = connection;
    let until = end_s.map_or_else(|| "open".to_owned(), |end| format!("until {end:.1} s"));
    let megabytes = |bytes: &u64| *bytes as f64 * 1e-6;
    let line = format!(
        "  {name}: {protocol} {local} to {remote}, from {start_s:.1} s, {until}; sent {:.3} MB, received {:.3} MB",
        megabytes(bytes_sent),
        megabytes(bytes_received)
    );
    printable(&line) + "\n"
}

/// A network as lines to read.
fn described(network: &NetworkStatus) -> String {
    let NetworkStatus { name, title, process, running_s, emulation, hosts, links, changes } = network;
    let mut text = format!("{name}: {title}; up for {}, process {process}\n", span(*running_s));
    text += &carried(emulation, *running_s);
    let down: Vec<&str> = links.iter().filter(|(_, up)| !**up).map(|(name, _)| name.as_str()).collect();
    if !down.is_empty() {
        let _ = writeln!(text, "  down: {}", down.join(", "));
    }
    for change in changes {
        let _ = writeln!(text, "  changed: {change}");
    }
    for host in hosts {
        let addresses = host
            .addresses
            .iter()
            .flat_map(|(interface, addresses)| addresses.iter().map(move |address| format!("{interface} {address}")));
        let _ = writeln!(text, "  {}: {}", host.name, addresses.collect::<Vec<_>>().join(", "));
        for program in &host.programs {
            let since = span(program.running_s);
            let _ = writeln!(text, "    {:>8} {since:>8}  {}", program.process, printable(&program.command));
        }
    }
    text
}

/// What the emulation holds.
fn carried(emulation: &Emulation, running_s: f64) -> String {
    let Emulation { packet_hops, cpu_s, device, late_p99_us, late_max_us, ignored_packets, objections, .. } = emulation;
    let rate = *packet_hops as f64 / running_s.max(1e-9);
    let mut text = format!(
        "  {} at links ({rate:.0} a second), {:.0} % of a core, {device} devices; late by at most {late_p99_us:.0} us \
         (99 %), {late_max_us:.0} us (all)\n",
        Packets::new(*packet_hops),
        100.0 * cpu_s / running_s.max(1e-9)
    );
    if *ignored_packets > 0 {
        let _ = writeln!(text, "  dropped: {} that links do not carry", Packets::new(*ignored_packets));
    }
    for objection in objections {
        let _ = writeln!(text, "  not as in the scenario: {objection}");
    }
    text
}

/// Terminals obey control characters, which are therefore left out.
fn printable(command: &str) -> String {
    command.chars().filter(|c| !c.is_control()).collect()
}

/// A time in seconds, minutes and hours.
fn span(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min", whole / 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use subflow_lab::emulate::persistent::{HostStatus, ProgramStatus};

    use super::*;

    #[test]
    fn a_network_is_listed_with_its_hosts_and_programs() {
        let program = ProgramStatus { process: 4711, command: "sleep\x1b 1000".into(), running_s: 61.0 };
        let host = HostStatus {
            name: "phone".into(),
            namespace: "subflow-1.2-phone".into(),
            addresses: BTreeMap::from([("wifi".into(), vec!["10.0.1.1".parse().expect("an address")])]),
            programs: vec![program],
        };
        let emulation = Emulation {
            packet_hops: 1000,
            cpu_s: 1.0,
            device: "tun".into(),
            late_p99_us: 40.4,
            late_max_us: 300.0,
            ignored_packets: 2,
            objections: vec!["the devices dropped 1 outgoing and 0 incoming packets".into()],
            ..Emulation::default()
        };
        let network = NetworkStatus {
            name: "home".into(),
            title: "At home".into(),
            process: 17,
            running_s: 7322.0,
            emulation,
            hosts: vec![host],
            links: BTreeMap::from([("lte".into(), true), ("wifi".into(), false)]),
            changes: vec!["links.lte.rate = 5 Mbit/s".into()],
        };
        let expected = "home: At home; up for 2 h 2 min, process 17\n  1000 packets at links (0 a second), 0 % of a \
                        core, tun devices; late by at most 40 us (99 %), 300 us (all)\n  dropped: 2 packets that links do \
                        not carry\n  not as in the scenario: the devices dropped 1 outgoing and 0 incoming \
                        packets\n  down: wifi\n  changed: links.lte.rate = 5 Mbit/s\n  phone: wifi 10.0.1.1\n        \
                        4711    1 min  sleep 1000\n";
        assert_eq!(described(&network), expected);
    }
}
