//! The choice of the destination of new data: the primary one, the one with the most free window, or that of a
//! scheduler.

use subflow_policy::congestion::Outstanding;
use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, Scheduling, SubflowView, What};
use subflow_quantity::Instant;

use super::Association;
use super::config::{BufferSplitting, Config, Distribution};
use super::outbound::{SentChunk, Status};
use super::phase::Phase;
use super::reachability::Reachability;

/// The maximum number of scheduler queries until a packet must be ready to send.
const MAX_SCHEDULER_QUERIES: usize = 64;
/// The maximum amount of data queued at a destination, in windows; it corresponds to the TCP send buffers of Linux.
const MAX_WINDOWS_QUEUED: u64 = 3;
/// The smallest window that counts there, in packets.
const MIN_QUEUED_WINDOW: u32 = 10;

/// A scheduler and its input. Data-level offsets are bytes in the order of TSNs.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerState {
    scheduling: Scheduling,
    views: Vec<SubflowView>,
    /// How often the peer's window kept a destination with room from sending.
    blocked: u64,
}

impl SchedulerState {
    /// The scheduler that a configuration names.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let scheduling = config.scheduler()?.clone();
        Some(Self { scheduling, views: Vec::new(), blocked: 0 })
    }
}

impl Association {
    /// Whether a destination has free window and free space in its part of the buffers.
    pub(super) fn has_window(&self, index: usize) -> bool {
        let in_flight = self.destinations[index].flight.bytes();
        in_flight < u64::from(self.congestion.path(index).cwnd()) && in_flight < self.buffer_part()
    }

    /// The part of the buffers that a destination may use, if they are split. One chunk is always allowed.
    fn buffer_part(&self) -> u64 {
        let splitting = self.config.buffer_splitting;
        let parts = self.destinations.iter().filter(|destination| destination.is_active()).count().max(1) as u64;
        let receive = match splitting {
            BufferSplitting::Receive | BufferSplitting::Both => {
                (self.free_peer_window().saturating_add(self.outbound.queue.in_flight())) / parts
            }
            _ => u64::MAX,
        };
        let send = match (splitting, self.config.send_buffer) {
            (BufferSplitting::Send | BufferSplitting::Both, Some(buffer)) => buffer / parts,
            _ => u64::MAX,
        };
        receive.min(send).max(1)
    }

    /// Whether new data may be sent to a destination now: window and burst allow it, and no retransmission waits.
    fn may_send_new(&mut self, index: usize, now: Instant) -> bool {
        self.decay_idle_window(index, now);
        if !self.has_window(index) {
            return false;
        }
        self.burst_allows(index) && !self.is_owed_retransmissions(index)
    }

    /// Whether the peer's buffer has space, or a window probe is due (section 6.1, rule A).
    pub(super) fn peer_has_room(&self, length: u64) -> bool {
        self.peer.window.admits(length, self.outbound.queue.in_flight())
    }

    /// The destination to which new data is sent now, if any is allowed.
    pub(super) fn next_for_new(&mut self, now: Instant) -> Option<usize> {
        if let Some(index) = self.next_assigned(now) {
            return Some(index);
        }
        if self.scheduler.is_some() {
            return self.query_scheduler(now);
        }
        let length = self.outbound.next_length(self.fragmentation_point())?;
        if !self.peer_has_room(u64::from(length)) || self.waits_for_more() {
            return None;
        }
        match self.config.distribution {
            Distribution::Primary => {
                let index = self.destinations.current();
                self.may_send_new(index, now).then_some(index)
            }
            Distribution::LargestFreeWindow | Distribution::Scheduler(_) => self.largest_free_window(now),
        }
    }

    /// Whether it may go on with the packet to this destination.
    pub(super) fn may_continue(&mut self, index: usize, length: u32, now: Instant) -> bool {
        !matches!(self.config.distribution, Distribution::Scheduler(_))
            && self.peer_has_room(u64::from(length))
            && self.may_send_new(index, now)
    }

    /// Nagle's algorithm: less than a packet waits while data is outstanding.
    fn waits_for_more(&self) -> bool {
        self.config.nagle
            && matches!(self.phase, Phase::Established)
            && !self.stream.finished
            && self.outbound.queue.in_flight() > 0
            && self.outbound.unassigned() < u64::from(self.fragmentation_point())
    }

    fn next_assigned(&mut self, now: Instant) -> Option<usize> {
        for index in 0..self.destinations.len() {
            let Some(length) = self.next_queued(index) else { continue };
            if self.destinations.takes_data(index)
                && self.peer_has_room(u64::from(length))
                && self.may_send_new(index, now)
            {
                return Some(index);
            }
        }
        None
    }

    /// The destination of an unsent chunk with a TSN below those of all lost chunks. It is sent first: a receiver whose
    /// limit of TSNs ahead is reached would never accept the others.
    pub(super) fn next_overdue(&mut self) -> Option<usize> {
        let (first_lost, _) = self.outbound.queue.lost().first(0)?;
        (0..self.destinations.len()).find(|&index| {
            let Some(length) = self.next_queued(index) else { return false };
            let precedes = self.destinations[index].assigned.first().is_some_and(|(tsn, _)| tsn < first_lost);
            precedes
                && self.destinations.takes_data(index)
                && self.has_window(index)
                && self.peer_has_room(u64::from(length))
        })
    }

    /// The length of the first chunk in a destination's queue. Chunks acknowledged or abandoned meanwhile are removed.
    pub(super) fn next_queued(&mut self, index: usize) -> Option<u32> {
        loop {
            let (tsn, length) = self.destinations[index].assigned.first()?;
            let wanted = |chunk: &SentChunk| match chunk.status() {
                Status::Assigned => true,
                Status::InFlight => chunk.destination() != index && !chunk.has_copy(index),
                _ => false,
            };
            if self.outbound.queue.chunk(tsn).is_some_and(wanted) {
                return Some(length);
            }
            self.destinations[index].assigned.pop();
        }
    }

