//! What the scheduler notes.

use core::ops::Range;

use subflow_quantity::Duration;

use super::Connection;
use crate::notes::{Note, Noted, Notes, Seen, Why};
use crate::tcp::Ends;

impl Connection {
    pub(crate) fn keep_notes(&mut self, decisions: bool) {
        self.notes = Some(Box::new(Notes { decisions, noted: Vec::new() }));
        self.subflows.keep_notes();
    }

    pub(crate) fn take_notes(&mut self, into: &mut Vec<Noted>) {
        if let Some(notes) = &mut self.notes {
            self.subflows.take_notes(into);
            into.append(&mut notes.noted);
        }
    }

    /// Calls `each` with the RTTs that were measured since the last call, and the ends of their subflow.
    #[inline]
    pub(crate) fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        self.subflows.take_rtts(&mut each);
    }

    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
            || self.subflows.iter().any(|subflow| subflow.tcp.has_notes())
    }

    /// Notes that `data` is assigned to a subflow, before its view changes.
    #[inline]
    pub(crate) fn note_assigned(&mut self, index: usize, data: &Range<u64>, why: Why) {
        if self.notes_decisions() {
            self.note_decision(index, |seen| Note::Assigned { data: data.clone(), why, seen });
        }
    }

    /// Notes that the scheduler waits, if there is a subflow that could send.
    #[cold]
    pub(crate) fn note_waiting(&mut self) {
        if self.notes_decisions()
            && let Some(able) = self.views.all().iter().position(|view| view.is_live() && view.can_send)
        {
            self.note_decision(able, |seen| Note::Waits { seen });
        }
    }

    #[inline]
    fn notes_decisions(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| notes.decisions)
    }

    #[cold]
    fn note_decision(&mut self, index: usize, note: impl FnOnce(Seen) -> Note) {
        let open = self.subflows.iter().zip(self.views.all()).filter(|(subflow, _)| !subflow.is_closed());
        let written = self.stream.written;
        let seen = Seen {
            subflows: open.map(|(subflow, view)| (subflow.tcp.ends(), view.clone())).collect(),
            backlog: self.send.backlog(written),
            window: self.send.window(),
            outstanding: self.send.next() - self.send.una(),
        };
        let noted = Noted { ends: self.subflows[index].tcp.ends(), note: note(seen) };
        if let Some(notes) = &mut self.notes {
            notes.noted.push(noted);
        }
    }
}
