//! `[flows.NAME]`: ends, times, ports and algorithms.

use subflow_quantity::Duration;
use subflow_wire::Dscp;

use super::ends::{HostEnd, Ports};
use super::groups::Numbers;
use super::path_products::Outgoing;
use super::protocols::{ProtocolReader, source_port};
use super::reachability::{Connected, Islands};
use super::reliability;
use super::sizes;
use super::stacks::Stacks;
use super::strays::refuse_strays;
use super::streams;
use super::topology::Topology;
use super::traces::Traces;
use super::traffic::{self, largest_datagram};
use super::{References, RunLength};
use crate::file::{Collector, Field, Place, Problem, Section, Value};
use crate::protocol_name::ProtocolName;
use crate::{Flow, FlowGroup, schema};

/// Reads flows; nodes and stacks have been read before.
pub(super) struct FlowReader<'a> {
    pub(super) topology: &'a Topology,
    pub(super) traces: &'a Traces,
    protocols: ProtocolReader<'a>,
    run: &'a RunLength,
}

/// A flow of the file.
pub(super) struct ReadFlow {
    pub(super) flow: Flow,
    /// What specifies its port.
    port_place: Place,
    pub(super) numbers: Numbers,
}

/// All flows without those that have problems, and what is drawn for them in each run.
pub(super) fn read(
    section: &Section<'_>,
    topology: &Topology,
    stacks: &Stacks<'_>,
    run: &RunLength,
    References { custom, traces }: References<'_>,
    problems: &mut Collector,
) -> (Vec<Flow>, Vec<FlowGroup>) {
    let (mut flows, mut groups) = (Vec::new(), Vec::new());
    if section.given("programs").is_some() && section.given("flows").is_none() {
        return (flows, groups);
    }
    let Some(field) = problems.keep(section.required("flows")) else { return (flows, groups) };
    let Some(entries) = problems.keep(field.named_entries("flow")) else { return (flows, groups) };
    if entries.is_empty() {
        problems.add(field.problem("there is no flow, expected at least one"));
    }
    let islands = Islands::of(topology.routers.len(), &topology.links);
    let outgoing = Outgoing::of(topology);
    let protocols = ProtocolReader { topology, outgoing, stacks, islands, custom };
    let reader = FlowReader { topology, traces, protocols, run };
    let mut ports = Ports::default();
    // A flow with problems has an index, too: it keeps its port.
    let mut index = 0;
    for (name, entry) in &entries {
        let mut port = |index, host: usize| {
            let of = &topology.hosts[host].name;
            let none_left = || {
                entry.problem(format!("all 65535 ports of {of} are taken by other flows")).help(
                    "groups that go on arriving keep a port for each flow that may come: let flows come less often \
                     (`arrivals`) or end earlier (`until`), or send some of them to another host",
                )
            };
            ports.automatic(index, host).ok_or_else(none_left)
        };
        match problems.keep(reader.pairs(name, entry)) {
            None => {
                index += 1;
                continue;
            }
            Some(None) => {}
            Some(Some(pairs)) => {
                let made = reader.read_pairs(name, entry, &pairs, (index, flows.len()), &mut port);
                index += pairs.len();
                let Some((many, group)) = problems.keep(made) else { continue };
                index += many.len() - pairs.len();
                for flow in &many {
                    problems.keep(ports.take(topology, entry, (flow.to.host, flow.port), entry.place()));
                }
                flows.extend(many);
                groups.push(group);
                continue;
            }
        }
        let read = problems.keep(reader.read(name, entry, |host| port(index, host)));
        let Some(ReadFlow { flow, port_place, numbers }) = read else {
            index += 1;
            continue;
        };
        let (first, host) = (index, flow.to.host);
        index += numbers.most();
        let position = flows.len();
        let Some((alike, group)) = problems.keep(numbers.flows(flow, (first, position), |index| port(index, host)))
        else {
            continue;
        };
        let of_later = group.iter().filter_map(|group| group.open_end.as_ref()).flat_map(|end| &end.ports).skip(1);
        for &port in alike.iter().map(|flow| &flow.port).chain(of_later) {
            problems.keep(ports.take(topology, entry, (host, port), &port_place));
        }
        flows.extend(alike);
        groups.extend(group);
    }
    (flows, groups)
}

