//! Hosts, routers and links, read in the order in which they depend on each other.

use subflow_network::RouterMode;

use super::References;
use super::links::LinkReader;
use super::shape::Generated;
use super::topology::Topology;
use super::{gateways, hosts, middleboxes, routing, shape, wifi};
use crate::file::{Collector, Field, Place, Problem, Section};
use crate::{Host, HostStack, Interface, Router, schema};

impl Topology {
    /// Reads `hosts`, `routers` and `links`. Returns `None` if too little of them is valid to continue.
    pub(super) fn read(section: &Section<'_>, references: References<'_>, problems: &mut Collector) -> Option<Self> {
        let generated = match section.given("topology") {
            Some(field) => Some((problems.keep(shape::read(&field, references))?, field)),
            None => None,
        };
        let needed = |key| match (section.given(key), &generated) {
            (None, None) => section.required(key).map(Some),
            (given, _) => Ok(given),
        };
        let hosts_field = problems.keep(needed("hosts"));
        let links_field = problems.keep(needed("links"));
        let (hosts_field, links_field) = (hosts_field?, links_field?);
        let (mode, routing) = problems.keep(routing::read(section))?;

        let mut topology = Self::empty(routing);
        if let Some((generated, field)) = &generated {
            topology.add_generated_nodes(generated, mode, field.place());
        }
        if let Some(field) = &hosts_field {
            topology.read_hosts(field, problems)?;
        }
        hosts::assign_addresses(&mut topology, problems)?;
        if let Some(field) = section.given("routers") {
            topology.read_routers(&field, mode, problems)?;
        }
        if let Some((generated, field)) = &generated {
            for link in generated.links() {
                problems.keep(wifi::check(field, &link, &topology.links))?;
                let places = [field.place().clone(), field.place().clone()];
                problems.keep(topology.plug_in(link, places))?;
            }
        }
        match (&links_field, &generated) {
            (Some(field), _) => topology.read_links(field, references, problems)?,
            (None, Some((_, field))) => topology.check_all_plugged_in(field, problems),
            (None, None) => {}
        }
        // A host whose name is taken gets no interfaces.
        if problems.is_empty() {
            gateways::read(section, &mut topology, problems);
        }
        Some(topology)
    }

    fn add_generated_nodes(&mut self, generated: &Generated, mode: RouterMode, place: &Place) {
        for name in &generated.shape.hosts {
            let (interfaces, stack) = (vec![Interface::new("eth")], HostStack::default());
            let host = Host { name: name.clone(), interfaces, stack, namespace: None };
            self.hosts.push(name, host);
            self.interface_places.push(vec![place.clone()]);
        }
        for name in &generated.shape.switches {
            self.routers.push(name, Router { name: name.clone(), mode });
        }
    }

    fn read_hosts(&mut self, field: &Field<'_>, problems: &mut Collector) -> Option<()> {
        let (hosts, places) = hosts::read(field, problems)?;
        for host in hosts {
            if self.is_node(&host.name) {
                problems.add(name_taken(field, &host.name));
            }
            self.hosts.push(&host.name.clone(), host);
        }
        self.interface_places.extend(places);
        Some(())
    }

    /// Whether a host or router has this name.
    fn is_node(&self, name: &str) -> bool {
        self.hosts.number(name).is_some() || self.routers.number(name).is_some()
    }

    fn read_routers(&mut self, field: &Field<'_>, default: RouterMode, problems: &mut Collector) -> Option<()> {
        for (name, router) in problems.keep(field.named_entries("router"))? {
            if self.hosts.number(name).is_some() {
                problems.add(router.problem("there is a host of this name, too").help("give one of them another name"));
            } else if self.is_node(name) {
                problems.add(name_taken(field, name));
            }
            let mode = router.section(&schema::ROUTER).and_then(|section| match section.given("routing") {
                Some(given) => {
                    given.choice("a way of routing", &schema::ROUTER_MODES).map(|mode| (mode, given.place().clone()))
                }
                None => Ok((default, router.place().clone())),
            });
            let boxes = router.section(&schema::ROUTER).map(|section| section.given("middlebox"));
            if let Some(boxes) = boxes.ok().flatten().and_then(|boxes| problems.keep(middleboxes::of_router(&boxes))) {
                self.router_middleboxes.insert(self.routers.len(), boxes);
            }
            // A router with an unknown mode is still added, so that its links raise no false alarms.
            let known = problems.keep(mode);
            if let Some((mode, place)) = &known {
                self.check_control(name, *mode, place, problems);
            }
            let mode = known.map_or(default, |(mode, _)| mode);
            self.routers.push(name, Router { name: name.to_owned(), mode });
        }
        Some(())
    }

    /// A controller has either all routers or none.
    fn check_control(&self, name: &str, mode: RouterMode, place: &Place, problems: &mut Collector) {
        let controlled = |mode| mode == RouterMode::Multiflow;
        // Comparison with the first one suffices: routers that differ from it have been reported.
        let Some(other) = self.routers.first().filter(|first| controlled(first.mode) != controlled(mode)) else {
            return;
        };
        let (under, free) = if controlled(mode) { (name, &*other.name) } else { (&*other.name, name) };
        problems.add(
            Problem::at(place, format!("router {under} is under a controller (multiflow), but router {free} is not"))
                .label("a controller has all routers, or none")
                .help("set routing.mode for all of them"),
        );
    }

    fn read_links(&mut self, field: &Field<'_>, references: References<'_>, problems: &mut Collector) -> Option<()> {
        let entries = problems.keep(field.named_entries("link"))?;
        if entries.is_empty() {
            problems.add(field.problem("there is no link, expected at least one"));
        }
        for (name, link) in &entries {
            let read = LinkReader { topology: self, references }.read(name, link);
            let checked = read.and_then(|(read, ends)| {
                wifi::check(link, &read, &self.links)?;
                Ok((read, ends))
            });
            if let Some((link, ends)) = problems.keep(checked) {
                problems.keep(self.plug_in(link, ends));
            }
        }
        if problems.is_empty() {
            self.check_all_plugged_in(field, problems);
        }
        Some(())
    }
}

/// The problem of a host or router that has the name of a generated node.
fn name_taken(field: &Field<'_>, name: &str) -> Problem {
    field.problem(format!("the topology has a node {name:?} already")).help("give this one another name")
}
