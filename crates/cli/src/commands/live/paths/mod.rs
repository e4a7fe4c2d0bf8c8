//! `subflow paths`: the path managers of the simulator for this machine's MPTCP connections.

mod configuration;
mod daemon;
mod logging;

pub(crate) use daemon::{cleanup, paths};
