//! The protocol of a flow, with the configuration of each of its ends: `[flows.NAME]`.

use core::cell::Cell;
use core::cmp::Ordering;
use std::sync::Arc;

use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::{MAX_SUBFLOWS, PathManagement};
use subflow_policy::scheduler::{Scheduler, Scheduling};
use subflow_quantity::Size;
use subflow_transport::sctp::config::Distribution;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::{mptcp, quic};

use super::algorithms;
use super::path_products::{Outgoing, PathProduct};
use super::reachability::{Connected, Islands, number_of_paths};
use super::stacks::Stacks;
use super::strays::refuse_rate_based;
use super::topology::Topology;
use crate::file::{Field, Problem, Section};
use crate::protocol_name::ProtocolName;
use crate::switches::sctp::is_multipath;
use crate::switches::{BUFFER, Stack};
use crate::{CustomAlgorithms, InterfaceIndex, Mptcp, PerEnd, Protocol, Quic, Sctp, SubflowPlan, schema};

/// Reads the protocols of flows; nodes and stacks have been read before.
pub(super) struct ProtocolReader<'a> {
    pub(super) topology: &'a Topology,
    pub(super) outgoing: Outgoing<'a>,
    pub(super) stacks: &'a Stacks<'a>,
    pub(super) islands: Islands,
    pub(super) custom: &'a CustomAlgorithms,
}

