//! Whether a program in the kernel is the one of this version: an older one outlives the command that loaded it.
//!
//! The kernel has a tag of each function, a hash of its instructions as they were loaded. They depend on the kernel, too,
//! so the program at hand is loaded, and offered to nobody, to see its tags.

use std::os::fd::AsFd;

use libbpf_rs::{MapCore, MapFlags, MapHandle, ProgramHandle, ProgramType};

use super::{Program, object};
use crate::error::{Error, Result, While};
use crate::sys;

type Tag = [u8; 8];

/// Whether the program behind `map` has the functions of the one that was built in.
pub(super) fn is_of_this_version(program: &Program, map: &MapHandle) -> Result<bool> {
    Ok(tags_of(program, map)? == built_in(program)?)
}

/// What is said where it is not.
pub(super) fn another_version(program: &Program) -> Error {
    let name = program.name;
    Error::missing(
        format!("the kernel has {name} from another version of subflow"),
        format!("put this one's in its place: subflow cc unload {name}; one that a run holds goes when the run ends"),
    )
}

/// The tags of the functions in a struct_ops map. Its value is the kernel's structure, with a program's number in the
/// place of each function.
fn tags_of(program: &Program, map: &MapHandle) -> Result<Vec<Tag>> {
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
    let value = value.map_err(|error| Error::Unexpected(format!("cannot look at {}: {error}", program.name)))?;
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
    let mut tags = tags.during(|| format!("cannot look at {}", program.name))?;
    tags.sort_unstable();
    Ok(tags)
}
