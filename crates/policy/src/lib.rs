//! The algorithms of multipath transport, as pure code: no I/O, no clock, no protocol.
//!
//! [`congestion`] decides how windows grow and shrink, [`scheduler`] which subflow carries which data, [`path_manager`]
//! which subflows are opened, [`bottleneck`] which of them queue at the same link, [`routing`] which path their packets
//! take. Transports and networks call these algorithms; time is an argument. [`custom`] lets other crates add theirs.

pub mod bottleneck;
pub mod congestion;
pub mod custom;
pub mod path_manager;
pub mod routing;
pub mod scheduler;
