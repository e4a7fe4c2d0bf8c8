//! One SCTP association (RFC 9260) as a sans-IO state machine, with concurrent multipath transfer.
//!
//! # How to drive it
//!
//! Through [`Endpoint`](crate::Endpoint), which states the invariant. A [`Host`](crate::Host) answers INITs, makes
//! associations of cookies that come back, and finds the association that a packet belongs to.
//!
//! # Where to look
//!
//! An association consists of parts with private fields. A part gets what it needs of the others with each call, and
//! returns what has happened. `ARCHITECTURE.md` says what each of them guarantees.
//!
//! | part | file |
//! |---|---|
//! | phases with their timers | `phase.rs` |
//! | this side, and the peer with its window | `local_end.rs`; `peer.rs`, `peer_window.rs` |
//! | data to send: messages, the retransmission queue, what SACKs acknowledge | `outbound/` |
//! | received data: order, buffer, SACKs | `inbound/` |
//! | destinations: condition, heartbeats, T3-rtx and RTO | `destinations.rs`, `destination.rs`; `reachability.rs`, `heartbeat.rs`, `retransmission_timer.rs`, `rto.rs` |
//! | fast recovery; what one event lets leave | `fast_recovery.rs`; `bursts.rs` |
//! | control chunks and replies that wait | `control_queue.rs` |
//!
//! | event or decision | file |
//! |---|---|
//! | INIT to COOKIE ACK; the signed cookie; restarts and collisions | `handshake.rs`, `init_parameters.rs`; `cookie.rs`; `restart.rs` |
//! | arriving packets and ICMP errors; verification tags | `input.rs`; `verification_tags.rs` |
//! | SACKs: gap blocks, what they change, misses | `sack_input.rs`, `gap_blocks.rs`, `fast_retransmit.rs` |
//! | windows: growth, CUC, idle time | `congestion_window.rs`, `cuc.rs` |
//! | the failure of paths; the choice of the source address | `path_failure.rs`; `source_addresses.rs` |
//! | where new data goes, and what is sent again or given up | `distribution.rs`, `retransmission.rs` |
//! | packets and what goes into them | `output.rs`, `data_output.rs`, `packet_size.rs` |
//! | data that arrives, and the application that reads | `data_input.rs` |
//! | timers | `socket.rs` |
//! | SHUTDOWN and ABORT; violations of the protocol | `close.rs`; `violation.rs` |
//! | constants and switches; states and counters | `config.rs`, `switches.rs`; `state.rs` |
//! | what can be read and changed from outside | `accessors.rs`, `notes.rs` |

mod accessors;
mod bursts;
mod close;
pub mod config;
mod congestion_window;
mod control_queue;
mod cookie;
mod cuc;
mod data_input;
mod data_output;
mod destination;
mod destinations;
mod distribution;
mod ecn;
mod fast_recovery;
mod fast_retransmit;
mod gap_blocks;
mod handshake;
mod heartbeat;
#[cfg(test)]
mod hostile_peer;
mod inbound;
mod init_parameters;
mod input;
mod local_end;
mod notes;
mod outbound;
mod output;
mod packet_size;
#[cfg(test)]
mod packet_walk;
mod path_failure;
mod peer;
mod peer_window;
mod phase;
mod reachability;
mod restart;
mod retransmission;
mod retransmission_timer;
mod rto;
mod sack_input;
mod socket;
mod source_addresses;
mod state;
mod switches;
mod tsn;
mod verification_tags;
mod violation;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rand_core::RngCore;
use subflow_policy::congestion::{Controller, Rules};
use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpKind;

pub use config::Config;
pub use cuc::CucVersion;
pub use destination::{Destination, DestinationCounters};
pub use inbound::{Delivery, TakenChunk};
pub use reachability::Reachability;
pub use rto::RtoEstimator;
pub use state::{Counters, State};

pub(crate) use cookie::{Cookie, Secret};
pub(crate) use handshake::{Identity, answer_init};
pub(crate) use local_end::Sources;
pub(crate) use verification_tags::{answer_out_of_the_blue, may_open};

