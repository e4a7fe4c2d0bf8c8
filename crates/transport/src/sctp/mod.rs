//! One SCTP association (RFC 9260) as a sans-IO state machine, with concurrent multipath transfer.
//!
//! # How to drive it
//!
//! Through [`Endpoint`](crate::Endpoint), which states the invariant. A [`Host`](crate::Host) answers INITs, makes
//! associations of cookies that come back, and finds the association that a packet belongs to.
//!
//! # Where to look
//!
//! | concern | file |
//! |---|---|
//! | constants and switches; states and counters | `config.rs`, `switches.rs`; `state.rs` |
//! | what can be read from outside | `accessors.rs`, `notes.rs` |
//! | INIT to COOKIE ACK; the signed cookie | `handshake.rs`, `peer.rs`, `cookie.rs` |
//! | restarts and collisions | `restart.rs` |
//! | arriving packets and chunks | `input.rs`, `tags.rs` |
//! | messages, their cutting into chunks | `messages.rs` |
//! | the retransmission queue | `outbound.rs`, `lost.rs` |
//! | SACKs: what is acknowledged, what is missing | `sack_input.rs`, `gap_blocks.rs`, `newly_acked.rs`, `missing.rs` |
//! | windows: CUC, growth, fast recovery | `cuc.rs`, `window.rs` |
//! | timers; T3-rtx and the RTO | `timers.rs`; `timeout.rs`, `rto.rs` |
//! | failure of paths, heartbeats | `path_failure.rs`, `heartbeat.rs` |
//! | which destination gets new data, and which what is sent again | `distribution.rs`, `retransmission.rs` |
//! | packets and what goes into them | `output.rs`, `data_output.rs` |
//! | received data: order, buffer, SACKs | `inbound/`; its chunks: `data_input.rs` |
//! | partial reliability | `abandon.rs` |
//! | ICMP errors, path MTU; options that change | `icmp.rs`; `change.rs` |
//! | SHUTDOWN and ABORT; violations of the protocol | `close.rs`, `violation.rs` |

mod abandon;
mod accessors;
mod change;
mod close;
pub mod config;
mod cookie;
mod cuc;
mod data_input;
mod data_output;
mod destination;
mod distribution;
mod fast_retransmit;
mod gap_blocks;
mod handshake;
mod heartbeat;
#[cfg(test)]
mod hostile_peer;
mod icmp;
mod inbound;
mod input;
mod lost;
mod messages;
mod missing;
mod newly_acked;
mod notes;
pub(crate) mod outbound;
mod output;
#[cfg(test)]
mod packet_walk;
mod path_failure;
mod peer;
mod restart;
mod retransmission;
mod rto;
mod sack_input;
mod state;
mod switches;
mod tags;
mod timeout;
mod timers;
mod tsn;
mod violation;
mod window;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rand_core::RngCore;
use subflow_policy::congestion::{Controller, Rules};
use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpKind;
use subflow_wire::sctp::{ErrorCause, UdpEncapsulation};

pub use config::Config;
pub use cuc::CucVersion;
pub use destination::{Destination, DestinationCounters, Reachability};
pub use inbound::{Delivery, TakenChunk};
pub use rto::RtoEstimator;
pub use state::{Counters, State};

pub(crate) use cookie::{Cookie, Secret};
pub(crate) use handshake::{Identity, answer_init};
pub(crate) use tags::answer_out_of_the_blue;

use crate::RandomSource;
use crate::stream::Stream;
use crate::tcp::Ends;
use abandon::ForwardTsnState;
use close::Shutdown;
use cookie::Extensions;
use distribution::SchedulerState;
use handshake::Opening;
use inbound::Inbound;
use messages::Messages;
use newly_acked::SackScratch;
use outbound::Outbound;
use output::{Control, Reply};
use tsn::TsnSpace;

