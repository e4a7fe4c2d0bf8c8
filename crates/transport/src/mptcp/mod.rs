//! One MPTCP connection (RFC 8684, version 1) as a sans-IO state machine over [TCP
//! connections](crate::tcp::Connection).
//!
//! # How to drive it
//!
//! Through [`Endpoint`](crate::Endpoint), whose documentation states the invariant. A [`Host`](crate::Host) assigns
//! ports to further subflows, finds the connection of a join by its token, and passes segments to subflows.
//!
//! # Where to look
//!
//! | concern | file |
//! |---|---|
//! | keys, tokens, HMACs | `keys.rs` |
//! | MP_CAPABLE | `handshake.rs` |
//! | MP_JOIN | `join.rs` |
//! | the subflows: places, which have changed | `subflows.rs`; one of them: `subflow.rs`; statistics of former ones: `former_subflows.rs` |
//! | room for further subflows, half-open joins | `half_open_joins.rs` |
//! | arriving segments: order of processing, options | `input.rs` |
//! | placement of payload by mappings, checksums | `payload_placement.rs`, `received_mappings.rs` |
//! | data-level receiving: reassembly, DATA_ACK, window, the peer's end | `receive_side.rs`; what passes through it: `data_delivery.rs` |
//! | data-level sending: outstanding data, DATA_ACK, the peer's window | `send_side.rs`; the data-level timer: `data_timer.rs` |
//! | assigning data to subflows by the scheduler | `scheduling.rs`, `scheduler_views.rs` |
//! | the send buffer if data is queued ahead of windows | `send_memory.rs` |
//! | repeating data on other subflows | `reinjection.rs`; as upstream Linux does: `stale_subflows.rs` |
//! | shared-bottleneck detection: samples, coupling by group | `observation.rs` |
//! | segments and their options | `output.rs`; what each needs of all subflows: `subflow_summaries.rs` |
//! | path manager, addresses, MP_PRIO | `addresses.rs`, `path_manager.rs`; identifiers of local addresses: `local_addresses.rs` |
//! | repeating ADD_ADDR and REMOVE_ADDR | `announcements.rs`, `withdrawals.rs` |
//! | what the scheduler did, for whoever explains a run | `notes.rs` |
//! | the phase: handshake, MPTCP, fallback, end | `phase.rs` |
//! | fallback, MP_FAIL | `fallback.rs`; infinite mappings: `infinite_mappings.rs` |
//! | DATA_FIN | `data_fin.rs` |
//! | fast close, close of subflows | `close.rs` |

mod addresses;
mod announcements;
mod close;
pub mod config;
mod data_delivery;
mod data_fin;
mod data_timer;
mod fallback;
mod former_subflows;
mod half_open_joins;
mod handshake;
mod infinite_mappings;
mod input;
mod join;
pub mod keys;
mod local_addresses;
mod notes;
mod observation;
mod output;
mod path_manager;
mod payload_placement;
mod phase;
mod receive_side;
mod received_mappings;
mod reinjection;
mod scheduler_views;
mod scheduling;
pub mod send_memory;
mod send_side;
mod socket;
mod stale_subflows;
mod subflow;
mod subflow_summaries;
mod subflows;
mod withdrawals;

use std::sync::Arc;

use rand_core::RngCore;
use subflow_policy::congestion::Controller;
use subflow_policy::scheduler::{Scheduling, SubflowSet};
use subflow_quantity::Instant;

pub use config::{Bottleneck, Config, DataAcks};
pub use former_subflows::{LISTED_SUBFLOWS, SubflowRecord, SubflowTotals};
pub use observation::{PathRecord, one_way_delay};
pub use path_manager::OpenRequest;
pub use subflow::Subflow;

pub(crate) use handshake::{Identity, capable_of};
pub(crate) use join::{Refused, join_of};
pub(crate) use local_addresses::LocalAddresses;
pub(crate) use path_manager::PathManager;

use crate::edge::Taken;
use crate::notes::Notes;
use crate::stream::Stream;
use crate::tcp::Closed;
use crate::{Event, RandomSource};
use announcements::Announcements;
use data_fin::DataFin;
use data_timer::DataTimer;
use handshake::Negotiated;
use keys::Key;
use phase::Phase;
use receive_side::ReceiveSide;
use scheduler_views::Views;
use send_memory::SendMemory;
use send_side::SendSide;
use subflows::Subflows;
use withdrawals::Withdrawals;

/// Counters of a connection in addition to those of its subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data bytes repeated on another subflow: after a timeout or the close of a subflow, by opportunistic
    /// retransmission, or by a redundant scheduler.
    pub bytes_reinjected: u64,
    /// Number of windows halved by penalisation.
    pub penalties: u64,
    /// Number of mappings with a wrong checksum.
    pub checksum_failures: u64,
}

/// An MPTCP connection. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<Config>,
    client: bool,
    local_key: Key,
    phase: Phase,
    negotiated: Negotiated,
    /// The peer's latest data sequence number had 8 bytes.
    peer_is_wide: bool,
    subflows: Subflows,
    congestion: Controller,
    scheduler: Scheduling,
    views: Views,
    observation: Option<Box<observation::Observation>>,
    send: SendSide,
    fin: DataFin,
    data_timer: DataTimer,
    /// Content of the send buffers, for a scheduler that queues data ahead of windows.
    memory: Option<SendMemory>,
    receive: ReceiveSide,
    path_manager: PathManager,
    local_addresses: LocalAddresses,
    announcements: Announcements,
    withdrawals: Withdrawals,
    pub(crate) stream: Stream,
    counters: Counters,
    rng: RandomSource,
    scratch: Vec<core::ops::Range<u64>>,
    /// What algorithms did, if that is noted.
    pub(crate) notes: Option<Box<Notes>>,
}

