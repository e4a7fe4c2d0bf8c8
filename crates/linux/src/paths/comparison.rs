//! Compares what the driver knows with the kernel's connections: when it starts, and when events got lost.

use std::net::IpAddr;

use subflow_policy::path_manager::{Address, Event, FourTuple};

use super::connection::Connection;
use super::driver::{Driver, ends_of, is_remote};
use super::local::LocalAddress;
use super::rules::Plan;
use super::takeover::{self, Found};
use crate::error::Result;
use crate::netlink::{SocketDiag, SubflowSocket};

impl Driver {
    /// Compares what we know with the kernel's connections: takes over those that are new, and catches up on others.
    pub(super) fn compare_with_kernel(&mut self) -> Result<()> {
        let known = &self.connections;
        let owner = |subflow: &SubflowSocket| {
            let ends = ends_of(subflow);
            let mut owners = known.iter().filter(|(_, connection)| connection.subflows().contains(&ends));
            owners.next().map(|(&token, _)| token)
        };
        // Always twice: what is not found here is left alone from now on.
        let found = takeover::connections(&mut SocketDiag::open()?, owner, |_| false)?;
        self.connections.retain(|token, connection| {
            found.iter().any(|found| found.socket.token == *token && found.socket.local == connection.initial().local)
        });
        let mut taken_over = 0;
        for found in &found {
            if self.connections.contains_key(&found.socket.token) {
                self.catch_up(found);
            } else {
                taken_over += usize::from(self.take_over(found));
            }
        }
        if taken_over > 0 {
            log::info!("took over {taken_over} connections that were there already");
        }
        Ok(())
    }

    /// Reports the subflows that opened or closed while events got lost.
    fn catch_up(&mut self, found: &Found) {
        let now: Vec<FourTuple> = found.subflows.iter().map(ends_of).collect();
        self.expect(now.iter().copied());
        self.with(found.socket.token, |connection, means| {
            let before = connection.subflows().to_vec();
            let opened = now.iter().filter(|subflow| !before.contains(subflow)).copied();
            let closed = before.iter().filter(|subflow| !now.contains(subflow)).copied();
            let events: Vec<_> =
                opened.map(Event::SubflowEstablished).chain(closed.map(Event::SubflowClosed)).collect();
            connection.on_events(events, means);
        });
    }

    /// Takes over a connection that was there before us. Returns whether it is one of the userspace path manager.
    fn take_over(&mut self, found: &Found) -> bool {
        let (token, initial) =
            (found.socket.token, FourTuple { local: found.socket.local, remote: found.socket.remote });
        // A connection whose end has begun gets no further subflows (Linux `mptcp_is_fully_established`), and its end is
        // not always reported.
        if !is_remote(&initial) || !found.socket.is_established() {
            return false;
        }
        let kernel_ids = match self.kernel.local_addresses(token) {
            Ok(ids) => ids,
            Err(error) => {
                log::info!("connection {token:08x} with {} stays as it is: {error}", initial.remote);
                return false;
            }
        };
        let id_of = |address: IpAddr, otherwise: u8| {
            let by_kernel = kernel_ids.iter().find(|(_, known)| *known == address).map(|(id, _)| *id);
            let by_subflow = || found.subflows.iter().find(|s| s.info.local.ip() == address).map(|s| s.local_id);
            let of_initial = (address == initial.local.ip()).then_some(0);
            by_kernel.or_else(by_subflow).or(of_initial).unwrap_or(otherwise)
        };
        // What went while nobody looked is lost below: the kernel still has its identifiers.
        let used = kernel_ids.iter().map(|(_, address)| *address);
        let used = used.chain(found.subflows.iter().map(|subflow| subflow.info.local.ip())).chain([initial.local.ip()]);
        let mut gone: Vec<LocalAddress> = used
            .filter(|&address| self.local.entry(address).is_none())
            .map(|address| LocalAddress::without_interface(id_of(address, 0), address))
            .collect();
        gone.sort_by_key(|gone| gone.address);
        gone.dedup_by_key(|gone| gone.address);
        let mut local: Vec<Address> = self.local.present().iter().chain(&gone).map(LocalAddress::named).collect();
        local.iter_mut().for_each(|address| address.id = id_of(address.address, address.id));
        // The path manager knows the address of the initial subflow from that, unless it was lost and has returned.
        local.retain(|address| address.address != initial.local.ip() || address.id != 0);
        // Those that the kernel knows keep their identifiers; the path manager gives the others free ones.
        let is_new = |address: IpAddr| {
            !kernel_ids.iter().any(|(_, known)| *known == address) && !gone.iter().any(|gone| gone.address == address)
        };
        local.sort_by_key(|address| is_new(address.address));
        let mut events: Vec<Event> = local.into_iter().map(Event::LocalAddressAdded).collect();
        for subflow in found.subflows.iter().filter(|subflow| ends_of(subflow) != initial) {
            if found.client && subflow.remote_id != 0 {
                let remote = subflow.info.remote;
                let port = Some(remote.port()).filter(|&port| port != initial.remote.port());
                let address = Address { id: subflow.remote_id, address: remote.ip(), port };
                events.push(Event::RemoteAddressAdded(address));
            }
            events.push(Event::SubflowEstablished(ends_of(subflow)));
        }
        events.push(Event::Established { initial, client: found.client, initial_address_closed: false });
        if !found.subflows.iter().any(|subflow| ends_of(subflow) == initial) {
            events.push(Event::SubflowClosed(initial));
        }
        let Plan { path_manager, .. } = (self.rules.plan)(&initial, found.client);
        log::debug!("taking over connection {token:08x} with {}: {} subflows", initial.remote, found.subflows.len());
        let mut connection = Connection::new(token, initial, found.client, Plan { path_manager, subflows: Vec::new() });
        let mut means = self.means();
        connection.on_events(events, &mut means);
        gone.iter().for_each(|gone| connection.lose(gone, &mut means));
        self.connections.insert(token, connection);
        self.expect(found.subflows.iter().map(ends_of));
        true
    }
}
