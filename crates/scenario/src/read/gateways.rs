//! `gateways = …` of interfaces: the routers through which packets of each address are sent.

use super::reachability::Islands;
use super::topology::Topology;
use crate::file::{Collector, Field, Problem, Section, Value, did_you_mean, list};
use crate::{InterfaceIndex, schema};

/// Reads the gateways of all interfaces; routers and links have been read before.
pub(super) fn read(scenario: &Section<'_>, topology: &mut Topology, problems: &mut Collector) {
    let islands = Islands::of(topology.routers.len(), &topology.links);
    for (name, field) in scenario.entries_of("hosts") {
        let Some(host) = topology.hosts.number(name) else { continue };
        let read = |interfaces: &Field<'_>, problems: &mut Collector, topology: &mut Topology| {
            let Some(elements) = problems.keep(interfaces.list("a list of interfaces")) else { return };
            for (interface, element) in elements.iter().enumerate() {
                let index = InterfaceIndex { host, interface };
                if let Some(gateways) = problems.keep(of_interface(element, index, topology, &islands)) {
                    topology.hosts.get_mut(host).interfaces[interface].gateways = gateways;
                }
            }
        };
        match field.value() {
            Value::Table(_) => {
                let Some(section) = problems.keep(field.section(&schema::HOST)) else { continue };
                let Some(interfaces) = problems.keep(section.required("interfaces")) else { continue };
                read(&interfaces, problems, topology);
            }
            _ => read(&field, problems, topology),
        }
    }
}

fn of_interface(
    element: &Field<'_>,
    index: InterfaceIndex,
    topology: &Topology,
    islands: &Islands,
) -> Result<Vec<usize>, Problem> {
    let Value::Table(_) = element.value() else { return Ok(Vec::new()) };
    let section = element.section(&schema::INTERFACE)?;
    let Some(field) = section.given("gateways") else { return Ok(Vec::new()) };
    if let Some(router) = topology.routers.iter().find(|router| !router.mode.follows_tables()) {
        return Err(field
            .problem(format!("gateways need routers that go by their tables, and {} does not", router.name))
            .help("leave `routing` at \"shortest-path\" or \"ecmp-flow\""));
    }
    let names = field.list("a list of names of routers")?;
    let addresses = topology.hosts[index.host].interfaces[index.interface].addresses.len();
    if names.len() != addresses {
        return Err(field
            .problem(format!("found {} gateways, expected as many as there are addresses, {addresses}", names.len()))
            .help("give the interface as many addresses: address = [\"10.1.0.1\", \"10.1.0.2\"]"));
    }
    names.iter().map(|name| gateway(name, index, topology, islands)).collect()
}

fn gateway(field: &Field<'_>, index: InterfaceIndex, topology: &Topology, islands: &Islands) -> Result<usize, Problem> {
    let name = field.string("the name of a router")?;
    let names = || topology.routers.iter().map(|router| router.name.as_str());
    let Some(router) = topology.routers.number(name) else {
        return Err(field
            .problem(format!("there is no router {name:?}"))
            .label(did_you_mean(name, names(), "no such router"))
            .help(format!("the routers are {}", list(names()))));
    };
    match islands.has_router(index, router) {
        true => Ok(router),
        false => Err(field.problem(format!("no chain of links leads to {name} from here")).label("unreachable")),
    }
}
