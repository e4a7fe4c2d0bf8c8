//! Programs that stay in the kernel when the command has ended: each is kept by a pin, a name for its link.

use std::time::{Duration, Instant};
use std::{fs, io};

use libbpf_rs::Link;

use super::bpffs::{self, Folder, is_pinned, pin_of};
use super::lease::hold;
use super::requirements::{require, require_root};
use super::status::{attached, is_offered};
use super::{Loaded, Program, Unloaded};
use crate::Sysctl;
use crate::error::{Error, Result, While};

/// How long the kernel may take to let go of a program after its last link is gone.
const UNLOAD_TIMEOUT: Duration = Duration::from_secs(2);

/// Loads programs for good: until [`unload`] or until the machine restarts. All of them, or, where it fails, none.
pub fn load(programs: &[&'static Program]) -> Result<Vec<Loaded>> {
    require()?;
    let _folder = Folder::make()?;
    let mut pins = Pins(Vec::new());
    let loaded = programs.iter().map(|program| pins.load(program)).collect::<Result<_>>()?;
    pins.0.clear();
    Ok(loaded)
}

/// Takes programs out of the kernel. Sockets that have one keep it until they are closed.
pub fn unload(programs: &[&'static Program]) -> Result<Vec<Unloaded>> {
    require_root()?;
    if let Some(program) = programs.iter().find(|program| is_pinned(program) && is_default(program)) {
        return Err(Error::missing(
            format!("{} is the default of new connections here", program.kernel_name),
            "set another default first: sysctl -w net.ipv4.tcp_congestion_control=cubic",
        ));
    }
    let unloaded = programs.iter().map(|program| unpin(program)).collect::<Result<_>>();
    bpffs::tidy();
    unloaded
}

/// Pins made so far; dropped, they are taken back.
struct Pins(Vec<&'static Program>);

impl Pins {
    fn load(&mut self, program: &'static Program) -> Result<Loaded> {
        if is_pinned(program) {
            if is_offered(program)? {
                // It may have been pinned by another version.
                return hold(program).map(|_| Loaded::Before);
            }
            // It has been detached by other means, and serves nobody.
            fs::remove_file(pin_of(program)).during(|| format!("cannot replace the pin of {}", program.name))?;
        }
        // What a run holds can be pinned, too.
        let link = hold(program)?.ok_or_else(|| name_taken(program))?;
        crate::sys::pin(&link, &pin_of(program)).during(|| format!("cannot pin {}", program.name))?;
        self.0.push(program);
        Ok(Loaded::Now)
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        for program in &self.0 {
            let _ = unpin(program);
        }
    }
}

fn unpin(program: &Program) -> Result<Unloaded> {
    // Held while its name goes: the kernel lets go of the program when the last descriptor is closed, at once. Of a pin
    // that is not there libbpf complains on standard error.
    let link = is_pinned(program).then(|| Link::open(pin_of(program)));
    match fs::remove_file(pin_of(program)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(attached(program)?.map_or(Unloaded::Before, |attached| Unloaded::Held(attached.holder())));
        }
        Err(error) => return Err(error).during(|| format!("cannot unpin {}", program.name)),
    }
    drop(link);
    let begun = Instant::now();
    while is_offered(program)? {
        if begun.elapsed() > UNLOAD_TIMEOUT {
            return Ok(Unloaded::WhenRunEnds);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Unloaded::Now)
}

fn name_taken(program: &Program) -> Error {
    let name = program.kernel_name;
    Error::missing(
        format!("the name {name} is taken: this kernel has a congestion control of that name, which is not ours"),
        format!("unload it, if it is a module: modprobe -r tcp_{name}, or mptcp_{name}"),
    )
}

/// Whether new connections of this network namespace get it.
fn is_default(program: &Program) -> bool {
    Sysctl("ipv4/tcp_congestion_control").read().is_ok_and(|name| name == program.kernel_name)
}
