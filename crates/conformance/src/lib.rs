//! Scripts of protocol tests: time-stamped lines of what an application does, what a peer sends, and what must leave,
//! run in virtual time against the stacks of `subflow-transport`.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! ```
//! let text = "protocol tcp
//! requirement RFC 9293 section 3.5
//! claim A SYN is answered with a SYN ACK, which acknowledges it
//!
//! 0      listen
//! 0      < SYN seq 1000 mss 1460
//! +0     > SYN ACK seq $iss ack 1001
//! ";
//! let script = subflow_conformance::parse("handshake.conform", text).expect("a script");
//! subflow_conformance::run(&script).expect("the stack does what the script says");
//!
//! // A script that expects something else is a problem at its line.
//! let wrong = text.replace("ack 1001", "ack 1000");
//! let script = subflow_conformance::parse("wrong.conform", &wrong).expect("a script, too");
//! assert!(subflow_conformance::run(&script).is_err());
//! ```
//!
//! | concern | file |
//! |---|---|
//! | characters to tokens | `syntax/token.rs` |
//! | tokens to lines | `syntax/header.rs`, `syntax/step.rs`, `syntax/item.rs`, `syntax/time.rs` |
//! | the script that lines make | `script.rs` |
//! | values and what computes them | `value.rs`, `expression.rs` |
//! | names of the fields of packets | `vocabulary.rs`; of QUIC: `vocabulary/quic.rs` |
//! | packets from fields, and fields from packets | `packet/` |
//! | a peer of QUIC: its identifiers, packet numbers and handshake | `peer.rs`, `handshake.rs` |
//! | options of the stack | `settings.rs` |
//! | what a script runs against | `target.rs`: our stack in virtual time (`world.rs`, `application.rs`), or Linux (`kernel/`) |
//! | a run: one step after another | `run.rs`; what a script makes the application do: `act.rs`; comparison: `compare.rs` |
//! | names of events and states | `names.rs` |
//! | the page of requirements | `requirements.rs` |

mod act;
mod application;
mod compare;
mod expression;
mod handshake;
#[cfg(all(target_os = "linux", feature = "linux"))]
mod kernel;
mod names;
mod packet;
mod peer;
mod requirements;
mod run;
mod script;
mod settings;
mod syntax;
mod target;
mod value;
mod vocabulary;
mod world;

use std::path::{Path, PathBuf};

use subflow_scenario::file::Problem;

#[cfg(all(target_os = "linux", feature = "linux"))]
pub use kernel::{Differences, Outcome, run_all_on_linux, run_on_linux};
pub use requirements::{Held, LIST_EXTENSION, RequirementList, Statement, requirements_page};
pub use script::{Document, Requirement, Script};
pub use syntax::parse;
pub use vocabulary::Protocol;

/// The extension of the files of scripts.
pub const EXTENSION: &str = "conform";

/// Reads the script in the file `path`.
///
/// # Errors
///
/// If the file cannot be read, or is not a script.
pub fn load(path: &Path) -> Result<Script, Problem> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::nowhere(format!("{name} cannot be read: {error}")).help("name a file that holds a script")
    })?;
    parse(&name, &text)
}

/// Reads the lists of requirements in `folder`, in the order of their names.
///
/// # Errors
///
/// If the folder or a list cannot be read.
pub fn load_requirements(folder: &Path) -> Result<Vec<RequirementList>, Problem> {
    let unreadable = |path: &Path, error: std::io::Error| {
        Problem::nowhere(format!("{} cannot be read: {error}", path.display())).help("name a folder of scripts")
    };
    let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|error| unreadable(folder, error))?;
    let is_list = |path: &PathBuf| path.extension().is_some_and(|extension| extension == LIST_EXTENSION);
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).filter(is_list).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
        RequirementList::parse(&path.display().to_string(), &text)
    };
    paths.iter().map(read).collect()
}

/// The files of scripts that `path` is: itself, or all in the folder and in folders below, in the order of their names.
///
/// # Errors
///
/// If it is not there, or is a folder without scripts.
pub fn scripts_of(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut scripts = Vec::new();
    collect(path, &mut scripts)?;
    if scripts.is_empty() {
        let message = format!("{} has no scripts", path.display());
        return Err(Problem::nowhere(message).help(format!("scripts are files with the extension .{EXTENSION}")));
    }
    scripts.sort();
    Ok(scripts)
}

fn collect(folder: &Path, scripts: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let unreadable = |error: std::io::Error| {
        Problem::nowhere(format!("{} cannot be read: {error}", folder.display())).help("name a folder of scripts")
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // Links to folders are not followed: they could lead in a circle.
        let is_folder = entry.file_type().map_err(unreadable)?.is_dir();
        if is_folder {
            collect(&entry.path(), scripts)?;
        } else if entry.path().extension().is_some_and(|extension| extension == EXTENSION) {
            scripts.push(entry.path());
        }
    }
    Ok(())
}

/// Runs a script against the stack.
///
/// # Errors
///
/// The first step that did not go as the script says, with what was expected and what was seen.
pub fn run(script: &Script) -> Result<(), Problem> {
    run::Run::new(script).finish()
}
