//! Addresses, the path manager, and priorities (RFC 8684, sections 3.3.8 and 3.4).

use std::net::{IpAddr, SocketAddr};

use subflow_policy::path_manager::{Address, Command, Event as PathEvent, FourTuple};
use subflow_policy::scheduler::SubflowSet;
use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::{AddAddress, MptcpOption};

use super::Connection;
use super::keys::add_address_hmac;
use super::path_manager::OpenRequest;
use crate::mac::is_equal;

impl Connection {
    /// Passes an event to the path manager and executes its commands.
    pub(super) fn on_path_event(&mut self, event: PathEvent, now: Instant) {
        if !self.path_manager.add(event) {
            return;
        }
        let mut commands = Vec::new();
        while self.path_manager.next(now, &mut commands) {
            for command in commands.drain(..) {
                self.carry_out(command, now);
            }
        }
    }

    fn carry_out(&mut self, command: Command, now: Instant) {
        match command {
            Command::Open { local, remote, port, backup } => {
                let remote_end = SocketAddr::new(remote.address, port);
                // No subflow is opened after all data has been exchanged.
                if self.room_for_requests() > 0 && self.phase.is_multipath() && !self.is_done() {
                    self.path_manager.request(OpenRequest {
                        local: local.address,
                        local_id: local.id,
                        remote: remote_end,
                        remote_id: remote.id,
                        local_port: local.port,
                        backup: backup || self.config.backup_addresses.contains(&local.address),
                    });
                } else {
                    self.on_not_opened(local.address, remote_end, now);
                }
            }
            Command::Announce(address) => {
                let mut first = SubflowSet::default();
                self.signalling_subflow().into_iter().for_each(|index| first.insert(index));
                self.announce(address, first, now);
            }
            Command::Withdraw { id } => self.withdraw(id, now),
            Command::Close(ends) => {
                if let Some(index) = self.find_subflow(ends) {
                    self.close_subflow(index, now);
                }
            }
            Command::SetBackup { subflow, backup } => {
                if let Some(index) = self.find_subflow(subflow) {
                    self.set_backup(index, backup);
                }
            }
        }
    }

    fn find_subflow(&self, ends: FourTuple) -> Option<usize> {
        self.subflows.iter().position(|subflow| {
            let known = subflow.tcp.ends();
            !subflow.is_closed() && known.local == ends.local && known.remote == ends.remote
        })
    }

    /// Passes the local addresses other than the initial one to the path manager.
    pub(super) fn announce_local_addresses(&mut self, now: Instant) {
        let initial = self.subflows[0].tcp.ends().local.ip();
        let others: Vec<_> = self.local_addresses.present().filter(|address| address.address != initial).collect();
        for address in others {
            self.on_path_event(PathEvent::LocalAddressAdded(address), now);
        }
    }

