//! What is loaded, and what it costs.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter};
use libbpf_rs::{MapCore, MapHandle, ProgramType};

use super::bpffs::is_pinned;
use super::requirements::require_root;
use super::version::is_of_this_version;
use super::{PROGRAMS, Place, Program, Status};
use crate::error::{Result, While};
use crate::kernel::congestion_controls;

/// What of the programs is in the kernel.
pub fn list() -> Result<Vec<Status>> {
    require_root()?;
    PROGRAMS.iter().map(status).collect()
}

fn status(program: &Program) -> Result<Status> {
    let is_offered = is_offered(program)?;
    let attached = if is_offered { attached(program)? } else { None };
    let place = if !is_offered {
        Place::Nowhere
    } else if is_pinned(program) {
        Place::Pinned
    } else if attached.is_some() {
        Place::Held
    } else {
        Place::Foreign
    };
    let current = attached.map(|attached| is_of_this_version(program, &attached.map)).transpose()?.unwrap_or(true);
    let (calls, ns) = if matches!(place, Place::Pinned | Place::Held) { calls_of(program) } else { (0, 0) };
    Ok(Status { program: *program, place, current, calls, call_ns: (calls > 0).then(|| ns as f64 / calls as f64) })
}

/// Whether sockets can have it.
pub(super) fn is_offered(program: &Program) -> Result<bool> {
    Ok(congestion_controls()?.iter().any(|name| name == program.kernel_name))
}

/// A program that the kernel offers.
pub(super) struct Attached {
    /// As long as it is open, the program stays.
    pub(super) link: OwnedFd,
    /// The map with its functions.
    pub(super) map: MapHandle,
}

/// The program as it is in the kernel, whoever loaded it.
pub(super) fn attached(program: &Program) -> Result<Option<Attached>> {
    for link in LinkInfoIter::default() {
        let LinkTypeInfo::StructOps(operations) = &link.info else { continue };
        // Gone since, or the one?
        let Ok(map) = MapHandle::from_map_id(operations.map_id) else { continue };
        if map.name() == program.kernel_name {
            match crate::sys::link_by_id(link.id) {
                // Another run has let go of it since.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => {
                    let link = opened.during(|| format!("cannot open the link of {}", program.name))?;
                    return Ok(Some(Attached { link, map }));
                }
            }
        }
    }
    Ok(None)
}

/// How often the kernel asked the program how a window grows while it counted, and the nanoseconds that took.
fn calls_of(program: &Program) -> (u64, u64) {
    // The kernel keeps 15 letters of a name.
    let name: String = format!("{}_cong_avoid", program.kernel_name).chars().take(15).collect();
    let ours = |info: &libbpf_rs::query::ProgramInfo| info.ty == ProgramType::StructOps && info.name == *name;
    ProgInfoIter::default().filter(ours).fold((0, 0), |(calls, ns), info| (calls + info.run_cnt, ns + info.run_time_ns))
}