impl FlowReader<'_> {
    /// The flow. If the file specifies no port, `automatic` chooses a free one of the host that it goes to.
    fn read(
        &self,
        name: &str,
        field: &Field<'_>,
        automatic: impl FnOnce(usize) -> Result<u16, Problem>,
    ) -> Result<ReadFlow, Problem> {
        let section = field.section(&schema::FLOW)?;
        let (from, to) = (section.required("from")?, section.required("to")?);
        let (from_end, to_end) = (self.topology.host_end(&from)?, self.topology.host_end(&to)?);
        self.between(name, field, [(from_end, &from), (to_end, &to)], automatic)
    }

    /// The flow between two hosts, or interfaces, which these fields name.
    pub(super) fn between(
        &self,
        name: &str,
        field: &Field<'_>,
        [(from_end, from_field), (to_end, to_field)]: [(HostEnd, &Field<'_>); 2],
        automatic: impl FnOnce(usize) -> Result<u16, Problem>,
    ) -> Result<ReadFlow, Problem> {
        let section = field.section(&schema::FLOW)?;
        let kind = section.value("protocol").choice("a protocol", &ProtocolName::ALL)?;
        refuse_strays(&section, kind)?;
        if from_end.host == to_end.host {
            return Err(to_field
                .problem("the flow goes from a host to itself")
                .label("the same host")
                .also(from_field.place(), "from here"));
        }
        let family = section.given("family").map(|field| field.choice("a family", &schema::FAMILIES)).transpose()?;
        let ends = [(from_end, from_field), (to_end, to_field)];
        let Connected { from, to, addresses } =
            self.protocols.islands.connect(self.topology, family, ends[0], ends[1])?;
        let (start, send_after, stop) = self.times(&section)?;
        let (port, port_place) = match section.given("port") {
            Some(given) => (given.integer(1..=65_535)? as u16, given.place().clone()),
            None => (automatic(to.host)?, field.place().clone()),
        };
        let sizes = sizes::read(&section, self.traces)?;
        let flow = Flow {
            name: name.to_owned(),
            group: None,
            from,
            fixed_source: from_end.interface.is_some(),
            to,
            addresses,
            port,
            source_port: source_port(&section)?,
            dscp: dscp(&section)?,
            protocol: self.protocols.protocol(kind, &section, Connected { from, to, addresses })?,
            traffic: traffic::read(
                &section,
                (kind, kind.is_udp().then(|| largest_datagram(addresses[1]))),
                sizes.as_ref(),
                self.traces,
            )?,
            write: traffic::writing(&section)?,
            read: traffic::reading(&section, kind.is_udp())?,
            start,
            send_after,
            stop,
        };
        streams::refuse_slow_readers(&flow, &section)?;
        reliability::refuse_what_cannot_end(&flow, &section, self.protocols.stacks)?;
        let numbers = Numbers::read(&section, sizes, self.run.duration, start)?;
        Ok(ReadFlow { flow, port_place, numbers })
    }

    /// When the connection is opened, the time from there to its first data, and when it stops to send.
    fn times(&self, section: &Section<'_>) -> Result<(Duration, Duration, Option<Duration>), Problem> {
        let start_field = section.value("start");
        let start = start_field.duration()?;
        self.run.check_before_end(&start_field, start)?;
        let after_field = section.value("send_after");
        let send_after = after_field.duration()?;
        let first = start.saturating_add(send_after);
        self.run.check_before_end(&after_field, first)?;
        let stop = match (section.given("stop"), section.given("duration")) {
            (Some(_), Some(duration)) => {
                return Err(duration.problem("found stop and duration, expected one of them").label("one too many"));
            }
            (Some(stop_field), None) => {
                let stop = stop_field.duration()?;
                if stop <= first {
                    let begins = if send_after.is_zero() { "start" } else { "first data" };
                    return Err(stop_field.expected(&format!("a time after the flow's {begins}, {first}")));
                }
                Some(stop)
            }
            (None, Some(duration)) => Some(first.saturating_add(duration.positive_duration()?)),
            (None, None) => None,
        };
        Ok((start, send_after, stop))
    }
}

/// The codepoint of the flow's packets, by its name or its number.
fn dscp(section: &Section<'_>) -> Result<Dscp, Problem> {
    let Some(field) = section.given("dscp") else { return Ok(Dscp::DEFAULT) };
    let codepoint = match field.value() {
        Value::String(text) => text.parse().ok(),
        Value::Integer(number) => u8::try_from(*number).ok().and_then(Dscp::new),
        _ => None,
    };
    codepoint.ok_or_else(|| field.expected("a codepoint such as \"EF\", \"AF41\" or \"CS1\", or a number from 0 to 63"))
}
