//! Addresses and events for the path managers' unit tests. The client's addresses are 10.0.x.1, the server's 10.9.x.1;
//! the connection runs from 10.0.0.1 to 10.9.0.1, port 80.

use std::net::SocketAddr;

use subflow_quantity::{Duration, Instant};

use super::{Address, Command, Event, FourTuple, PathManager};

/// An address without a port.
pub(super) fn address(id: u8, address: &str) -> Address {
    Address { id, address: address.parse().unwrap(), port: None }
}

/// The two ends of a subflow.
pub(super) fn tuple(local: &str, remote: &str) -> FourTuple {
    let end = |s: &str| s.parse::<SocketAddr>().unwrap();
    FourTuple { local: end(local), remote: end(remote) }
}

/// The connection is established at the client.
pub(super) fn established_as_client() -> Event {
    Event::Established { initial: tuple("10.0.0.1:1024", "10.9.0.1:80"), client: true, initial_address_closed: false }
}

/// The connection is established at the server.
pub(super) fn established_as_server() -> Event {
    Event::Established { initial: tuple("10.9.0.1:80", "10.0.0.1:1024"), client: false, initial_address_closed: false }
}

/// Passes the events to the path manager in order, at the beginning, and returns the commands that follow from the last
/// one.
pub(super) fn tell(manager: &mut impl PathManager, events: &[Event]) -> Vec<String> {
    tell_after(manager, 0, events)
}

/// The same after so many milliseconds.
pub(super) fn tell_after(manager: &mut impl PathManager, milliseconds: u64, events: &[Event]) -> Vec<String> {
    let now = Instant::ZERO + Duration::from_millis(milliseconds);
    let mut commands = Vec::new();
    for event in events {
        commands.clear();
        manager.on_event(event, now, &mut commands);
    }
    commands.iter().map(say).collect()
}

fn say(command: &Command) -> String {
    match command {
        Command::Open { local, remote, port, backup: false } => {
            format!("open {}#{} -> {}:{port}#{}", local.address, local.id, remote.address, remote.id)
        }
        Command::Announce(address) => format!("announce {}#{}", address.address, address.id),
        Command::Withdraw { id } => format!("withdraw #{id}"),
        Command::Close(subflow) => format!("close {} -> {}", subflow.local, subflow.remote),
        other => panic!("a mesh does not ask for {other:?}"),
    }
}

/// This host has an address.
pub(super) fn local(id: u8, ip: &str) -> Event {
    Event::LocalAddressAdded(address(id, ip))
}

/// The peer announced an address.
pub(super) fn remote(id: u8, ip: &str) -> Event {
    Event::RemoteAddressAdded(address(id, ip))
}

/// A subflow is up.
pub(super) fn up(local: &str, remote: &str) -> Event {
    Event::SubflowEstablished(tuple(local, remote))
}

/// This host lost an address.
pub(super) fn lost(id: u8, ip: &str) -> Event {
    Event::LocalAddressRemoved(address(id, ip))
}
