//! One MPTCP connection (RFC 8684, version 1) as a sans-IO state machine over [TCP connections](crate::tcp::Connection).
//!
//! # How to drive it
//!
//! Through [`Endpoint`](crate::Endpoint), which states the invariant. A [`Host`](crate::Host) gives it further ports,
//! delivers joins by token and routes segments to subflows.
//!
//! # Where to look
//!
//! | concern | file |
//! |---|---|
//! | keys, tokens, HMACs | `keys.rs` |
//! | MP_CAPABLE | `handshake.rs` |
//! | MP_JOIN | `join.rs` |
//! | places of subflows, half-open joins | `places.rs`; what stays known of former subflows: `former_subflows.rs` |
//! | arriving segments: order of judgement, options | `input.rs` |
//! | mappings, checksums: where a payload belongs | `placement.rs`, `received_mappings.rs` |
//! | data-level receiving: reassembly, DATA_ACK, window | `data_receive.rs` |
//! | data-level sending: scheduler, outstanding data | `data_send.rs`, `views.rs` |
//! | the send buffer, where data is queued ahead of windows | `send_memory.rs` |
//! | repeating data on other subflows | `reinjection.rs`; as upstream Linux does: `stale.rs` |
//! | shared-bottleneck detection: samples, coupling by group | `observation.rs` |
//! | segments and their options | `output.rs` |
//! | addresses, path manager, MP_PRIO | `addresses.rs`; identifiers of local ones: `local_addresses.rs` |
//! | REMOVE_ADDR | `withdrawals.rs` |
//! | MPTCP options of an arriving segment | `options.rs` |
//! | fallback, infinite mapping, MP_FAIL | `fallback.rs`, `mode.rs` |
//! | DATA_FIN, fast close, end of subflows | `close.rs` |

mod addresses;
mod close;
pub mod config;
mod data_receive;
mod data_send;
mod fallback;
mod former_subflows;
mod handshake;
mod input;
mod join;
pub mod keys;
mod local_addresses;
mod mode;
mod observation;
mod options;
mod output;
mod placement;
mod places;
mod received_mappings;
mod reinjection;
pub mod send_memory;
mod stale;
mod subflow;
mod views;
mod withdrawals;

use std::sync::Arc;

use rand_core::RngCore;
use subflow_policy::congestion::Controller;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::{Scheduling, SubflowView};
use subflow_quantity::Instant;

pub use addresses::OpenRequest;
pub use config::Config;
pub use former_subflows::{LISTED_SUBFLOWS, SubflowRecord, SubflowTotals};
pub use observation::{Bottleneck, PathRecord};
pub use subflow::Subflow;

pub(crate) use handshake::Identity;
pub(crate) use join::Refused;
pub(crate) use options::{capable_of, join_of};

use crate::edge::Taken;
use crate::stream::Stream;
use crate::tcp::Closed;
use crate::{Event, RandomSource};
use addresses::Addresses;
use data_receive::DataReceive;
use data_send::DataSend;
use fallback::Infinite;
use former_subflows::FormerSubflows;
use keys::Key;
use mode::Mode;
use send_memory::SendMemory;
use subflow::{Stage, SubflowSummary};
use withdrawals::Withdrawals;

/// Counters of a connection beyond those of its subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data bytes repeated on another subflow: after a timeout, a death, opportunistically, or because the scheduler is
    /// redundant.
    pub bytes_reinjected: u64,
    /// Windows halved by penalisation.
    pub penalties: u64,
    /// Mappings whose checksum was wrong.
    pub checksum_failures: u64,
}

/// An MPTCP connection. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<Config>,
    client: bool,
    local_key: Key,
    remote_key: Option<Key>,
    mode: Mode,
    infinite: Infinite,
    /// The peer has shown that it has both keys: joins may begin.
    confirmed: bool,
    /// A further subflow was established: it may have carried data.
    joined: bool,
    /// Either side requires DSS checksums.
    checksum: bool,
    subflows: Vec<Subflow>,
    former: FormerSubflows,
    congestion: Controller,
    scheduler: Scheduling,
    path_manager: PathManagement,
    views: Vec<SubflowView>,
    observation: Option<Box<observation::Observation>>,
    /// Subflows that may have something to send, as bits.
    dirty: u64,
    /// By subflow, as of when it last had nothing to send.
    glances: Vec<SubflowSummary>,
    send: DataSend,
    /// Where the scheduler queues ahead: what the send buffers hold.
    memory: Option<SendMemory>,
    receive: DataReceive,
    addresses: Addresses,
    withdrawals: Withdrawals,
    pub(crate) stream: Stream,
    counters: Counters,
    rng: RandomSource,
    /// No subflow is left: when to give up.
    give_up_at: Option<Instant>,
    established: bool,
    /// A client's third ACK has left, with both keys.
    keys_shown: bool,
    ended: Option<Closed>,
    scratch: Vec<core::ops::Range<u64>>,
    /// The subflow whose TCP the latest segment was passed to.
    passed_to: Option<usize>,
}

impl Connection {
    /// The subflows, each at its place; index 0 is the initial one. A closed one stays until another takes its place,
    /// which happens once there have been 64. [`subflow_records`](Self::subflow_records) has what all of them did.
    pub fn subflows(&self) -> &[Subflow] {
        &self.subflows
    }

