//! The routers' tables, and gateways: addresses whose packets pass a given router, as with loose source routing (RFC
//! 791, section 3.1) over relays.

use std::collections::BTreeMap;
use std::net::IpAddr;

use prefetch_index::prefetch_index;
use subflow_policy::routing::{Graph, LinkSet, NextHops, choose, salt};

use super::{RouteMetric, RouterMode, Wiring};
use crate::{InterfaceId, Stop};

/// For each router and destination (an interface or a gateway), the next link, or several to choose from.
#[derive(Debug)]
pub(crate) struct Routes {
    /// A link, [`NO_ROUTE`], or [`CHOICE`] plus the index of a choice.
    next: Box<[u32]>,
    destinations: usize,
    choices: Vec<Choice>,
}

/// Table entry: there is no route to the destination.
const NO_ROUTE: u32 = u32::MAX;
/// Table entry: flag of a choice.
const CHOICE: u32 = 1 << 31;

/// Several links of equal cost.
#[derive(Debug)]
struct Choice {
    links: Box<[u32]>,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    /// By the flow's hash and the router's salt.
    Hash(u32),
    /// The index of the link whose turn is next.
    InTurn(usize),
}

/// The input from which tables are computed.
#[derive(Clone, Debug)]
pub(crate) struct TableRules {
    pub(crate) modes: Vec<RouterMode>,
    pub(crate) metric: RouteMetric,
    pub(crate) static_routes: Vec<StaticRoute>,
    /// Destinations to which equal ways are not shared.
    pub(crate) single_ways: Vec<InterfaceId>,
    pub(crate) gateways: Gateways,
    /// The root of the spanning tree outside of which no link is used.
    pub(crate) spanning_tree: Option<u32>,
}

/// A configured route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaticRoute {
    pub(crate) router: u32,
    pub(crate) destination: InterfaceId,
    pub(crate) via: u32,
}

impl TableRules {
    /// Computes the tables without the links that are `down`; `None` if a `stop` is requested meanwhile.
    pub(crate) fn tables(&self, wiring: &Wiring, graph: &Graph, down: &LinkSet, stop: Option<&Stop>) -> Option<Routes> {
        let mut tables = Tables { rules: self, routes: self.empty(wiring), known: BTreeMap::new() };
        let mut interfaces_at: Vec<Vec<(InterfaceId, u32)>> = vec![Vec::new(); wiring.routers];
        for (interface, attachment) in wiring.interface_ids().zip(wiring.attachments()) {
            if let Some((router, last)) = attachment {
                interfaces_at[router as usize].push((interface, last));
            }
        }
        let outside = self.spanning_tree.map(|root| graph.outside_of_tree(root, down));
        let unused = outside.as_ref().unwrap_or(down);
        for gateway in self.gateways.iter() {
            // The gateway itself needs no link to the gateway.
            interfaces_at[gateway.router as usize].push((gateway.destination, NO_ROUTE));
        }
        for (last_router, interfaces) in interfaces_at.iter().enumerate().filter(|(_, there)| !there.is_empty()) {
            if stop.is_some_and(Stop::is_requested) {
                return None;
            }
            let next_hops = graph.next_hops(last_router as u32, self.metric, unused);
            for router in 0..wiring.routers {
                let entry = tables.entry(router, &next_hops);
                for &(interface, last) in interfaces {
                    let entry = match router == last_router {
                        true => last,
                        false if self.single_ways.contains(&interface) => next_hops.first[router].unwrap_or(NO_ROUTE),
                        false => entry,
                    };
                    tables.routes.set(router as u32, interface, entry);
                }
            }
        }
        for route in &self.static_routes {
            tables.routes.set(route.router, route.destination, route.via);
        }
        Some(tables.routes)
    }

    fn empty(&self, wiring: &Wiring) -> Routes {
        let destinations = wiring.interfaces + self.gateways.iter().count();
        let next = vec![NO_ROUTE; wiring.routers * destinations].into_boxed_slice();
        Routes { next, destinations, choices: Vec::new() }
    }
}

/// Tables under construction.
struct Tables<'a> {
    rules: &'a TableRules,
    routes: Routes,
    /// The choices of each router so far.
    known: BTreeMap<(usize, Vec<u32>), u32>,
}

