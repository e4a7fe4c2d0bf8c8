//! An MPTCP connection, as all endpoints are used.

use core::mem::offset_of;
use core::ops::Range;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::icmp::{IcmpError, IcmpKind};
use subflow_wire::{Body, PROTOCOL_TCP, Packet, TcpSegment};

use super::{Connection, LISTED_SUBFLOWS, OpenRequest, PathRecord, Refused, Subflow};
use crate::Change;
use crate::edge::Taken;
use crate::figures::{Figures, PathFigures, PathState};
use crate::notes::Noted;
use crate::prefetch::{prefetch, prefetch_all, prefetch_whole, prefetch_with_next};
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tcp::{self, Closed, Ends, segment_of};

impl Socket for Connection {
    fn protocol(&self) -> u8 {
        PROTOCOL_TCP
    }

    fn ends(&self) -> Ends {
        self.subflows()[0].connection().ends()
    }

    #[inline]
    fn handle_packet(&mut self, now: Instant, subflow: usize, packet: &Packet) {
        if let Body::Tcp(segment) = &packet.body {
            self.handle_segment(now, subflow, &packet.ip, segment);
        }
    }

    #[inline]
    fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        match self.poll_transmit(now, segment_of(packet)) {
            Some(subflow) => {
                packet.ip = self.subflows()[subflow].connection().ip_header();
                true
            }
            None => false,
        }
    }

    #[inline]
    fn may_transmit(&mut self, _now: Instant) -> bool {
        Self::may_transmit(self)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout()
    }

    fn handle_icmp(&mut self, subflow: usize, error: &IcmpError, now: Instant) {
        Self::handle_icmp(self, subflow, error, now);
    }

    fn on_queued(&mut self, ends: Ends, payload: u32) {
        self.subflows.note_queued(ends, payload);
    }

    fn on_left_queue(&mut self, subflow: usize, payload: u32, at: Instant) -> bool {
        self.subflows.note_left_queue(subflow, payload, at)
    }

    fn network_error(&self) -> Option<IcmpKind> {
        self.subflows()[0].connection().network_error()
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

    fn change(&mut self, change: Change, _now: Instant) -> bool {
        Self::change(self, change)
    }

    fn set_reading(&mut self, reading: bool, now: Instant) {
        Self::set_reading(self, reading, now);
    }

    fn set_bytes_read(&mut self, total: u64, now: Instant) {
        Self::set_bytes_read(self, total, now);
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

    #[inline]
    fn is_over(&self, subflow: usize) -> bool {
        self.subflows()[subflow].is_closed()
    }

    fn tcp(&self, subflow: usize) -> Option<&tcp::Connection> {
        self.subflows().get(subflow).map(|subflow| subflow.connection())
    }

    fn visit_unacknowledged(&self, mut visit: impl FnMut(Range<u64>)) {
        self.open_subflows().for_each(|subflow| subflow.connection().unacknowledged_data().for_each(&mut visit));
    }

    fn taken(&self) -> Option<Taken> {
        Self::taken(self)
    }

    fn describe(&self, figures: &mut Figures) {
        figures.paths = self.subflow_records().iter().map(PathFigures::of_subflow).collect();
        figures.others = *self.unlisted_subflows();
        figures.reinjected_bytes = self.counters().bytes_reinjected;
        figures.fallback = self.has_fallen_back();
    }

    fn is_single_path(&self) -> bool {
        false
    }

    fn visit_paths(&self, mut visit: impl FnMut(PathState)) {
        self.listed().filter(|subflow| !subflow.is_closed()).for_each(|subflow| {
            visit(PathState::of_connection(subflow.number(), subflow.connection(), self.congestion()));
        });
    }

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        self.listed().map(|subflow| (subflow.number(), subflow.connection().ends())).collect()
    }

    fn path_number(&self, ends: Ends, place: &mut usize, known: Option<usize>) -> Option<usize> {
        let at_place = self.subflows().get(*place).map(Subflow::number);
        if known.is_some() && at_place == known {
            return known;
        }
        self.subflow_with(ends, place).map(Subflow::number)
    }

    fn bytes_received_on(&self, ends: Ends, place: &mut usize) -> Option<u64> {
        self.subflow_with(ends, place).map(Subflow::bytes_received)
    }

    fn visit_connections(&self, mut visit: impl FnMut(&tcp::Connection, &Controller)) {
        self.open_subflows().for_each(|subflow| visit(subflow.connection(), self.congestion()));
    }

    fn path_records(&self) -> &[PathRecord] {
        Self::path_records(self)
    }

    fn keep_notes(&mut self, decisions: bool) {
        Self::keep_notes(self, decisions);
    }

    #[inline]
    fn has_notes(&self) -> bool {
        Self::has_notes(self)
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        Self::take_notes(self, into);
    }

    #[inline]
    fn take_rtts(&mut self, each: impl FnMut(Ends, &[Duration])) {
        Self::take_rtts(self, each);
    }

    fn on_syn_ack_sent_before(&mut self) {
        Self::on_syn_ack_sent_before(self);
    }

    fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        Self::add_local_address(self, address, now);
    }

    fn move_opening(&mut self, ends: Ends, local: &[IpAddr]) {
        Self::move_opening(self, ends, local);
    }

    fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        Self::remove_local_address(self, address, now);
    }

    fn request_subflow(&mut self, local: IpAddr, port: Option<u16>, remote: SocketAddr, backup: bool) {
        Self::request_subflow(self, local, port, remote, backup);
    }

    #[inline]
    fn has_open_requests(&self) -> bool {
        Self::has_open_requests(self)
    }

    fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        Self::take_open_requests(self)
    }

    fn open_subflow(&mut self, request: &OpenRequest, ends: Ends, now: Instant) -> Option<usize> {
        Self::open_subflow(self, request, ends, now)
    }

    fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        Self::on_open_failed(self, request, now);
    }

    fn token(&self) -> Option<u32> {
        Some(Self::token(self))
    }

    fn accept_join(&mut self, ends: Ends, syn: &TcpSegment, now: Instant) -> Result<usize, Refused> {
        Self::accept_join(self, ends, syn, now)
    }

    fn half_open_joins(&self) -> usize {
        Self::half_open_joins(self)
    }

    #[inline]
    fn fetch(&self) {
        Self::fetch(self);
    }

    #[inline]
    fn fetch_subflow(&self, subflow: usize) {
        Self::fetch_subflow(self, subflow);
    }

    #[inline]
    fn fetch_queues(&self, subflow: usize) {
        Self::fetch_queues(self, subflow);
    }
}

