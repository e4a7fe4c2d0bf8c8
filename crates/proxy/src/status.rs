//! What a running proxy says about itself.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use subflow_linux::status::{ConnectionStatus, InterfaceStatus, Status, StatusSocket, SubflowStatus};
use subflow_tokio::{ConnectionState, Stack, SubflowState};
use tokio::net::UnixListener;

use crate::error::{Error, Result};
use crate::machine::PathPlan;

/// What answers questions about the status.
#[derive(Debug)]
pub(crate) struct Answers {
    /// Removes its file in the end.
    _socket: StatusSocket,
    listener: UnixListener,
    listen: SocketAddr,
    /// The interfaces with the addresses of our stack.
    interfaces: Vec<(String, Vec<IpAddr>)>,
}

impl Answers {
    /// Answers for a proxy that listens there, over these paths.
    pub(crate) fn new<'a>(listen: SocketAddr, plans: impl Iterator<Item = &'a PathPlan>) -> Result<Self> {
        let failed = |error| Error::system("answer questions about the status", error);
        let socket = StatusSocket::open("proxy")?;
        let listener = socket.listener().and_then(UnixListener::from_std).map_err(failed)?;
        let interfaces = plans.map(|plan| (plan.interface.clone(), plan.addresses.clone())).collect();
        Ok(Self { _socket: socket, listener, listen, interfaces })
    }

    /// Answers for ever.
    pub(crate) async fn serve(&self, stack: &Stack) {
        loop {
            match self.listener.accept().await {
                Ok((asking, _)) => StatusSocket::answer_to(asking.into_std(), &self.status(stack)),
                // For want of descriptors, which clients may have taken.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn status(&self, stack: &Stack) -> Status {
        let ended = stack.ended_bytes();
        let interface = |(name, addresses): &(String, Vec<IpAddr>)| {
            let carried = || addresses.iter().filter_map(|address| ended.get(address));
            InterfaceStatus {
                name: name.clone(),
                addresses: addresses.iter().copied().filter(|&address| stack.is_address_up(address)).collect(),
                subflows: 0,
                sent_bytes: carried().map(|bytes| bytes.acknowledged).sum(),
                received_bytes: carried().map(|bytes| bytes.received).sum(),
            }
        };
        let interfaces = self.interfaces.iter().map(interface).collect();
        let connections = stack.connections().into_iter().map(connection_status).collect();
        Status::new("proxy", format!("listens on {}", self.listen), interfaces, connections)
    }
}

fn connection_status(ConnectionState { remote, has_fallen_back, subflows }: ConnectionState) -> ConnectionStatus {
    let protocol = if has_fallen_back { "tcp" } else { "mptcp" };
    ConnectionStatus {
        peer: remote,
        protocol: protocol.to_owned(),
        subflows: subflows.into_iter().map(subflow_status).collect(),
    }
}

fn subflow_status(subflow: SubflowState) -> SubflowStatus {
    SubflowStatus {
        interface: None,
        local: subflow.local,
        remote: subflow.remote,
        backup: false,
        sent_bytes: subflow.bytes_acknowledged,
        received_bytes: subflow.bytes_received,
        srtt_ms: subflow.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
    }
}
