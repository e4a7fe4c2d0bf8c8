//! The eBPF programs of `bpf/`: the same decisions as the simulator's algorithms, on this machine's processor; and,
//! with the feature `ebpf`, what they do in its kernel.
//!
//! The tests in the kernel need root, a kernel that can have the programs, and that nobody has loaded one already.
//! Where the machine does not give that, each says so and passes, unless `SUBFLOW_REQUIRE` names `ebpf`.
#![cfg(target_os = "linux")]

mod against_policy;
mod beyond;
#[cfg(feature = "ebpf")]
mod connections;
#[cfg(feature = "ebpf")]
mod loading;
#[cfg(feature = "ebpf")]
mod machine;
mod native;
mod states;
