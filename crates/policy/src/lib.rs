//! The algorithms of multipath transport, pure: no I/O, no clock, no protocol.
//!
//! [`congestion`] decides how windows grow and shrink, [`scheduler`] which subflow carries which data, [`path_manager`]
//! which subflows there are. Transports ask, algorithms answer; time is an argument.

pub mod congestion;
pub mod path_manager;
pub mod scheduler;
