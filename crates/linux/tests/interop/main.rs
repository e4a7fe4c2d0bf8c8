//! Our stack against the kernel's, and the kernel's against itself, over TUN devices in namespaces made here.
//!
//! The tests need root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, and /dev/net/tun. Where the machine does not give that,
//! each says so and passes; `SUBFLOW_REQUIRE_INTEROP=1` makes that a failure.
#![cfg(target_os = "linux")]

mod bench;
mod contest;
mod kernels;
mod signals;
mod transfers;