    fn largest_free_window(&mut self, now: Instant) -> Option<usize> {
        let mut best: Option<(usize, u64)> = None;
        for index in 0..self.destinations.len() {
            if !self.destinations.takes_data(index) {
                continue;
            }
            let free =
                u64::from(self.congestion.path(index).cwnd()).saturating_sub(self.destinations[index].flight.bytes());
            if best.is_none_or(|(_, most)| free > most) && self.may_send_new(index, now) {
                best = Some((index, free));
            }
        }
        best.map(|(index, _)| index)
    }

    /// Queries the scheduler until a packet can be sent.
    fn query_scheduler(&mut self, now: Instant) -> Option<usize> {
        let waits = self.waits_for_more();
        for _ in 0..MAX_SCHEDULER_QUERIES {
            self.update_views(now);
            self.note_blocked();
            let peer_window = self.free_peer_window();
            let state = self.scheduler.as_mut()?;
            let queued: u64 = self.destinations.iter().map(|destination| destination.assigned.bytes()).sum();
            let room = peer_window.saturating_sub(queued);
            let start = self.outbound.queue.position();
            let probe = u64::from(self.outbound.queue.in_flight() == 0 && queued == 0);
            let admitted = if waits { 0 } else { self.outbound.unassigned().min(room.max(probe)) };
            let new_data = start..start + admitted;
            if new_data.is_empty() && !state.scheduling.repeats() {
                return None;
            }
            let queue = QueueView {
                now,
                fragment_end: start,
                new_data,
                backlog: self.outbound.unassigned(),
                window: peer_window + self.outbound.queue.in_flight(),
                window_left: room,
                blocked: state.blocked,
                reinjection: None,
                outstanding: self.outbound.queue.ranges(),
                sets: None,
            };
            let Assignment { subflow, what } = state.scheduling.next(&state.views, &queue)?;
            let index = subflow.min(self.destinations.len() - 1);
            match what {
                What::New { .. } if queue.new_data.is_empty() => return None,
                What::New { .. } => self.assign_packet(index, now),
                What::Copy { range } => self.copy(index, range.start),
            }
            if self.next_queued(index).is_some() && self.may_send_new(index, now) {
                return Some(index);
            }
        }
        None
    }

    /// A packet's worth of new data for a destination.
    fn assign_packet(&mut self, index: usize, now: Instant) {
        let mut room = self.fragmentation_point();
        while let Some((tsn, length)) = self.outbound.assign_next(room, index, now) {
            self.destinations[index].assigned.push(tsn, length);
            room = room.saturating_sub(length + subflow_wire::sctp::DataChunk::HEADER_LENGTH);
            if self.outbound.next_length(u32::MAX).is_none_or(|next| next > room) {
                break;
            }
        }
    }

    /// The peer's window prevents a destination with free window from sending; some schedulers use the number of such
    /// events.
    fn note_blocked(&mut self) {
        let full = self.outbound.unassigned() > 0 && self.free_peer_window() < u64::from(self.fragmentation_point());
        if let Some(state) = self.scheduler.as_mut().filter(|_| full) {
            state.blocked += u64::from(state.views.iter().any(|view| view.established && view.space() > 0));
        }
    }

    /// Sends a copy of data in flight to another destination.
    fn copy(&mut self, index: usize, position: u64) {
        if let Some((tsn, length)) = self.outbound.queue.copy(position, index) {
            self.destinations[index].assigned.push(tsn, length);
        }
    }

    fn update_views(&mut self, now: Instant) {
        let mss = self.fragmentation_point();
        let mut views = core::mem::take(&mut self.scheduler.as_mut().expect("only asked with a scheduler").views);
        views.clear();
        for index in 0..self.destinations.len() {
            let can_send = self.may_send_new(index, now) && self.peer_has_room(u64::from(mss));
            let takes_data = self.destinations.takes_data(index);
            let path = self.congestion.path(index);
            let destination = &self.destinations[index];
            let queued = destination.assigned.bytes().div_ceil(u64::from(mss));
            let outstanding = Outstanding { amount: destination.flight.amount(), unit_bytes: 1 };
            let pacing_rate = self.congestion.pacing_rate(index, outstanding).unwrap_or(u64::MAX);
            let packets = destination.flight.chunks() + queued;
            let window = u64::from((path.cwnd() / self.config.mtu).max(MIN_QUEUED_WINDOW));
            views.push(SubflowView {
                local_id: 0,
                held_bytes: packets * u64::from(mss),
                buffer_full: packets >= MAX_WINDOWS_QUEUED * window,
                srtt: destination.rtt().srtt(),
                rtt_variation: destination.rtt().variation(),
                latest_rtt: destination.rtt().latest(),
                cwnd: path.cwnd() / self.config.mtu,
                in_flight: packets as u32,
                mss,
                queued_bytes: destination.assigned.bytes(),
                pacing_rate,
                packets_sent: destination.counters.data_chunks_sent,
                packets_resent: destination.counters.fast_retransmissions
                    + destination.counters.timeout_retransmissions,
                slow_start: path.in_slow_start(),
                established: takes_data,
                backup: false,
                potentially_failed: !takes_data && destination.reachability() != Reachability::Unconfirmed,
                can_send: can_send && destination.assigned.is_empty(),
            });
        }
        self.scheduler.as_mut().expect("as above").views = views;
    }
}