impl Connection {
    fn open_subflows(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows().iter().filter(|subflow| !subflow.is_closed())
    }

    fn listed(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows().iter().filter(|subflow| subflow.number() < LISTED_SUBFLOWS)
    }

    /// The subflow with these ends, looked for in its last place first.
    fn subflow_with(&self, ends: Ends, place: &mut usize) -> Option<&Subflow> {
        let has_ends = |subflow: &Subflow| subflow.connection().ends() == ends;
        if !self.subflows().get(*place).is_some_and(has_ends) {
            *place = self.subflows().iter().position(has_ends)?;
        }
        self.subflows().get(*place)
    }
}

impl Connection {
    /// Fetches the connection without its subflows.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch_whole::<Self, _>(&self.client, offset_of!(Self, client));
    }

    /// Fetches a subflow, and what concerns all of them. The connection can be read.
    #[inline]
    pub(crate) fn fetch_subflow(&self, index: usize) {
        if let Some(subflow) = self.subflows.get(index) {
            subflow.fetch();
        }
        prefetch_all(self.subflows.summaries());
        prefetch(&self.config.stale_loss_count);
        prefetch(&self.config.data_acks);
        if self.send.una() < self.stream.written {
            // An end without data of its own does not ask the scheduler.
            prefetch_all(self.views.all());
            prefetch_all(self.congestion.paths());
        }
    }

    /// Fetches the ends of the queues. The subflow can be read.
    #[inline]
    pub(crate) fn fetch_queues(&self, index: usize) {
        if let Some(subflow) = self.subflows.get(index) {
            subflow.tcp.fetch_queues();
        }
        if let Some(range) = self.send.outstanding().front() {
            prefetch(range);
        }
        if let Some(range) = self.send.outstanding().back() {
            prefetch_with_next(range);
        }
    }
}
