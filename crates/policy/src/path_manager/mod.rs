//! Path managers: which subflows a connection opens and which addresses it announces.
//!
//! Events in, commands out. The same object drives the simulated stack and, over netlink, the kernel.
//!
//! Each path manager is one file; `mesh` holds what those share that open subflows between pairs of addresses, `addresses`
//! and `subflows` what a connection has, and [`PathManagement`] names them all.
//!
//! What a path manager may count on: a command is carried out before the next event or fails with
//! [`Event::SubflowClosed`]; every subflow, whether asked for or told to close, is in the end reported closed, under the
//! four-tuple under which it was reported established or, if it never was, one with the addresses and the remote port of
//! the command.

mod addresses;
mod binder;
mod full_mesh;
mod mesh;
mod ndiffports;
mod passive;
mod path_management;
mod single_mesh;
mod subflows;
#[cfg(test)]
mod test_events;

use std::net::{IpAddr, SocketAddr};

pub use binder::Binder;
pub use full_mesh::FullMesh;
pub use ndiffports::NDiffPorts;
pub use passive::Passive;
pub use path_management::{Options, PathManagement, PathManagerEntry};
pub use single_mesh::SingleMesh;

/// The most subflows that one connection has at a time, the initial one included: as many as a
/// [`SubflowSet`](crate::scheduler::SubflowSet) holds.
pub const MAX_SUBFLOWS: usize = 64;

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
