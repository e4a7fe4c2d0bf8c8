//! Code shared by the path managers that open subflows between pairs of addresses. They differ only in how many
//! subflows each pair gets.
//!
//! - A failed subflow is opened again with a delay that grows (`retries.rs`), or else when one of its two addresses is
//!   lost and returns. If the peer gave a permanent reason it is not tried even then (RFC 8684, section 3.6).
//! - A pair is a local address and a remote address **with its port**: an address announced with another port is
//!   another pair. Addresses of different families form no pair.
//! - If a local address is lost, its subflows are closed and, if the peer knows its identifier, it is withdrawn.
//! - There are at most [`MAX_SUBFLOWS`] subflows. With several per pair, every pair gets its first subflow before any
//!   pair gets its second. Pairs without a subflow get one as soon as another subflow closes.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroU8;

use subflow_quantity::Instant;

use super::addresses::Addresses;
use super::retries::Retries;
use super::subflows::{Change, Pair, Subflows};
use super::{Address, Command, Event, MAX_SUBFLOWS, PathManager};

/// How many refused pairs are remembered: a peer could announce, and refuse, one address after the other.
const MAX_REFUSED: usize = MAX_SUBFLOWS;

/// Which pairs of addresses a client opens subflows on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// On every pair, this number.
    Full(NonZeroU8),
    /// On one pair for each local address.
    Single,
    /// Only on the initial pair, this number.
    Ports(NonZeroU8),
    /// From each local address to the initial remote one.
    Gateways,
}

impl Shape {
    /// The number of subflows of a pair that has any.
    pub(super) fn subflows_per_pair(self) -> u8 {
        match self {
            Self::Full(n) | Self::Ports(n) => n.get(),
            Self::Single | Self::Gateways => 1,
        }
    }
}

/// The addresses and subflows of a connection, and the shape that they should have.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    shape: Shape,
    role: Option<Role>,
    /// The pair of the initial subflow.
    initial: Option<Pair>,
    addresses: Addresses,
    subflows: Subflows,
    /// The number of subflows that each pair has had since both of its addresses exist, or since it was tried again.
    opened: Vec<(Pair, usize)>,
    /// Whether failed subflows are opened again.
    retries_failed: bool,
    retries: Retries,
    /// Pairs on which the peer wants no subflow, the latest last.
    refused: VecDeque<Pair>,
    /// Identifiers of local addresses that the peer knows from an announcement or a join.
    known_to_peer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

impl PathManager for Mesh {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        let change = self.subflows.on_event(event);
        let requested = matches!(change, Change::Established { requested: true, .. });
        match *event {
            Event::Established { initial, client, initial_address_closed } if self.role.is_none() => {
                self.role = Some(if client { Role::Client } else { Role::Server });
                self.initial = Some(initial.into());
                self.addresses.establish(initial, initial_address_closed);
                self.known_to_peer.push(0);
                self.opened.push((initial.into(), 1));
                // Others are open already where the connection is taken over.
                let open: Vec<Pair> = self.subflows.open().filter(|&pair| self.has_both_ends(pair)).collect();
                open.into_iter().for_each(|pair| self.retries.on_established(pair, now));
            }
            Event::LocalAddressAdded(address) => self.addresses.add_local(address),
            Event::LocalAddressRemoved(Address { address, .. }) => self.lose_local(address, commands),
            Event::RemoteAddressAdded(address) => {
                self.addresses.add_remote(address);
                let target = self.addresses.target(address);
                self.retries.expedite(|failed| Some(failed.remote) == target, now);
            }
            Event::RoutesChanged => self.retries.expedite(|_| true, now),
            Event::RemoteAddressRemoved { id } => self.lose_remote(id),
            Event::PathRefused(subflow) => self.refuse(subflow.into()),
            Event::SubflowEstablished(subflow) if requested && !self.has_both_ends(subflow.into()) => {
                commands.extend(self.subflows.close_where(|open| open == subflow).map(Command::Close));
            }
            // A connection that is taken over: the peer knows the address from its join or ours.
            Event::SubflowEstablished(subflow) if self.role.is_none() => {
                if let Some(local) = self.addresses.local_address(subflow.local.ip()) {
                    self.tell_peer(local.id);
                }
            }
            _ => {}
        }
        self.note_change(change, now);
        for pair in self.retries.take_due(now) {
            self.opened.retain(|(opened, _)| *opened != pair);
        }
        match self.role {
            Some(Role::Client) => self.open_missing(commands),
            Some(Role::Server) if matches!(self.shape, Shape::Full(_) | Shape::Single) => {
                self.announce_missing(commands)
            }
            Some(Role::Server) | None => {}
        }
    }

    fn wake_at(&self) -> Instant {
        self.retries.wake_at()
    }
}

