//! `subflow watch`: the MPTCP connections of this machine, and which of their subflows share a bottleneck.

mod detect;
mod event;
mod listen;
mod observe;
mod record;
mod record_events;
mod report;
mod run;
mod screen;

pub(crate) use run::watch;
