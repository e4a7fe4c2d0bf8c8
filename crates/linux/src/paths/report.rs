//! What a driver is doing, for people.

use std::collections::{BTreeMap, BTreeSet};

use subflow_policy::path_manager::FourTuple;

use super::carried::{Bytes, Carried};
use super::connection::Connection;
use super::driver::Driver;
use crate::error::Result;
use crate::netlink::{SocketDiag, SubflowSocket};
use crate::status::{ConnectionStatus, InterfaceStatus, Status, SubflowStatus};

impl Driver {
    /// The connections whose paths it manages, with the kernel's figures of their subflows. `about` says which path
    /// manager new connections get.
    pub fn status(&mut self, about: String) -> Result<Status> {
        let sockets = SocketDiag::open()?.subflows()?;
        self.list_carried()?;
        let by_ends: BTreeMap<FourTuple, &SubflowSocket> = sockets
            .iter()
            .map(|socket| (FourTuple { local: socket.info.local, remote: socket.info.remote }, socket))
            .collect();
        let described = |connection| connection_status(connection, &by_ends, self.carried.as_ref());
        let connections: Vec<ConnectionStatus> = self.connections.values().map(described).collect();
        let shown = connections.iter().flat_map(|connection| &connection.subflows);
        let shown = shown.map(|subflow| FourTuple { local: subflow.local, remote: subflow.remote }).collect();
        Ok(Status::new("paths", about, self.interfaces(&shown), connections))
    }

    /// From now on, [`status`](Self::status) has what subflows carried that have ended since.
    ///
    /// # Errors
    ///
    /// The kernel does not report the ends of sockets.
    pub fn count_ended(&mut self) -> Result<()> {
        self.carried = Some(Carried::open(&self.local, self.clock)?);
        let open: Vec<FourTuple> = self.connections.values().flat_map(|one| one.subflows().to_vec()).collect();
        self.expect(open);
        Ok(())
    }

    /// The interfaces that have addresses or had subflows, with what their subflows carried but for those `shown`.
    fn interfaces(&self, shown: &BTreeSet<FourTuple>) -> Vec<InterfaceStatus> {
        let mut interfaces: BTreeMap<String, InterfaceStatus> = BTreeMap::new();
        for entry in self.local.present() {
            if let Some(name) = self.local.interface_of(entry.address) {
                interfaces.entry(name.to_owned()).or_default().addresses.push(entry.address);
            }
        }
        for name in self.carried.iter().flat_map(|carried| carried.homes().values()) {
            interfaces.entry(name.clone()).or_default();
        }
        for (name, bytes) in self.carried.iter().flat_map(|carried| carried.by_interface(shown)) {
            let interface = interfaces.entry(name).or_default();
            (interface.sent_bytes, interface.received_bytes) = (bytes.sent, bytes.received);
        }
        let named = interfaces.into_iter().map(|(name, interface)| InterfaceStatus { name, ..interface });
        named.collect()
    }
}

fn connection_status(
    connection: &Connection,
    sockets: &BTreeMap<FourTuple, &SubflowSocket>,
    carried: Option<&Carried>,
) -> ConnectionStatus {
    // One that the kernel does not list is opening or closing.
    let listed = connection.subflows().iter().filter_map(|&ends| Some((ends, *sockets.get(&ends)?)));
    ConnectionStatus {
        peer: connection.initial().remote,
        protocol: "mptcp".to_owned(),
        subflows: listed.map(|(ends, socket)| subflow_status(ends, socket, carried)).collect(),
    }
}

fn subflow_status(ends: FourTuple, socket: &SubflowSocket, carried: Option<&Carried>) -> SubflowStatus {
    let SubflowSocket { info, backup, .. } = socket;
    let listed = Bytes { sent: info.bytes_acknowledged, received: info.bytes_received };
    let bytes = carried.and_then(|carried| carried.of(ends)).unwrap_or(listed);
    let srtt_ms = info.srtt.as_nanos() as f64 * 1e-6;
    SubflowStatus {
        interface: carried.and_then(|carried| carried.homes().get(&info.local.ip())).cloned(),
        local: info.local,
        remote: info.remote,
        backup: *backup,
        sent_bytes: bytes.sent,
        received_bytes: bytes.received,
        srtt_ms: (srtt_ms > 0.0).then_some(srtt_ms),
    }
}
