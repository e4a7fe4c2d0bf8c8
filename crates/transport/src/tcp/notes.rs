//! What loss recovery notes.

use subflow_quantity::Duration;

use super::{Connection, Ends};
use crate::notes::{Kept, Note, Noted};

impl Connection {
    /// Notes from now on what loss recovery does.
    pub(crate) fn keep_notes(&mut self) {
        self.notes = Kept::new();
    }

    pub(crate) fn take_notes(&mut self, into: &mut Vec<Noted>) {
        let ends = self.ends();
        if let Some(notes) = &mut self.notes {
            into.extend(notes.noted.drain(..).map(|note| Noted { ends, note }));
        }
    }

    #[inline]
    pub(crate) fn take_rtts(&mut self, each: &mut impl FnMut(Ends, &[Duration])) {
        if self.notes.as_ref().is_none_or(|notes| notes.rtts.is_empty()) {
            return;
        }
        let ends = self.ends();
        if let Some(notes) = &mut self.notes {
            each(ends, &notes.rtts);
            notes.rtts.clear();
        }
    }

    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
    }

    #[cold]
    pub(crate) fn note(&mut self, note: Note) {
        if let Some(notes) = &mut self.notes {
            notes.noted.push(note);
        }
    }

    /// Notes an RTT sample.
    #[inline]
    pub(crate) fn note_rtt(&mut self, sample: Duration) {
        if let Some(notes) = &mut self.notes {
            notes.rtts.push(sample);
        }
    }

    /// Marks a segment lost.
    pub(crate) fn lose(&mut self, id: u32) {
        let before = self.sent.lost_total();
        self.sent.mark_lost(id);
        if self.notes.is_some() && self.sent.lost_total() > before {
            let segment = self.sent.get(id);
            let (data, sent_at) = (segment.stream(), segment.sent_at);
            self.note(Note::Lost { data, sent_at });
        }
    }
}
