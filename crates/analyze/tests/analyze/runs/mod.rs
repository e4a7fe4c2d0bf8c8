//! Captures of simulated runs: what `analyze` says of them is what the runs have counted and logged.

mod datagrams;
mod hosts;
mod links;
mod partial;
mod retransmissions;
mod sctp;
mod support;
mod version_0;
