//! Path managers: which subflows a connection opens and which addresses it announces.
//!
//! Events in, commands out. The same object drives the simulated stack and, over netlink, the kernel.

use std::net::{IpAddr, SocketAddr};

/// An address of this host or of the peer, with its MPTCP address identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Address identifier (RFC 8684, section 3.2); 0 is the initial subflow's.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// Port, where the peer announced one.
    pub port: Option<u16>,
}

/// A subflow's two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FourTuple {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
}

/// What happened to the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established over its initial subflow.
    Established {
        /// The initial subflow.
        initial: FourTuple,
        /// Whether this side sent the first SYN.
        client: bool,
        /// Whether the peer forbade joins to its initial address and port (flag C of MP_CAPABLE).
        initial_address_closed: bool,
    },
    /// This host has (or has again) an address.
    LocalAddressAdded(Address),
    /// This host lost an address.
    LocalAddressRemoved(Address),
    /// The peer announced an address (ADD_ADDR).
    RemoteAddressAdded(Address),
    /// The peer withdrew an address (REMOVE_ADDR).
    RemoteAddressRemoved {
        /// Its identifier.
        id: u8,
    },
    /// A subflow became usable.
    SubflowEstablished(FourTuple),
    /// A subflow closed or died.
    SubflowClosed(FourTuple),
}

/// What the transport is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Open a subflow. The transport chooses the local port.
    Open {
        /// Local address and its identifier.
        local: Address,
        /// Remote address, identifier and port.
        remote: Address,
        /// The remote port.
        port: u16,
        /// Ask the peer to use it as a backup.
        backup: bool,
    },
    /// Announce a local address (ADD_ADDR).
    Announce(Address),
    /// Withdraw a local address (REMOVE_ADDR).
    Withdraw {
        /// Its identifier.
        id: u8,
    },
    /// Close a subflow.
    Close(FourTuple),
    /// Change a subflow's priority (MP_PRIO).
    SetBackup {
        /// Which one.
        subflow: FourTuple,
        /// The new priority.
        backup: bool,
    },
}

/// A path manager for one connection.
pub trait PathManager {
    /// Takes in an event and appends what is to be done about it.
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>);
}
