//! What the algorithms of an endpoint did, noted for whoever explains a run: losses, timeouts, recovery, and decisions
//! of the scheduler with all that it saw.
//!
//! An endpoint notes nothing until [`Endpoint::keep_notes`](crate::Endpoint::keep_notes) is called. Then the caller takes the notes in every drain
//! ([`Endpoint::take_notes`](crate::Endpoint::take_notes)): they have no time of their own, and would fill the memory. RTTs may be taken less often
//! ([`Endpoint::take_rtts`](crate::Endpoint::take_rtts)), but before the place of a closed subflow of MPTCP is taken by another.

use core::ops::Range;

use subflow_policy::congestion::RecoveryState;
use subflow_policy::scheduler::SubflowView;
use subflow_quantity::{Duration, Instant};

use crate::ends::Ends;

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
    pub(crate) noted: Vec<N>,
    pub(crate) rtts: Vec<R>,
}

/// A TCP connection notes without its ends, which are the same for all notes.
pub(crate) type TcpNotes = Kept<Note, Duration>;
pub(crate) type SctpNotes = Kept<Noted, (Ends, Duration)>;

impl<N, R> Kept<N, R> {
    pub(crate) fn new() -> Option<Box<Self>> {
        Some(Box::new(Self { noted: Vec::new(), rtts: Vec::new() }))
    }
}

/// The notes of an MPTCP connection.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    pub(crate) decisions: bool,
    pub(crate) noted: Vec<Noted>,
}
