//! What an application or an experiment can read from an association, and what it can change during one.

use std::net::SocketAddr;
use std::sync::Arc;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};

use super::phase::Phase;
use super::{Association, Counters, Delivery, Destination, State, TakenChunk};
use crate::Change;
use crate::tcp::{Closed, Ends};

/// The longest SACK.Delay that may be configured (RFC 9260, section 6.2).
const LONGEST_SACK_DELAY: Duration = Duration::from_millis(500);

impl Association {
    /// How it ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        match self.phase {
            Phase::Closed(how) => Some(how),
            _ => None,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// The peer's addresses, in the order of the handshake.
    pub fn destinations(&self) -> &[Destination] {
        self.destinations.as_slice()
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
        self.destinations.primary()
    }

    /// Makes `destination` the primary one, where it exists.
    pub fn set_primary(&mut self, destination: usize) {
        self.destinations.set_primary(destination);
    }

    /// Whether the association as a whole is in fast recovery (see [`super::config::RecoveryScope::Association`]).
    pub fn in_recovery(&self) -> bool {
        self.recovery.lasts()
    }

    /// Streams to the peer and from it, as negotiated.
    pub fn streams(&self) -> (u16, u16) {
        (self.peer.streams(), self.inbound.streams())
    }

    /// Whether SACKs are NR-SACKs.
    pub fn uses_nr_sack(&self) -> bool {
        self.peer.has_nr_sack()
    }

    /// Bytes written that are neither acknowledged nor abandoned: the contents of the send buffer.
    pub fn bytes_outstanding(&self) -> u64 {
        self.stream.written - self.outbound.freed()
    }

    /// The free part of the peer's receive buffer, apart from data in flight (RFC 9260, section 6.2.1).
    pub(super) fn free_peer_window(&self) -> u64 {
        self.peer.window.free(self.outbound.queue.in_flight())
    }

    /// User data in flight to all destinations, in bytes.
    pub fn bytes_in_flight(&self) -> u64 {
        self.outbound.queue.in_flight()
    }

    /// User data received that waits for earlier messages or for other fragments of its message.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.inbound.held()
    }

    /// Bytes written that the peer has acknowledged and can no longer drop.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.outbound.acknowledged()
    }

    /// Bytes delivered to the application.
    pub fn bytes_received(&self) -> u64 {
        self.stream.received
    }

    /// The next message, or part of one, that was delivered; only where [`super::Config::record_deliveries`] is on.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        self.inbound.poll_delivery()
    }

    /// The chunks of the packet last handled whose data was taken in.
    pub fn taken_chunks(&self) -> &[TakenChunk] {
        self.inbound.taken()
    }

    /// The chunks that the packet last handled made [deliverable](Self::poll_delivery), as runs of consecutive numbers:
    /// the first and the last of each.
    pub fn delivered_chunks(&self) -> &[(u64, u64)] {
        self.inbound.delivered()
    }

    /// The peer's cumulative TSN: it has received all chunks up to it.
    pub fn cumulative_tsn_acknowledged(&self) -> u32 {
        self.outbound.cumulative_tsn()
    }

    /// The two ends: initial addresses and ports.
    pub fn ends(&self) -> Ends {
        let destination = &self.destinations[0];
        Ends {
            local: SocketAddr::new(destination.local, self.local.port()),
            remote: SocketAddr::new(destination.remote, self.peer.port()),
        }
    }

    /// Changes an option. Returns whether an association has it.
    pub(crate) fn change(&mut self, change: Change, now: Instant) -> bool {
        let config = Arc::make_mut(&mut self.config);
        match change {
            Change::Nagle(on) => config.nagle = on,
            Change::PathRetries(most) => config.path_max_retransmissions = most,
            Change::AssociationRetries(most) => config.association_max_retransmissions = most,
            Change::SackDelay(delay) => config.sack_delay = delay.min(LONGEST_SACK_DELAY),
            Change::Heartbeats(interval) => {
                config.heartbeat_interval = interval;
                for index in 0..self.destinations.len() {
                    self.reschedule_heartbeat(index, now);
                }
            }
            Change::Acknowledgments(_) | Change::Retries(_) => return false,
        }
        true
    }
}
