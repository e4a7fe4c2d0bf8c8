//! Signals that end a command: SIGINT (Ctrl-C), SIGTERM, and SIGHUP, which comes when a terminal is closed.

use std::io::Write;
use std::sync::OnceLock;
use std::thread;

use signal_hook::iterator::Signals;
use signal_hook::low_level;
use subflow_lab::Stop;

use crate::failure::Failure;

/// What a command says at the first signal if it does runs in real time, which have something to remove.
pub(super) const REMOVES_NAMESPACES: &str = "stopping, and removing the namespaces of the run; a second signal ends \
                                             the command at once, and leaves them to `subflow cleanup`";

/// The request of this process.
static REQUEST: OnceLock<Stop> = OnceLock::new();

/// A request that the first signal makes, with `message` on standard error if there is one. A second signal ends the
/// process at once, with the exit code that shells use for it: 128 and its number. Further calls return the same request.
pub(super) fn stop_on_signals(message: Option<&'static str>) -> Result<Stop, Failure> {
    if let Some(stop) = REQUEST.get() {
        return Ok(stop.clone());
    }
    let failed = |error: std::io::Error| Failure::RunFailed(format!("cannot react to signals: {error}"));
    let mut signals = Signals::new(ending_signals()).map_err(failed)?;
    let stop = Stop::default();
    let requested = stop.clone();
    let wait = move || {
        for signal in signals.forever() {
            if requested.is_requested() {
                low_level::exit(128 + signal);
            }
            requested.request();
            if let Some(message) = message {
                // If standard error is closed, the command ends all the same.
                let _ = writeln!(std::io::stderr(), "{message}");
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
    Ok(REQUEST.get_or_init(|| stop).clone())
}

#[cfg(target_os = "linux")]
fn ending_signals() -> impl Iterator<Item = i32> {
    subflow_linux::ending_signals()
}

#[cfg(not(target_os = "linux"))]
fn ending_signals() -> impl Iterator<Item = i32> {
    [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM].into_iter()
}