impl ProtocolReader<'_> {
    /// The primary path of an SCTP flow.
    fn primary(&self, section: &Section<'_>, to: InterfaceIndex) -> Result<usize, Problem> {
        let Some(field) = section.given("primary") else { return Ok(0) };
        let primary = self.topology.interface(&field)?;
        if primary.host == to.host {
            return Ok(place_of(primary, to));
        }
        let host = &self.topology.hosts[to.host].name;
        Err(field.problem(format!("the flow goes to {host}, expected one of its interfaces")).label("another host"))
    }

    pub(super) fn protocol(
        &self,
        kind: ProtocolName,
        section: &Section<'_>,
        ends: Connected,
    ) -> Result<Protocol, Problem> {
        let Connected { from, to, .. } = ends;
        let profile = self.stacks.profile(from.host);
        let stack = |end: InterfaceIndex| self.stacks.stack(section, end.host);
        let congestion = |default: &Algorithm| algorithms::congestion(section, default, self.custom);
        Ok(match kind {
            ProtocolName::Udp => Protocol::Udp,
            ProtocolName::Tcp => {
                let congestion = congestion(&profile.stack.tcp_congestion)?;
                let options = |stack: &Stack| TcpOptions {
                    config: stack.mptcp.tcp.clone(),
                    congestion: stack.switched(&congestion),
                };
                let stack = |end: InterfaceIndex| self.stack_over(section, end, (&[from], &[to]));
                Protocol::Tcp(PerEnd { from: options(&*stack(from)?), to: options(&*stack(to)?) })
            }
            ProtocolName::Sctp => {
                let congestion = congestion(&profile.stack.sctp.congestion)?;
                refuse_rate_based(section, &congestion, "SCTP")?;
                let scheduler = match section.given("scheduler") {
                    Some(_) => Some(self.scheduler(section, from.host)?),
                    None => None,
                };
                let primary = self.primary(section, to)?;
                let config = |stack: &Stack| {
                    let mut config = stack.sctp.clone();
                    config.congestion = stack.switched(&congestion);
                    config.primary = primary;
                    if let (true, Some(scheduler)) = (is_multipath(&config), &scheduler) {
                        config.distribution = Distribution::Scheduler(scheduler.clone());
                    }
                    Arc::new(config)
                };
                let ends = PerEnd { from: config(&*stack(from)?), to: config(&*stack(to)?) };
                Protocol::Sctp(Sctp { ends, scheduler })
            }
            ProtocolName::Mptcp => Protocol::Mptcp(self.mptcp(section, ends)?),
            ProtocolName::Quic => Protocol::Quic(Quic { ends: self.quic(section, ends, None)?, subflows: Vec::new() }),
            ProtocolName::Mpquic => Protocol::Quic(self.mpquic(section, ends)?),
        })
    }

    fn quic(
        &self,
        section: &Section<'_>,
        ends: Connected,
        multipath: Option<&quic::MultipathConfig>,
    ) -> Result<PerEnd<Arc<quic::Config>>, Problem> {
        let default = &self.stacks.profile(ends.from.host).stack.quic.congestion;
        let congestion = algorithms::congestion(section, default, self.custom)?;
        let config = |end: InterfaceIndex| {
            let stack = self.stacks.stack(section, end.host)?;
            let congestion = stack.switched(&congestion);
            Ok(Arc::new(quic::Config { congestion, multipath: multipath.cloned(), ..stack.quic.clone() }))
        };
        Ok(PerEnd { from: config(ends.from)?, to: config(ends.to)? })
    }

    fn mpquic(&self, section: &Section<'_>, ends: Connected) -> Result<Quic, Problem> {
        let scheduler = self.scheduler(section, ends.from.host)?;
        // Those that go by correlations place their copies there, and say so only while they do.
        let copies = scheduler.repeats() || scheduler.goes_by_correlations();
        if let (true, Some(field)) = (copies, section.given("scheduler")) {
            return Err(field
                .problem(format!("{} sends copies of data, which mpquic does not", scheduler.name()))
                .help("give the flow the protocol mptcp, or another scheduler, such as ll"));
        }
        let path_manager = self.path_manager(section, ends, MAX_SUBFLOWS)?;
        let mut multipath = quic::MultipathConfig::new(scheduler, path_manager);
        multipath.bottleneck = algorithms::bottleneck(section, &multipath.scheduler)?;
        let subflows = self.subflows(section, ends, MAX_SUBFLOWS)?;
        Ok(Quic { ends: self.quic(section, ends, Some(&multipath))?, subflows })
    }

    fn mptcp(&self, section: &Section<'_>, ends: Connected) -> Result<Mptcp, Problem> {
        let Connected { from, to, .. } = ends;
        let paths = [from, to].map(|end| self.interfaces(end.host));
        let stack = |end: InterfaceIndex| self.stack_over(section, end, (&paths[0], &paths[1]));
        let from_stack = stack(from)?;
        let scheduler = self.scheduler(section, from.host)?;
        let bottleneck = algorithms::bottleneck(section, &scheduler)?;
        let default = &self.stacks.profile(from.host).stack.mptcp.congestion;
        let congestion = algorithms::congestion(section, default, self.custom)?;
        let path_manager = self.path_manager(section, ends, from_stack.mptcp.max_subflows)?;
        let subflows = self.subflows(section, ends, from_stack.mptcp.max_subflows)?;
        let to_stack = stack(to)?;
        let config = |stack: &Stack| {
            Arc::new(mptcp::Config {
                congestion: stack.switched(&congestion),
                scheduler: scheduler.clone(),
                path_manager: path_manager.clone(),
                bottleneck: bottleneck.clone(),
                ..stack.mptcp.clone()
            })
        };
        Ok(Mptcp { ends: PerEnd { from: config(&from_stack), to: config(&to_stack) }, subflows })
    }

    /// The stack of an end of TCP or MPTCP, whose flow has paths from some interfaces to others.
    fn stack_over(
        &self,
        section: &Section<'_>,
        end: InterfaceIndex,
        (from, to): (&[InterfaceIndex], &[InterfaceIndex]),
    ) -> Result<Arc<Stack>, Problem> {
        // Both buffers may be in products of the same paths.
        let known = Cell::new(None);
        self.stacks.stack_with_buffers(section, end.host, |products, field| {
            let product = known.get().map_or_else(|| PathProduct::of(&self.outgoing, from, to, field), Ok)?;
            known.set(Some(product));
            let PathProduct { rate, round_trip } = product;
            let bytes = products.bytes(rate, round_trip);
            BUFFER.contains(&bytes).then_some(bytes).ok_or_else(|| {
                let (found, [least, most]) =
                    (Size::from_bytes(bytes), [*BUFFER.start(), *BUFFER.end()].map(Size::from_bytes));
                field.problem(format!(
                    "found {found}, {products} of {rate} and {round_trip}; expected {least} to {most}"
                ))
            })
        })
    }

    /// The interfaces of a host.
    fn interfaces(&self, host: usize) -> Vec<InterfaceIndex> {
        (0..self.topology.hosts[host].interfaces.len()).map(|interface| InterfaceIndex { host, interface }).collect()
    }

    /// The scheduler of a flow from `host`.
    fn scheduler(&self, section: &Section<'_>, host: usize) -> Result<Scheduling, Problem> {
        let default = &self.stacks.profile(host).stack.mptcp.scheduler;
        algorithms::scheduler(section, default, self.custom)
    }

    /// The path manager of a flow between `ends`. Some path managers require gateways.
    fn path_manager(&self, section: &Section<'_>, ends: Connected, most: usize) -> Result<PathManagement, Problem> {
        let host = ends.from.host;
        let default = &self.stacks.profile(host).stack.mptcp.path_manager;
        let paths = || number_of_paths(self.topology, ends.from, ends.to);
        let manager = algorithms::path_manager(section, default, self.custom, most, &paths)?;
        let has_gateways = self.topology.hosts[host].interfaces.iter().any(|interface| !interface.gateways.is_empty());
        match section.given("path_manager") {
            Some(field) if manager.name() == "binder" && !has_gateways => {
                let name = &self.topology.hosts[host].name;
                Err(field
                    .problem(format!("binder goes through gateways, and no interface of {name} has any"))
                    .help("name routers: interfaces = [{ name = \"eth\", address = […], gateways = […] }]"))
            }
            _ => Ok(manager),
        }
    }

    fn subflows(
        &self,
        section: &Section<'_>,
        Connected { from, to, addresses }: Connected,
        most: usize,
    ) -> Result<Vec<SubflowPlan>, Problem> {
        let Some(field) = section.given("subflows") else { return Ok(Vec::new()) };
        let list = field.list("a list of tables such as { from = \"phone.lte\", to = \"server.eth\" }")?;
        if list.len() >= most {
            return Err(field.problem(format!(
                "found {} subflows next to the initial one, expected at most {most} in all (mptcp.max_subflows)",
                list.len()
            )));
        }
        let initial = SubflowPlan { from, to, addresses, source_port: source_port(section)?, backup: false };
        let mut taken = vec![(initial, field.place().clone())];
        for element in &list {
            let plan = self.subflow(element, from.host, to.host)?;
            let same_ends = |other: &SubflowPlan| {
                plan.source_port.is_some()
                    && (plan.from, plan.to, plan.source_port) == (other.from, other.to, other.source_port)
            };
            if let Some((_, place)) = taken.iter().find(|(other, _)| same_ends(other)) {
                return Err(element
                    .problem("found two subflows with the same ends and the same source_port")
                    .also(place, "here is the other one, or the flow's own")
                    .help("give one of them another source_port, or leave it to the stack"));
            }
            taken.push((plan, element.place().clone()));
        }
        Ok(taken.into_iter().skip(1).map(|(plan, _)| plan).collect())
    }

    fn subflow(&self, field: &Field<'_>, from_host: usize, to_host: usize) -> Result<SubflowPlan, Problem> {
        let section = field.section(&schema::SUBFLOW)?;
        let end = |key, host: usize| {
            let field = section.required(key)?;
            let end = self.topology.host_end(&field)?;
            if end.host != host {
                let name = &self.topology.hosts[host].name;
                return Err(field.expected(&format!("an interface of {name}, as the flow has it")));
            }
            Ok((end, field))
        };
        let (from_end, from_field) = end("from", from_host)?;
        let (to_end, to_field) = end("to", to_host)?;
        let Connected { from, to, addresses } =
            self.islands.connect(self.topology, None, (from_end, &from_field), (to_end, &to_field))?;
        let (source_port, backup) = (source_port(&section)?, section.value("backup").boolean()?);
        Ok(SubflowPlan { from, to, addresses, source_port, backup })
    }
}

/// The place of the interface `primary` in the order of the handshake: that of `to` first, then the others of its host.
fn place_of(primary: InterfaceIndex, to: InterfaceIndex) -> usize {
    match primary.interface.cmp(&to.interface) {
        Ordering::Equal => 0,
        Ordering::Less => primary.interface + 1,
        Ordering::Greater => primary.interface,
    }
}

pub(super) fn source_port(section: &Section<'_>) -> Result<Option<u16>, Problem> {
    section.given("source_port").map(|port| port.integer(1..=65_535).map(|port| port as u16)).transpose()
}
