//! The ends of flows: resolves `"host"`, `"host.interface"` and names of routers, and assigns destination ports.

use std::collections::{BTreeMap, BTreeSet};

use super::topology::Topology;
use crate::file::{Field, Place, Problem, did_you_mean, list};
use crate::{Attachment, InterfaceIndex};

/// A host and optionally one of its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostEnd {
    pub(super) host: usize,
    pub(super) interface: Option<usize>,
}

impl Topology {
    /// The host that a flow's `from` or `to` names: `"host"` or `"host.interface"`.
    pub(super) fn host_end(&self, field: &Field<'_>) -> Result<HostEnd, Problem> {
        let text = field.string("a host, or \"host.interface\"")?;
        let (name, interface) = split(text);
        let Some(host) = self.hosts.number(name) else {
            let names = || self.hosts.iter().map(|host| host.name.as_str());
            let what = match self.routers.number(name).is_some() {
                true => format!("{name:?} is a router, expected a host"),
                false => format!("there is no host {name:?}"),
            };
            return Err(field
                .problem(what)
                .label(did_you_mean(name, names(), "no host of this name"))
                .help(format!("the hosts are {}", list(names()))));
        };
        let interface = interface.map(|interface| self.interface_of(field, host, interface)).transpose()?;
        Ok(HostEnd { host, interface })
    }

    /// An interface by its full name, `"host.interface"`, or by its host's name if the host has only this one.
    pub(super) fn interface(&self, field: &Field<'_>) -> Result<InterfaceIndex, Problem> {
        let HostEnd { host, interface } = self.host_end(field)?;
        let interfaces = &self.hosts[host].interfaces;
        match (interface, interfaces.len()) {
            (Some(interface), _) => Ok(InterfaceIndex { host, interface }),
            (None, 1) => Ok(InterfaceIndex { host, interface: 0 }),
            (None, n) => {
                let name = &self.hosts[host].name;
                let choices: Vec<String> = interfaces.iter().map(|i| format!("\"{name}.{}\"", i.name)).collect();
                Err(field
                    .problem(format!("{name} has {n} interfaces, expected one of them"))
                    .label("which one?")
                    .help(format!("write {}", list(choices.iter().map(String::as_str)))))
            }
        }
    }

    /// An end of a link.
    pub(super) fn attachment(&self, field: &Field<'_>) -> Result<Attachment, Problem> {
        let text = field.string("\"host.interface\" or the name of a router")?;
        let (name, _) = split(text);
        if let Some(router) = self.routers.number(text) {
            return Ok(Attachment::Router(router));
        }
        if self.hosts.number(name).is_some() {
            return self.interface(field).map(Attachment::Interface);
        }
        let names = || self.hosts.iter().map(|h| h.name.as_str()).chain(self.routers.iter().map(|r| r.name.as_str()));
        Err(field
            .problem(format!("there is no host or router {name:?}"))
            .label(did_you_mean(name, names(), "no such name"))
            .help(format!("there are: {}", list(names()))))
    }

    fn interface_of(&self, field: &Field<'_>, host: usize, name: &str) -> Result<usize, Problem> {
        let host = &self.hosts[host];
        let names = || host.interfaces.iter().map(|interface| interface.name.as_str());
        names().position(|known| known == name).ok_or_else(|| {
            field
                .problem(format!("{} has no interface {name:?}", host.name))
                .label(did_you_mean(name, names(), "no such interface"))
                .help(format!("its interfaces are {}", list(names())))
        })
    }
}

fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once('.') {
        Some((host, interface)) => (host, Some(interface)),
        None => (text, None),
    }
}

/// The port of the first flow without a specified one. Each following flow has the next port, whatever its destination.
const FIRST_PORT: usize = 5001;

/// The ports in use by host, and the places that specify them.
#[derive(Default)]
pub(super) struct Ports {
    taken: BTreeMap<(usize, u16), Place>,
    /// Those that were generated, before their flows take them.
    generated: BTreeSet<(usize, u16)>,
    /// By host, the port at which the search for a free port continues. Those before it are taken or given.
    search: BTreeMap<usize, u32>,
}

impl Ports {
    /// The port for a flow to `host` without a specified one, which is the `index`th of all flows. From the 60,536th
    /// flow on, it is the lowest free port of that host.
    pub(super) fn automatic(&mut self, index: usize, host: usize) -> Option<u16> {
        let port = u16::try_from(FIRST_PORT + index).ok().or_else(|| self.lowest_free(host))?;
        self.generated.insert((host, port));
        Some(port)
    }

    fn lowest_free(&mut self, host: usize) -> Option<u16> {
        let search = self.search.entry(host).or_insert(1);
        loop {
            let port = u16::try_from(*search).ok()?;
            *search += 1;
            if !self.taken.contains_key(&(host, port)) && !self.generated.contains(&(host, port)) {
                return Some(port);
            }
        }
    }

    /// Assigns `port` of `host` to `flow`, as specified at `place`, unless another flow has it.
    pub(super) fn take(
        &mut self,
        topology: &Topology,
        flow: &Field<'_>,
        (host, port): (usize, u16),
        place: &Place,
    ) -> Result<(), Problem> {
        let Some(other) = self.taken.insert((host, port), place.clone()) else { return Ok(()) };
        let what = format!("{}: port {port} of {} is taken", flow.name(), topology.hosts[host].name);
        Err(Problem::at(place, what).also(&other, "by this flow").help("give one of them another port"))
    }
}
