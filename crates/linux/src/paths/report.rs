//! What a driver is doing, for people.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_policy::path_manager::FourTuple;

use super::connection::Connection;
use super::driver::Driver;
use crate::error::Result;
use crate::netlink::{SocketDiag, SubflowSocket};
use crate::status::{ConnectionStatus, InterfaceStatus, Status, SubflowStatus};

impl Driver {
    /// The connections whose paths it manages, with the kernel's figures of their subflows. `about` says which path
    /// manager new connections get.
    pub fn status(&self, about: String) -> Result<Status> {
        let sockets = SocketDiag::open()?.subflows()?;
        let by_ends: BTreeMap<FourTuple, &SubflowSocket> = sockets
            .iter()
            .map(|socket| (FourTuple { local: socket.info.local, remote: socket.info.remote }, socket))
            .collect();
        let connections = self.connections.values().map(|connection| connection_status(connection, &by_ends)).collect();
        let mut addresses: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
        for entry in self.local.present() {
            if let Some(name) = self.local.interface_of(entry.address) {
                addresses.entry(name.to_owned()).or_default().push(entry.address);
            }
        }
        let interface = |(name, addresses)| InterfaceStatus { name, addresses, ..InterfaceStatus::default() };
        Ok(Status::new("paths", about, addresses.into_iter().map(interface).collect(), connections))
    }
}

fn connection_status(connection: &Connection, sockets: &BTreeMap<FourTuple, &SubflowSocket>) -> ConnectionStatus {
    // One that the kernel does not list is opening or closing.
    let listed = connection.subflows().iter().filter_map(|ends| sockets.get(ends));
    ConnectionStatus {
        peer: connection.initial().remote,
        protocol: "mptcp".to_owned(),
        subflows: listed.map(|socket| subflow_status(socket)).collect(),
    }
}

fn subflow_status(SubflowSocket { info, backup, .. }: &SubflowSocket) -> SubflowStatus {
    let srtt_ms = info.srtt.as_nanos() as f64 * 1e-6;
    SubflowStatus {
        interface: None,
        local: info.local,
        remote: info.remote,
        backup: *backup,
        sent_bytes: info.bytes_acknowledged,
        received_bytes: info.bytes_received,
        srtt_ms: (srtt_ms > 0.0).then_some(srtt_ms),
    }
}