    /// This host has added an address, or regained one. An address for which no identifier is left is not used.
    pub(crate) fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        let Some(address) = self.local_addresses.add(address) else { return };
        if self.phase.is_confirmed() {
            self.on_path_event(PathEvent::LocalAddressAdded(address), now);
        }
    }

    /// This host has lost an address. The subflows of that address are closed.
    pub(crate) fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        let Some(lost) = self.local_addresses.remove(address) else { return };
        self.announcements.forget(address);
        match self.phase.is_confirmed() {
            true => self.on_path_event(PathEvent::LocalAddressRemoved(lost), now),
            false => self.path_manager.drop_early_requests(lost, now),
        }
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if !subflow.is_closed() && subflow.tcp.ends().local.ip() == address && self.phase.is_multipath() {
                self.drop_subflow(index, now);
            }
        }
    }

    fn announce(&mut self, address: Address, carriers: SubflowSet, now: Instant) {
        let port = address.port.unwrap_or(0);
        let (local, remote) = (self.local_key.key, self.phase.remote_key().map_or(0, |key| key.key));
        let hmac = add_address_hmac(local, remote, address.id, address.address, port);
        for index in carriers.iter() {
            self.subflows.touch(index).signal(MptcpOption::AddAddress(AddAddress {
                address_id: address.id,
                address: address.address,
                port: address.port,
                truncated_hmac: Some(hmac),
            }));
        }
        self.announcements.note(address, carriers, now);
    }

    pub(super) fn repeat_announcements(&mut self, now: Instant) {
        let carriers = self.signalling_subflows();
        for address in self.announcements.take_due() {
            self.announce(address, carriers, now);
        }
    }

    /// Processes an ADD_ADDR or its echo.
    pub(super) fn on_add_address(&mut self, index: usize, announced: &AddAddress, now: Instant) {
        let Some(hmac) = announced.truncated_hmac else {
            return self.announcements.on_echo(announced.address_id);
        };
        let Some(remote) = self.phase.remote_key() else { return };
        let port = announced.port.unwrap_or(0);
        let expected = add_address_hmac(remote.key, self.local_key.key, announced.address_id, announced.address, port);
        if !is_equal(&expected.to_be_bytes(), &hmac.to_be_bytes()) {
            return;
        }
        self.subflows[index].signal(MptcpOption::AddAddress(announced.echo()));
        let address = Address { id: announced.address_id, address: announced.address, port: announced.port };
        self.on_path_event(PathEvent::RemoteAddressAdded(address), now);
    }

    /// Processes a REMOVE_ADDR. Like Linux, this closes the subflows at once, without the keepalive by which RFC 8684,
    /// section 3.4.2, suggests to find out whether they still work. A peer that gives an address that returns its former
    /// identifier may so lose subflows that it opened after it sent the REMOVE_ADDR; this host gives another one.
    ///
    /// The initial address is not announced by every path manager: if it has come back already, ours is not told that it is
    /// gone.
    pub(super) fn on_remove_address(&mut self, ids: &[u8], now: Instant) {
        for &id in ids {
            if id != 0 || !self.initial_address_is_back() {
                self.on_path_event(PathEvent::RemoteAddressRemoved { id }, now);
            }
            for index in 0..self.subflows.len() {
                let subflow = &self.subflows[index];
                if !subflow.is_closed() && subflow.join_ends().remote_id == id {
                    self.drop_subflow(index, now);
                }
            }
        }
    }

    /// Whether the peer has answered a join to its initial address with another identifier, which it has given to that
    /// address after a loss.
    fn initial_address_is_back(&self) -> bool {
        let initial = self.subflows[0].tcp.ends().remote.ip();
        self.subflows.iter().any(|subflow| {
            let is_there = subflow.is_established() && !subflow.is_closed();
            is_there && subflow.tcp.ends().remote.ip() == initial && subflow.join_ends().remote_id != 0
        })
    }

    /// Processes an MP_PRIO.
    pub(super) fn on_priority(&mut self, index: usize, backup: bool) {
        self.subflows[index].set_peer_backup(backup);
        self.update_view(index);
    }

    /// Sets whether subflow `index` is a backup, and informs the peer (MP_PRIO, RFC 8684, section 3.3.8). Drain the
    /// connection afterwards.
    pub fn set_backup(&mut self, index: usize, backup: bool) {
        self.subflows.touch(index).set_backup(backup);
        self.update_view(index);
    }

    /// Requests a subflow from `local` to `remote`, in addition to those of the path manager, as soon as the connection
    /// is established. The peer's identifier for that address is assumed to be 0, that of the initial subflow, until
    /// the SYN/ACK contains another. If it fails it is opened again ([`NamedSubflows`]); where this host does not have the
    /// address, it is opened when it has. The call has no effect if no identifier is left for `local`.
    ///
    /// [`NamedSubflows`]: subflow_policy::path_manager::NamedSubflows
    pub fn request_subflow(&mut self, local: IpAddr, local_port: Option<u16>, remote: SocketAddr, backup: bool) {
        let Some(local_id) = self.local_addresses.id_for(local) else { return };
        let is_here = self.local_addresses.has(local);
        self.path_manager.keep_open(OpenRequest { local, local_port, local_id, remote, remote_id: 0, backup }, is_here);
    }

    /// The host has no free port for a subflow.
    pub(crate) fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        self.on_not_opened(request.local, request.remote, now);
    }

    /// The path manager has asked to be woken at this time.
    pub(super) fn wake_path_manager(&mut self, now: Instant) {
        match self.phase.is_multipath() && !self.is_done() {
            true => self.on_path_event(PathEvent::Woken, now),
            false => self.path_manager.rest(),
        }
    }

    /// A subflow requested by the path manager could not be opened.
    fn on_not_opened(&mut self, local: IpAddr, remote: SocketAddr, now: Instant) {
        let failed = FourTuple { local: SocketAddr::new(local, 0), remote };
        self.on_path_event(PathEvent::NotOpened(failed), now);
    }

    /// Takes as many of the subflows that wait for a port as there are free places. The others wait until the resets of
    /// closed subflows have been sent.
    pub(crate) fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        self.path_manager.take_requests(self.subflows.available_places())
    }

    /// Whether subflows wait for a port and joins are possible.
    pub(crate) fn has_open_requests(&self) -> bool {
        self.path_manager.requests() > 0 && self.may_join()
    }
}
