//! What a protocol does as an endpoint.

use core::ops::Range;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_wire::icmp::{IcmpError, IcmpKind};
use subflow_wire::quic::ConnectionId;
use subflow_wire::{Packet, TcpSegment};

use crate::edge::Taken;
use crate::figures::{Figures, PathState};
use crate::mptcp::{OpenRequest, PathRecord, Refused};
use crate::notes::Noted;
use crate::stream::Stream;
use crate::tcp::{Closed, Connection, Ends};
use crate::{Change, Event, quic};

/// A protocol as [`Endpoint`](crate::Endpoint) uses it, whose methods of the same names describe these. Each protocol
/// implements it in its file `socket.rs`. The bodies here are for protocols that do not have what the method is about.
pub(crate) trait Socket: Sized {
    fn protocol(&self) -> u8;
    fn ends(&self) -> Ends;

    fn handle_packet(&mut self, now: Instant, subflow: usize, packet: &Packet);
    fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool;

    #[inline]
    fn may_transmit(&mut self, _now: Instant) -> bool {
        true
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_icmp(&mut self, _subflow: usize, _error: &IcmpError, _now: Instant) {}

    /// A packet with `payload` bytes, which was sent between these ends, has entered the queue of this host.
    fn on_queued(&mut self, _ends: Ends, _payload: u32) {}

    /// A packet of `subflow` has left it, or leaves it at `at`. Returns whether data waited for that.
    fn on_left_queue(&mut self, _subflow: usize, _payload: u32, _at: Instant) -> bool {
        false
    }

    fn network_error(&self) -> Option<IcmpKind> {
        None
    }

    /// The application's side, of a protocol that has a stream.
    fn stream(&self) -> Option<&Stream> {
        None
    }

    fn stream_mut(&mut self) -> Option<&mut Stream> {
        None
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.stream_mut()?.poll_event()
    }

    fn write(&mut self, bytes: u64) -> u64;

    fn finish(&mut self) {}

    /// Opens a further stream, of a protocol that has several.
    fn open_stream(&mut self, _priority: quic::Priority) -> Option<u64> {
        None
    }

    fn write_on_stream(&mut self, _number: u64, _bytes: u64, _priority: quic::Priority) {}

    fn received_on_stream(&self, _number: u64) -> Option<u64> {
        None
    }

    fn stop(&mut self) {}

    fn abort(&mut self) {}

    fn change(&mut self, _change: Change, _now: Instant) -> bool {
        false
    }

    fn set_reading(&mut self, _reading: bool, _now: Instant) {}

    fn set_bytes_read(&mut self, _total: u64, _now: Instant) {}

    fn set_receive_mark(&mut self, total: u64) {
        if let Some(stream) = self.stream_mut() {
            stream.set_mark(total);
        }
    }

    #[inline]
    fn bytes_written(&self) -> u64 {
        self.stream().map_or(0, |stream| stream.written)
    }

    #[inline]
    fn bytes_received(&self) -> u64 {
        self.stream().map_or(0, |stream| stream.received)
    }

    #[inline]
    fn bytes_read(&self) -> u64 {
        self.stream().map_or(0, Stream::bytes_read)
    }

    fn bytes_acknowledged(&self) -> u64 {
        0
    }

    fn receive_window(&self) -> Option<u64> {
        None
    }

    fn ended(&self) -> Option<Closed> {
        None
    }

    fn is_over(&self, _subflow: usize) -> bool {
        self.ended().is_some()
    }

    fn tcp(&self, _subflow: usize) -> Option<&Connection> {
        None
    }

    fn visit_unacknowledged(&self, _visit: impl FnMut(Range<u64>)) {}

    fn taken(&self) -> Option<Taken> {
        None
    }

    #[inline]
    fn visit_taken(&self, _packet: &Packet, mut visit: impl FnMut(u64, Range<u64>)) {
        self.taken().into_iter().for_each(|taken| visit(0, taken.stream));
    }

    fn delivered_chunks(&self) -> &[(u64, u64)] {
        &[]
    }

    fn chunks_acknowledged(&self) -> Option<u32> {
        None
    }

    /// Fills in what the protocol has, in addition to what all have.
    fn describe(&self, figures: &mut Figures);

    fn is_single_path(&self) -> bool;

    fn visit_paths(&self, _visit: impl FnMut(PathState)) {}

    fn path_ends(&self) -> Vec<(usize, Ends)> {
        Vec::new()
    }

    fn path_number(&self, _ends: Ends, _place: &mut usize, _known: Option<usize>) -> Option<usize> {
        None
    }

    /// The data bytes that arrived on an open path, if that can be said without describing all.
    fn bytes_received_on(&self, _ends: Ends, _place: &mut usize) -> Option<u64> {
        None
    }

    fn visit_connections(&self, _visit: impl FnMut(&Connection, &Controller)) {}

    fn path_records(&self) -> &[PathRecord] {
        &[]
    }

    fn keep_notes(&mut self, _decisions: bool) {}

    fn has_notes(&self) -> bool {
        false
    }

    fn take_notes(&mut self, _into: &mut Vec<Noted>) {}

    fn take_rtts(&mut self, _each: impl FnMut(Ends, &[Duration])) {}

    fn on_syn_ack_sent_before(&mut self) {}

    fn add_local_address(&mut self, _address: IpAddr, _now: Instant) {}

    fn move_opening(&mut self, _ends: Ends, _local: &[IpAddr]) {}

    fn remove_local_address(&mut self, _address: IpAddr, _now: Instant) {}

    fn request_subflow(&mut self, _local: IpAddr, _port: Option<u16>, _remote: SocketAddr, _backup: bool) {}

    fn has_open_requests(&self) -> bool {
        false
    }

    fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        Vec::new()
    }

    fn open_subflow(&mut self, _request: &OpenRequest, _ends: Ends, _now: Instant) -> Option<usize> {
        None
    }

    fn on_open_failed(&mut self, _request: &OpenRequest, _now: Instant) {}

    fn token(&self) -> Option<u32> {
        None
    }

    fn accept_join(&mut self, _ends: Ends, _syn: &TcpSegment, _now: Instant) -> Result<usize, Refused> {
        Err(Refused::Silently)
    }

    fn half_open_joins(&self) -> usize {
        0
    }

    /// Whether the peer has proved that it receives at its address.
    fn has_proven_peer(&self) -> bool {
        self.tcp(0).is_some_and(|tcp| tcp.state().is_synchronised())
    }

    fn has_moved(&self) -> bool {
        false
    }

    /// Whether its host has to act on a packet that it has processed.
    #[inline]
    fn needs_host(&self) -> bool {
        self.has_open_requests() || self.has_moved()
    }

    fn take_new_ends(&mut self) -> Vec<Ends> {
        Vec::new()
    }

    /// Connection identifiers of QUIC under which the host finds this endpoint from now on (`true`), or no more.
    fn take_id_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        Vec::new()
    }

    /// All of them.
    fn own_ids(&self) -> Vec<ConnectionId> {
        Vec::new()
    }

    fn take_successor(&mut self) -> Option<Box<Self>> {
        None
    }

    fn fetch(&self) {}

    fn fetch_subflow(&self, _subflow: usize) {}

    fn fetch_queues(&self, _subflow: usize) {}
}
