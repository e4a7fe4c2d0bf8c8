//! Our stack with the kernel as its peer, and two kernel hosts, over TUN devices in namespaces created by the tests.
//!
//! The tests need root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, and /dev/net/tun. Without them each test prints a message
//! and passes, unless `SUBFLOW_REQUIRE` names the kernel.
#![cfg(target_os = "linux")]

mod bench;
mod contest;
mod fallback;
mod kernels;
mod signals;
mod transfers;
