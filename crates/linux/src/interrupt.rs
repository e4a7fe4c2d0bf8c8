//! Ctrl-C, and SIGTERM: the run ends early and takes away what it made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Result, While};

/// Whether somebody wants the run to end. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From here on Ctrl-C, SIGTERM and SIGHUP raise this flag instead of ending the process; the second of them ends
    /// it.
    pub fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let ends = 128 + signal;
            // In this order: the first signal finds the flag down and raises it.
            flag::register_conditional_shutdown(signal, ends, Arc::clone(&interrupt.0))
                .and_then(|_| flag::register(signal, Arc::clone(&interrupt.0)))
                .during(|| format!("cannot wait for signal {signal}"))?;
        }
        Ok(interrupt)
    }

    /// Wants the run to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody does.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
