//! The eBPF programs of `bpf/`: the same decisions as the simulator's algorithms, on this machine's processor.
#![cfg(target_os = "linux")]

mod against_policy;
mod native;
mod states;
