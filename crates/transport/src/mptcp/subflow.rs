//! One subflow: a TCP connection, how far its MPTCP handshake is, and what it has to say.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::{MptcpOption, ResetReason};

use super::received_mappings::ReceivedMappings;
use super::stale::Delivery;
use crate::tcp;

/// Options that wait for an acknowledgment before no further echo of an ADD_ADDR is queued: the peer decides how many
/// it announces, and during a handshake none can leave. All others are bounded by this side's addresses.
const MAX_SIGNALS: usize = 32;

/// How far a subflow's MPTCP handshake is (RFC 8684, sections 3.1 and 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The initial subflow, until the peer has shown a DSS (or an MP_CAPABLE with both keys).
    Capable,
    /// A further subflow whose SYN or SYN/ACK is under way.
    Joining,
    /// The joiner sent its HMAC and waits for the acknowledgment of it: no data yet.
    PreEstablished,
    /// Data may flow.
    Established,
    /// Over.
    Closed,
}

/// What every packet of a connection needs to know of all of its subflows. Kept together, it is in the cache; the
/// subflows of many connections are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowSummary {
    /// [`Subflow::deadline`].
    pub(crate) deadline: Instant,
    /// The receiver's RTT estimate, where the subflow is established.
    pub(crate) receiver_rtt: Option<Duration>,
    /// [`Subflow::has_delivered`].
    pub(crate) delivered: bool,
}

impl Default for SubflowSummary {
    fn default() -> Self {
        Self { deadline: Instant::MAX, receiver_rtt: None, delivered: false }
    }
}

/// A subflow of an MPTCP connection.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub(crate) tcp: tcp::Connection,
    pub(crate) stage: Stage,
    pub(crate) number: usize,
    /// When the SYN came that this side answers.
    pub(crate) joined_at: Instant,
    /// This side opened it.
    pub(crate) initiator: bool,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    pub(crate) local_nonce: u32,
    pub(crate) remote_nonce: u32,
    /// This side wants it as a backup, or the peer does.
    pub(crate) backup: bool,
    pub(crate) peer_backup: bool,
    /// Options that wait for an acknowledgment to carry them.
    pub(crate) signals: VecDeque<MptcpOption>,
    /// Mappings that more than one segment fills.
    pub(crate) mappings: ReceivedMappings,
    pub(crate) delivery: Delivery,
    /// Timeouts seen so far: a new one makes the connection reinject.
    pub(crate) timeouts_seen: u64,
    /// Repeats the third ACK of a join until it is acknowledged.
    pub(crate) confirm_at: Option<Instant>,
    /// How often it was repeated.
    pub(crate) confirmations: u32,
    /// When it was last the faster subflow for which the window of a slower one was halved.
    pub(crate) penalised_another_at: Option<Instant>,
    /// Data bytes that this subflow delivered first.
    pub(crate) bytes_received: u64,
    /// Copies assigned to it of data that another subflow had been given before.
    pub(crate) copies: u64,
    /// What a reset of this subflow is to carry.
    pub(crate) reset_with: Vec<MptcpOption>,
    /// Why the peer reset it.
    pub(crate) reset_reason: Option<ResetReason>,
    /// The path manager has been told that it is established.
    pub(crate) announced: bool,
}

impl Subflow {
    pub(crate) fn new(tcp: tcp::Connection, stage: Stage, initiator: bool) -> Self {
        Self {
            tcp,
            stage,
            number: 0,
            joined_at: Instant::ZERO,
            initiator,
            local_id: 0,
            remote_id: 0,
            local_nonce: 0,
            remote_nonce: 0,
            backup: false,
            peer_backup: false,
            signals: VecDeque::new(),
            mappings: ReceivedMappings::default(),
            delivery: Delivery::default(),
            timeouts_seen: 0,
            confirm_at: None,
            confirmations: 0,
            penalised_another_at: None,
            bytes_received: 0,
            copies: 0,
            reset_with: Vec::new(),
            reset_reason: None,
            announced: false,
        }
    }

    /// How many subflows the connection had before this one; the initial one has 0. Others may have the same place in
    /// [`Connection::subflows`](super::Connection::subflows), none has the same number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The TCP connection underneath.
    pub fn connection(&self) -> &tcp::Connection {
        &self.tcp
    }

    /// Data bytes that arrived on this subflow first; a copy of what another had delivered does not count.
    pub fn bytes_received(&self) -> u64 {
        self.bytes_received
    }

    /// Why the peer reset it, where it did and said so (MP_TCPRST, RFC 8684, section 3.6).
    pub fn reset_reason(&self) -> Option<ResetReason> {
        self.reset_reason
    }

    /// Segments assigned to it that are copies of what another subflow was given before: the scheduler's, and those of
    /// reinjection.
    pub fn copies(&self) -> u64 {
        self.copies
    }

    /// Whether it may carry data.
    pub fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Established)
    }

    /// Whether data may be assigned to it: it is established, and its stream has not been ended.
    pub(crate) fn takes_data(&self) -> bool {
        self.is_established() && self.tcp.state().may_send() && !self.tcp.is_finishing()
    }

    /// Whether it is over.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// When its timers want to be looked at; [`Instant::MAX`] where none is set.
    pub(crate) fn deadline(&self) -> Instant {
        if self.is_closed() {
            return Instant::MAX;
        }
        self.tcp.deadline().min(self.confirm_at.unwrap_or(Instant::MAX))
    }

    /// What every packet needs to know of it.
    pub(crate) fn summary(&self) -> SubflowSummary {
        let receiver_rtt = self.tcp.receiver_rtt().filter(|_| self.is_established());
        SubflowSummary { deadline: self.deadline(), receiver_rtt, delivered: self.has_delivered() }
    }

    /// Whether nothing that was given to it is still to be delivered.
    pub(crate) fn has_delivered(&self) -> bool {
        self.is_closed() || self.tcp.buffered_packets() == 0
    }

    /// Whether either side wants it as a backup only.
    pub fn is_backup(&self) -> bool {
        self.backup || self.peer_backup
    }

    /// Queues an option and asks for an acknowledgment to carry it. One that says the same and still waits is
    /// superseded. An echo for which there is no room is not queued: the peer repeats its announcement.
    pub(crate) fn signal(&mut self, option: MptcpOption) {
        let is_echo = matches!(&option, MptcpOption::AddAddress(address) if address.truncated_hmac.is_none());
        self.signals.retain(|waiting| !supersedes(&option, waiting));
        if !is_echo || self.signals.len() < MAX_SIGNALS {
            self.signals.push_back(option);
        }
        self.tcp.request_ack();
    }

    /// The handshake is over: acknowledgments have room for what waited behind its options. It must not wait for the
    /// next acknowledgment, which may be the answer to a stranger's segment.
    pub(crate) fn send_pending_signals(&mut self) {
        if !self.signals.is_empty() {
            self.tcp.request_ack();
        }
    }
}

/// Whether `option` says again, or otherwise, what `waiting` was to say.
fn supersedes(option: &MptcpOption, waiting: &MptcpOption) -> bool {
    let both_priorities = matches!((option, waiting), (MptcpOption::Priority { .. }, MptcpOption::Priority { .. }));
    both_priorities || option == waiting
}
