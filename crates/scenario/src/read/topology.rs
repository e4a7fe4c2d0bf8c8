//! The nodes and links of a scenario during reading, with the places of their names.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Deref;

use subflow_network::{PlacedMiddlebox, RoutingConfig};

use crate::file::{Collector, Field, Place, Problem, did_you_mean, list};
use crate::{Attachment, Host, InterfaceIndex, Link, Router};

/// Hosts, routers and links; every link is attached at both ends, every interface and router has a link.
pub(super) struct Topology {
    pub(super) hosts: Named<Host>,
    pub(super) routers: Named<Router>,
    /// By router, what packets pass that leave it.
    pub(super) router_middleboxes: BTreeMap<usize, Vec<PlacedMiddlebox>>,
    pub(super) links: Named<Link>,
    pub(super) routing: RoutingConfig,
    /// The places at which each host's interfaces are named.
    pub(super) interface_places: Vec<Vec<Place>>,
    /// The link of each attachment, and the place at which the link names it.
    pub(super) plugged: BTreeMap<Attachment, (usize, Place)>,
    /// The interface that has an address.
    pub(super) owners: BTreeMap<IpAddr, InterfaceIndex>,
}

impl Topology {
    /// A topology without nodes and links.
    pub(super) fn empty(routing: RoutingConfig) -> Self {
        Self {
            hosts: Named::default(),
            routers: Named::default(),
            router_middleboxes: BTreeMap::new(),
            links: Named::default(),
            routing,
            interface_places: Vec::new(),
            plugged: BTreeMap::new(),
            owners: BTreeMap::new(),
        }
    }

    /// Adds a link; `places` are those of its ends in the file.
    pub(super) fn plug_in(&mut self, link: Link, places: [Place; 2]) -> Result<(), Problem> {
        if self.links.number(&link.name).is_some() {
            let what = format!("links.{0}: the topology has a link {0:?} already", link.name);
            return Err(Problem::at(&places[0], what).help("give this one another name"));
        }
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
        self.links.push(&link.name.clone(), link);
        Ok(())
    }

    pub(super) fn check_all_plugged_in(&self, links: &Field<'_>, problems: &mut Collector) {
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

    /// The interface that has the address in this field.
    pub(super) fn address(&self, field: &Field<'_>) -> Result<(InterfaceIndex, IpAddr), Problem> {
        let text = field.string("an IP address of a host")?;
        let address: IpAddr = text.parse().map_err(|_| field.expected("an IP address such as \"10.0.1.1\""))?;
        let owner = self.owners.get(&address).map(|&index| (index, address));
        owner.ok_or_else(|| field.problem(format!("no host has the address {address}")).label("unknown address"))
    }

    /// The link of this name.
    pub(super) fn link(&self, field: &Field<'_>) -> Result<usize, Problem> {
        let name = field.string("the name of a link")?;
        let names = || self.links.iter().map(|link| link.name.as_str());
        self.links.number(name).ok_or_else(|| {
            field
                .problem(format!("there is no link {name:?}"))
                .label(did_you_mean(name, names(), "no such link"))
                .help(format!("the links are {}", list(names())))
        })
    }
}

/// A list of named items in the order of insertion. If several have the same name, a lookup finds the first.
pub(super) struct Named<T> {
    things: Vec<T>,
    numbers: BTreeMap<String, usize>,
}

impl<T> Named<T> {
    pub(super) fn push(&mut self, name: &str, thing: T) {
        self.numbers.entry(name.to_owned()).or_insert(self.things.len());
        self.things.push(thing);
    }

    /// The index of the item called `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut T {
        &mut self.things[number]
    }

    /// All items.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.things
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { things: Vec::new(), numbers: BTreeMap::new() }
    }
}

impl<T> Deref for Named<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.things
    }
}