/// An SCTP association. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Association {
    config: Arc<Config>,
    /// Largest IP packet that every path carries, as far as known.
    mtu: u32,
    /// The latest error that ICMP reported.
    network_error: Option<IcmpKind>,
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
    extensions: Extensions,
    outbound_streams: u16,
    destinations: Vec<Destination>,
    primary: usize,
    pub(crate) congestion: Controller,
    scheduler: Option<SchedulerState>,
    messages: Messages,
    pub(crate) outbound: Outbound,
    /// The receive window that the peer offered last.
    peer_offer: u64,
    /// Bytes of retransmitted chunks that may still leave before the next event, where they are counted.
    retransmission_room: Option<u32>,
    /// Bursts that messages written since the last event still entitle to (see [`Config::burst_per_message`]).
    bursts: u64,
    /// The chunk in flight that was larger than the peer's window when it was sent.
    window_probe: Option<u64>,
    /// A SACK came since the window probe at hand was sent.
    probe_answered: bool,
    /// Where the association's fast recovery ends.
    recovery_exit: Option<u64>,
    /// Highest TSN that a gap block has acknowledged.
    highest_gap_acked: u64,
    forward_tsn: ForwardTsnState,
    inbound: Inbound,
    /// The chunks of all deliveries by the same packet, from the first to the last of each run.
    opening: Opening,
    controls: VecDeque<Control>,
    replies: VecDeque<Reply>,
    /// What is to be reported of the packet at hand.
    reports: Vec<ErrorCause>,
    shutdown: Shutdown,
    /// Timeouts in a row, over all destinations.
    errors: u32,
    pub(crate) stream: Stream,
    /// Bytes written that need no send buffer any more, and those of them that the peer has.
    freed: u64,
    acknowledged: u64,
    /// The latest time passed to a call.
    clock: Instant,
    /// What loss recovery did, if that is noted.
    pub(crate) notes: Option<Box<crate::notes::SctpNotes>>,
    counters: Counters,
    scratch: SackScratch,
    /// Ends that the host has not yet fetched.
    new_ends: Vec<Ends>,
    /// What takes its place when the peer has restarted.
    successor: Option<Box<Association>>,
    rng: RandomSource,
}

impl Association {
    fn new(config: Arc<Config>, secret: Secret, ends: Ends, locals: Vec<IpAddr>, mut rng: RandomSource) -> Self {
        let (local_tag, initial) = (random_tag(&mut rng), rng.next_u32());
        let mut association = Self {
            mtu: config.mtu,
            network_error: None,
            secret,
            state: State::CookieWait,
            local_port: ends.local.port(),
            remote_port: ends.remote.port(),
            locals,
            encapsulation: config.encapsulation,
            local_tag,
            remote_tag: 0,
            local_tsns: TsnSpace::new(initial),
            extensions: Extensions::default(),
            outbound_streams: config.streams,
            destinations: Vec::new(),
            primary: 0,
            congestion: Controller::new(config.congestion.clone(), Rules::Rfc9260),
            scheduler: SchedulerState::of(&config),
            messages: Messages::default(),
            outbound: Outbound::default(),
            peer_offer: 0,
            retransmission_room: None,
            bursts: 0,
            window_probe: None,
            probe_answered: false,
            recovery_exit: None,
            highest_gap_acked: 0,
            forward_tsn: ForwardTsnState::default(),
            inbound: Inbound::new(&config),
            opening: Opening::default(),
            controls: VecDeque::new(),
            replies: VecDeque::new(),
            reports: Vec::new(),
            shutdown: Shutdown::default(),
            errors: 0,
            stream: Stream::new(config.send_buffer),
            freed: 0,
            acknowledged: 0,
            clock: Instant::ZERO,
            notes: None,
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

    /// Adds an address of the peer as a destination. Packets to the peer's first address leave from this side's first,
    /// and so on: so the two ends agree about which paths there are.
    fn add_destination(&mut self, remote: IpAddr, confirmed: bool) {
        let index = self.destinations.len();
        let same_family = |local: &&IpAddr| local.is_ipv4() == remote.is_ipv4();
        let paired = self.locals.get(index).filter(|local| same_family(local));
        let local = paired.or_else(|| self.locals.iter().find(same_family)).copied().unwrap_or(self.locals[0]);
        self.destinations.push(Destination::new(&self.config, local, remote, confirmed));
        let path = self.congestion.add_path(self.mtu, self.config.initial_window());
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
