//! The nodes and links of a scenario while it is read, with the places of their names.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_network::RouterMode;

use super::links::LinkReader;
use super::traces::Traces;
use super::{addresses, hosts};
use crate::scenario::file::{Collector, Field, Place, Problem, Section, did_you_mean, list};
use crate::scenario::{Attachment, Host, InterfaceIndex, Link, Router, schema};

/// Hosts, routers and links, every link plugged in, every interface and router on a link.
pub(super) struct Topology {
    pub(super) hosts: Vec<Host>,
    pub(super) routers: Vec<Router>,
    pub(super) links: Vec<Link>,
    /// Where each host's interfaces are named.
    pub(super) interface_places: Vec<Vec<Place>>,
    /// Which link an attachment's interface has, and where the link says so.
    pub(super) plugged: BTreeMap<Attachment, (usize, Place)>,
}

impl Topology {
    /// Reads `hosts`, `routers` and `links`. `None` where there is too little to go on.
    pub(super) fn read(section: &Section<'_>, traces: &Traces, problems: &mut Collector) -> Option<Self> {
        let hosts_field = problems.keep(section.required("hosts"));
        let links_field = problems.keep(section.required("links"));
        let (hosts_field, links_field) = (hosts_field?, links_field?);

        let (hosts, interface_places) = hosts::read(&hosts_field, problems)?;
        let mut topology =
            Self { hosts, routers: Vec::new(), links: Vec::new(), interface_places, plugged: BTreeMap::new() };
        addresses::assign(&mut topology, problems)?;
        if let Some(field) = section.given("routers") {
            topology.read_routers(&field, problems)?;
        }
        topology.read_links(&links_field, traces, problems)?;
        Some(topology)
    }

    fn read_routers(&mut self, field: &Field<'_>, problems: &mut Collector) -> Option<()> {
        for (name, router) in problems.keep(field.named_entries("router"))? {
            if self.hosts.iter().any(|host| host.name == name) {
                problems.add(router.problem("there is a host of this name, too").help("give one of them another name"));
            }
            let mode = router.section(&schema::ROUTER).and_then(|section| {
                section.value("routing").choice("a routing", &[("shortest-path", RouterMode::ShortestPath)])
            });
            if let Some(mode) = problems.keep(mode) {
                self.routers.push(Router { name: name.to_owned(), mode });
            }
        }
        Some(())
    }

    fn read_links(&mut self, field: &Field<'_>, traces: &Traces, problems: &mut Collector) -> Option<()> {
        let entries = problems.keep(field.named_entries("link"))?;
        if entries.is_empty() {
            problems.add(field.problem("there is no link, expected at least one"));
        }
        for (name, link) in &entries {
            if let Some((link, ends)) = problems.keep(LinkReader { topology: self, traces }.read(name, link)) {
                problems.keep(self.plug_in(link, ends));
            }
        }
        if problems.is_empty() {
            self.check_all_plugged_in(field, problems);
        }
        Some(())
    }

    /// Adds a link whose ends are written at `places`.
    fn plug_in(&mut self, link: Link, places: [Place; 2]) -> Result<(), Problem> {
        for (end, place) in link.ends.iter().zip(&places) {
            let before = self.plugged.get(end);
            if let (Attachment::Interface(_), Some((other, other_place))) = (end, before) {
                let other = &self.links[*other].name;
                let what = format!("links.{}: {} is on link {other:?} already", link.name, self.attachment_name(*end));
                return Err(Problem::at(place, what)
                    .label("an interface has one link")
                    .also(other_place, "plugged in here")
                    .help("give the host another interface, or join the links in a router"));
            }
        }
        for (end, place) in link.ends.iter().zip(places) {
            self.plugged.entry(*end).or_insert((self.links.len(), place));
        }
        self.links.push(link);
        Ok(())
    }

    fn check_all_plugged_in(&self, links: &Field<'_>, problems: &mut Collector) {
        for (host, places) in self.interface_places.iter().enumerate() {
            for (interface, place) in places.iter().enumerate() {
                let end = Attachment::Interface(InterfaceIndex { host, interface });
                if !self.plugged.contains_key(&end) {
                    let name = self.attachment_name(end);
                    problems.add(
                        Problem::at(place, format!("interface {name} is on no link"))
                            .label("never linked")
                            .help(format!("add a link: [links.NAME] between = [\"{name}\", …], or drop the interface")),
                    );
                }
            }
        }
        for (index, router) in self.routers.iter().enumerate() {
            if !self.plugged.contains_key(&Attachment::Router(index)) {
                problems.add(
                    Problem::at(links.place(), format!("router {} is on no link", router.name))
                        .label("no link here names it")
                        .help(format!(
                            "add a link: [links.NAME] between = [\"{}\", …], or drop the router",
                            router.name
                        )),
                );
            }
        }
    }

    /// `host.interface`, or the router's name.
    pub(super) fn attachment_name(&self, attachment: Attachment) -> String {
        match attachment {
            Attachment::Interface(index) => self.interface_name(index),
            Attachment::Router(router) => self.routers[router].name.clone(),
        }
    }

    /// `host.interface`.
    pub(super) fn interface_name(&self, index: InterfaceIndex) -> String {
        let host = &self.hosts[index.host];
        format!("{}.{}", host.name, host.interfaces[index.interface].name)
    }

    /// The interface that has the address written here.
    pub(super) fn address(&self, field: &Field<'_>) -> Result<(InterfaceIndex, IpAddr), Problem> {
        let text = field.string("an IP address of a host")?;
        let address: IpAddr = text.parse().map_err(|_| field.expected("an IP address such as \"10.0.1.1\""))?;
        for (host, interfaces) in self.hosts.iter().map(|host| &host.interfaces).enumerate() {
            for (interface, known) in interfaces.iter().enumerate() {
                if known.addresses.contains(&address) {
                    return Ok((InterfaceIndex { host, interface }, address));
                }
            }
        }
        Err(field.problem(format!("no host has the address {address}")).label("nobody's address"))
    }

    /// The link of this name.
    pub(super) fn link(&self, field: &Field<'_>) -> Result<usize, Problem> {
        let name = field.string("the name of a link")?;
        let names = || self.links.iter().map(|link| link.name.as_str());
        names().position(|known| known == name).ok_or_else(|| {
            field
                .problem(format!("there is no link {name:?}"))
                .label(did_you_mean(name, names(), "no such link"))
                .help(format!("the links are {}", list(names())))
        })
    }
}
