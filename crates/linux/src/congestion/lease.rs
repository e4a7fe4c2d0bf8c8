//! Programs for as long as a process runs.

use std::os::fd::{AsFd, OwnedFd};

use super::requirements::require;
use super::status::{is_offered, link_of};
use super::{Program, object};
use crate::error::{Result, While};

/// Programs that are in the kernel at least until this is dropped or the process ends, however it ends: the kernel takes out
/// what no open descriptor and no pin refers to.
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

/// `None` where the kernel has it from elsewhere, a module: that stays.
fn hold(program: &'static Program) -> Result<Option<OwnedFd>> {
    if is_offered(program)? {
        if let Some(link) = link_of(program)? {
            return Ok(Some(link));
        }
        // Unless it has gone in between.
        if is_offered(program)? {
            return Ok(None);
        }
    }
    require()?;
    let link = object::attach(program)?;
    link.as_fd().try_clone_to_owned().during(|| format!("cannot hold {}", program.name)).map(Some)
}
