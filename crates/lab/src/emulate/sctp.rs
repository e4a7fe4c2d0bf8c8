//! SCTP flows of hosts with a kernel: our SCTP, on the kernel's IP. What programs send of SCTP themselves is noted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use subflow_linux::{PacketWriter, Result, SctpCarried, SctpCarrier, SctpSockets, SctpTraffic};
use subflow_quantity::Packets;
use subflow_scenario::{Flow, Scenario};
use subflow_wire::{Body, Packet};

use super::hosts::KernelHosts;
use crate::simulate::nodes::Outlet;

/// The largest packet, in bytes.
const LARGEST_PACKET: usize = 1 << 16;
/// The associations of programs that a note names.
const MOST_NAMED: usize = 5;

/// The sockets of our SCTP in the namespaces of kernels.
#[derive(Default)]
pub(super) struct KernelSctp {
    /// With the scenario host.
    sockets: Arc<Vec<(usize, SctpSockets)>>,
    buffer: Vec<u8>,
}

impl KernelSctp {
    /// Opens the sockets that the SCTP flows of `scenario` need.
    pub(super) fn open_all(scenario: &Scenario, hosts: &KernelHosts) -> Result<Self> {
        let mut sockets = Vec::new();
        for (index, host) in scenario.hosts.iter().enumerate() {
            let Some(kernel) = hosts.get(index) else { continue };
            let addresses: Vec<_> = host.interfaces.iter().flat_map(|i| i.addresses.iter().copied()).collect();
            let own = |flow: &&Flow| [flow.from.host, flow.to.host].contains(&index);
            let carriers: Vec<_> = scenario.flows.iter().filter(own).filter_map(|flow| carrier(flow, index)).collect();
            for carrier in SctpCarrier::ALL {
                if carriers.contains(&carrier) {
                    let opened = kernel.namespace().run(|| SctpSockets::open(carrier, &addresses))?;
                    sockets.push((index, opened));
                }
            }
        }
        Ok(Self { sockets: Arc::new(sockets), buffer: vec![0; LARGEST_PACKET] })
    }

    /// What sends the SCTP packets of these hosts; `None` if there are no such hosts. A packet that the kernel does not
    /// take is lost.
    pub(super) fn outlet(&self) -> Option<Outlet> {
        if self.sockets.is_empty() {
            return None;
        }
        let (sockets, mut writer) = (Arc::clone(&self.sockets), PacketWriter::default());
        Some(Box::new(move |host, packet| {
            let Body::Sctp(body) = &packet.body else { return false };
            let carrier = SctpCarrier::of(body.encapsulation);
            let Some((_, sockets)) =
                sockets.iter().find(|(owner, sockets)| *owner == host && sockets.carrier() == carrier)
            else {
                return false;
            };
            sockets.send(packet, &mut writer);
            true
        }))
    }

    /// The sockets, to wait for packets.
    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.sockets.iter().flat_map(|(_, sockets)| sockets.descriptors()).collect()
    }

    /// The next packet that has arrived at a host, with its bytes from the common header on.
    pub(super) fn receive(&mut self) -> std::io::Result<Option<(usize, Packet, &[u8])>> {
        for position in 0..self.sockets.len() {
            let (host, sockets) = &self.sockets[position];
            if let Some((packet, range)) = sockets.receive(&mut self.buffer)? {
                return Ok(Some((*host, packet, &self.buffer[range])));
            }
        }
        Ok(None)
    }

    /// The packets that the sockets have dropped.
    pub(super) fn dropped(&self) -> Result<u64> {
        self.sockets.iter().map(|(_, sockets)| sockets.dropped()).sum()
    }
}

/// How the packets of `flow` are carried at `host`; `None` if it is not SCTP.
fn carrier(flow: &Flow, host: usize) -> Option<SctpCarrier> {
    let sctp = flow.protocol.sctp()?;
    let config = if flow.from.host == host { &sctp.ends.from } else { &sctp.ends.to };
    Some(SctpCarrier::of(config.encapsulation))
}

/// What the results lack of the SCTP of programs: no kernel lists the associations of raw sockets, and those of its own
/// SCTP are not asked for.
pub(super) fn sctp_of_programs(scenario: &Scenario, traffic: &SctpTraffic) -> Option<String> {
    note(scenario, traffic.by_ends(), traffic.further())
}