impl Mesh {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            role: None,
            initial: None,
            addresses: Addresses::default(),
            subflows: Subflows::default(),
            opened: Vec::new(),
            retries_failed: true,
            retries: Retries::default(),
            refused: VecDeque::new(),
            known_to_peer: Vec::new(),
        }
    }

    /// Which pairs get subflows.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// Whether failed subflows are opened again.
    pub(super) fn retries_failed(&self) -> bool {
        self.retries_failed
    }

    pub(super) fn set_retries_failed(&mut self, retries_failed: bool) {
        self.retries_failed = retries_failed;
    }

    /// The number of subflows that are open or being opened.
    #[cfg(test)]
    pub(super) fn subflows(&self) -> usize {
        self.subflows.len()
    }

    fn open_missing(&mut self, commands: &mut Vec<Command>) {
        let mesh: Vec<_> = self.mesh().collect();
        let rounds = self.shape.subflows_per_pair().into();
        for round in 1..=rounds {
            for &(local, remote, pair) in &mesh {
                if self.subflows.len() >= MAX_SUBFLOWS {
                    return;
                }
                if self.is_missing(pair, round) {
                    self.note_opening(pair);
                    self.tell_peer(local.id);
                    commands.push(Command::Open { local, remote, port: pair.remote.port(), backup: false });
                }
            }
        }
    }

    /// Whether `pair` lacks its subflow number `round`.
    fn is_missing(&self, pair: Pair, round: usize) -> bool {
        let wanted = match self.shape {
            Shape::Full(_) => true,
            Shape::Single => !self.subflows.use_local(pair.local),
            Shape::Ports(_) => self.initial == Some(pair),
            Shape::Gateways => self.initial.is_some_and(|initial| initial.remote == pair.remote),
        };
        wanted && self.opened_on(pair) < round && !self.refused.contains(&pair)
    }

    /// Notes for later attempts how a pair has fared. The side that accepts subflows opens none again.
    fn note_change(&mut self, change: Change, now: Instant) {
        match change {
            _ if !self.retries_failed || self.role == Some(Role::Server) => {}
            // The peer may open any number of subflows, each from another port.
            Change::Established { pair, .. } if self.has_both_ends(pair) => self.retries.on_established(pair, now),
            Change::Failed(pair) if !self.refused.contains(&pair) && self.has_both_ends(pair) => {
                let is_initial = self.initial.is_some_and(|initial| initial.remote == pair.remote);
                self.retries.on_failed(pair, !is_initial, now);
            }
            Change::Established { .. } | Change::Failed(_) | Change::Nothing => {}
        }
    }

    fn refuse(&mut self, pair: Pair) {
        self.retries.forget(|failed| failed == pair);
        if !self.refused.contains(&pair) {
            self.refused.push_back(pair);
            if self.refused.len() > MAX_REFUSED {
                self.refused.pop_front();
            }
        }
    }

    fn announce_missing(&mut self, commands: &mut Vec<Command>) {
        for index in 0..self.addresses.local().len() {
            let address = self.addresses.local()[index];
            if self.tell_peer(address.id) {
                commands.push(Command::Announce(address));
            }
        }
    }

    fn lose_local(&mut self, lost: IpAddr, commands: &mut Vec<Command>) {
        let Some(Address { id, .. }) = self.addresses.remove_local(lost) else { return };
        self.opened.retain(|(pair, _)| pair.local != lost);
        self.retries.suspend(|pair| pair.local == lost);
        if let Some(known) = self.known_to_peer.iter().position(|&known| known == id) {
            self.known_to_peer.swap_remove(known);
            commands.push(Command::Withdraw { id });
        }
        commands.extend(self.subflows.close_where(|subflow| subflow.local.ip() == lost).map(Command::Close));
    }

    /// The transport closes the subflows of the identifier. Others to the same address stay: the peer has answered their
    /// joins with the identifier that the address has since it returned, whose announcement may still be on its way
    /// (RFC 8684, section 3.4.2; Linux `mptcp_pm_rm_addr_or_subflow` goes by identifier, too).
    fn lose_remote(&mut self, id: u8) {
        let lost = self.addresses.remove_remote(id);
        let addresses = &self.addresses;
        let leads = |to: &[Address], remote| to.iter().any(|address| addresses.target(*address) == Some(remote));
        let gone = |remote| leads(&lost, remote) && !leads(addresses.remote(), remote);
        self.opened.retain(|(pair, _)| !gone(pair.remote));
        self.retries.suspend(|pair| gone(pair.remote));
    }

    /// All pairs of existing addresses.
    fn mesh(&self) -> impl Iterator<Item = (Address, Address, Pair)> {
        self.addresses.remote().iter().flat_map(move |&remote| {
            self.addresses.local().iter().filter_map(move |&local| {
                let target = self.addresses.target(remote)?;
                let pair = Pair { local: local.address, remote: target };
                (local.address.is_ipv4() == remote.address.is_ipv4()).then_some((local, remote, pair))
            })
        })
    }

    fn has_both_ends(&self, pair: Pair) -> bool {
        self.mesh().any(|(_, _, present)| present == pair)
    }

    fn opened_on(&self, pair: Pair) -> usize {
        let counted = self.opened.iter().find(|(opened, _)| *opened == pair).map_or(0, |&(_, n)| n);
        // Requests sent before an address was lost may still be unanswered when it returns.
        counted.max(self.subflows.on(pair))
    }

    fn note_opening(&mut self, pair: Pair) {
        let count = self.opened_on(pair) + 1;
        self.subflows.request(pair);
        match self.opened.iter_mut().find(|(opened, _)| *opened == pair) {
            Some((_, n)) => *n = count,
            None => self.opened.push((pair, count)),
        }
    }

    /// Records that the peer knows this identifier. Returns whether that is new.
    fn tell_peer(&mut self, id: u8) -> bool {
        let new = !self.known_to_peer.contains(&id);
        if new {
            self.known_to_peer.push(id);
        }
        new
    }
}
