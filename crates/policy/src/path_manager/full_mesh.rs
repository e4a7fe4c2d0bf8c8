//! `full-mesh`: every local address × every remote address.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU8;

use super::addresses::Addresses;
use super::subflows::{Pair, Subflows};
use super::{Address, Command, Event, MAX_SUBFLOWS, PathManager};

#[cfg(test)]
mod tests;

/// The client opens `subflows_per_pair` subflows from each of its n_s addresses to each of the server's n_d addresses,
/// n_s · n_d pairs in all; the server announces its addresses beyond the initial one and opens nothing, since a client
/// behind a NAT could not be reached.
///
/// Source: lima2017, section 3.3.4; Linux MPTCP 0.9x, `fullmesh`. As there:
/// - The mesh is static: a subflow that fails is not tried again (RFC 8684, section 3.4.1, asks for that too), until one
///   of its two addresses was lost and came back.
/// - A pair is a local address and a remote address **with its port**: an address announced with another port is one more
///   target. Addresses of different families form no pair.
///
/// Where an address is lost, its subflows are closed and, if the peer knows its identifier, it is withdrawn. There are
/// never more than [`MAX_SUBFLOWS`] subflows; with several per pair, every pair gets its first before any gets its second,
/// and pairs left out are served as soon as another subflow closes.
#[derive(Clone, Debug)]
pub struct FullMesh {
    subflows_per_pair: NonZeroU8,
    role: Option<Role>,
    addresses: Addresses,
    subflows: Subflows,
    /// How many subflows each pair has had since both its addresses are there.
    opened: Vec<(Pair, usize)>,
    /// Identifiers of local addresses that the peer has learnt, from an announcement or a join.
    known_to_peer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

impl Default for FullMesh {
    fn default() -> Self {
        Self::new(NonZeroU8::MIN)
    }
}

impl PathManager for FullMesh {
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
        let requested = self.subflows.on_event(event);
        match *event {
            Event::Established { initial, client, initial_address_closed } if self.role.is_none() => {
                self.role = Some(if client { Role::Client } else { Role::Server });
                self.addresses.establish(initial, initial_address_closed);
                self.known_to_peer.push(0);
                self.opened.push((initial.into(), 1));
            }
            Event::LocalAddressAdded(address) => self.addresses.add_local(address),
            Event::LocalAddressRemoved(Address { address, .. }) => self.lose_local(address, commands),
            Event::RemoteAddressAdded(address) => self.addresses.add_remote(address),
            Event::RemoteAddressRemoved { id } => self.lose_remote(id, commands),
            Event::SubflowEstablished(subflow) if requested && !self.has_both_ends(subflow.into()) => {
                commands.extend(self.subflows.close_where(|open| open == subflow).map(Command::Close));
            }
            _ => {}
        }
        match self.role {
            Some(Role::Client) => self.open_missing(commands),
            Some(Role::Server) => self.announce_missing(commands),
            None => {}
        }
    }
}

impl FullMesh {
    /// A full mesh with this many subflows on each pair of addresses (Linux MPTCP 0.9x: `num_subflows`).
    pub fn new(subflows_per_pair: NonZeroU8) -> Self {
        Self {
            subflows_per_pair,
            role: None,
            addresses: Addresses::default(),
            subflows: Subflows::default(),
            opened: Vec::new(),
            known_to_peer: Vec::new(),
        }
    }

    fn open_missing(&mut self, commands: &mut Vec<Command>) {
        let mesh: Vec<_> = self.mesh().collect();
        for round in 1..=usize::from(self.subflows_per_pair.get()) {
            for &(local, remote, pair) in &mesh {
                if self.subflows.len() >= MAX_SUBFLOWS {
                    return;
                }
                if self.opened_on(pair) < round {
                    self.note_opening(pair);
                    self.tell_peer(local.id);
                    commands.push(Command::Open { local, remote, port: pair.remote.port(), backup: false });
                }
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
        if let Some(known) = self.known_to_peer.iter().position(|&known| known == id) {
            self.known_to_peer.swap_remove(known);
            commands.push(Command::Withdraw { id });
        }
        commands.extend(self.subflows.close_where(|subflow| subflow.local.ip() == lost).map(Command::Close));
    }

    fn lose_remote(&mut self, id: u8, commands: &mut Vec<Command>) {
        let lost = self.addresses.remove_remote(id);
        let (addresses, role) = (&self.addresses, self.role);
        // A client's subflows come from ports of its own choice, a server's from the one that it announced.
        let runs_to = |address: &Address, remote: SocketAddr| match role {
            Some(Role::Client) => addresses.target(*address) == Some(remote),
            _ => remote.ip() == address.address,
        };
        let leads = |to: &[Address], remote| to.iter().any(|address| runs_to(address, remote));
        let gone = |remote| leads(&lost, remote) && !leads(addresses.remote(), remote);
        self.opened.retain(|(pair, _)| !gone(pair.remote));
        commands.extend(self.subflows.close_where(|subflow| gone(subflow.remote)).map(Command::Close));
    }

    /// All pairs between the addresses that are there.
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
        // Requests from before an address was lost may still be under way when it comes back.
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

    /// Whether the peer did not know this identifier yet; from now on it does.
    fn tell_peer(&mut self, id: u8) -> bool {
        let new = !self.known_to_peer.contains(&id);
        if new {
            self.known_to_peer.push(id);
        }
        new
    }
}
