//! The loop of `subflow watch`.

use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;

use subflow_linux::{Interrupt, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_report::output::Folder;

use super::listen::Events;
use super::observe::Observer;
use super::record::Recorder;
use super::report::Report;
use super::screen::Screen;
use crate::arguments::{BenchFormat, Watch};
use crate::commands::signals::stop_on_signals;
use crate::failure::Failure;
use crate::output::{figure_format, print, say};

/// Events bring the next look forward, but not nearer to the last one than this.
const APART: Duration = Duration::from_millis(20);

pub(crate) fn watch(arguments: &Watch) -> Result<(), Failure> {
    if !std::fs::exists("/proc/sys/net/mptcp").unwrap_or(false) {
        let remedy = "expected a kernel built with CONFIG_MPTCP, as in all major distributions since 2021";
        return Err(Failure::bad_input("this kernel does not support MPTCP", remedy));
    }
    // The owner of a process's folder is its effective user. To others the kernel names no tokens of subflows.
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let missing = "listing which subflows belong to which connection needs root rights";
        return Err(Failure::bad_input(missing, "run it with sudo"));
    }
    let folder = arguments.out.as_ref().map(|out| Folder::for_observation(out, arguments.force)).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    let mut recorder = folder.as_ref().map(|_| Recorder::new(arguments));
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

/// Watches until the end, and records what it shows.
fn look(arguments: &Watch, recorder: &mut Option<Recorder>) -> Result<(), Failure> {
    let stop = Interrupt::on_flag(stop_on_signals()?.flag());
    let clock = WallClock::start();
    let step = Duration::from_millis(arguments.sample.into());
    let mut observer = Observer::new(step, arguments.capture, clock)?;
    let mut output = match arguments.format {
        BenchFormat::Json => Output::Lines,
        BenchFormat::Text if std::io::stdout().is_terminal() => Output::Screen(Box::new(Screen::open()?)),
        BenchFormat::Text => Output::Tables,
    };
    let end = arguments.duration.map_or(Instant::MAX, |seconds| Instant::ZERO + nanoseconds(seconds));
    let interval = nanoseconds(arguments.interval);
    let mut events = Events::new(clock);
    let (mut sample_at, mut report_at) = (Instant::ZERO, Instant::ZERO + interval);
    // One look between two others, where events are a reason for it.
    let mut early = None;
    loop {
        if !events.read_until(sample_at.min(end), early, || !stop.is_raised())? {
            return Ok(());
        }
        observer.sample()?;
        if let Some(why) = events.check(observer.tokens()) {
            output.say(&format!("events of MPTCP connections are not read: {why}"));
        }
        let now = clock.now();
        let was_due = now >= sample_at;
        early = was_due.then_some(now + APART);
        if was_due {
            // Looks that were missed, because the machine was busy, are not made up for.
            sample_at = (sample_at + step).max(now);
        }
        let over = now >= end;
        if now >= report_at || over {
            report_at = (report_at + interval).max(now);
            let report = observer.report(events.report());
            if let Some(recorder) = recorder {
                recorder.record(&report);
            }
            output.show(&report)?;
        }
        if over || output.is_closed()? {
            return Ok(());
        }
    }
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