impl Connection {
    /// The subflows, indexed by place; index 0 is the initial one. A closed subflow remains until another takes its
    /// place, which happens only after all 64 places have been used. [`subflow_records`](Self::subflow_records) returns
    /// the statistics of former subflows as well.
    pub fn subflows(&self) -> &[Subflow] {
        &self.subflows
    }

    /// Congestion control. Path `i` belongs to subflow `i`.
    pub fn congestion(&self) -> &Controller {
        &self.congestion
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// This side's token, which joins of the peer contain.
    pub fn token(&self) -> u32 {
        self.local_key.token
    }

    /// Whether the connection is established and open to further subflows.
    pub fn may_join(&self) -> bool {
        self.phase.may_join()
    }

    /// Whether the connection has fallen back to plain TCP.
    pub fn has_fallen_back(&self) -> bool {
        self.phase.has_fallen_back()
    }

    /// How the connection ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        self.phase.ended()
    }

    /// Data bytes acknowledged at the data level.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.send.una().min(self.stream.written)
    }

    /// What is left of the receive window that this side has advertised, in bytes from the DATA_ACK.
    pub fn receive_window(&self) -> u64 {
        match self.phase.is_plain() {
            true => self.subflows[0].tcp.receive_window(),
            false => self.receive.window_left(),
        }
    }

    /// Data bytes that wait for a hole at the data level to be filled.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.receive.out_of_order()
    }

    /// The part of the latest segment's payload that was accepted.
    pub(crate) fn taken(&self) -> Option<Taken> {
        self.subflows.taken()
    }

    fn nonce(&mut self) -> u32 {
        self.rng.next_u32()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        let own = (self.phase.give_up_deadline())
            .min(self.data_timer.deadline())
            .min(self.fin.deadline())
            .min(self.announcements.deadline())
            .min(self.withdrawals.deadline())
            .min(self.path_manager.wake_at());
        let first = own.min(self.subflows.deadline());
        (first != Instant::MAX).then_some(first)
    }

    /// Advances time to `now` and handles the timers that have expired.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.subflows.pass_to(None);
        for index in 0..self.subflows.len() {
            let subflow = &self.subflows[index];
            if subflow.is_closed() {
                continue;
            }
            if subflow.third_ack_is_due(now) {
                self.repeat_join_ack(index, now);
            }
            if !self.subflows[index].is_closed() && self.subflows[index].tcp.timeout().is_some_and(|at| at <= now) {
                self.subflows.touch(index).tcp.on_timeout(now, &mut self.congestion);
                self.give_up_capable(now);
                self.after_subflow_event(index, now);
            }
        }
        if self.data_timer.deadline() <= now {
            match self.config.stale_loss_count {
                _ if !self.phase.has_joined() => self.ask_for_data_ack(now),
                0 => self.repeat_dropped_data(),
                _ => self.judge_deliveries(now),
            }
        }
        if self.fin.deadline() <= now {
            self.repeat_data_fin(now);
        }
        if self.announcements.deadline() <= now {
            self.repeat_announcements(now);
        }
        if self.withdrawals.deadline() <= now {
            self.repeat_withdrawals(now);
        }
        if self.path_manager.wake_at() <= now {
            self.wake_path_manager(now);
        }
        if self.phase.give_up_deadline() <= now {
            self.give_up();
        }
    }

    /// Updates the connection after a segment or timer of a subflow.
    fn after_subflow_event(&mut self, index: usize, now: Instant) {
        if self.config.stale_loss_count == 0 || !self.phase.has_joined() {
            self.reinject_after_timeout(index);
            self.watch_for_dropped_data(now);
        }
        let subflow = &self.subflows[index];
        if subflow.tcp.state().is_closed() && !subflow.is_closed() {
            self.on_subflow_closed(index, now);
        } else if self.phase.is_multipath() && subflow.tcp.peer_finished() && !subflow.tcp.is_finishing() {
            self.follow_peer_fin(index, now);
        }
        self.release_send_memory();
    }

    fn emit(&mut self, event: Event) {
        self.stream.emit(event);
    }

    /// A subflow that can carry a signal: preferably established and responsive, otherwise any that is not closed. A
    /// subflow whose address was lost cannot.
    fn signalling_subflow(&self) -> Option<usize> {
        let reachable = |subflow: &Subflow| subflow.tcp.state().is_synchronised() && self.may_signal(subflow);
        let established = |subflow: &Subflow| subflow.is_established() && reachable(subflow);
        let answering = self.subflows.iter().position(|subflow| established(subflow) && !subflow.tcp.timed_out());
        answering
            .or_else(|| self.subflows.iter().position(established))
            .or_else(|| self.subflows.iter().position(reachable))
    }

    /// All established subflows that can.
    fn signalling_subflows(&self) -> SubflowSet {
        let mut carriers = SubflowSet::default();
        for (index, subflow) in self.subflows.iter().enumerate() {
            if subflow.is_established() && self.may_signal(subflow) {
                carriers.insert(index);
            }
        }
        carriers
    }

    fn may_signal(&self, subflow: &Subflow) -> bool {
        self.local_addresses.has(subflow.tcp.ends().local.ip()) && !subflow.is_closed()
    }
}
