//! `[hosts]`, and the addresses of interfaces.

use std::net::{IpAddr, Ipv4Addr};

use super::energy;
use super::topology::Topology;
use crate::file::{Collector, Field, Place, Problem, Value, name_value};
use crate::schema::HOST_STACKS;
use crate::{Host, HostStack, Interface, InterfaceIndex, schema};

/// Addresses are counted in two bytes of `10.A.B.C`.
const MOST_HOSTS: usize = 65_000;
const MOST_INTERFACES: usize = 250;

/// The hosts, with the addresses that the file specifies, and the places of their interfaces' names.
pub(super) fn read(field: &Field<'_>, problems: &mut Collector) -> Option<(Vec<Host>, Vec<Vec<Place>>)> {
    let entries = problems.keep(field.named_entries("host"))?;
    if entries.is_empty() {
        problems.add(field.problem("there is no host, expected at least one"));
    }
    if entries.len() > MOST_HOSTS {
        problems.add(field.problem(format!("{} hosts, expected at most {MOST_HOSTS}", entries.len())));
        return None;
    }
    let (mut hosts, mut places) = (Vec::new(), Vec::new());
    for (name, entry) in &entries {
        let (interfaces, interface_places) = problems.keep(interfaces(entry))?.into_iter().unzip();
        let stack = problems.keep(stack(entry))?;
        let namespace = problems.keep(namespace(entry, stack))?;
        hosts.push(Host { name: (*name).to_owned(), interfaces, stack, namespace });
        places.push(interface_places);
    }
    Some((hosts, places))
}

/// The interfaces of a host in its short form (a list) or its long form (a table).
fn interfaces(host: &Field<'_>) -> Result<Vec<(Interface, Place)>, Problem> {
    let expected = "a list of interfaces such as [\"wifi\", \"lte\"], or a table with one";
    match host.value() {
        Value::Array(_) => interface_list(host, expected),
        Value::Table(_) => interface_list(&host.section(&schema::HOST)?.required("interfaces")?, expected),
        _ => Err(host.expected(expected)),
    }
}

fn stack(host: &Field<'_>) -> Result<HostStack, Problem> {
    match host.value() {
        Value::Table(_) => host.section(&schema::HOST)?.value("stack").choice("a stack", &HOST_STACKS),
        _ => Ok(HostStack::default()),
    }
}

/// An existing network namespace, by its name or a process in it.
fn namespace(host: &Field<'_>, stack: HostStack) -> Result<Option<String>, Problem> {
    if !matches!(host.value(), Value::Table(_)) {
        return Ok(None);
    }
    let Some(given) = host.section(&schema::HOST)?.given("namespace") else { return Ok(None) };
    let expected =
        "the name of a network namespace, as `ip netns` lists it, or the number of a process in one, as text";
    let text = given.string(expected)?;
    if text.is_empty() || text.starts_with('.') || text.contains(['/', '\0']) {
        return Err(given.expected(expected));
    }
    match stack {
        HostStack::Kernel => Ok(Some(text.to_owned())),
        HostStack::Subflow => Err(given
            .problem("this host has `stack = \"subflow\"`, expected one with the kernel's stack")
            .label("our stack is in no network namespace")),
    }
}

fn interface_list(field: &Field<'_>, expected: &str) -> Result<Vec<(Interface, Place)>, Problem> {
    let mut interfaces: Vec<(Interface, Place)> = Vec::new();
    for element in field.list(expected)? {
        let interface = interface(&element)?;
        if let Some((_, place)) = interfaces.iter().find(|(other, _)| other.name == interface.name) {
            return Err(element
                .problem(format!("there is an interface {:?} already", interface.name))
                .label("the second of this name")
                .also(place, "the first"));
        }
        interfaces.push((interface, element.place().clone()));
    }
    match interfaces.len() {
        0 => Err(field.problem("the host has no interface, expected at least one")),
        1..=MOST_INTERFACES => Ok(interfaces),
        n => Err(field.problem(format!("{n} interfaces, expected at most {MOST_INTERFACES}"))),
    }
}

fn interface(field: &Field<'_>) -> Result<Interface, Problem> {
    if matches!(field.value(), Value::String(_)) {
        return Ok(Interface::new(name_value(field, "interface")?));
    }
    let section = field.section(&schema::INTERFACE)?;
    let addresses = match section.given("address") {
        None => Vec::new(),
        Some(given) if matches!(given.value(), Value::Array(_)) => {
            let list = given.list("an IP address or a list of them")?;
            if list.is_empty() {
                return Err(given.expected("at least one IP address"));
            }
            list.iter().map(address).collect::<Result<_, _>>()?
        }
        Some(given) => vec![address(&given)?],
    };
    Ok(Interface {
        name: name_value(&section.required("name")?, "interface")?,
        addresses,
        gateways: Vec::new(),
        backup: section.value("backup").boolean()?,
        energy: section.given("energy").map(|field| energy::read(&field)).transpose()?,
    })
}

fn address(field: &Field<'_>) -> Result<IpAddr, Problem> {
    let expected = "an IP address such as \"192.168.1.2\" or \"fd00::2\"";
    let text = field.string(expected)?;
    // A scope follows the percent sign.
    let (bare, scope) = text.split_once('%').map_or((text, None), |(bare, scope)| (bare, Some(scope)));
    let address: IpAddr = bare.parse().map_err(|_| field.expected(expected))?;
    if matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local()) {
        return Err(field
            .problem(format!("{text} is a link-local address (fe80::/10), expected one that is the same everywhere"))
            .label("means another host on every link")
            .help(
                "sockets take it with a scope only (%INTERFACE), of which other hosts know nothing, and no router \
                forwards it; take a unique local address such as \"fd00::1\"",
            ));
    }
    if scope.is_some() {
        return Err(field.expected(expected));
    }
    if address.is_unspecified() || address.is_multicast() || address.is_loopback() {
        return Err(field.expected("the address of one host, not a wildcard, multicast or loopback one"));
    }
    Ok(address)
}

/// Assigns `10.A.B.C` to every interface without an address, and rejects an address that two interfaces have.
pub(super) fn assign_addresses(topology: &mut Topology, problems: &mut Collector) -> Option<()> {
    for host in 0..topology.hosts.len() {
        for interface in 0..topology.hosts[host].interfaces.len() {
            let index = InterfaceIndex { host, interface };
            let addresses = &mut topology.hosts.get_mut(host).interfaces[interface].addresses;
            if addresses.is_empty() {
                addresses.push(generated_address(index));
            }
            for address in addresses.clone() {
                let Some(other) = topology.owners.insert(address, index) else { continue };
                let what = format!("{} has the address {address}", topology.interface_name(index));
                let place = &topology.interface_places[host][interface];
                let other_place = &topology.interface_places[other.host][other.interface];
                let name = topology.interface_name(other);
                let problem = Problem::at(place, what)
                    .label(format!("so has {name}"))
                    .help("every address belongs to one interface; without `address` it gets a free one");
                problems.add(if other == index { problem } else { problem.also(other_place, "the other one") });
            }
        }
    }
    problems.is_empty().then_some(())
}

fn generated_address(index: InterfaceIndex) -> IpAddr {
    let [.., a, b] = (index.host as u32 + 1).to_be_bytes();
    Ipv4Addr::new(10, a, b, index.interface as u8 + 1).into()
}