use crate::RandomSource;
use crate::stream::Stream;
use crate::tcp::Ends;
use bursts::Bursts;
use control_queue::ControlQueue;
use destinations::Destinations;
use distribution::SchedulerState;
use ecn::Ecn;
use fast_recovery::FastRecovery;
use inbound::Inbound;
use local_end::LocalEnd;
use outbound::{NewlyAcked, Outbound};
use peer::Peer;
use phase::Phase;

/// An SCTP association. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Association {
    config: Arc<Config>,
    /// Largest IP packet that every path carries, as far as known.
    mtu: u32,
    /// The latest error that ICMP reported.
    network_error: Option<IcmpKind>,
    local: LocalEnd,
    peer: Peer,
    phase: Phase,
    destinations: Destinations,
    pub(crate) congestion: Controller,
    /// The association's fast recovery (see [`RecoveryScope::Association`](config::RecoveryScope)).
    recovery: FastRecovery,
    scheduler: Option<SchedulerState>,
    outbound: Outbound,
    /// What the latest SACK has newly acknowledged.
    newly_acked: NewlyAcked,
    bursts: Bursts,
    inbound: Inbound,
    ecn: Ecn,
    control: ControlQueue,
    pub(crate) stream: Stream,
    /// The latest time passed to a call.
    clock: Instant,
    /// What loss recovery did, if that is noted.
    pub(crate) notes: Option<Box<crate::notes::SctpNotes>>,
    counters: Counters,
    /// Ends that the host has not yet fetched.
    new_ends: Vec<Ends>,
    /// What takes its place when the peer has restarted.
    successor: Option<Box<Association>>,
    rng: RandomSource,
}

impl Association {
    fn new(config: Arc<Config>, secret: Secret, ends: Ends, locals: Sources, mut rng: RandomSource) -> Self {
        let (local_tag, initial) = (random_tag(&mut rng), rng.next_u32());
        let local = LocalEnd::new(ends.local.port(), locals, local_tag, secret);
        let remote = ends.remote.ip();
        let first = Destination::new(&config, (0, local.address_for(remote, 0)), remote, true);
        let mut association = Self {
            mtu: config.mtu,
            network_error: None,
            local,
            peer: Peer::new(ends.remote.port(), &config),
            phase: Phase::Accepting,
            destinations: Destinations::new(first),
            congestion: Controller::new(config.congestion.clone(), Rules::Rfc9260),
            recovery: FastRecovery::default(),
            scheduler: SchedulerState::of(&config),
            outbound: Outbound::new(initial, config.scheduler().is_some()),
            newly_acked: NewlyAcked::default(),
            bursts: Bursts::default(),
            inbound: Inbound::new(&config),
            ecn: Ecn::default(),
            control: ControlQueue::default(),
            stream: Stream::new(config.send_buffer),
            clock: Instant::ZERO,
            notes: None,
            counters: Counters::default(),
            new_ends: Vec::new(),
            successor: None,
            rng,
            config,
        };
        association.on_destination_added(0);
        association
    }

    /// Adds an address of the peer as a destination, which is not confirmed yet, if there may be another one.
    fn add_destination(&mut self, remote: IpAddr) {
        let number = self.destinations.len();
        let source = (number, self.local.address_for(remote, number));
        if let Some(index) = self.destinations.add(Destination::new(&self.config, source, remote, false)) {
            self.on_destination_added(index);
        }
    }

    /// A new destination has a path of congestion control, and the host is told its addresses.
    fn on_destination_added(&mut self, index: usize) {
        let destination = &self.destinations[index];
        let (remote, confirmed) = (destination.address(), destination.is_active());
        let path = self.congestion.add_path(self.mtu, self.config.initial_window());
        self.congestion.set_established(path, confirmed);
        self.new_ends.extend(self.local.ends_with(SocketAddr::new(remote, self.peer.port())));
    }

    /// All pairs of addresses that packets of the association may have and that were not told before.
    pub(crate) fn take_new_ends(&mut self) -> Vec<Ends> {
        core::mem::take(&mut self.new_ends)
    }
}

/// A verification tag.
fn random_tag(rng: &mut RandomSource) -> u32 {
    loop {
        let tag = rng.next_u32();
        if tag != 0 {
            return tag;
        }
    }
}
