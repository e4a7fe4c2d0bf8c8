//! One subflow: a TCP connection, the state of its MPTCP handshake, and the options that it has to send.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::{MptcpOption, ResetReason};

use super::received_mappings::ReceivedMappings;
use super::stale::Delivery;
use super::summaries::SubflowSummary;
use crate::tcp;

/// Maximum number of options that wait for an acknowledgment; above it no echo of an ADD_ADDR is queued, since the peer
/// determines the number of echoes, and none can be sent during a handshake. The number of all other options is bounded
/// by this side's addresses.
const MAX_SIGNALS: usize = 32;

/// Progress of a subflow's MPTCP handshake (RFC 8684, sections 3.1 and 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The initial subflow, until the peer has sent a DSS (or an MP_CAPABLE with both keys).
    Capable,
    /// A further subflow whose SYN or SYN/ACK has been sent.
    Joining,
    /// The joiner has sent its HMAC and waits for its acknowledgment; it must not send data yet.
    PreEstablished,
    /// Data may be sent.
    Established,
    /// The subflow is closed.
    Closed,
}

/// A subflow of an MPTCP connection.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub(crate) tcp: tcp::Connection,
    pub(crate) stage: Stage,
    pub(crate) number: usize,
    /// Arrival time of the SYN, for a join of the peer.
    pub(crate) joined_at: Instant,
    /// Whether this side opened the subflow.
    pub(crate) initiator: bool,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    pub(crate) local_nonce: u32,
    pub(crate) remote_nonce: u32,
    /// Whether either side uses the subflow as a backup.
    pub(crate) backup: bool,
    pub(crate) peer_backup: bool,
    /// Options that wait for an acknowledgment to carry them.
    pub(crate) signals: VecDeque<MptcpOption>,
    /// Mappings that cover more than one segment.
    pub(crate) mappings: ReceivedMappings,
    pub(crate) delivery: Delivery,
    /// Timeouts processed so far. A further one makes the connection reinject data.
    pub(crate) timeouts_seen: u64,
    /// When to repeat the third ACK of a join, until it is acknowledged.
    pub(crate) confirm_at: Option<Instant>,
    /// Number of repetitions of the third ACK.
    pub(crate) confirmations: u32,
    /// When it was last the faster subflow for which the window of a slower one was halved.
    pub(crate) penalised_another_at: Option<Instant>,
    /// Data bytes that this subflow delivered first.
    pub(crate) bytes_received: u64,
    /// Copies assigned to it of data that another subflow had been given before.
    pub(crate) copies: u64,
    /// The options of a reset of this subflow.
    pub(crate) reset_with: Vec<MptcpOption>,
    /// Why the peer reset it.
    pub(crate) reset_reason: Option<ResetReason>,
    /// Whether the path manager was informed that it is established.
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

    /// Number of subflows opened before this one; 0 for the initial one. Several subflows may have had the same place
    /// in [`Connection::subflows`](super::Connection::subflows), but the number is unique.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The TCP connection of the subflow.
    pub fn connection(&self) -> &tcp::Connection {
        &self.tcp
    }

    /// Data bytes that arrived on this subflow first. A copy of data that another subflow delivered before is not
    /// counted.
    pub fn bytes_received(&self) -> u64 {
        self.bytes_received
    }

    /// The reason with which the peer reset it, if it gave one (MP_TCPRST, RFC 8684, section 3.6).
    pub fn reset_reason(&self) -> Option<ResetReason> {
        self.reset_reason
    }

    /// Segments assigned to it that are copies of data assigned to another subflow before, by the scheduler or for
    /// reinjection.
    pub fn copies(&self) -> u64 {
        self.copies
    }

    /// Whether it may carry data.
    pub fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Established)
    }

    /// Whether data may be assigned to it: it is established, and its stream has not ended.
    pub(crate) fn takes_data(&self) -> bool {
        self.is_established() && self.tcp.state().may_send() && !self.tcp.is_finishing()
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// The subflow is over. Nothing but a reset is sent on it any more.
    pub(super) fn close(&mut self) {
        self.stage = Stage::Closed;
        self.confirm_at = None;
        self.signals.clear();
    }

    /// The deadline of its earliest timer; [`Instant::MAX`] if none is set.
    pub(crate) fn deadline(&self) -> Instant {
        if self.is_closed() {
            return Instant::MAX;
        }
        self.tcp.deadline().min(self.confirm_at.unwrap_or(Instant::MAX))
    }

    /// The values that are needed for every packet.
    pub(crate) fn summary(&self) -> SubflowSummary {
        let (deadline, receiver_rtt) = (self.deadline(), self.receiver_rtt());
        SubflowSummary { deadline, receiver_rtt, delivered: self.has_delivered() }
    }

    /// The receiver's RTT estimate, if the subflow is established.
    pub(crate) fn receiver_rtt(&self) -> Option<Duration> {
        self.tcp.receiver_rtt().filter(|_| self.is_established())
    }

    /// Whether all data assigned to it has been delivered.
    pub(crate) fn has_delivered(&self) -> bool {
        self.is_closed() || self.tcp.buffered_packets() == 0
    }

    /// Whether either side uses it as a backup.
    pub fn is_backup(&self) -> bool {
        self.backup || self.peer_backup
    }

    /// Queues an option and requests an acknowledgment that carries it. The option replaces a waiting one that it
    /// supersedes. An echo for which there is no room is not queued: the peer repeats its announcement.
    pub(crate) fn signal(&mut self, option: MptcpOption) {
        let is_echo = matches!(&option, MptcpOption::AddAddress(address) if address.truncated_hmac.is_none());
        self.signals.retain(|waiting| !supersedes(&option, waiting));
        if !is_echo || self.signals.len() < MAX_SIGNALS {
            self.signals.push_back(option);
        }
        self.tcp.request_ack();
    }

    /// Requests an acknowledgment for options that did not fit beside those of the handshake, which has ended. They
    /// must not wait for the next acknowledgment, which may be the answer to a segment that is not the peer's.
    pub(crate) fn send_pending_signals(&mut self) {
        if !self.signals.is_empty() {
            self.tcp.request_ack();
        }
    }
}

/// Whether `option` replaces `waiting`: it repeats or changes the same information.
fn supersedes(option: &MptcpOption, waiting: &MptcpOption) -> bool {
    let both_priorities = matches!((option, waiting), (MptcpOption::Priority { .. }, MptcpOption::Priority { .. }));
    both_priorities || option == waiting
}
