//! SCTP flows of hosts with a kernel: our SCTP, on the kernel's IP. What programs send of SCTP themselves becomes
//! connections of the results, from the packets that their hosts send.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use subflow_linux::{PacketWriter, Result, SctpCarried, SctpCarrier, SctpSockets, SctpTraffic};
use subflow_quantity::Packets;
use subflow_scenario::{Flow, Scenario};
use subflow_wire::{Body, Packet};

use super::hosts::KernelHosts;
use crate::results::ConnectionResult;
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

/// An association of programs, as its packets show it.
struct Association {
    /// The names of its ends: that which sent the first packet, and the other one.
    names: [String; 2],
    /// The addresses of the first packet.
    first: [SocketAddr; 2],
    /// What each end sent, over all paths.
    sent: [SctpCarried; 2],
}

impl Association {
    fn both(&self) -> SctpCarried {
        let [mut both, other] = self.sent;
        both.add(other);
        both
    }
}

/// The associations of programs in the order of their beginnings: connections of the results, and what is to be said of
/// them. No kernel lists associations of raw sockets, and none reports the end of its own.
pub(super) fn sctp_of_programs(scenario: &Scenario, traffic: &SctpTraffic) -> (Vec<ConnectionResult>, Option<String>) {
    let found = associations(scenario, traffic.by_ends());
    let connections = found.iter().enumerate().map(|(index, of)| connection(index + 1, of)).collect();
    (connections, note(&found, traffic.further()))
}

fn associations(
    scenario: &Scenario,
    by_ends: impl Iterator<Item = ([SocketAddr; 2], SctpCarried)>,
) -> Vec<Association> {
    let of_flows = |host: usize, port: u16| {
        let mut flows = scenario.flows.iter().filter(|flow| flow.protocol.sctp().is_some());
        flows.any(|flow| (flow.to.host, flow.port) == (host, port))
    };
    let mut by_ends: Vec<_> = by_ends.collect();
    by_ends.sort_by_key(|(ends, carried)| (carried.began, *ends));
    // An association has one pair of ports, whichever addresses it uses.
    let mut found: Vec<Association> = Vec::new();
    let mut known: BTreeMap<[String; 2], usize> = BTreeMap::new();
    for (ends, carried) in by_ends {
        let hosts = ends.map(|end| scenario.hosts.iter().position(|host| host.interface_with(end.ip()).is_some()));
        if hosts.into_iter().zip(ends).any(|(host, end)| host.is_some_and(|host| of_flows(host, end.port()))) {
            continue;
        }
        let name = |index: usize| match hosts[index] {
            Some(host) => format!("{}:{}", scenario.hosts[host].name, ends[index].port()),
            None => ends[index].to_string(),
        };
        let (names, back) = ([name(0), name(1)], [name(1), name(0)]);
        let (index, sender) = match (known.get(&names), known.get(&back)) {
            (Some(&index), _) => (index, 0),
            (None, Some(&index)) => (index, 1),
            (None, None) => {
                known.insert(names.clone(), found.len());
                let sent = [SctpCarried::none(carried.began); 2];
                found.push(Association { names, first: ends, sent });
                (found.len() - 1, 0)
            }
        };
        found[index].sent[sender].add(carried);
    }
    found
}

fn connection(number: usize, association: &Association) -> ConnectionResult {
    let ([local, remote], both) = (association.first.map(|end| end.to_string()), association.both());
    let [bytes_sent, bytes_received] = association.sent.map(|carried| carried.new_bytes);
    ConnectionResult {
        name: format!("sctp:{number}"),
        protocol: "sctp".to_owned(),
        local,
        remote,
        start_s: both.began.as_secs_f64(),
        end_s: both.ended.then(|| both.last.as_secs_f64()),
        bytes_sent,
        bytes_received,
        retransmissions: both.repeated_chunks,
        ..ConnectionResult::default()
    }
}

fn note(found: &[Association], further: Option<SctpCarried>) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let told = |of: &Association| {
        let [one, other] = &of.names;
        format!("{one} and {other} ({})", amount(&of.both()))
    };
    let mut listed: Vec<String> = found.iter().take(MOST_NAMED).map(told).collect();
    let unnamed = found.iter().skip(MOST_NAMED).map(Association::both).chain(further);
    let rest = unnamed.reduce(|mut sum, other| {
        sum.add(other);
        sum
    });
    listed.extend(rest.map(|rest| format!("others ({})", amount(&rest))));
    Some(format!(
        "SCTP of programs is in the table of connections by what its packets show, and no flow; its paths are in captures \
         (--pcap): {}",
        listed.join("; ")
    ))
}

fn amount(SctpCarried { packets, data_bytes, .. }: &SctpCarried) -> String {
    format!("{} with {data_bytes} bytes of data", Packets::new(*packets))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_quantity::{Duration, Instant};
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

    fn ends(one: &str, other: &str, ms: u64) -> ([SocketAddr; 2], SctpCarried) {
        let began = Instant::ZERO + Duration::from_millis(ms);
        let carried = SctpCarried { packets: 3, data_bytes: 100, new_bytes: 90, ..SctpCarried::none(began) };
        ([one, other].map(|end| end.parse().expect("an address")), carried)
    }

    #[test]
    fn the_paths_of_an_association_are_one_connection_and_flows_are_none() {
        let answer = ends("10.0.0.2:9", "10.0.1.1:7000", 4);
        let answer = (answer.0, SctpCarried { ended: true, repeated_chunks: 2, ..answer.1 });
        let seen = || [answer, ends("10.0.0.1:7000", "10.0.0.2:9", 3), ends("10.0.1.1:7000", "10.0.1.2:9", 5)];
        let found = associations(&scenario(""), seen().into_iter());
        let said = note(&found, None).expect("there is one");
        assert!(said.ends_with(": a:7000 and b:9 (9 packets with 300 bytes of data)"), "{said}");
        let expected = ConnectionResult {
            name: "sctp:1".to_owned(),
            protocol: "sctp".to_owned(),
            local: "10.0.0.1:7000".to_owned(),
            remote: "10.0.0.2:9".to_owned(),
            start_s: 0.003,
            end_s: Some(0.005),
            bytes_sent: 180,
            bytes_received: 90,
            retransmissions: 2,
            ..ConnectionResult::default()
        };
        assert_eq!(found.iter().map(|of| connection(1, of)).collect::<Vec<_>>(), [expected]);
        let flow = "[flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = 'sctp'\nport = 9\n";
        assert!(associations(&scenario(flow), seen().into_iter()).is_empty());
        let translated = associations(&scenario(""), [ends("10.0.0.2:9", "100.64.0.1:7000", 1)].into_iter());
        assert_eq!(translated[0].names, ["b:9", "100.64.0.1:7000"]);
    }

    #[test]
    fn a_note_names_a_few_and_counts_the_others() {
        let many = (1..10).map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:9", port));
        let further = SctpCarried { packets: 1, ..SctpCarried::none(Instant::ZERO) };
        let said = note(&associations(&scenario(""), many), Some(further)).expect("there are some");
        assert!(said.contains("a:5 and b:9") && !said.contains("a:6 and"), "{said}");
        assert!(said.ends_with("; others (13 packets with 400 bytes of data)"), "{said}");
    }
}