impl Tables<'_> {
    fn entry(&mut self, router: usize, next_hops: &NextHops) -> u32 {
        let all = &next_hops.all[router];
        let rule = match self.rules.modes[router] {
            RouterMode::EcmpFlow if all.len() > 1 => Rule::Hash(salt(router as u32)),
            RouterMode::EcmpPacket if all.len() > 1 => Rule::InTurn(0),
            _ => return next_hops.first[router].unwrap_or(NO_ROUTE),
        };
        let choices = &mut self.routes.choices;
        *self.known.entry((router, all.clone())).or_insert_with(|| {
            choices.push(Choice { links: all.clone().into_boxed_slice(), rule });
            CHOICE | (choices.len() - 1) as u32
        })
    }
}

impl Routes {
    fn set(&mut self, router: u32, destination: InterfaceId, entry: u32) {
        self.next[router as usize * self.destinations + destination.index()] = entry;
    }

    #[inline]
    fn entry(&self, router: u32, destination: InterfaceId) -> u32 {
        self.next[router as usize * self.destinations + destination.index()]
    }

    /// The next link at `router` for a packet to `destination` with this flow hash.
    #[inline(always)]
    pub(crate) fn next(&mut self, router: u32, destination: InterfaceId, hash: u16) -> Option<u32> {
        let entry = self.entry(router, destination);
        if entry & CHOICE == 0 { Some(entry) } else { self.choose(entry, hash) }
    }

    /// The next link by an entry that is none itself.
    #[inline(never)]
    fn choose(&mut self, entry: u32, hash: u16) -> Option<u32> {
        if entry == NO_ROUTE { None } else { Some(self.choices[(entry ^ CHOICE) as usize].next(hash)) }
    }

    /// The next link at `router` to `destination`, if there is only one.
    #[inline]
    pub(crate) fn sole(&self, router: u32, destination: InterfaceId) -> Option<u32> {
        Some(self.entry(router, destination)).filter(|entry| entry & CHOICE == 0)
    }

    /// Fetches the entry of `router` for `destination` into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, router: u32, destination: InterfaceId) {
        prefetch_index(&self.next, router as usize * self.destinations + destination.index());
    }

    /// The next link for all packets of a flow with this hash; `Err` if packets may take different links.
    pub(crate) fn next_of_flow(
        &self,
        router: u32,
        destination: InterfaceId,
        hash: u16,
    ) -> Result<Option<u32>, PerPacket> {
        match self.entry(router, destination) {
            NO_ROUTE => Ok(None),
            entry if entry & CHOICE == 0 => Ok(Some(entry)),
            entry => {
                let Choice { links, rule } = &self.choices[(entry ^ CHOICE) as usize];
                match rule {
                    Rule::Hash(salt) => Ok(Some(links[choose(hash, *salt, links.len())])),
                    Rule::InTurn(_) => Err(PerPacket),
                }
            }
        }
    }

    /// The next link at `router` to `destination`, the first one of several.
    pub(crate) fn first(&self, router: u32, destination: InterfaceId) -> Option<u32> {
        match self.entry(router, destination) {
            NO_ROUTE => None,
            entry if entry & CHOICE == 0 => Some(entry),
            entry => Some(self.choices[(entry ^ CHOICE) as usize].links[0]),
        }
    }
}

/// The router chooses for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerPacket;

impl Choice {
    #[inline]
    fn next(&mut self, hash: u16) -> u32 {
        match &mut self.rule {
            Rule::Hash(salt) => self.links[choose(hash, *salt, self.links.len())],
            Rule::InTurn(turn) => {
                let link = self.links[*turn];
                *turn = if *turn + 1 == self.links.len() { 0 } else { *turn + 1 };
                link
            }
        }
    }
}

/// The gateways of addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gateways {
    of_address: BTreeMap<IpAddr, Gateway>,
}

/// A router that packets must pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gateway {
    pub(crate) router: u32,
    /// Its destination number in the routers' tables: larger than the numbers of all interfaces.
    pub(crate) destination: InterfaceId,
}

impl Gateways {
    /// Creates it from addresses and their routers, in a network with `interfaces` interfaces.
    pub(crate) fn new(addresses: &[(IpAddr, u32)], interfaces: usize) -> Self {
        let routers: BTreeMap<IpAddr, u32> = addresses.iter().copied().collect();
        let numbered = routers.into_iter().enumerate().map(|(number, (address, router))| {
            (address, Gateway { router, destination: InterfaceId::from_index(interfaces + number) })
        });
        Self { of_address: numbered.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of_address.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Gateway> {
        self.of_address.values().copied()
    }

    /// The gateway that packets between two addresses pass: the source's, else the destination's.
    pub(crate) fn between(&self, source: IpAddr, destination: IpAddr) -> Option<Gateway> {
        self.of_address.get(&source).or_else(|| self.of_address.get(&destination)).copied()
    }
}
