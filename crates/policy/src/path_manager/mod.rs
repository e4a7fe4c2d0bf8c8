//! Path managers: which subflows a connection opens and which addresses it announces.
//!
//! A path manager receives events and returns commands. The same object controls the simulated stack and, over netlink,
//! the kernel.
//!
//! Each path manager is one file. `mesh` is the shared code of those that open subflows between pairs of addresses;
//! `addresses`, `subflows` and `retries` are the state of a connection; [`PathManagement`] lists all path managers by name.
//! [`NamedSubflows`] are those that a user names: they are kept open beside any path manager.
//!
//! A path manager may rely on this: a command is executed before the next event, or fails with
//! [`Event::SubflowClosed`] or [`Event::NotOpened`]. Every requested subflow is finally reported closed. The report has the four-tuple with
//! which the subflow was reported established; if it never was, the addresses and the remote port are those of the
//! command.
//!
//! A connection that has subflows already is taken over by reporting the addresses of both hosts and the subflows first
//! and [`Event::Established`] last, with the initial subflow; if that is not open any more, it is then reported closed.

mod addresses;
mod binder;
mod full_mesh;
mod mesh;
mod named_subflows;
mod ndiffports;
mod passive;
mod retries;
mod single_mesh;
mod subflows;
#[cfg(test)]
mod test_events;

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;

use crate::FlowEnd;
use crate::catalogue::{catalogue, dispatch};

pub use addresses::Identifiers;
pub use binder::Binder;
pub use full_mesh::FullMesh;
pub use named_subflows::NamedSubflows;
pub use ndiffports::NDiffPorts;
pub use passive::Passive;
pub use single_mesh::SingleMesh;

/// The maximum number of subflows of a connection at a time (not over its life), including the initial one: the size of
/// a [`SubflowSet`](crate::scheduler::SubflowSet).
pub const MAX_SUBFLOWS: usize = 64;

/// An address of this host or of the peer, with its MPTCP address identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Address identifier (RFC 8684, section 3.2); the initial subflow's is 0.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// Port, if the peer announced one.
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
    /// This host got an address, for the first time or again, then with another identifier ([`Identifiers`]).
    LocalAddressAdded(Address),
    /// This host lost an address.
    LocalAddressRemoved(Address),
    /// The peer announced an address (ADD_ADDR).
    RemoteAddressAdded(Address),
    /// The peer withdrew an address (REMOVE_ADDR). The transport closes the subflows that have its identifier.
    RemoteAddressRemoved {
        /// Its identifier.
        id: u8,
    },
    /// A subflow became usable.
    SubflowEstablished(FourTuple),
    /// A subflow closed or failed, or could not be opened.
    SubflowClosed(FourTuple),
    /// A subflow was requested that the connection cannot have: it has as many as it may, or has fallen back to TCP, or is
    /// about to end. It is reported in place of [`SubflowClosed`](Self::SubflowClosed).
    NotOpened(FourTuple),
    /// The peer reset a subflow for a reason that will not pass (MP_TCPRST without the T flag, RFC 8684, section 3.6; but
    /// not the reason "unspecified", which Linux gives with each reset for which it has no other):
    /// no subflow is to be opened on that path again. That it closed is reported as well.
    PathRefused(FourTuple),
    /// The routes of this host have changed: a subflow may be possible that was not before.
    RoutesChanged,
    /// The time of [`PathManager::wake_at`] has come.
    Woken,
}

/// A command to the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Open a subflow. The transport chooses the local port where none is given.
    Open {
        /// Local address and its identifier; its port, if it has one, is the subflow's.
        local: Address,
        /// Remote address, identifier and port.
        remote: Address,
        /// The remote port.
        port: u16,
        /// Whether the subflow is a backup (flag B of MP_JOIN).
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
    /// Processes an event that happened at `now` and appends the resulting commands. Time does not decrease between calls.
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>);

    /// When it is to be told [`Event::Woken`]; [`Instant::MAX`] for never. It is asked after each event.
    fn wake_at(&self) -> Instant {
        Instant::MAX
    }

    /// Called once, before any connection: what this path manager and its clones serve.
    fn begin(&mut self, _end: FlowEnd) {}
}

// The types of all path managers, in the order of lists. See `catalogue/list.rs`.
macro_rules! path_managers {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! { [Passive FullMesh SingleMesh NDiffPorts Binder] [Custom CustomPathManager: PathManager] $($arguments)* }
    };
}

path_managers! { catalogue!
    /// One of the path managers, chosen by name.
    PathManagement
}

// Every method goes to every path manager: one that overrides a default of the trait is asked.
impl PathManager for PathManagement {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        path_managers!(dispatch! self, manager => manager.on_event(event, now, commands))
    }

    fn wake_at(&self) -> Instant {
        path_managers!(dispatch! self, manager => manager.wake_at())
    }

    fn begin(&mut self, end: FlowEnd) {
        path_managers!(dispatch! self, manager => manager.begin(end))
    }
}

/// `default`.
impl Default for PathManagement {
    fn default() -> Self {
        Self::Passive(Passive)
    }
}
