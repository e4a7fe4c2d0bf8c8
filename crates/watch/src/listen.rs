//! Reading the kernel's events between two looks at its lists.

use std::collections::BTreeSet;

use serde::Serialize;
use subflow_linux::netlink::{MptcpEvent, Received};
use subflow_linux::{PassiveListener, Result, Unread, WallClock};
use subflow_quantity::{Duration, Instant};

use crate::event::Event;

/// The most events of a report.
const MOST_EVENTS: usize = 1000;
/// Events are not read more often, however many there are.
const PAUSE: Duration = Duration::from_millis(5);
/// How often it is decided anew whether reading them changes nothing.
const CHECKS: Duration = Duration::from_millis(100);
/// The most datagrams that are read at once.
const BATCH: usize = 1 << 12;
/// The interval of checks for Ctrl-C.
const PIECE: Duration = Duration::from_millis(50);

/// Reads events.
pub(crate) struct Events {
    listener: PassiveListener,
    clock: WallClock,
    read_at: Instant,
    check_at: Instant,
    unread: Option<Unread>,
    said: BTreeSet<Unread>,
    interval: Interval,
}

/// The events since the last report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Interval {
    /// The first of them, in the order in which they were read.
    pub events: Vec<Event>,
    /// The number of events beyond the limit of a report.
    pub events_omitted: u64,
    /// Whether the kernel lost events because its buffer was full.
    pub events_lost: bool,
    /// Why none were read for some time; `None` if they were.
    pub events_unread: Option<String>,
}

impl Events {
    /// Reads those of the calling thread's network namespace, once they were [checked](Self::check).
    pub(crate) fn new(clock: WallClock) -> Self {
        Self {
            listener: PassiveListener::default(),
            clock,
            read_at: Instant::ZERO,
            check_at: Instant::ZERO,
            unread: None,
            said: BTreeSet::new(),
            interval: Interval::default(),
        }
    }

    /// Decides whether to read, from the tokens of all connections, unless that was done a moment ago. Returns why it
    /// does not, if it did not say that before.
    pub(crate) fn check(&mut self, connections: impl IntoIterator<Item = u32>) -> Option<String> {
        let now = self.clock.now();
        if now < self.check_at {
            return None;
        }
        self.check_at = now + CHECKS;
        self.unread = self.listener.check(connections);
        let unread = self.unread.as_ref()?;
        self.interval.events_unread = Some(unread.to_string());
        self.said.insert(unread.clone()).then(|| unread.to_string())
    }

    /// Reads events until it is `due`, while `go_on` is true. Where there are some, ends when it is `early`, too.
    /// Returns whether to go on.
    pub(crate) fn read_until(
        &mut self,
        due: Instant,
        early: Option<Instant>,
        go_on: impl Fn() -> bool,
    ) -> Result<bool> {
        let mut due = due;
        loop {
            if !go_on() {
                return Ok(false);
            }
            let left = self.clock.until(due);
            if left.is_zero() {
                return self.read().map(|_| true);
            }
            let left = left.min(std::time::Duration::from_nanos(PIECE.as_nanos()));
            let pause = self.clock.until(self.read_at + PAUSE);
            if !pause.is_zero() {
                std::thread::sleep(left.min(pause));
            } else if self.listener.wait(left)? && self.read()? {
                due = early.map_or(due, |early| due.min(early));
            }
        }
    }

    /// Returns whether there were events.
    fn read(&mut self) -> Result<bool> {
        let now = self.clock.now();
        self.read_at = now;
        let mut some = false;
        for _ in 0..BATCH {
            match self.listener.receive()? {
                Received::Nothing => break,
                Received::Events(events) => {
                    some |= !events.is_empty();
                    self.interval.add(now, &events);
                }
                Received::Lost => self.interval.events_lost = true,
            }
        }
        Ok(some)
    }

    /// What there was since the last report.
    pub(crate) fn report(&mut self) -> Interval {
        let unread = self.unread.as_ref().map(ToString::to_string);
        std::mem::replace(&mut self.interval, Interval { events_unread: unread, ..Interval::default() })
    }
}

impl Interval {
    fn add(&mut self, at: Instant, events: &[MptcpEvent]) {
        let room = MOST_EVENTS.saturating_sub(self.events.len());
        self.events.extend(events.iter().take(room).map(|event| Event::new(at, event)));
        self.events_omitted += events.len().saturating_sub(room) as u64;
    }

    /// The events as lines; empty if there is nothing to say.
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.events.iter().map(Event::line).collect();
        if self.events_omitted > 0 {
            lines.push(format!("  {} more are left out", self.events_omitted));
        }
        if self.events_lost {
            lines.push("  the kernel lost events because its buffer was full".to_owned());
        }
        lines.extend(self.events_unread.as_ref().map(|why| format!("  not read: {why}")));
        lines.into_iter().enumerate().fold(String::new(), |text, (number, line)| {
            text + if number == 0 { "\nevents:\n" } else { "" } + &line + "\n"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_a_report_are_bounded_and_the_others_counted() {
        let mut interval = Interval::default();
        assert_eq!(interval.text(), "");
        let events = vec![MptcpEvent::Closed { token: 1 }; MOST_EVENTS - 1];
        interval.add(Instant::ZERO, &events);
        assert_eq!((interval.events.len(), interval.events_omitted), (MOST_EVENTS - 1, 0));
        interval.add(Instant::ZERO, &events);
        assert_eq!((interval.events.len(), interval.events_omitted), (MOST_EVENTS, MOST_EVENTS as u64 - 2));
        interval.events.truncate(1);
        let text = interval.text();
        assert_eq!(text, "\nevents:\n     0.000 s  00000001  closed\n  998 more are left out\n");
    }

    #[test]
    fn lost_and_unread_events_are_told() {
        let interval = Interval { events_lost: true, events_unread: Some("why".into()), ..Interval::default() };
        assert_eq!(interval.text().lines().count(), 4, "{}", interval.text());
        assert!(interval.text().contains("lost events") && interval.text().contains("not read: why"));
    }
}
