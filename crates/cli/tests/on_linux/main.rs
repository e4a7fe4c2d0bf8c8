//! Runs on the kernel as a user meets them: what is printed, what is left when they end, and when they are ended.
//!
//! The tests need root and a kernel with MPTCP. Where the machine does not give that, each says so and passes, unless
//! `SUBFLOW_REQUIRE` names the kernel.
#![cfg(target_os = "linux")]

mod bound_paths;
mod captures;
mod congestion;
#[cfg(feature = "ebpf")]
mod congestion_programs;
mod existing_namespaces;
mod families;
mod kernel_paths;
mod live_page;
mod middleboxes;
mod network;
mod paths;
mod program_connections;
mod programs;
mod proxy;
mod proxy_middleboxes;
mod refusals;
mod runs;
mod sctp;
mod status;
mod support;
mod sweeps;
mod two_hosts;
mod watch;
mod watch_events;
