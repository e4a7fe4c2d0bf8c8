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

/// The time between two looks that a page has: more would show no more.
const RECORD: f64 = 0.1;

pub(crate) fn watch(arguments: &Watch) -> Result<(), Failure> {
    subflow_watch::require()?;
    let folder = arguments.out.as_ref().map(|out| Folder::for_observation(out, arguments.force)).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let mut recorder = folder.as_ref().map(|_| Recorder::new(command(arguments), record_interval(arguments)));
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
        record: recorder.as_ref().map(|_| record_interval(arguments)),
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
        for recorder in recorder.iter_mut() {
            look.record.iter().for_each(|look| recorder.record(look));
            look.report.iter().for_each(|report| recorder.record_events(&report.interval));
        }
        if let Some(report) = &look.report {
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

/// Also a connection that ends before the first report is to be on the page.
fn record_interval(arguments: &Watch) -> Duration {
    nanoseconds(arguments.interval.min(RECORD))
}

fn nanoseconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}
