//! `subflow watch`: the MPTCP connections of this machine, in a table, in lines of JSON, or as a report of the whole time.

mod screen;

use std::io::IsTerminal;

use subflow_linux::Interrupt;
use subflow_quantity::Duration;
use subflow_report::output::Folder;
use subflow_watch::{Recorder, Report, Settings, Watcher};

use crate::arguments::{BenchFormat, Watch};
use crate::commands::signals::stop_on_signals;
use crate::failure::Failure;
use crate::output::{figure_format, print, say};
use screen::Screen;

pub(crate) fn watch(arguments: &Watch) -> Result<(), Failure> {
    subflow_watch::require()?;
    let folder = arguments.out.as_ref().map(|out| Folder::for_observation(out, arguments.force)).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let mut recorder = folder.as_ref().map(|_| Recorder::new(command(arguments), nanoseconds(arguments.interval)));
    let watched = look(arguments, &mut recorder);
    // A reader who has closed the pipe, or a failure, must not cost what was watched until then.
    let written = match (&folder, &recorder) {
        (Some(folder), Some(recorder)) => folder.write_observation(&recorder.observation(), figures),
        _ => Ok(()),
    };
    watched?;
    written?;
    if let Some(folder) = folder {
        say(&format!("the report is in {}", folder.path().display()));
    }
    Ok(())
}

/// The command that makes another report like this one.
fn command(arguments: &Watch) -> String {
    let out = arguments.out.as_ref().map(|out| out.display().to_string()).unwrap_or_default();
    let capture = if arguments.capture { " --capture" } else { "" };
    format!("subflow watch --interval {}{capture} --out {out}", arguments.interval)
}

/// Watches until the end, and records what it shows.
fn look(arguments: &Watch, recorder: &mut Option<Recorder>) -> Result<(), Failure> {
    let stop = Interrupt::on_flag(stop_on_signals()?.flag());
    let settings = Settings {
        interval: nanoseconds(arguments.interval),
        sample: Duration::from_millis(arguments.sample.into()),
        capture: arguments.capture,
        duration: arguments.duration.map(nanoseconds),
    };
    let mut watcher = Watcher::start(settings)?;
    let mut output = match arguments.format {
        BenchFormat::Json => Output::Lines,
        BenchFormat::Text if std::io::stdout().is_terminal() => Output::Screen(Box::new(Screen::open()?)),
        BenchFormat::Text => Output::Tables,
    };
    while let Some(look) = watcher.look(|| !stop.is_raised())? {
        if let Some(why) = look.unread {
            output.say(&format!("events of MPTCP connections are not read: {why}"));
        }
        if let Some(report) = &look.report {
            recorder.iter_mut().for_each(|recorder| recorder.record(report));
            output.show(report)?;
        }
        if look.is_last || output.is_closed()? {
            break;
        }
    }
    Ok(())
}

enum Output {
    Lines,
    Tables,
    Screen(Box<Screen>),
}

impl Output {
    fn show(&mut self, report: &Report) -> Result<(), Failure> {
        match self {
            Self::Lines => {
                let line = serde_json::to_string(report).map_err(|error| Failure::RunFailed(error.to_string()))?;
                print(&(line + "\n"))
            }
            Self::Tables => print(&report.text()),
            Self::Screen(screen) => screen.show(report),
        }
    }

    /// Says something on standard error, unless that is the screen, which says it with each report.
    fn say(&self, what: &str) {
        if !matches!(self, Self::Screen(_)) || !std::io::stderr().is_terminal() {
            say(what);
        }
    }

    /// Whether the user has closed the screen.
    fn is_closed(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Screen(screen) => screen.is_closed(),
            Self::Lines | Self::Tables => Ok(false),
        }
    }
}

fn nanoseconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}
