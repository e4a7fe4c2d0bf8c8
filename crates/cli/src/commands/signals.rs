//! Signals that end a command: SIGINT (Ctrl-C), SIGTERM, and SIGHUP, which comes when a terminal is closed.
// It reads the wall clock.
#![allow(clippy::disallowed_types)]

use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::iterator::Signals;
use signal_hook::low_level;
use subflow_lab::Stop;

use super::ending_signals::ending_signals;
use crate::failure::Failure;
use crate::output;

/// What a command says at the first signal if it does runs in real time, which have something to remove.
pub(super) const REMOVES_NAMESPACES: &str = "stopping, and removing the namespaces of the run; a second signal ends \
                                             the command at once, and leaves them to `subflow cleanup`";

/// Signals within this time of the first one are the same request: `timeout` signals its child, and then the whole
/// group of processes, to which the child belongs.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The request of this process.
static REQUEST: OnceLock<Stop> = OnceLock::new();

/// What signals make the command say.
static SAID: Mutex<Said> = Mutex::new(Said { first: None, at_once: None });

/// What signals make a command say, in the part of its work that it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// At the first signal.
    first: Option<String>,
    /// Before a later signal ends the command at once.
    at_once: Option<String>,
}

impl Said {
    /// What is said while runs are done: at the first signal nothing unless there is a `message`, for a command that
    /// ends soon says then what is kept. `kept` is where runs are kept.
    pub(super) fn of_runs(message: Option<&str>, kept: Option<&Path>) -> Self {
        Self {
            first: message.map(str::to_owned),
            at_once: kept.map(|kept| format!("ended at once: {}", are_kept(kept))),
        }
    }
}

/// What is said while results are written of runs that are kept in `kept`.
fn while_writing(kept: Option<&Path>) -> Said {
    let what_is_kept = kept.map_or_else(|| "nothing of the runs is kept then".to_owned(), are_kept);
    Said {
        first: Some(format!("writing results; a second signal ends the command at once: {what_is_kept}")),
        at_once: Some(format!("ended at once, without results: {what_is_kept}")),
    }
}

/// What is said while results are printed which are in the folder `results`.
pub(super) fn while_printing(results: Option<&Path>) -> Said {
    let written = results.map_or_else(String::new, |path| format!("; the results are in {}", path.display()));
    Said {
        first: Some(format!("printing results; a second signal ends the command at once{written}")),
        at_once: Some(format!("ended at once{written}")),
    }
}

fn are_kept(kept: &Path) -> String {
    format!("the runs that were done are kept in {}; the same command with --resume continues", kept.display())
}

/// Chooses what signals make the command say from now on.
pub(super) fn say(said: Said) {
    *SAID.lock().expect("no thread panics while it has the lock") = said;
}

/// Chooses what signals make the command say while it writes results of runs that are kept in `kept`. If there was one
/// that came too late to end a run, it is answered now.
pub(super) fn say_that_results_are_written(kept: Option<&Path>) {
    let said = while_writing(kept);
    let mut now = SAID.lock().expect("no thread panics while it has the lock");
    if REQUEST.get().is_some_and(Stop::is_requested) && now.first != said.first {
        said.first.iter().for_each(|message| output::say(message));
    }
    *now = said;
}

/// A request that the first signal makes; what the command says is chosen by [`say`]. A signal that comes later than
/// [`ONE_REQUEST`] ends the process at once, with the exit code that shells use for it: 128 and its number. Further
/// calls return the same request.
pub(super) fn stop_on_signals() -> Result<Stop, Failure> {
    if let Some(stop) = REQUEST.get() {
        return Ok(stop.clone());
    }
    let failed = |error: std::io::Error| Failure::RunFailed(format!("cannot react to signals: {error}"));
    let mut signals = Signals::new(ending_signals()).map_err(failed)?;
    let stop = REQUEST.get_or_init(Stop::default).clone();
    let requested = stop.clone();
    let wait = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            let said = SAID.lock().expect("no thread panics while it has the lock");
            match first {
                None => {
                    first = Some(Instant::now());
                    requested.request();
                    said.first.iter().for_each(|message| output::say(message));
                }
                Some(at) if at.elapsed() < ONE_REQUEST => {}
                Some(_) => {
                    said.at_once.iter().for_each(|message| output::say(message));
                    low_level::exit(128 + signal);
                }
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
    Ok(stop)
}
