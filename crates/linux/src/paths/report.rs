//! What a driver is doing, for people.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_policy::path_manager::FourTuple;

use super::carried::Carried;
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
        let home = |address| self.carried.as_ref().and_then(|carried| carried.homes().get(&address)).cloned();
        let described = |connection| connection_status(connection, &by_ends, home);
        let connections = self.connections.values().map(described).collect();
        Ok(Status::new("paths", about, self.interfaces(), connections))
    }

    /// From now on, [`status`](Self::status) has what subflows carried that have ended since.
    ///
    /// # Errors
    ///
    /// The kernel does not report the ends of sockets.
    pub fn count_ended(&mut self) -> Result<()> {
        self.carried = Some(Carried::open(&self.local)?);
        let open: Vec<FourTuple> = self.connections.values().flat_map(|one| one.subflows().to_vec()).collect();
        self.expect(open);
        Ok(())
    }

    /// The interfaces that have addresses or had subflows, with what their ended subflows carried.
    fn interfaces(&self) -> Vec<InterfaceStatus> {
        let mut interfaces: BTreeMap<String, InterfaceStatus> = BTreeMap::new();
        for entry in self.local.present() {
            if let Some(name) = self.local.interface_of(entry.address) {
                interfaces.entry(name.to_owned()).or_default().addresses.push(entry.address);
            }
        }
        for name in self.carried.iter().flat_map(|carried| carried.homes().values()) {
            interfaces.entry(name.clone()).or_default();
        }
        for (name, bytes) in self.carried.iter().flat_map(Carried::by_interface) {
            let interface = interfaces.entry(name.clone()).or_default();
            (interface.sent_bytes, interface.received_bytes) = (bytes.sent, bytes.received);
        }
        let named = interfaces.into_iter().map(|(name, interface)| InterfaceStatus { name, ..interface });
        named.collect()
    }
}

fn connection_status(
    connection: &Connection,
    sockets: &BTreeMap<FourTuple, &SubflowSocket>,
    home: impl Fn(IpAddr) -> Option<String>,
) -> ConnectionStatus {
    // One that the kernel does not list is opening or closing.
    let listed = connection.subflows().iter().filter_map(|ends| sockets.get(ends));
    ConnectionStatus {
        peer: connection.initial().remote,
        protocol: "mptcp".to_owned(),
        subflows: listed.map(|socket| subflow_status(socket, home(socket.info.local.ip()))).collect(),
    }
}

fn subflow_status(SubflowSocket { info, backup, .. }: &SubflowSocket, interface: Option<String>) -> SubflowStatus {
    let srtt_ms = info.srtt.as_nanos() as f64 * 1e-6;
    SubflowStatus {
        interface,
        local: info.local,
        remote: info.remote,
        backup: *backup,
        sent_bytes: info.bytes_acknowledged,
        received_bytes: info.bytes_received,
        srtt_ms: (srtt_ms > 0.0).then_some(srtt_ms),
    }
}
