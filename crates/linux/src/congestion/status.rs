//! What is loaded, what it costs, and whether it is the program of this version.

use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, ProgramHandle, ProgramType};

use super::bpffs::is_pinned;
use super::requirements::require_root;
use super::{PROGRAMS, Place, Program, Status, object};
use crate::error::{Error, Result, While};
use crate::kernel::congestion_controls;
use crate::sys;

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
    /// The number of the link.
    id: u32,
}

impl Attached {
    /// The first process, other than this one, that has the link open.
    pub(super) fn holder(&self) -> Option<u32> {
        let line = format!("link_id:\t{}", self.id);
        let numbers = |folder: &str| {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()).collect::<Vec<_>>()
        };
        let holds = |process: u32| {
            let folder = format!("/proc/{process}/fdinfo");
            let describes = |text: String| text.lines().any(|found| found == line);
            numbers(&folder).iter().any(|fd| fs::read_to_string(format!("{folder}/{fd}")).is_ok_and(describes))
        };
        let others = numbers("/proc").into_iter().filter(|&process| process != std::process::id());
        others.into_iter().find(|&process| holds(process))
    }
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
                    let id = link.id;
                    let link = opened.during(|| format!("cannot open the link of {}", program.name))?;
                    return Ok(Some(Attached { link, map, id }));
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

type Tag = [u8; 8];

/// Whether the program behind `map` has the functions of the one that was built in: an older one outlives the command
/// that loaded it. The kernel has a tag of each function, a hash of its instructions as they were loaded. They depend on the
/// kernel, too, so the program at hand is loaded, and offered to nobody, to see its tags.
pub(super) fn is_of_this_version(program: &Program, map: &MapHandle) -> Result<bool> {
    Ok(tags_of(program, map)? == built_in(program)?)
}

/// What is said where it is not.
pub(super) fn another_version(program: &Program) -> Error {
    let name = program.name;
    Error::missing(
        format!("the kernel has {name} from another version of subflow"),
        format!("unload it: subflow cc unload {name}; a program that a run uses is removed when the run ends"),
    )
}

/// The tags of the functions in a struct_ops map. Its value is the kernel's structure, with a program's number in the
/// place of each function.
fn tags_of(program: &Program, map: &MapHandle) -> Result<Vec<Tag>> {
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
    let value =
        value.map_err(|error| Error::Unexpected(format!("cannot read the program {}: {error}", program.name)))?;
    let words = value.as_deref().unwrap_or_default().chunks_exact(8);
    let numbers = words.filter_map(|word| u64::from_ne_bytes(word.try_into().ok()?).try_into().ok());
    let functions = numbers.filter(|&number: &u32| number != 0).filter_map(|id| ProgramHandle::from_prog_id(id).ok());
    // A word may be something else, and a program have its number.
    let ours = |function: &ProgramHandle| {
        let name = function.name().to_string_lossy();
        function.prog_type() == ProgramType::StructOps
            && name.strip_prefix(program.kernel_name).is_some_and(|rest| rest.starts_with('_'))
    };
    let mut tags: Vec<Tag> = functions.filter(ours).map(|function| function.tag()).collect();
    tags.sort_unstable();
    Ok(tags)
}

/// The tags of the functions of the program that was built in.
fn built_in(program: &Program) -> Result<Vec<Tag>> {
    let object = object::load(program)?;
    let tag = |function: libbpf_rs::Program<'_>| sys::program_tag(function.as_fd());
    let tags = object.progs().map(tag).collect::<std::io::Result<Vec<Tag>>>();
    let mut tags = tags.during(|| format!("cannot read the program {}", program.name))?;
    tags.sort_unstable();
    Ok(tags)
}
