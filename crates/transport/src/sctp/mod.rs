//! One SCTP association (RFC 9260) as a sans-IO state machine, with concurrent multipath transfer.
//!
//! # How to drive it
//!
//! Through [`Endpoint`](crate::Endpoint), which states the invariant. A [`Host`](crate::Host) answers INITs, makes associations
//! of cookies that come back, and finds the association that a packet belongs to.
//!
//! # Where to look
//!
//! | concern | file |
//! |---|---|
//! | constants and switches; states and counters | `config.rs`, `switches.rs`; `state.rs` |
//! | INIT to COOKIE ACK; the signed cookie | `handshake.rs`, `peer.rs`, `cookie.rs` |
//! | restarts and collisions | `restart.rs` |
//! | arriving packets and chunks | `input.rs`, `tags.rs` |
//! | messages, their cutting into chunks | `messages.rs` |
//! | the retransmission queue | `outbound.rs`, `lost.rs` |
//! | SACKs: what is acknowledged, what is missing | `sack_input.rs`, `gap_blocks.rs`, `missing.rs` |
//! | windows: CUC, growth, fast recovery | `cuc.rs`, `window.rs` |
//! | timeouts, failure of paths, heartbeats | `timeout.rs`, `rto.rs`, `path_failure.rs`, `heartbeat.rs` |
//! | which destination gets new data, and which what is sent again | `distribution.rs`, `retransmission.rs` |
//! | packets and what goes into them | `output.rs`, `data_output.rs` |
//! | received data: order, buffer, SACKs | `data_input.rs`, `arrivals.rs`, `reassembly.rs`, `stream_order.rs`, `acknowledge.rs` |
//! | partial reliability | `abandon.rs` |
//! | SHUTDOWN and ABORT | `close.rs` |

mod abandon;
mod acknowledge;
mod arrivals;
mod close;
pub mod config;
mod cookie;
mod cuc;
mod data_input;
mod data_output;
mod destination;
mod distribution;
mod gap_blocks;
mod handshake;
mod heartbeat;
mod input;
mod lost;
mod messages;
mod missing;
mod outbound;
mod output;
#[cfg(test)]
mod packet_walk;
mod path_failure;
mod peer;
mod reassembly;
mod restart;
mod retransmission;
mod rto;
mod sack_input;
mod state;
mod stream_order;
mod switches;
mod tags;
mod timeout;
mod tsn;
mod window;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{ErrorCause, UdpEncapsulation};

pub use config::Config;
pub use cuc::CucVersion;
pub use data_input::TakenChunk;
pub use destination::{Destination, DestinationCounters, Reachability};
pub use reassembly::Delivery;
pub use rto::RtoEstimator;
pub use state::{Counters, State};

pub(crate) use cookie::{Cookie, Secret};
pub(crate) use handshake::{Identity, answer_init};
pub(crate) use tags::answer_out_of_the_blue;

use crate::stream::Stream;
use crate::tcp::timers::Tick;
use crate::tcp::{Closed, Ends};
use acknowledge::Acknowledge;
use arrivals::Arrivals;
use cookie::Extensions;
use distribution::SchedulerState;
use handshake::Opening;
use messages::Messages;
use outbound::Outbound;
use output::{Control, Reply};
use reassembly::Reassembly;
use sack_input::SackScratch;
use tsn::TsnSpace;