fn note(
    scenario: &Scenario,
    by_ends: impl Iterator<Item = ([SocketAddr; 2], SctpCarried)>,
    further: SctpCarried,
) -> Option<String> {
    let of_flows = |host: usize, port: u16| {
        let mut flows = scenario.flows.iter().filter(|flow| flow.protocol.sctp().is_some());
        flows.any(|flow| (flow.to.host, flow.port) == (host, port))
    };
    // An association has one pair of ports, whichever addresses it uses.
    let mut associations: BTreeMap<[String; 2], SctpCarried> = BTreeMap::new();
    for (ends, carried) in by_ends {
        let hosts = ends.map(|end| scenario.hosts.iter().position(|host| host.interface_with(end.ip()).is_some()));
        if !hosts.into_iter().zip(ends).any(|(host, end)| host.is_some_and(|host| of_flows(host, end.port()))) {
            let name = |index: usize| match hosts[index] {
                Some(host) => format!("{}:{}", scenario.hosts[host].name, ends[index].port()),
                None => ends[index].to_string(),
            };
            let mut names = [name(0), name(1)];
            names.sort();
            associations.entry(names).or_default().add(carried);
        }
    }
    if associations.is_empty() {
        return None;
    }
    let told =
        |([one, other], carried): (&[String; 2], &SctpCarried)| format!("{one} and {other} ({})", amount(carried));
    let mut listed: Vec<String> = associations.iter().take(MOST_NAMED).map(told).collect();
    let mut rest = further;
    associations.values().skip(MOST_NAMED).for_each(|&carried| rest.add(carried));
    if rest.packets > 0 {
        listed.push(format!("others ({})", amount(&rest)));
    }
    Some(format!(
        "SCTP of programs is no connection of the results, but is in the figures of links and in captures (--pcap): {}",
        listed.join("; ")
    ))
}

fn amount(SctpCarried { packets, data_bytes }: &SctpCarried) -> String {
    format!("{} with {data_bytes} bytes of data", Packets::new(*packets))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn scenario(flow: &str) -> Scenario {
        let text = format!(
            "duration = '1 s'\n[hosts]\na = [{{ name = 'x', address = '10.0.0.1' }}, {{ name = 'y', address = '10.0.1.1' }}]\n\
             b = [{{ name = 'x', address = '10.0.0.2' }}, {{ name = 'y', address = '10.0.1.2' }}]\n[links]\n\
             l = {{ between = ['a.x', 'b.x'], rate = '1 Mbit/s' }}\nm = {{ between = ['a.y', 'b.y'], rate = '1 Mbit/s' }}\n\
             [programs.p]\non = 'a'\nrun = ['x']\n{flow}"
        );
        let document = Document::parse(Path::new("sctp.toml"), text).expect("TOML");
        Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    fn ends(one: &str, other: &str) -> ([SocketAddr; 2], SctpCarried) {
        ([one, other].map(|end| end.parse().expect("an address")), SctpCarried { packets: 3, data_bytes: 100 })
    }

    #[test]
    fn the_paths_of_an_association_are_told_together_and_flows_are_not() {
        let seen = || [ends("10.0.0.1:7000", "10.0.0.2:9"), ends("10.0.0.2:9", "10.0.1.1:7000")].into_iter();
        let none = SctpCarried::default();
        let said = note(&scenario(""), seen(), none).expect("there is one");
        assert!(said.ends_with(": a:7000 and b:9 (6 packets with 200 bytes of data)"), "{said}");
        let flow = "[flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = 'sctp'\nport = 9\n";
        assert_eq!(note(&scenario(flow), seen(), none), None);
        let translated = note(&scenario(""), [ends("10.0.0.2:9", "100.64.0.1:7000")].into_iter(), none);
        assert!(translated.is_some_and(|said| said.contains(": 100.64.0.1:7000 and b:9 (3 packets")));
    }

    #[test]
    fn a_note_names_a_few_and_counts_the_others() {
        let many = (1..10).map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:9"));
        let said = note(&scenario(""), many, SctpCarried { packets: 1, data_bytes: 0 }).expect("there are some");
        assert!(said.contains("a:5 and b:9") && !said.contains("a:6 and"), "{said}");
        assert!(said.ends_with("; others (13 packets with 400 bytes of data)"), "{said}");
    }
}
