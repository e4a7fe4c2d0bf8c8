//! What is said where the programs were not built in.

use super::{Loaded, Program, Status, Unloaded};
use crate::error::{Error, Result};
use crate::kernel::congestion_controls;

/// Programs that are in the kernel for as long as this is not dropped: none.
#[derive(Debug)]
pub struct Lease(());

impl Lease {
    /// Holds what the kernel has from elsewhere, which is to say nothing; fails where it has to load a program.
    pub fn take(programs: &[&'static Program]) -> Result<Self> {
        let offered = congestion_controls()?;
        match programs.iter().all(|program| offered.iter().any(|name| name == program.kernel_name)) {
            true => Ok(Self(())),
            false => Err(absent()),
        }
    }
}

/// Fails: there are no programs.
pub fn load(_: &[&'static Program]) -> Result<Vec<Loaded>> {
    Err(absent())
}

/// Fails: there are no programs.
pub fn unload(_: &[&'static Program]) -> Result<Vec<Unloaded>> {
    Err(absent())
}

/// Fails: there are no programs.
pub fn list() -> Result<Vec<Status>> {
    Err(absent())
}

fn absent() -> Error {
    Error::missing(
        "this build has no eBPF programs",
        "build it with `cargo build --release --features ebpf`, which needs clang and libelf (Debian: clang, libelf-dev)",
    )
}
