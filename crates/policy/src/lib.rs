//! The algorithms of multipath transport, pure: no I/O, no clock, no protocol.
//!
//! [`congestion`] decides how windows grow and shrink, [`scheduler`] which subflow carries which data, [`path_manager`]
//! which subflows there are, [`bottleneck`] which of them queue at the same link, [`routing`] which way their packets go.
//! Transports and networks ask, algorithms answer; time is an argument.

pub mod bottleneck;
pub mod congestion;
pub mod path_manager;
pub mod routing;
pub mod scheduler;