/// An SCTP association. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Association {
    config: Arc<Config>,
    secret: Secret,
    state: State,
    local_port: u16,
    remote_port: u16,
    /// This host's addresses, the initial one first.
    locals: Vec<IpAddr>,
    encapsulation: Option<UdpEncapsulation>,
    /// Verification tags: packets to this side carry the first, those to the peer the second.
    local_tag: u32,
    remote_tag: u32,
    local_tsns: TsnSpace,
    remote_tsns: TsnSpace,
    extensions: Extensions,
    outbound_streams: u16,
    inbound_streams: u16,
    destinations: Vec<Destination>,
    primary: usize,
    congestion: Controller,
    scheduler: Option<SchedulerState>,
    messages: Messages,
    outbound: Outbound,
    /// The receive window that the peer offered last.
    peer_offer: u64,
    /// Bytes of retransmitted chunks that may still leave before the next event, where they are counted.
    retransmission_room: Option<u32>,
    /// Bursts that messages written since the last event still entitle to (see [`Config::burst_per_message`]).
    bursts: u64,
    /// A SACK came since the window probe at hand was sent.
    probe_answered: bool,
    /// Where the association's fast recovery ends.
    recovery_exit: Option<u64>,
    /// Highest TSN that a gap block has acknowledged.
    highest_gap_acked: u64,
    /// Advanced.Peer.Ack.Point (RFC 3758, section 3.5).
    abandoned_point: u64,
    forward_due: bool,
    /// What the last FORWARD-TSN told, and when.
    forward_told: Option<(u64, Instant)>,
    arrivals: Arrivals,
    reassembly: Reassembly,
    acknowledge: Acknowledge,
    taken: Vec<TakenChunk>,
    deliveries: VecDeque<Delivery>,
    opening: Opening,
    controls: VecDeque<Control>,
    replies: VecDeque<Reply>,
    /// What is to be reported of the packet at hand.
    reports: Vec<ErrorCause>,
    /// When SHUTDOWN or SHUTDOWN ACK is sent again (T2), where it was sent last, and when to give up (T5).
    shutdown_at: Option<Instant>,
    shutdown_to: usize,
    guard_at: Option<Instant>,
    /// Timeouts in a row, over all destinations.
    errors: u32,
    pub(crate) stream: Stream,
    /// Bytes written that need no send buffer any more, and those of them that the peer has.
    freed: u64,
    acknowledged: u64,
    told_acknowledged: bool,
    /// The time of the last call that told it.
    clock: Instant,
    counters: Counters,
    scratch: SackScratch,
    /// Ends that the host has not been told of.
    new_ends: Vec<Ends>,
    /// What takes its place when the peer has restarted.
    successor: Option<Box<Association>>,
    rng: Pcg64Mcg,
}

impl Association {
    fn new(config: Arc<Config>, secret: Secret, ends: Ends, locals: Vec<IpAddr>, mut rng: Pcg64Mcg) -> Self {
        let (local_tag, initial) = (nonzero(&mut rng), rng.next_u32());
        let mut association = Self {
            secret,
            state: State::CookieWait,
            local_port: ends.local.port(),
            remote_port: ends.remote.port(),
            locals,
            encapsulation: config.encapsulation,
            local_tag,
            remote_tag: 0,
            local_tsns: TsnSpace::new(initial),
            remote_tsns: TsnSpace::new(0),
            extensions: Extensions::default(),
            outbound_streams: config.streams,
            inbound_streams: config.inbound_streams,
            destinations: Vec::new(),
            primary: 0,
            congestion: Controller::new(config.congestion.clone()),
            scheduler: SchedulerState::of(&config),
            messages: Messages::default(),
            outbound: Outbound::default(),
            peer_offer: 0,
            retransmission_room: None,
            bursts: 0,
            probe_answered: false,
            recovery_exit: None,
            highest_gap_acked: 0,
            abandoned_point: 0,
            forward_due: false,
            forward_told: None,
            arrivals: Arrivals::default(),
            reassembly: Reassembly::default(),
            acknowledge: Acknowledge::default(),
            taken: Vec::new(),
            deliveries: VecDeque::new(),
            opening: Opening::default(),
            controls: VecDeque::new(),
            replies: VecDeque::new(),
            reports: Vec::new(),
            shutdown_at: None,
            shutdown_to: 0,
            guard_at: None,
            errors: 0,
            stream: Stream::new(config.send_buffer),
            freed: 0,
            acknowledged: 0,
            told_acknowledged: false,
            clock: Instant::ZERO,
            counters: Counters::default(),
            scratch: SackScratch::default(),
            new_ends: Vec::new(),
            successor: None,
            rng,
            config,
        };
        association.add_destination(ends.remote.ip(), true);
        association
    }

    /// Adds an address of the peer as a destination. Packets to the peer's first address leave from this side's first, and so on:
    /// so the two ends agree about which paths there are.
    fn add_destination(&mut self, remote: IpAddr, confirmed: bool) {
        let index = self.destinations.len();
        let same_family = |local: &&IpAddr| local.is_ipv4() == remote.is_ipv4();
        let paired = self.locals.get(index).filter(|local| same_family(local));
        let local = paired.or_else(|| self.locals.iter().find(same_family)).copied().unwrap_or(self.locals[0]);
        self.destinations.push(Destination::new(&self.config, local, remote, confirmed));
        let path = self.congestion.add_path(self.config.mtu, self.config.initial_window());
        self.congestion.set_established(path, confirmed);
        for &local in &self.locals {
            let ends = Ends {
                local: SocketAddr::new(local, self.local_port),
                remote: SocketAddr::new(remote, self.remote_port),
            };
            self.new_ends.push(ends);
        }
    }

