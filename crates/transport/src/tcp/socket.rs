//! A plain TCP endpoint, as all endpoints are used.

use core::ops::Range;
use std::net::IpAddr;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::icmp::{IcmpError, IcmpKind};
use subflow_wire::{Body, PROTOCOL_TCP, Packet, TcpSegment};

use super::{Closed, Connection, Ends, State, TcpEndpoint};
use crate::Change;
use crate::edge::Taken;
use crate::figures::{Figures, PathFigures, PathState};
use crate::mptcp::SubflowRecord;
use crate::notes::Noted;
use crate::socket::Socket;
use crate::stream::Stream;

impl Socket for TcpEndpoint {
    fn protocol(&self) -> u8 {
        PROTOCOL_TCP
    }

    fn ends(&self) -> Ends {
        self.connection.ends()
    }

    #[inline]
    fn handle_packet(&mut self, now: Instant, _subflow: usize, packet: &Packet) {
        if let Body::Tcp(segment) = &packet.body {
            self.handle_segment(now, &packet.ip, segment);
        }
    }

    #[inline]
    fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let sent = self.connection.poll_transmit(now, segment_of(packet), &mut self.congestion).is_some();
        if sent {
            packet.ip = self.connection.ip_header();
        } else {
            self.report_progress();
        }
        sent
    }

    #[inline]
    fn may_transmit(&mut self, now: Instant) -> bool {
        !self.connection.ends_transmission(now, &mut self.congestion) || self.has_progress()
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.connection.timeout()
    }

    fn handle_icmp(&mut self, _subflow: usize, error: &IcmpError, now: Instant) {
        Self::handle_icmp(self, error, now);
    }

    fn on_queued(&mut self, _ends: Ends, payload: u32) {
        self.connection.on_queued(payload);
    }

    fn on_left_queue(&mut self, _subflow: usize, payload: u32, at: Instant) -> bool {
        self.connection.on_left_queue(payload, at)
    }

    fn network_error(&self) -> Option<IcmpKind> {
        self.connection.network_error()
    }

    #[inline]
    fn stream(&self) -> Option<&Stream> {
        Some(&self.stream)
    }

    #[inline]
    fn stream_mut(&mut self) -> Option<&mut Stream> {
        Some(&mut self.stream)
    }

    fn move_opening(&mut self, ends: Ends, _local: &[IpAddr]) {
        self.connection.move_opening(ends);
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
        self.connection.abort();
        self.report_progress();
    }

    fn change(&mut self, change: Change, _now: Instant) -> bool {
        self.connection.change(change)
    }

    fn set_reading(&mut self, reading: bool, now: Instant) {
        Self::set_reading(self, reading, now);
    }

    fn set_bytes_read(&mut self, total: u64, now: Instant) {
        Self::set_bytes_read(self, total, now);
    }

    fn bytes_acknowledged(&self) -> u64 {
        self.connection.counters().bytes_acknowledged
    }

    fn receive_window(&self) -> Option<u64> {
        Some(self.connection.receive_window())
    }

    #[inline]
    fn ended(&self) -> Option<Closed> {
        match self.connection.state() {
            State::Closed(how) => Some(how),
            _ => None,
        }
    }

    fn tcp(&self, _subflow: usize) -> Option<&Connection> {
        Some(&self.connection)
    }

    fn visit_unacknowledged(&self, visit: impl FnMut(Range<u64>)) {
        self.connection.unacknowledged_data().for_each(visit);
    }

    fn taken(&self) -> Option<Taken> {
        self.connection.taken()
    }

    fn describe(&self, figures: &mut Figures) {
        let (connection, counters) = (&self.connection, *self.connection.counters());
        figures.paths = vec![PathFigures::of_subflow(&SubflowRecord {
            number: 0,
            ends: connection.ends(),
            reopens: false,
            counters,
            bytes_received: counters.bytes_received,
            copies: 0,
            srtt: connection.rtt().srtt(),
            cwnd: self.congestion.path(connection.path()).cwnd(),
        })];
    }

    fn is_single_path(&self) -> bool {
        true
    }

    fn visit_paths(&self, mut visit: impl FnMut(PathState)) {
        visit(PathState::of_connection(0, &self.connection, &self.congestion));
    }

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        vec![(0, self.connection.ends())]
    }

    fn path_number(&self, ends: Ends, _place: &mut usize, _known: Option<usize>) -> Option<usize> {
        (self.connection.ends() == ends).then_some(0)
    }

    fn visit_connections(&self, mut visit: impl FnMut(&Connection, &Controller)) {
        visit(&self.connection, &self.congestion);
    }

    fn keep_notes(&mut self, _decisions: bool) {
        self.connection.keep_notes();
    }

    #[inline]
    fn has_notes(&self) -> bool {
        self.connection.has_notes()
    }

    fn take_notes(&mut self, into: &mut Vec<Noted>) {
        self.connection.take_notes(into);
    }

    #[inline]
    fn take_rtts(&mut self, mut each: impl FnMut(Ends, &[Duration])) {
        self.connection.take_rtts(&mut each);
    }

    fn on_syn_ack_sent_before(&mut self) {
        self.connection.on_syn_ack_sent_before();
    }

    #[inline]
    fn fetch(&self) {
        Self::fetch(self);
    }

    #[inline]
    fn fetch_queues(&self, _subflow: usize) {
        self.connection.fetch_queues();
    }
}

/// The TCP segment of a packet. Other content is replaced by a blank segment.
#[inline]
pub(crate) fn segment_of(packet: &mut Packet) -> &mut TcpSegment {
    if !matches!(packet.body, Body::Tcp(_)) {
        packet.body = Body::Tcp(TcpSegment::default());
    }
    match &mut packet.body {
        Body::Tcp(segment) => segment,
        Body::Udp(_) | Body::Sctp(_) | Body::Quic(_) => unreachable!("replaced above"),
    }
}
