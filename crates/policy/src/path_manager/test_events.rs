//! Hand-made addresses and events for the path managers' unit tests. The client's addresses are 10.0.x.1, the server's
//! 10.9.x.1; the connection runs from 10.0.0.1 to 10.9.0.1, port 80.

use std::net::SocketAddr;

use super::{Address, Event, FourTuple};

/// An address without a port.
pub(super) fn address(id: u8, address: &str) -> Address {
    Address { id, address: address.parse().unwrap(), port: None }
}

/// The two ends of a subflow.
pub(super) fn tuple(local: &str, remote: &str) -> FourTuple {
    let end = |s: &str| s.parse::<SocketAddr>().unwrap();
    FourTuple { local: end(local), remote: end(remote) }
}

/// The connection comes up at the client.
pub(super) fn established_as_client() -> Event {
    Event::Established { initial: tuple("10.0.0.1:1024", "10.9.0.1:80"), client: true, initial_address_closed: false }
}

/// The connection comes up at the server.
pub(super) fn established_as_server() -> Event {
    Event::Established { initial: tuple("10.9.0.1:80", "10.0.0.1:1024"), client: false, initial_address_closed: false }
}
