//! Scripts against Linux: the kernel of a network namespace that the run makes, over TUN devices, in real time.
//!
//! | concern | file |
//! |---|---|
//! | which scripts apply, and the settings of the kernel | `setup.rs` |
//! | packets, time and the application | `target.rs` |

mod setup;
mod target;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use setup::Setup;
use subflow_scenario::file::Problem;
use target::Kernel;

use crate::run::Run;
use crate::script::Script;

/// What became of a script.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The kernel does what the script says.
    Passed,
    /// It does not.
    Failed(Problem),
    /// The script needs what a socket of the kernel does not have, or takes too long.
    DoesNotApply(String),
}

/// Runs a script against the kernel. `number` makes the name of its namespace unique in this process.
///
/// # Errors
///
/// If the machine does not permit it: namespaces and TUN devices need root.
pub fn run_on_linux(script: &Script, number: usize) -> Result<Outcome, subflow_linux::Error> {
    let setup = match Setup::of(script) {
        Ok(setup) => setup,
        Err(reason) => return Ok(Outcome::DoesNotApply(reason)),
    };
    let kernel = Kernel::start(script, setup, number)?;
    Ok(match Run::on(script, Box::new(kernel)).finish() {
        Ok(()) => Outcome::Passed,
        Err(problem) => Outcome::Failed(problem),
    })
}

/// Runs scripts, with the names of their files, against the kernel, `jobs` at a time, each in its own namespace. One that
/// fails and is not `known` to, or passes although it is known to fail, runs a second time, alone: a busy machine may
/// have been late, and threads of the kernel may have sent packets in another order. The outcomes are in the order of
/// the scripts.
///
/// # Errors
///
/// If the machine does not permit it.
pub fn run_all_on_linux(
    scripts: &[(PathBuf, Script)],
    known: &Differences,
    jobs: usize,
) -> Result<Vec<Outcome>, subflow_linux::Error> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, scripts.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((_, script)) = scripts.get(index) else { return };
                    let outcome = run_on_linux(script, index);
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(index, _)| *index);
    let again = |(index, outcome): (usize, Result<Outcome, _>)| {
        let (path, script) = &scripts[index];
        let is_known = known.reason(path).is_some();
        match outcome {
            Ok(Outcome::Failed(_)) if !is_known => run_on_linux(script, scripts.len() + index),
            Ok(Outcome::Passed) if is_known => run_on_linux(script, scripts.len() + index),
            outcome => outcome,
        }
    };
    outcomes.into_iter().map(again).collect()
}

/// Scripts that Linux does not pass, each with the reason.
#[derive(Clone, Debug, Default)]
pub struct Differences(BTreeMap<String, String>);

impl Differences {
    /// Reads a list: lines with the name of a script (`tcp/nagle`) and the reason; `#` begins a comment.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a line has no reason.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            Problem::nowhere(message).help("name a list of differences")
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |line: &str| match line.split_once(char::is_whitespace) {
            Some((name, reason)) => Ok((name.to_owned(), reason.trim().to_owned())),
            None => Err(Problem::nowhere(format!("{}: {line} has no reason", path.display()))
                .help("each line is the name of a script, such as tcp/nagle, and the reason")),
        };
        lines.map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Why Linux is known not to pass the script in the file `path`.
    pub fn reason(&self, path: &Path) -> Option<&str> {
        let folder = path.parent()?.file_name()?.to_str()?;
        let name = format!("{folder}/{}", path.file_stem()?.to_str()?);
        self.0.get(&name).map(String::as_str)
    }
}
