//! What an association notes of its destinations.

use std::net::IpAddr;

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::Duration;

use super::Association;
use crate::notes::{Note, Noted};
use crate::tcp::Ends;

impl Association {
    pub(crate) fn note(&mut self, index: usize, note: Note) {
        let ends = self.ends_to(index);
        if let Some(notes) = &mut self.notes {
            notes.noted.push(Noted { ends, note });
        }
    }

    /// Notes an RTT sample of a destination.
    pub(crate) fn note_rtt(&mut self, index: usize, sample: Duration) {
        let ends = self.ends_to(index);
        if let Some(notes) = &mut self.notes {
            notes.rtts.push((ends, sample));
        }
    }

    /// The ends of the path to a destination.
    pub(crate) fn ends_to(&self, index: usize) -> Ends {
        self.ends_from(self.destinations()[index].source(), index)
    }

    /// The ends of the packets to a destination that leave from `source`.
    pub(crate) fn ends_from(&self, source: IpAddr, index: usize) -> Ends {
        let Ends { local, remote } = self.ends();
        Ends {
            local: (source, local.port()).into(),
            remote: (self.destinations()[index].address(), remote.port()).into(),
        }
    }

    /// Notes that a chunk, if it is in flight, is considered lost.
    #[cold]
    pub(crate) fn note_lost(&mut self, tsn: u64) {
        let chunk = self.outbound.queue.chunk(tsn).filter(|chunk| chunk.is_in_flight());
        let Some(chunk) = chunk else { return };
        let (start, index, sent_at) = (chunk.fragment().offset, chunk.destination(), chunk.sent_at());
        let data = start..start + chunk.length();
        self.note(index, Note::Lost { data, sent_at });
    }

    /// Notes that what is in flight of a message, each chunk with its copies, is considered lost.
    #[cold]
    pub(super) fn note_message_lost(&mut self, tsn: u64) {
        let in_flight = self.outbound.message_around(tsn).filter(|(_, chunk)| chunk.is_in_flight());
        let lost: Vec<(usize, Note)> = in_flight
            .flat_map(|(_, chunk)| {
                let (start, sent_at) = (chunk.fragment().offset, chunk.sent_at());
                let note = move |index| (index, Note::Lost { data: start..start + chunk.length(), sent_at });
                core::iter::once(chunk.destination()).chain(chunk.copies()).map(note)
            })
            .collect();
        lost.into_iter().for_each(|(index, note)| self.note(index, note));
    }

    /// Changes the state of loss recovery of a destination.
    pub(crate) fn enter_state(&mut self, index: usize, new: RecoveryState) {
        self.note_state_changed_by(index, |congestion| congestion.on_state(index, new));
    }

    /// Notes the new state of loss recovery of a destination if `event` changes it.
    pub(crate) fn note_state_changed_by(&mut self, index: usize, event: impl FnOnce(&mut Controller)) {
        let old = self.congestion.path(index).state();
        event(&mut self.congestion);
        let new = self.congestion.path(index).state();
        if self.notes.is_some() && old != new {
            self.note(index, Note::State { old, new });
        }
    }
}
