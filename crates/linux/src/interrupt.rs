//! Ctrl-C and SIGTERM: the run ends early and removes what it created.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Result, While};

/// A flag that asks the run to end. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on the first SIGINT (Ctrl-C), SIGTERM or SIGHUP raises this flag instead of ending the process; a
    /// second one ends it.
    pub fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let ends = 128 + signal;
            // The order matters: at the first signal the flag is not yet raised, so the process does not end.
            flag::register_conditional_shutdown(signal, ends, Arc::clone(&interrupt.0))
                .and_then(|_| flag::register(signal, Arc::clone(&interrupt.0)))
                .during(|| format!("cannot install a handler for signal {signal}"))?;
        }
        Ok(interrupt)
    }

    /// One that is raised when `flag` is set.
    pub fn on_flag(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Asks the run to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run is asked to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
