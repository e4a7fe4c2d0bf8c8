//! From bytes to a congestion control that the kernel offers.

use std::sync::Mutex;

use libbpf_rs::{ErrorKind, Link, MapCore, MapType, Object, ObjectBuilder, PrintLevel, set_print};

use super::Program;
use crate::error::{Error, Result};

macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"))
    };
}

/// What libbpf says goes to one place for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Loads a program, which nobody is offered by that.
pub(super) fn load(program: &Program) -> Result<Object> {
    let _turn = ONE_AT_A_TIME.lock();
    load_in_turn(program)
}

/// Loads a program and has the kernel offer it for as long as the link, or a pin of it, is there. `None` where the name
/// is taken.
pub(super) fn attach(program: &Program) -> Result<Option<Link>> {
    let _turn = ONE_AT_A_TIME.lock();
    let mut object = load_in_turn(program)?;
    let operations = object.maps_mut().find(|map| map.map_type() == MapType::StructOps);
    let mut operations =
        operations.ok_or_else(|| Error::Unexpected(format!("the program {} has no operations", program.name)))?;
    match operations.attach_struct_ops() {
        Ok(link) => Ok(Some(link)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(refused(program, &error)),
    }
}

fn load_in_turn(program: &Program) -> Result<Object> {
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    set_print(Some((PrintLevel::Warn, |_, text| {
        if let Ok(mut said) = SAID.lock() {
            said.push_str(&text);
        }
    })));
    ObjectBuilder::default()
        .name(program.kernel_name)
        .and_then(|builder| builder.open_memory(bytes_of(program)))
        .and_then(|object| object.load())
        .map_err(|error| refused(program, &error))
}

/// What libbpf has said of the program at hand.
static SAID: Mutex<String> = Mutex::new(String::new());
/// Lines of it that an error quotes: the end of a verifier's log has its reason.
const QUOTED: usize = 6;

fn refused(program: &Program, error: &libbpf_rs::Error) -> Error {
    if error.kind() == ErrorKind::PermissionDenied {
        return Error::missing(
            format!("the kernel does not let this process load eBPF programs ({error})"),
            "this container may not: start it with --cap-add=BPF,NET_ADMIN,SYS_ADMIN, and leave kernel lockdown off",
        );
    }
    let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(QUOTED)..].join("\n");
    Error::Unexpected(format!("the kernel refuses the program {}: {error}\n{last}", program.name))
}

fn bytes_of(program: &Program) -> &'static [u8] {
    match program.kernel_name {
        "lia" => object!("lia"),
        "olia" => object!("olia"),
        "balia" => object!("balia"),
        "wvegas" => object!("wvegas"),
        "cmt_rpv1" => object!("cmt_rpv1"),
        "cmt_rpv2" => object!("cmt_rpv2"),
        other => unreachable!("{other} is not in PROGRAMS"),
    }
}
