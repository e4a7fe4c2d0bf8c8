//! A progress bar on standard error, if that is a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use subflow_lab::execute::Progress;

/// A progress bar that is there only on a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} to go") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Shows the progress.
    pub(crate) fn show(&self, progress: Progress) {
        self.0.set_length(progress.total as u64);
        self.0.set_position(progress.done as u64);
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
    }
}
