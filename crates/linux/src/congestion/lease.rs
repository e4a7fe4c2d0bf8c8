//! Programs for as long as a process runs. Several processes may want the same one, and each may end first.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use super::requirements::require;
use super::status::{another_version, attached, is_of_this_version, is_offered};
use super::{Program, object};
use crate::error::{Result, While};

/// Programs that are in the kernel at least until this is dropped or the process ends, however it ends: the kernel
/// takes out what no open descriptor and no pin refers to.
#[derive(Debug)]
pub struct Lease {
    /// What keeps them there.
    _links: Vec<OwnedFd>,
}

impl Lease {
    /// Has the kernel offer `programs`: loads what is missing, and holds what is there, be it pinned or another run's.
    pub fn take(programs: &[&'static Program]) -> Result<Self> {
        let mut links = Vec::new();
        for program in programs {
            links.extend(hold(program)?);
        }
        Ok(Self { _links: links })
    }
}

/// How long the name of a program may be taken while its link is not to be seen: another run is about to make it, or
/// has just let go of it.
const LINK_TIMEOUT: Duration = Duration::from_millis(500);

/// A descriptor that keeps the program in the kernel, loaded where it is not; `None` where the kernel has it from
/// elsewhere, a module, which stays anyway. Fails where it is the program of another version.
pub(super) fn hold(program: &Program) -> Result<Option<OwnedFd>> {
    let begun = Instant::now();
    loop {
        if !is_offered(program)? {
            require()?;
            if let Some(link) = object::attach(program)? {
                return link.as_fd().try_clone_to_owned().during(|| format!("cannot hold {}", program.name)).map(Some);
            }
        } else if let Some(attached) = attached(program)? {
            return match is_of_this_version(program, &attached.map)? {
                true => Ok(Some(attached.link)),
                false => Err(another_version(program)),
            };
        } else if begun.elapsed() > LINK_TIMEOUT {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
