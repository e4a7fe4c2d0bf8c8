//! Addresses, the path manager, and priorities (RFC 8684, sections 3.3.8 and 3.4).

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::path_manager::{Address, Command, Event as PathEvent, FourTuple, PathManager};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::{AddAddress, MptcpOption};

use super::Connection;
use super::keys::add_address_hmac;
use super::local_addresses::LocalAddresses;
use crate::mac::is_equal;

/// Maximum number of transmissions of an announcement that is not echoed.
const ANNOUNCEMENTS: u32 = 3;
/// Time between two transmissions of an announcement.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(1);

/// A subflow requested by the path manager. The host chooses its local port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Local address.
    pub local: IpAddr,
    /// Local port; `None` for any free port.
    pub local_port: Option<u16>,
    /// Identifier of the local address.
    pub local_id: u8,
    /// Remote address and port.
    pub remote: SocketAddr,
    /// Identifier of the remote address.
    pub remote_id: u8,
    /// Whether the subflow is requested as a backup.
    pub backup: bool,
}

/// The addresses of both sides.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    pub(crate) local: LocalAddresses,
    /// Addresses that were announced and not echoed, each with its number of announcements.
    announced: Vec<(Address, u32)>,
    /// When to repeat the announcements.
    pub(crate) repeat_at: Option<Instant>,
    /// The peer accepts no joins to its initial address and port.
    pub(crate) peer_denies_initial: bool,
    /// Subflows that wait until the host assigns them a port.
    pub(crate) requests: Vec<OpenRequest>,
    /// Events that the path manager has not yet processed.
    events: VecDeque<PathEvent>,
    /// Whether events are being processed.
    processes_events: bool,
}

impl Addresses {
    pub(crate) fn new(local: LocalAddresses) -> Self {
        Self {
            local,
            announced: Vec::new(),
            repeat_at: None,
            peer_denies_initial: false,
            requests: Vec::new(),
            events: VecDeque::new(),
            processes_events: false,
        }
    }
}

impl Connection {
    /// Passes an event to the path manager and executes its commands. Events caused by these commands are processed
    /// afterwards, one after another: the number of addresses that the peer announces determines how many attempts
    /// follow each other, so recursion would have no bound.
    pub(super) fn on_path_event(&mut self, event: &PathEvent, now: Instant) {
        self.addresses.events.push_back(event.clone());
        if core::mem::replace(&mut self.addresses.processes_events, true) {
            return;
        }
        let mut commands = Vec::new();
        while let Some(event) = self.addresses.events.pop_front() {
            self.path_manager.on_event(&event, &mut commands);
            for command in commands.drain(..) {
                self.carry_out(command, now);
            }
        }
        self.addresses.processes_events = false;
    }

