//! What the algorithms of an endpoint did, noted for whoever explains a run: losses, timeouts, recovery, and decisions
//! of the scheduler with all that it saw.
//!
//! An endpoint notes nothing until [`Endpoint::keep_notes`] is called. Then the caller takes the notes in every drain
//! ([`Endpoint::take_notes`]): they have no time of their own, and would fill the memory. RTTs may be taken less often
//! ([`Endpoint::take_rtts`]), but before the place of a closed subflow of MPTCP is taken by another.

use core::ops::Range;

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_policy::scheduler::SubflowView;
use subflow_quantity::{Duration, Instant};

use crate::Endpoint;
use crate::sctp::outbound::Status;
use crate::tcp::Ends;
use crate::{mptcp, sctp, tcp};

/// Something that an algorithm did on a subflow. A connection that is not MPTCP is its own subflow; SCTP's are its
/// destinations.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The ends of the subflow, this host's first.
    pub ends: Ends,
    /// What was done.
    pub note: Note,
}

/// What an algorithm did.
#[derive(Clone, Debug)]
pub enum Note {
    /// A segment, or its retransmission, is considered lost.
    Lost {
        /// Its data, as offsets in the application's stream. A SYN or FIN counts as a byte.
        data: Range<u64>,
        /// When it was sent last.
        sent_at: Instant,
    },
    /// The retransmission timer has expired.
    Timeout {
        /// Timeouts since the last acknowledgment of new data, this one included.
        in_a_row: u32,
    },
    /// The state of loss recovery has changed.
    State {
        /// The state before.
        old: RecoveryState,
        /// The state now.
        new: RecoveryState,
    },
    /// The window reduction was found to be unnecessary, and was undone.
    Undone,
    /// Data was assigned to this subflow. With MPTCP only.
    Assigned {
        /// The data, as offsets in the application's stream.
        data: Range<u64>,
        /// Why.
        why: Why,
        /// What the scheduler saw.
        seen: Seen,
    },
    /// The scheduler has chosen to wait, although a subflow could have sent; the subflow is the first such. With MPTCP
    /// only.
    Waits {
        /// What the scheduler saw.
        seen: Seen,
    },
}

/// Why data was assigned to a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is new.
    New,
    /// The subflow that has carried it timed out, was closed, or is stale.
    Reinjection,
    /// The scheduler repeats it on another subflow, or it blocks the connection (opportunistic retransmission).
    Copy,
}

/// What a scheduler saw when it decided.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The subflows that are not closed, with their ends.
    pub subflows: Vec<(Ends, SubflowView)>,
    /// Bytes written and not yet assigned.
    pub backlog: u64,
    /// The peer's window from the first byte that is not acknowledged, in bytes.
    pub window: u64,
    /// Bytes assigned and not acknowledged at the data level.
    pub outstanding: u64,
}

/// The notes of a TCP connection or an SCTP association. Most acknowledgments measure an RTT and do nothing else that is
/// noted; therefore RTTs are kept apart.
#[derive(Clone, Debug)]
pub(crate) struct Kept<N, R> {
    noted: Vec<N>,
    rtts: Vec<R>,
}

/// A TCP connection notes without its ends, which are the same for all notes.
pub(crate) type TcpNotes = Kept<Note, Duration>;
pub(crate) type SctpNotes = Kept<Noted, (Ends, Duration)>;

impl<N, R> Kept<N, R> {
    fn new() -> Option<Box<Self>> {
        Some(Box::new(Self { noted: Vec::new(), rtts: Vec::new() }))
    }
}

/// The notes of an MPTCP connection.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    decisions: bool,
    noted: Vec<Noted>,
}

impl Endpoint {
    /// Notes from now on what algorithms do; of the scheduler only if `decisions` is set.
    pub fn keep_notes(&mut self, decisions: bool) {
        match self {
            Self::Tcp(tcp) => tcp.connection.keep_notes(),
            Self::Mptcp(mptcp) => mptcp.keep_notes(decisions),
            Self::Sctp(sctp) => sctp.notes = Kept::new(),
            Self::Udp(_) => {}
        }
    }

