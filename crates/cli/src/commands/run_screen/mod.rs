//! `run --tui`: metrics over time of a run under way, in a terminal.
// It reads the wall clock.
#![allow(clippy::disallowed_types)]

mod view;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use signal_hook::low_level::raise;
use subflow_lab::execute::Progress;
use subflow_lab::simulate::{LiveView, series_metrics};
use subflow_scenario::file::{did_you_mean, list};

use crate::arguments::{Platform, Run};
use crate::failure::Failure;
use view::{Asked, View};

/// How often the screen is drawn, and keys are read.
const LOOK: Duration = Duration::from_millis(100);

/// A terminal that shows runs until it is dropped.
pub(crate) struct Screen {
    progress: Arc<Mutex<Progress>>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Refuses `--tui` where there is nothing to show, or nowhere to show it.
pub(crate) fn check(arguments: &Run) -> Result<(), Failure> {
    let Some(metrics) = &arguments.tui else { return Ok(()) };
    let known = series_metrics();
    for metric in metrics {
        if !known.contains(&metric.as_str()) {
            let guess = did_you_mean(metric, known.iter().copied(), "no such metric");
            let help = format!("there are {}", list(known.iter().copied()));
            return Err(Failure::bad_input(format!("--tui: found {metric:?}: {guess}"), help));
        }
    }
    if arguments.on == Platform::Linux {
        return Err(Failure::bad_input(
            "--tui cannot be used with --on linux",
            "it shows simulated runs: remove it, and use `subflow watch` for connections of this machine",
        ));
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Failure::bad_input("--tui requires a terminal", "remove it, or do not redirect input and output"));
    }
    Ok(())
}

impl Screen {
    /// Takes the terminal for these metrics of the runs that answer in `live`.
    pub(crate) fn open(name: &str, metrics: &[String], live: LiveView) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::RunFailed(format!("cannot use the terminal: {error}"));
        let terminal = ratatui::try_init().map_err(failed)?;
        let (progress, end) = (Arc::new(Mutex::new(Progress { done: 0, total: 0 })), Arc::new(AtomicBool::new(false)));
        let (seen, ended) = (Arc::clone(&progress), Arc::clone(&end));
        let view = View::new(name, metrics);
        let show = move || {
            // What cannot be shown does not end the runs.
            let _ = show_until(&ended, terminal, view, &live, &seen);
        };
        let thread = std::thread::Builder::new().name("screen".to_owned()).spawn(show).map_err(failed);
        match thread {
            Ok(thread) => Ok(Self { progress, end, thread: Some(thread) }),
            Err(failure) => {
                ratatui::restore();
                Err(failure)
            }
        }
    }

    /// Takes the progress of the runs.
    pub(crate) fn note(&self, progress: Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there was a mistake of the view, which the runs have nothing to do with.
            let _ = thread.join();
        }
        ratatui::restore();
    }
}

/// Draws and handles keys until the end.
fn show_until(
    ended: &AtomicBool,
    mut terminal: DefaultTerminal,
    mut view: View,
    live: &LiveView,
    progress: &Mutex<Progress>,
) -> io::Result<()> {
    while !ended.load(Ordering::Relaxed) {
        live.ask();
        while event::poll(LOOK)? {
            match event::read()? {
                Event::Key(key) => match view.on_key(key) {
                    // In raw mode the terminal makes no signal of Ctrl-C. What a signal does is what the user wants.
                    Asked::Cancel => raise(signal_hook::consts::SIGINT)?,
                    Asked::Nothing => {}
                },
                Event::Resize(..) => {}
                _ => continue,
            }
            terminal.draw(|frame| view.draw(frame))?;
        }
        view.take(*progress.lock().unwrap_or_else(PoisonError::into_inner), live.first());
        terminal.draw(|frame| view.draw(frame))?;
    }
    Ok(())
}
