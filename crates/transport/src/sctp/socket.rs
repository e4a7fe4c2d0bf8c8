//! An SCTP association, as all endpoints are used.

use core::ops::Range;
use std::net::IpAddr;

use subflow_policy::congestion::Path;
use subflow_quantity::{Duration, Instant};
use subflow_wire::icmp::{IcmpError, IcmpKind};
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, PROTOCOL_SCTP, Packet};

use super::{Association, Config};
use crate::Change;
use crate::figures::{AbandonedMessages, Figures, PathFigures, PathState, RetransmissionsByReason};
use crate::notes::{Kept, Noted};
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tcp::timers::Tick;
use crate::tcp::{Closed, Ends};

impl Socket for Association {
    fn protocol(&self) -> u8 {
        PROTOCOL_SCTP
    }

    fn ends(&self) -> Ends {
        Self::ends(self)
    }

    #[inline]
    fn handle_packet(&mut self, now: Instant, _subflow: usize, packet: &Packet) {
        if let Body::Sctp(body) = &packet.body {
            self.handle_packet(now, &packet.ip, body);
        }
    }

    #[inline]
    fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        self.poll_transmit(now, packet)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout()
    }

    fn handle_icmp(&mut self, _subflow: usize, error: &IcmpError, _now: Instant) {
        self.on_icmp(error);
    }

    fn network_error(&self) -> Option<IcmpKind> {
        Self::network_error(self)
    }

    #[inline]
    fn stream(&self) -> Option<&Stream> {
        Some(&self.stream)
    }

    #[inline]
    fn stream_mut(&mut self) -> Option<&mut Stream> {
        Some(&mut self.stream)
    }

    fn write(&mut self, bytes: u64) -> u64 {
        Self::write(self, bytes)
    }

    fn finish(&mut self) {
        Self::finish(self);
    }

    fn stop(&mut self) {
        Self::stop(self);
    }

    fn abort(&mut self) {
        Self::abort(self);
    }

    fn change(&mut self, change: Change, now: Instant) -> bool {
        Self::change(self, change, now)
    }

    fn set_reading(&mut self, reading: bool, _now: Instant) {
        Self::set_reading(self, reading);
    }

    fn set_bytes_read(&mut self, total: u64, _now: Instant) {
        Self::set_bytes_read(self, total);
    }

    fn bytes_acknowledged(&self) -> u64 {
        Self::bytes_acknowledged(self)
    }

    fn receive_window(&self) -> Option<u64> {
        Some(Self::receive_window(self))
    }

    #[inline]
    fn ended(&self) -> Option<Closed> {
        Self::ended(self)
    }

    fn visit_taken(&self, packet: &Packet, mut visit: impl FnMut(u64, Range<u64>)) {
        let Body::Sctp(body) = &packet.body else { return };
        for taken in self.taken_chunks() {
            if let Some(Chunk::Data(data)) = body.chunks.get(taken.index) {
                let start = data.payload.stream_offset;
                visit(taken.tsn, start..start + u64::from(data.payload.length));
            }
        }
    }

    fn delivered_chunks(&self) -> &[(u64, u64)] {
        Self::delivered_chunks(self)
    }

    fn chunks_acknowledged(&self) -> Option<u32> {
        Some(self.cumulative_tsn_acknowledged())
    }

    fn describe(&self, figures: &mut Figures) {
        let (messages, bytes) = (self.counters().messages_abandoned, self.counters().bytes_abandoned);
        figures.abandoned = Some(AbandonedMessages { messages, bytes });
        figures.reinjected_bytes = self.destinations().iter().map(|to| to.counters().bytes_moved).sum();
        figures.paths = (0..self.destinations().len()).map(|index| self.figures_of(index)).collect();
    }

    fn is_single_path(&self) -> bool {
        false
    }

    fn visit_paths(&self, visit: impl FnMut(PathState)) {
        (0..self.destinations().len()).map(|index| self.state_of(index)).for_each(visit);
    }

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        let paths = self.destinations().iter().enumerate();
        paths
            .flat_map(|(index, path)| path.sources().map(move |source| (index, self.ends_from(source, index))))
            .collect()
    }

    fn path_number(&self, ends: Ends, _place: &mut usize, _known: Option<usize>) -> Option<usize> {
        let mut paths = self.destinations().iter();
        paths.position(|path| path.address() == ends.remote.ip() && path.sources().any(|from| from == ends.local.ip()))
    }

    fn keep_notes(&mut self, _decisions: bool) {
        self.notes = Kept::new();
    }

    #[inline]
    fn has_notes(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        if let Some(notes) = &mut self.notes {
            into.append(&mut notes.noted);
        }
    }

    #[inline]
    fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        if let Some(notes) = &mut self.notes {
            notes.rtts.drain(..).for_each(|(ends, sample)| each(ends, &[sample]));
        }
    }

    fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        self.set_local_address(address, true, now);
    }

    fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        self.set_local_address(address, false, now);
    }

    #[inline]
    fn has_moved(&self) -> bool {
        !self.new_ends.is_empty() || self.successor.is_some()
    }

    fn take_new_ends(&mut self) -> Vec<Ends> {
        Self::take_new_ends(self)
    }

    fn take_successor(&mut self) -> Option<Box<Self>> {
        Self::take_successor(self)
    }
}

