//! The events that are kept for the page.

use std::collections::BTreeMap;

use subflow_report::{ObservedEvent, Table};

use crate::event::{COLUMNS, Event};
use crate::listen::Interval;

/// The most events that are kept.
const MOST_EVENTS: usize = 10_000;

/// Keeps events. Its memory does not grow with time.
#[derive(Debug, Default)]
pub(crate) struct RecordedEvents {
    kept: Vec<Event>,
    /// The number of events of each kind.
    counts: BTreeMap<&'static str, u64>,
    /// The number of those that no report contained.
    omitted: u64,
    lost: bool,
    unread: Option<String>,
}

impl RecordedEvents {
    /// Keeps the events of a report.
    pub(crate) fn record(&mut self, interval: &Interval) {
        let room = MOST_EVENTS - self.kept.len();
        self.kept.extend(interval.events.iter().take(room).cloned());
        interval.events.iter().for_each(|event| *self.counts.entry(event.event).or_default() += 1);
        self.omitted += interval.events_omitted;
        self.lost |= interval.events_lost;
        if interval.events_unread.is_some() {
            self.unread.clone_from(&interval.events_unread);
        }
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.omitted
    }

    /// How many there were of each kind, in a line.
    pub(crate) fn counts(&self) -> String {
        let mut counts: Vec<String> = self.counts.iter().map(|(event, count)| format!("{count} {event}")).collect();
        if self.omitted > 0 {
            counts.push(format!("{} not told apart", self.omitted));
        }
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
    }

    /// A row for each event that was kept.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(COLUMNS);
        self.kept.iter().for_each(|event| table.row(event.row()));
        table
    }

    /// What is marked in the figures of a connection.
    pub(crate) fn of(&self, token: &str) -> Vec<ObservedEvent> {
        // That a connection began is told by what follows at once: that it is established.
        let marked = self.kept.iter().filter(|event| event.token == token && event.event != "created");
        marked.map(|event| ObservedEvent { time_s: event.time_s, what: event.what() }).collect()
    }

    /// What the reader has to know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.count() > 0 {
            notes.push(
                "The kernel reported the events itself (mptcp_pm_events): also those of connections and subflows that \
                 came and went between two looks, which have no figures."
                    .to_owned(),
            );
        }
        let beyond = self.count() - self.kept.len() as u64;
        if beyond > 0 {
            notes.push(format!("{} events are kept; there were {beyond} more.", self.kept.len()));
        }
        if self.lost {
            notes.push("The kernel lost events because its buffer was full.".to_owned());
        }
        notes.extend(self.unread.as_ref().map(|why| format!("Events were not read at some time: {why}.")));
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(token: &str, event: &'static str, count: usize) -> Interval {
        let event = Event { token: token.to_owned(), event, ..Event::default() };
        Interval { events: vec![event; count], ..Interval::default() }
    }

    #[test]
    fn all_events_are_counted_and_the_first_ones_kept() {
        let mut recorded = RecordedEvents::default();
        assert_eq!((recorded.counts().as_str(), recorded.notes().len()), ("none", 0));
        recorded.record(&events("a", "closed", MOST_EVENTS - 1));
        assert_eq!(recorded.notes().len(), 1);
        recorded.record(&Interval { events_omitted: 5, events_lost: true, ..events("a", "announced", 3) });
        assert_eq!((recorded.count(), recorded.table().rows().len()), (MOST_EVENTS as u64 + 7, MOST_EVENTS));
        assert_eq!(recorded.counts(), "3 announced, 9999 closed, 5 not told apart");
        let notes = recorded.notes();
        assert!(notes[1].starts_with("10000 events") && notes[1].contains("7 more"), "{notes:?}");
        assert_eq!(notes.len(), 3, "{notes:?}");
    }

    #[test]
    fn figures_have_marks_of_their_own_connection() {
        let mut recorded = RecordedEvents::default();
        recorded.record(&events("a", "created", 1));
        recorded.record(&events("a", "closed", 1));
        recorded.record(&events("b", "closed", 2));
        assert_eq!(["a", "b", "c"].map(|token| recorded.of(token).len()), [1, 2, 0]);
    }
}
