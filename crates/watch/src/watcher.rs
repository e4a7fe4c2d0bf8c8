//! The watch from start to end: when to look at the kernel's lists, and when to report.

use std::os::unix::fs::MetadataExt;

use subflow_linux::{Error, Result, WallClock};
use subflow_quantity::{Duration, Instant};

use crate::Report;
use crate::listen::{Events, Interval};
use crate::observe::{Observer, Purpose};

/// Events bring the next look forward, but not nearer to the last one than this.
const APART: Duration = Duration::from_millis(20);

/// What is watched, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The time between two reports.
    pub interval: Duration,
    /// The time between two looks at the kernel's figures, from which shared bottlenecks are detected.
    pub sample: Duration,
    /// Whether the acknowledgments that arrive are captured, for detectors that need the delays of individual packets.
    pub capture: bool,
    /// The time until it ends; `None` for a watch without an end.
    pub duration: Option<Duration>,
    /// The time between two looks that are kept for a page of the whole time; `None` without one.
    pub record: Option<Duration>,
}

impl Default for Settings {
    /// A report each second, a look each 20 ms, without capture, end and page.
    fn default() -> Self {
        let (interval, sample) = (Duration::from_secs(1), Duration::from_millis(20));
        Self { interval, sample, capture: false, duration: None, record: None }
    }
}

/// Watches the MPTCP connections of the network namespace that the thread is in which created it.
pub struct Watcher {
    settings: Settings,
    clock: WallClock,
    observer: Observer,
    events: Events,
    sample_at: Instant,
    report_at: Instant,
    record_at: Instant,
    /// When events end the wait for the next look: there is one such look between two others.
    early: Option<Instant>,
}

/// What one look has found.
#[derive(Debug)]
pub struct Look {
    /// The report, if one is due.
    pub report: Option<Report>,
    /// What is kept for a page of the whole time, if that is due: a report without events.
    pub record: Option<Report>,
    /// Why events are not read, if that is new.
    pub unread: Option<String>,
    /// Whether it is the last one.
    pub is_last: bool,
}

impl Watcher {
    /// Begins to watch.
    ///
    /// # Errors
    ///
    /// The kernel has no MPTCP, the process is not root's, or the kernel refuses its lists.
    pub fn start(settings: Settings) -> Result<Self> {
        require()?;
        let clock = WallClock::start();
        Ok(Self {
            settings,
            clock,
            observer: Observer::new(settings.sample, settings.capture, clock)?,
            events: Events::new(clock),
            sample_at: Instant::ZERO,
            report_at: Instant::ZERO + settings.interval,
            record_at: Instant::ZERO,
            early: None,
        })
    }

    /// Waits until the next look is due and takes it. Returns `None` if `go_on`, which is asked every 50 ms, is false.
    ///
    /// # Errors
    ///
    /// The kernel refuses its lists or events.
    pub fn look(&mut self, go_on: impl Fn() -> bool) -> Result<Option<Look>> {
        let end = self.settings.duration.map_or(Instant::MAX, |duration| Instant::ZERO + duration);
        if !self.events.read_until(self.sample_at.min(end), self.early, go_on)? {
            return Ok(None);
        }
        self.observer.sample()?;
        let unread = self.events.check(self.observer.tokens());
        let now = self.clock.now();
        let was_due = now >= self.sample_at;
        self.early = was_due.then_some(now + APART);
        if was_due {
            // Looks that were missed, because the machine was busy, are not made up for.
            self.sample_at = (self.sample_at + self.settings.sample).max(now);
        }
        let is_last = now >= end;
        let report = (now >= self.report_at || is_last).then(|| {
            self.report_at = (self.report_at + self.settings.interval).max(now);
            self.observer.report(Purpose::Report, self.events.report())
        });
        let due = self.settings.record.filter(|_| now >= self.record_at || is_last);
        let record = due.map(|every| {
            self.record_at = (self.record_at + every).max(now);
            self.observer.report(Purpose::Record, Interval::default())
        });
        Ok(Some(Look { report, record, unread, is_last }))
    }
}

/// Checks that this kernel and user can list subflows.
///
/// # Errors
///
/// The kernel has no MPTCP, or the process is not root's.
pub fn require() -> Result<()> {
    if !std::fs::exists("/proc/sys/net/mptcp").unwrap_or(false) {
        let remedy = "expected a kernel built with CONFIG_MPTCP, as in all major distributions since 2021";
        return Err(Error::missing("this kernel does not support MPTCP", remedy));
    }
    // The owner of a process's folder is its effective user. To others the kernel names no tokens of subflows.
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let missing = "listing which subflows belong to which connection needs root rights";
        return Err(Error::missing(missing, "run it with sudo"));
    }
    Ok(())
}
