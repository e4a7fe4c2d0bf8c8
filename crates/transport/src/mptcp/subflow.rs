//! One subflow: a TCP connection, the state of its MPTCP handshake, and the options that it has to send.

use core::mem::offset_of;
use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::mptcp::{MptcpOption, ResetReason};

use super::received_mappings::ReceivedMappings;
use super::stale_subflows::Delivery;
use super::subflow_summaries::SubflowSummary;
use crate::prefetch::prefetch_whole;
use crate::tcp;

/// Maximum number of options that wait for an acknowledgment; above it no echo of an ADD_ADDR is queued, since the peer
/// determines the number of echoes, and none can be sent during a handshake. The number of all other options is bounded
/// by this side's addresses.
const MAX_SIGNALS: usize = 32;

/// Progress of a subflow's MPTCP handshake (RFC 8684, sections 3.1 and 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The initial subflow, until the peer has sent a DSS (or an MP_CAPABLE with both keys).
    Capable,
    /// A further subflow whose SYN or SYN/ACK has been sent.
    Joining,
    /// The joiner has sent its HMAC and waits for its acknowledgment; it must not send data yet.
    PreEstablished(ThirdAck),
    /// Data may be sent.
    Established,
    /// The subflow is closed.
    Closed,
}

/// The third ACK of a join, which is repeated until it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThirdAck {
    repeat_at: Instant,
    repetitions: u32,
}

/// What both sides of a join say of themselves. A joiner knows the peer's part when the SYN/ACK has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JoinEnds {
    pub(super) local_id: u8,
    pub(super) remote_id: u8,
    pub(super) local_nonce: u32,
    pub(super) remote_nonce: u32,
    /// Whether either side uses the subflow as a backup.
    pub(super) backup: bool,
    pub(super) peer_backup: bool,
}

/// A subflow of an MPTCP connection.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub(super) tcp: tcp::Connection,
    stage: Stage,
    number: usize,
    /// When the connection was opened or its SYN arrived.
    opened_at: Instant,
    /// Whether this side opened the subflow.
    initiator: bool,
    ends: JoinEnds,
    /// Options that wait for an acknowledgment to carry them.
    signals: VecDeque<MptcpOption>,
    /// Mappings that cover more than one segment.
    pub(super) mappings: ReceivedMappings,
    pub(super) delivery: Delivery,
    /// Timeouts processed so far. A further one makes the connection reinject data.
    timeouts_seen: u64,
    /// When it was last the faster subflow for which the window of a slower one was halved.
    penalised_another_at: Option<Instant>,
    /// Data bytes that this subflow delivered first.
    bytes_received: u64,
    /// Copies assigned to it of data that another subflow had been given before.
    copies: u64,
    /// The options of a reset of this subflow.
    reset_with: Vec<MptcpOption>,
    /// Why the peer reset it.
    reset_reason: Option<ResetReason>,
}

impl Subflow {
    /// The initial subflow.
    pub(super) fn initial(tcp: tcp::Connection, initiator: bool, now: Instant) -> Self {
        Self::new(tcp, Stage::Capable, initiator, JoinEnds::default(), now)
    }

    /// A further subflow.
    pub(super) fn joining(tcp: tcp::Connection, initiator: bool, ends: JoinEnds, now: Instant) -> Self {
        Self::new(tcp, Stage::Joining, initiator, ends, now)
    }