    /// All pairs of addresses that packets of the association may have and that were not told before.
    pub(crate) fn take_new_ends(&mut self) -> Vec<Ends> {
        core::mem::take(&mut self.new_ends)
    }

    /// How it ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        match self.state {
            State::Closed(how) => Some(how),
            _ => None,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The peer's addresses, in the order of the handshake.
    pub fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    /// Congestion control; path `i` belongs to destination `i`, windows count bytes.
    pub fn congestion(&self) -> &Controller {
        &self.congestion
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The primary destination.
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// Makes `destination` the primary one, where it exists.
    pub fn set_primary(&mut self, destination: usize) {
        if destination < self.destinations.len() {
            self.primary = destination;
        }
    }

    /// Whether the association as a whole is in fast recovery (see [`config::RecoveryScope::Association`]).
    pub fn in_recovery(&self) -> bool {
        self.recovery_exit.is_some()
    }

    /// Streams to the peer and from it, as negotiated.
    pub fn streams(&self) -> (u16, u16) {
        (self.outbound_streams, self.inbound_streams)
    }

    /// Whether SACKs are NR-SACKs.
    pub fn uses_nr_sack(&self) -> bool {
        self.extensions.nr_sack
    }

    /// Bytes written that are neither acknowledged nor given up: what the send buffer holds.
    pub fn bytes_outstanding(&self) -> u64 {
        self.stream.written - self.freed
    }

    /// Bytes that the peer has room for beyond those in flight (RFC 9260, section 6.2.1).
    fn peer_window(&self) -> u64 {
        self.peer_offer.saturating_sub(self.outbound.in_flight)
    }

    /// User data in flight to all destinations, in bytes.
    pub fn bytes_in_flight(&self) -> u64 {
        self.outbound.in_flight
    }

    /// User data received that waits for order or for the rest of its message.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.reassembly.held()
    }

    /// Bytes written that the peer has acknowledged for good.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Bytes delivered to the application.
    pub fn bytes_received(&self) -> u64 {
        self.stream.received
    }

    /// The next message, or part of one, that was delivered; only where [`Config::record_deliveries`] is on.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        self.deliveries.pop_front()
    }

    /// The chunks of the packet last handled whose data was taken in.
    pub fn taken_chunks(&self) -> &[TakenChunk] {
        &self.taken
    }

    /// The two ends: initial addresses and ports.
    pub fn ends(&self) -> Ends {
        let destination = &self.destinations[0];
        Ends {
            local: SocketAddr::new(destination.local, self.local_port),
            remote: SocketAddr::new(destination.remote, self.remote_port),
        }
    }

    fn deadline(&self, now: Instant, delay: Duration) -> Instant {
        Tick { tick: self.config.timer_tick, wheel: self.config.timer_wheel }.deadline(now, delay)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        if self.state.is_closed() {
            return None;
        }
        let own = [self.opening.at, self.shutdown_at, self.guard_at, self.acknowledge.at];
        let theirs = self.destinations.iter().flat_map(|destination| [destination.t3, destination.heartbeat.at]);
        own.into_iter().chain(theirs).flatten().min()
    }

    /// Takes time forward: whatever is due at `now` happens.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.clock = now;
        self.begin_burst();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.opening.at) {
            self.on_opening_timeout(now);
        }
        if due(self.acknowledge.at) {
            self.acknowledge.expire();
        }
        for index in 0..self.destinations.len() {
            if due(self.destinations[index].t3) {
                self.on_t3(index, now);
            }
            if due(self.destinations[index].heartbeat.at) {
                self.on_heartbeat_timer(index, now);
            }
        }
        if due(self.shutdown_at) {
            self.on_shutdown_timeout(now);
        }
        if due(self.guard_at) {
            self.guard_at = None;
            self.abort_with(Vec::new(), Closed::TimedOut);
        }
    }

    /// An event begins: what it lets out is a burst of its own (see [`Config::max_burst`]), and what an earlier one did not let
    /// out is no longer privileged.
    fn begin_burst(&mut self) {
        (self.retransmission_room, self.bursts) = (None, 0);
        let mut leftover = false;
        for destination in &mut self.destinations {
            (destination.burst_end, destination.restart_rto) = (None, None);
            leftover |= self.config.single_fast_packet && core::mem::take(&mut destination.fast_packet);
        }
        if leftover {
            // What was marked for fast retransmission and has not left waits for the window from now on.
            self.outbound.let_indicated_wait();
        }
    }
}

/// A verification tag.
fn nonzero(rng: &mut Pcg64Mcg) -> u32 {
    loop {
        let tag = rng.next_u32();
        if tag != 0 {
            return tag;
        }
    }
}