impl Association {
    /// The receiving end does not know which path carried a chunk: the acknowledged bytes are counted.
    fn figures_of(&self, index: usize) -> PathFigures {
        let destination = &self.destinations()[index];
        let counters = destination.counters();
        let retransmitted = RetransmissionsByReason {
            fast: counters.fast_retransmissions,
            timeout: counters.timeout_retransmissions,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
            fast_retransmits: counters.fast_retransmits,
        };
        let path = self.congestion().path(index);
        let mut sources = destination.sources();
        let first = sources.next().unwrap_or(destination.source());
        PathFigures {
            ends: self.ends_from(first, index),
            other_sources: sources.collect(),
            reopens: false,
            bytes_received: 0,
            packets_sent: counters.packets_sent,
            retransmissions: retransmitted.fast + retransmitted.timeout,
            timeouts: retransmitted.timeouts,
            duplicate_acks: 0,
            srtt: destination.rtt().srtt(),
            cwnd: f64::from(path.cwnd()) / f64::from(path.quantum()),
            copies: counters.chunks_moved,
            retransmitted: Some(retransmitted),
            bytes_acknowledged: Some(counters.bytes_acknowledged),
        }
    }

    /// The windows count bytes.
    fn state_of(&self, index: usize) -> PathState {
        let destination = &self.destinations()[index];
        let path = self.congestion().path(index);
        let in_packets = |bytes: f64| bytes / f64::from(path.quantum());
        PathState {
            number: index,
            ends: self.ends_to(index),
            cwnd: in_packets(path.cwnd().into()),
            ssthresh: (path.ssthresh() < Path::INFINITE).then(|| in_packets(path.ssthresh().into())),
            in_flight: in_packets(destination.bytes_in_flight() as f64),
            flight_size: destination.bytes_in_flight(),
            srtt: destination.rtt().srtt(),
            bytes_acknowledged: Some(destination.counters().bytes_acknowledged),
            pacing_rate: None,
            model: None,
        }
    }
}

impl Config {
    /// When a timer of `delay` expires: at the next tick of the kernel's clock.
    #[inline]
    pub(super) fn deadline(&self, now: Instant, delay: Duration) -> Instant {
        Tick { tick: self.timer_tick, wheel: self.timer_wheel }.deadline(now, delay)
    }
}

impl Association {
    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        if self.phase.is_closed() {
            return None;
        }
        let own = [self.phase.timeout(), self.inbound.sack_at()];
        let theirs =
            self.destinations.iter().flat_map(|destination| [destination.timer.at(), destination.heartbeat.at()]);
        own.into_iter().chain(theirs).flatten().min()
    }

    /// Advances the time to `now` and handles all expired timers.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.clock = now;
        self.begin_burst();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.phase.t1_at()) {
            self.on_opening_timeout(now);
        }
        if due(self.inbound.sack_at()) {
            self.inbound.expire_sack();
        }
        for index in 0..self.destinations.len() {
            if due(self.destinations[index].timer.at()) {
                self.on_t3(index, now);
            }
            if due(self.destinations[index].heartbeat.at()) {
                self.on_heartbeat_timer(index, now);
            }
        }
        if due(self.phase.t2_at()) {
            self.on_shutdown_timeout(now);
        }
        if due(self.phase.guard_at()) {
            self.abort_with(Vec::new(), Closed::TimedOut);
        }
    }
}