    /// Whether there is something to take. It takes less time than to find nothing.
    #[inline]
    pub fn has_notes(&self) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.connection.has_notes(),
            Self::Mptcp(mptcp) => mptcp.has_notes(),
            Self::Sctp(sctp) => sctp.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty()),
            Self::Udp(_) => false,
        }
    }

    /// Appends what was noted since the last call to `into`; nothing if no notes are kept.
    pub fn take_notes(&mut self, into: &mut Vec<Noted>) {
        match self {
            Self::Tcp(tcp) => tcp.connection.take_notes(into),
            Self::Mptcp(mptcp) => mptcp.take_notes(into),
            Self::Sctp(sctp) => {
                if let Some(notes) = &mut sctp.notes {
                    into.append(&mut notes.noted);
                }
            }
            Self::Udp(_) => {}
        }
    }

    /// Calls `each` with the RTTs that were measured since the last call, and the ends of their subflow; nothing if no
    /// notes are kept. An acknowledgment measures at most one on a subflow: the time from its transmission of the
    /// segment that was sent last among those newly acknowledged, without retransmitted ones (Karn's algorithm).
    #[inline]
    pub fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        match self {
            Self::Tcp(tcp) => tcp.connection.take_rtts(&mut each),
            Self::Mptcp(mptcp) => mptcp.subflows.iter_mut().for_each(|subflow| subflow.tcp.take_rtts(&mut each)),
            Self::Sctp(sctp) => {
                if let Some(notes) = &mut sctp.notes {
                    notes.rtts.drain(..).for_each(|(ends, sample)| each(ends, &[sample]));
                }
            }
            Self::Udp(_) => {}
        }
    }
}

impl tcp::Connection {
    /// Notes from now on what loss recovery does.
    pub(crate) fn keep_notes(&mut self) {
        self.notes = Kept::new();
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        let ends = self.ends();
        if let Some(notes) = &mut self.notes {
            into.extend(notes.noted.drain(..).map(|note| Noted { ends, note }));
        }
    }

    #[inline]
    fn take_rtts(&mut self, each: &mut impl FnMut(Ends, &[Duration])) {
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
    fn has_notes(&self) -> bool {
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
        let before = self.sent.lost_total;
        self.sent.mark_lost(id);
        if self.notes.is_some() && self.sent.lost_total > before {
            let segment = self.sent.get(id);
            let data = segment.data..segment.data + (segment.end - segment.start);
            let sent_at = segment.sent_at;
            self.note(Note::Lost { data, sent_at });
        }
    }
}

impl mptcp::Connection {
    fn keep_notes(&mut self, decisions: bool) {
        self.notes = Some(Box::new(Notes { decisions, noted: Vec::new() }));
        self.subflows.iter_mut().for_each(|subflow| subflow.tcp.keep_notes());
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        if let Some(notes) = &mut self.notes {
            self.subflows.iter_mut().for_each(|subflow| subflow.tcp.take_notes(into));
            into.append(&mut notes.noted);
        }
    }

    #[inline]
    fn has_notes(&self) -> bool {
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
            && let Some(able) = self.views.iter().position(|view| view.is_live() && view.can_send)
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
        let open = self.subflows.iter().zip(&self.views).filter(|(subflow, _)| !subflow.is_closed());
        let written = self.stream.written;
        let seen = Seen {
            subflows: open.map(|(subflow, view)| (subflow.tcp.ends(), view.clone())).collect(),
            backlog: written - self.send.next.min(written),
            window: self.send.window_end.saturating_sub(self.send.una),
            outstanding: self.send.next - self.send.una,
        };
        let noted = Noted { ends: self.subflows[index].tcp.ends(), note: note(seen) };
        if let Some(notes) = &mut self.notes {
            notes.noted.push(noted);
        }
    }
}

impl sctp::Association {
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
        let destination = &self.destinations()[index];
        let Ends { local, remote } = self.ends();
        Ends {
            local: (destination.source(), local.port()).into(),
            remote: (destination.address(), remote.port()).into(),
        }
    }

    /// Notes that a chunk, if it is in flight, is considered lost.
    #[cold]
    pub(crate) fn note_lost(&mut self, tsn: u64) {
        let chunk = self.outbound.chunk_mut(tsn).filter(|chunk| chunk.status == Status::InFlight);
        let Some(chunk) = chunk else { return };
        let (start, index, sent_at) = (chunk.fragment.offset, chunk.destination, chunk.sent_at);
        let data = start..start + chunk.length();
        self.note(index, Note::Lost { data, sent_at });
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