    fn carry_out(&mut self, command: Command, now: Instant) {
        match command {
            Command::Open { local, remote, port, backup } => {
                let remote_end = SocketAddr::new(remote.address, port);
                // No subflow is opened after all data has been exchanged.
                if self.room_for_requests() > 0 && self.phase.is_multipath() && !self.is_done() {
                    self.addresses.requests.push(OpenRequest {
                        local: local.address,
                        local_id: local.id,
                        remote: remote_end,
                        remote_id: remote.id,
                        local_port: None,
                        backup: backup || self.config.backup_addresses.contains(&local.address),
                    });
                } else {
                    self.on_not_opened(local.address, remote_end, now);
                }
            }
            Command::Announce(address) => self.announce(address, now),
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

    fn signal(&mut self, option: MptcpOption) {
        if let Some(index) = self.signalling_subflow() {
            self.subflows.touch(index).signal(option);
        }
    }

    /// Passes the local addresses other than the initial one to the path manager.
    pub(super) fn announce_local_addresses(&mut self, now: Instant) {
        let initial = self.subflows[0].tcp.ends().local.ip();
        let others: Vec<_> = self.addresses.local.present().filter(|address| address.address != initial).collect();
        for address in others {
            self.on_path_event(&PathEvent::LocalAddressAdded(address), now);
        }
    }

    /// This host has added an address, or regained one. An address for which no identifier is left is not used.
    pub(crate) fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        let Some(address) = self.addresses.local.add(address) else { return };
        if self.phase.is_confirmed() {
            self.on_path_event(&PathEvent::LocalAddressAdded(address), now);
        }
    }

    /// This host has lost an address. The subflows of that address are closed.
    pub(crate) fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        let Some(lost) = self.addresses.local.remove(address) else { return };
        self.addresses.announced.retain(|(announced, _)| announced.address != address);
        if self.phase.is_confirmed() {
            self.on_path_event(&PathEvent::LocalAddressRemoved(lost), now);
        }
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if !subflow.is_closed() && subflow.tcp.ends().local.ip() == address && self.phase.is_multipath() {
                self.drop_subflow(index, now);
            }
        }
    }

    fn announce(&mut self, address: Address, now: Instant) {
        let port = address.port.unwrap_or(0);
        let (local, remote) = (self.local_key.key, self.phase.remote_key().map_or(0, |key| key.key));
        let hmac = add_address_hmac(local, remote, address.id, address.address, port);
        self.signal(MptcpOption::AddAddress(AddAddress {
            address_id: address.id,
            address: address.address,
            port: address.port,
            truncated_hmac: Some(hmac),
        }));
        match self.addresses.announced.iter_mut().find(|(known, _)| known.id == address.id) {
            Some((_, times)) => *times += 1,
            None => self.addresses.announced.push((address, 1)),
        }
        self.addresses.repeat_at = Some(now + ANNOUNCE_INTERVAL);
    }

    pub(super) fn repeat_announcements(&mut self, now: Instant) {
        self.addresses.repeat_at = None;
        self.addresses.announced.retain(|&(_, times)| times < ANNOUNCEMENTS);
        for (address, _) in self.addresses.announced.clone() {
            self.announce(address, now);
        }
    }

    /// Processes an ADD_ADDR or its echo.
    pub(super) fn on_add_address(&mut self, index: usize, announced: &AddAddress, now: Instant) {
        let Some(hmac) = announced.truncated_hmac else {
            self.addresses.announced.retain(|(known, _)| known.id != announced.address_id);
            if self.addresses.announced.is_empty() {
                self.addresses.repeat_at = None;
            }
            return;
        };
        let Some(remote) = self.phase.remote_key() else { return };
        let port = announced.port.unwrap_or(0);
        let expected = add_address_hmac(remote.key, self.local_key.key, announced.address_id, announced.address, port);
        if !is_equal(&expected.to_be_bytes(), &hmac.to_be_bytes()) {
            return;
        }
        self.subflows[index].signal(MptcpOption::AddAddress(announced.echo()));
        let address = Address { id: announced.address_id, address: announced.address, port: announced.port };
        self.on_path_event(&PathEvent::RemoteAddressAdded(address), now);
    }

    /// Processes a REMOVE_ADDR. Like Linux, this closes the subflows at once, without the keepalive by which RFC 8684,
    /// section 3.4.2, suggests to find out whether they still work. A peer that gives an address that returns its former
    /// identifier may so lose subflows that it opened after it sent the REMOVE_ADDR; this host gives another one.
    pub(super) fn on_remove_address(&mut self, ids: &[u8], now: Instant) {
        for &id in ids {
            self.on_path_event(&PathEvent::RemoteAddressRemoved { id }, now);
            for index in 0..self.subflows.len() {
                let subflow = &self.subflows[index];
                if !subflow.is_closed() && subflow.remote_id == id {
                    self.drop_subflow(index, now);
                }
            }
        }
    }

    /// Processes an MP_PRIO.
    pub(super) fn on_priority(&mut self, index: usize, backup: bool) {
        self.subflows[index].peer_backup = backup;
        self.update_view(index);
    }

    /// Sets whether subflow `index` is a backup, and informs the peer (MP_PRIO, RFC 8684, section 3.3.8). Drain the
    /// connection afterwards.
    pub fn set_backup(&mut self, index: usize, backup: bool) {
        let subflow = self.subflows.touch(index);
        subflow.backup = backup;
        subflow.signal(MptcpOption::Priority { backup });
        self.update_view(index);
    }

    /// Requests a subflow from `local` to `remote`, in addition to those of the path manager, as soon as the connection
    /// is established. The peer's identifier for that address is assumed to be 0, that of the initial subflow, until
    /// the SYN/ACK contains another. The call has no effect if no identifier is left for `local`.
    pub fn request_subflow(&mut self, local: IpAddr, local_port: Option<u16>, remote: SocketAddr, backup: bool) {
        let Some(local_id) = self.addresses.local.id_for(local) else { return };
        self.addresses.requests.push(OpenRequest { local, local_port, local_id, remote, remote_id: 0, backup });
    }

    /// The host has no free port for a subflow.
    pub(crate) fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        self.on_not_opened(request.local, request.remote, now);
    }

    /// A subflow requested by the path manager could not be opened.
    fn on_not_opened(&mut self, local: IpAddr, remote: SocketAddr, now: Instant) {
        let failed = FourTuple { local: SocketAddr::new(local, 0), remote };
        self.on_path_event(&PathEvent::SubflowClosed(failed), now);
    }

    /// Takes as many of the subflows that wait for a port as there are free places. The others wait until the resets of
    /// closed subflows have been sent.
    pub(crate) fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        let possible = self.subflows.available_places().min(self.addresses.requests.len());
        self.addresses.requests.drain(..possible).collect()
    }

    /// Whether subflows wait for a port and joins are possible.
    pub(crate) fn has_open_requests(&self) -> bool {
        !self.addresses.requests.is_empty() && self.may_join()
    }
}