    fn new(tcp: tcp::Connection, stage: Stage, initiator: bool, ends: JoinEnds, opened_at: Instant) -> Self {
        Self {
            tcp,
            stage,
            number: 0,
            opened_at,
            initiator,
            ends,
            signals: VecDeque::new(),
            mappings: ReceivedMappings::default(),
            delivery: Delivery::default(),
            timeouts_seen: 0,
            penalised_another_at: None,
            bytes_received: 0,
            copies: 0,
            reset_with: Vec::new(),
            reset_reason: None,
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
    pub(super) fn takes_data(&self) -> bool {
        self.is_established() && self.tcp.state().may_send() && !self.tcp.is_finishing()
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// The values that are needed for every packet.
    pub(super) fn summary(&self) -> SubflowSummary {
        let (deadline, receiver_rtt) = (self.deadline(), self.receiver_rtt());
        SubflowSummary { deadline, receiver_rtt, delivered: self.has_delivered() }
    }

    /// The receiver's RTT estimate, if the subflow is established.
    pub(super) fn receiver_rtt(&self) -> Option<Duration> {
        self.tcp.receiver_rtt().filter(|_| self.is_established())
    }

    /// Whether all data assigned to it has been delivered.
    pub(super) fn has_delivered(&self) -> bool {
        self.is_closed() || self.tcp.has_delivered_all()
    }

    /// Whether either side uses it as a backup.
    pub fn is_backup(&self) -> bool {
        self.ends.backup || self.ends.peer_backup
    }

    /// Whether this side opened it.
    pub(super) fn is_initiator(&self) -> bool {
        self.initiator
    }

    /// Identifiers, nonces and priorities of both sides.
    #[inline]
    pub(super) fn join_ends(&self) -> &JoinEnds {
        &self.ends
    }

    pub(super) fn opened_at(&self) -> Instant {
        self.opened_at
    }

    pub(super) fn set_number(&mut self, number: usize) {
        self.number = number;
    }

    pub(super) fn set_peer_backup(&mut self, backup: bool) {
        self.ends.peer_backup = backup;
    }

    /// Sets whether this side uses it as a backup, and informs the peer.
    pub(super) fn set_backup(&mut self, backup: bool) {
        self.ends.backup = backup;
        self.signal(MptcpOption::Priority { backup });
    }

    /// Counts `bytes` that it delivered first.
    #[inline]
    pub(super) fn count_received(&mut self, bytes: u64) {
        self.bytes_received += bytes;
    }

    pub(super) fn count_copy(&mut self) {
        self.copies += 1;
    }

    /// Whether a timeout has occurred since the last call.
    #[inline]
    pub(super) fn notices_timeout(&mut self) -> bool {
        let timeouts = self.tcp.counters().timeouts;
        core::mem::replace(&mut self.timeouts_seen, timeouts) != timeouts
    }

    pub(super) fn penalised_another_at(&self) -> Option<Instant> {
        self.penalised_another_at
    }

    pub(super) fn note_penalty(&mut self, now: Instant) {
        self.penalised_another_at = Some(now);
    }

    /// Fetches it from memory.
    #[inline]
    pub(super) fn fetch(&self) {
        prefetch_whole::<Self, _>(&self.initiator, offset_of!(Self, initiator));
    }
}

/// The handshake, and the end.
impl Subflow {
    #[inline]
    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether it is the initial subflow, and the peer has not yet confirmed MPTCP.
    #[inline]
    pub(super) fn is_capable(&self) -> bool {
        self.stage == Stage::Capable
    }

    /// Whether it is a further subflow whose handshake is under way.
    pub(super) fn is_joining(&self) -> bool {
        matches!(self.stage, Stage::Joining | Stage::PreEstablished(_))
    }

    /// Whether the joiner has sent its HMAC and waits for its acknowledgment.
    #[inline]
    pub(super) fn is_pre_established(&self) -> bool {
        matches!(self.stage, Stage::PreEstablished(_))
    }

    /// Whether the peer is joining with this subflow and is not yet authenticated.
    pub(super) fn is_half_open_join(&self) -> bool {
        !self.initiator && self.stage == Stage::Joining
    }

    /// The SYN/ACK of the peer has this identifier, nonce and priority.
    pub(super) fn on_join_answer(&mut self, remote_id: u8, remote_nonce: u32, peer_backup: bool) {
        self.ends = JoinEnds { remote_id, remote_nonce, peer_backup, ..self.ends };
    }

    /// The joiner sends its third ACK.
    pub(super) fn pre_establish(&mut self, now: Instant) {
        self.stage = Stage::PreEstablished(ThirdAck { repeat_at: now + self.third_ack_delay(0), repetitions: 0 });
    }

    /// Whether the third ACK has to be repeated at `now`.
    pub(super) fn third_ack_is_due(&self, now: Instant) -> bool {
        matches!(self.stage, Stage::PreEstablished(ThirdAck { repeat_at, .. }) if repeat_at <= now)
    }

    /// Repeats the third ACK. Returns whether it was repeated fewer than `most` times.
    pub(super) fn repeat_third_ack(&mut self, most: u32, now: Instant) -> bool {
        let Stage::PreEstablished(ThirdAck { repetitions, .. }) = self.stage else { return true };
        if repetitions >= most {
            return false;
        }
        self.tcp.repeat_third_ack();
        let repetitions = repetitions + 1;
        self.stage =
            Stage::PreEstablished(ThirdAck { repeat_at: now + self.third_ack_delay(repetitions), repetitions });
        true
    }

    fn third_ack_delay(&self, repetitions: u32) -> Duration {
        let delay = self.tcp.rtt().rto().unwrap_or(Duration::from_secs(1));
        delay.saturating_mul(1 << repetitions.min(16))
    }

    /// Data may be sent. Options that did not fit beside those of the handshake request an acknowledgment: they must not
    /// wait for the next one, which may be the answer to a segment that is not the peer's.
    pub(super) fn establish(&mut self) {
        self.stage = Stage::Established;
        if !self.signals.is_empty() {
            self.tcp.request_ack();
        }
    }

    /// The connection has fallen back to plain TCP on this subflow.
    pub(super) fn continue_as_plain_tcp(&mut self) {
        self.stage = Stage::Established;
        self.tcp.reserve_options(0, 0);
    }

    /// The subflow is over. Nothing but a reset is sent on it any more.
    pub(super) fn close(&mut self) {
        self.stage = Stage::Closed;
        self.signals.clear();
    }

    /// The deadline of its earliest timer; [`Instant::MAX`] if none is set.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        match self.stage {
            Stage::Closed => Instant::MAX,
            Stage::PreEstablished(ThirdAck { repeat_at, .. }) => self.tcp.deadline().min(repeat_at),
            Stage::Capable | Stage::Joining | Stage::Established => self.tcp.deadline(),
        }
    }

    /// A reset of this subflow has these options.
    pub(super) fn reset_with(&mut self, options: Vec<MptcpOption>) {
        self.reset_with = options;
    }

    /// The options of its reset.
    pub(super) fn take_reset_options(&mut self) -> Vec<MptcpOption> {
        core::mem::take(&mut self.reset_with)
    }

    /// The peer has reset it, perhaps with a reason.
    pub(super) fn on_reset(&mut self, reason: Option<ResetReason>) {
        self.reset_reason = reason;
    }
}

/// Options that wait for an acknowledgment.
impl Subflow {
    /// Queues an option and requests an acknowledgment that carries it. The option replaces a waiting one that it
    /// supersedes. An echo for which there is no room is not queued: the peer repeats its announcement.
    pub(super) fn signal(&mut self, option: MptcpOption) {
        let is_echo = matches!(&option, MptcpOption::AddAddress(address) if address.truncated_hmac.is_none());
        self.signals.retain(|waiting| !supersedes(&option, waiting));
        if !is_echo || self.signals.len() < MAX_SIGNALS {
            self.signals.push_back(option);
        }
        self.tcp.request_ack();
    }

    /// The first option that waits.
    #[inline]
    pub(super) fn first_signal(&self) -> Option<&MptcpOption> {
        self.signals.front()
    }

    pub(super) fn take_signal(&mut self) -> Option<MptcpOption> {
        self.signals.pop_front()
    }

    pub(super) fn clear_signals(&mut self) {
        self.signals.clear();
    }
}

/// Whether `option` replaces `waiting`: it repeats or changes the same information.
fn supersedes(option: &MptcpOption, waiting: &MptcpOption) -> bool {
    let both_priorities = matches!((option, waiting), (MptcpOption::Priority { .. }, MptcpOption::Priority { .. }));
    both_priorities || option == waiting
}