    /// Congestion control; path `i` belongs to subflow `i`.
    pub fn congestion(&self) -> &Controller {
        &self.congestion
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// This side's token: joins of the peer name it.
    pub fn token(&self) -> u32 {
        self.local_key.token
    }

    /// Whether the connection is established and open to further subflows.
    pub fn may_join(&self) -> bool {
        self.confirmed && self.mode == Mode::Multipath && self.ended.is_none()
    }

    /// Whether the connection goes on as plain TCP.
    pub fn has_fallen_back(&self) -> bool {
        matches!(self.mode, Mode::Plain | Mode::Infinite { .. })
    }

    /// Whether it is over, and how.
    pub fn ended(&self) -> Option<Closed> {
        self.ended
    }

    /// Data bytes acknowledged at the data level.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.send.una.min(self.stream.written)
    }

    /// Data bytes that wait behind a hole at the data level.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.receive.held.covered()
    }

    /// What of the latest segment's payload was taken in.
    pub(crate) fn taken(&self) -> Option<Taken> {
        self.subflows[self.passed_to?].tcp.taken().filter(|taken| taken.stream.start < placement::DISCARD)
    }

    fn nonce(&mut self) -> u32 {
        self.rng.next_u32()
    }

    fn touch(&mut self, index: usize) {
        self.dirty |= 1 << index;
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        let or_never = |at: Option<Instant>| at.unwrap_or(Instant::MAX);
        let own = or_never(self.give_up_at)
            .min(or_never(self.send.repeat_at))
            .min(or_never(self.send.fin_repeat_at))
            .min(or_never(self.addresses.repeat_at))
            .min(or_never(self.withdrawals.repeat_at));
        let theirs = match self.dirty {
            // This is asked after every packet: with all drained, the subflows need not be gone through.
            0 => self.glances.iter().map(|summary| summary.deadline).min().unwrap_or(Instant::MAX),
            _ => self.first_deadline(),
        };
        debug_assert_eq!(theirs, self.first_deadline(), "a subflow's timers changed and nobody touched it");
        let first = own.min(theirs);
        (first != Instant::MAX).then_some(first)
    }

    /// When the first timer of all subflows wants to be looked at.
    fn first_deadline(&self) -> Instant {
        self.subflows.iter().map(Subflow::deadline).min().unwrap_or(Instant::MAX)
    }

    /// Takes time forward: whatever is due at `now` happens.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.passed_to = None;
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            if subflow.is_closed() {
                continue;
            }
            if subflow.confirm_at.is_some_and(|at| at <= now) {
                self.repeat_join_ack(index, now);
                self.touch(index);
            }
            if !self.subflows[index].is_closed() && self.subflows[index].tcp.timeout().is_some_and(|at| at <= now) {
                self.subflows[index].tcp.on_timeout(now, &mut self.congestion);
                self.touch(index);
                self.after_subflow_event(index, now);
            }
        }
        if self.send.repeat_at.is_some_and(|at| at <= now) {
            match self.config.stale_loss_count {
                _ if self.has_sole_carrier() => self.ask_for_data_ack(now),
                0 => self.repeat_dropped_data(),
                _ => self.judge_deliveries(now),
            }
        }
        if self.send.fin_repeat_at.is_some_and(|at| at <= now) {
            self.repeat_data_fin(now);
        }
        if self.addresses.repeat_at.is_some_and(|at| at <= now) {
            self.repeat_announcements(now);
        }
        if self.withdrawals.repeat_at.is_some_and(|at| at <= now) {
            self.repeat_withdrawals(now);
        }
        if self.give_up_at.is_some_and(|at| at <= now) {
            self.give_up();
        }
    }

    /// Whatever a subflow's segment or timer may have changed for the connection.
    fn after_subflow_event(&mut self, index: usize, now: Instant) {
        if self.config.stale_loss_count == 0 || self.has_sole_carrier() {
            self.reinject_after_timeout(index);
            self.watch_for_dropped_data(now);
        } else {
            self.watch_deliveries(now);
        }
        let subflow = &self.subflows[index];
        if subflow.tcp.state().is_closed() && !subflow.is_closed() {
            self.on_subflow_closed(index, now);
        } else if self.mode == Mode::Multipath && subflow.tcp.peer_finished() && !subflow.tcp.is_finishing() {
            self.follow_peer_fin(index, now);
        }
        self.release_send_memory();
    }

    fn emit(&mut self, event: Event) {
        self.stream.emit(event);
    }

    /// A subflow that can carry a signal: established and answering, else any that lives. One whose address is gone cannot.
    fn signalling_subflow(&self) -> Option<usize> {
        let reachable = |subflow: &Subflow| {
            let here = self.addresses.local.has(subflow.tcp.ends().local.ip());
            here && subflow.tcp.state().is_synchronised() && !subflow.is_closed()
        };
        let established = |subflow: &Subflow| subflow.stage == Stage::Established && reachable(subflow);
        let answering = self.subflows.iter().position(|subflow| established(subflow) && !subflow.tcp.timed_out());
        answering
            .or_else(|| self.subflows.iter().position(established))
            .or_else(|| self.subflows.iter().position(reachable))
    }
}
