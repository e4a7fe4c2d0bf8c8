//! A socket of any protocol.

mod description;
mod of_host;

use core::ops::Range;
use std::net::{IpAddr, Ipv4Addr};

use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpKind;
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, TcpSegment};

use crate::edge::Taken;
use crate::socket::Socket;
use crate::tcp::{Closed, Connection, Ends, TcpEndpoint};
use crate::udp::UdpEndpoint;
use crate::{Change, Event, mptcp, quic, sctp};

/// Calls a method of [`Socket`] of the protocol at hand.
macro_rules! ask {
    (mut $endpoint:ident.$method:ident($($argument:expr),*)) => {
        ask!($endpoint, socket => Socket::$method(&mut **socket, $($argument),*))
    };
    ($endpoint:ident.$method:ident($($argument:expr),*)) => {
        ask!($endpoint, socket => Socket::$method(&**socket, $($argument),*))
    };
    ($endpoint:ident, $socket:ident => $call:expr) => {
        match $endpoint {
            Self::Tcp($socket) => $call,
            Self::Mptcp($socket) => $call,
            Self::Sctp($socket) => $call,
            Self::Quic($socket) => $call,
            Self::Udp($socket) => $call,
        }
    };
}
use ask;

/// A sans-IO endpoint: TCP, MPTCP, SCTP, QUIC or UDP.
///
/// # The invariant
///
/// Mutate it ([`handle_packet`](Self::handle_packet), [`handle_timeout`](Self::handle_timeout), [`write`](Self::write),
/// [`finish`](Self::finish), …), then drain it: call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until both return `None`. Then wait until [`poll_timeout`](Self::poll_timeout),
/// which is valid only after draining. Time must not decrease between calls.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// Plain TCP.
    Tcp(Box<TcpEndpoint>),
    /// MPTCP.
    Mptcp(Box<mptcp::Connection>),
    /// SCTP.
    Sctp(Box<sctp::Association>),
    /// QUIC.
    Quic(Box<quic::Connection>),
    /// UDP.
    Udp(Box<UdpEndpoint>),
}

impl Endpoint {
    /// Processes an arriving packet for subflow `subflow` (0 except for MPTCP).
    #[inline]
    pub fn handle_packet(&mut self, now: Instant, subflow: usize, packet: &Packet) {
        ask!(mut self.handle_packet(now, subflow, packet))
    }

    pub(crate) fn note_queued(&mut self, ends: Ends, payload: u32) {
        ask!(mut self.on_queued(ends, payload));
    }

    pub(crate) fn on_left_queue(&mut self, subflow: usize, payload: u32, at: Instant) -> bool {
        ask!(mut self.on_left_queue(subflow, payload, at))
    }

    /// Processes the expiry of the timer set to [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        ask!(mut self.handle_timeout(now))
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let mut packet = blank_packet();
        self.poll_transmit_into(now, &mut packet).then_some(packet)
    }

    /// Writes the next packet to send to `packet`, whose content is replaced, and returns whether there was one.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        ask!(mut self.poll_transmit_into(now, packet))
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) has to be called again at `now`, after it has returned a packet. If
    /// not, it would return `None`, and what it would change has been changed.
    #[inline]
    pub fn may_transmit(&mut self, now: Instant) -> bool {
        ask!(mut self.may_transmit(now))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        ask!(self.poll_timeout())
    }

    /// The next event since the last call.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        ask!(mut self.poll_event())
    }

    /// Writes `bytes` bytes and returns how many were accepted (all, if no send buffer is set). If not all were
    /// accepted, [`Event::Writable`] follows when there is room again. On UDP the call sends one datagram of this size.
    pub fn write(&mut self, bytes: u64) -> u64 {
        ask!(mut self.write(bytes))
    }

    /// Ends the stream after the data written so far.
    pub fn finish(&mut self) {
        ask!(mut self.finish())
    }

    /// Opens a further stream of a connection, beside the one that [`write`](Self::write) and its like are about, and returns
    /// its number, from 1 on. `None` at the end that has accepted the connection, and of protocols with one stream.
    pub fn open_stream(&mut self, priority: quic::Priority) -> Option<u64> {
        ask!(mut self.open_stream(priority))
    }

    /// Writes `bytes` bytes on a further stream and ends it for this end. Both ends write on it, and read what arrives at
    /// once: [`Event::StreamBegun`] and [`Event::StreamCompleted`] tell how far that is.
    pub fn write_on_stream(&mut self, number: u64, bytes: u64, priority: quic::Priority) {
        ask!(mut self.write_on_stream(number, bytes, priority))
    }

    /// Bytes that have arrived in order on a further stream; `None` before it is open, and once both ends have all of it.
    pub fn received_on_stream(&self, number: u64) -> Option<u64> {
        ask!(self.received_on_stream(number))
    }

    /// Discards data that was written and not sent, and ends the stream.
    pub fn stop(&mut self) {
        ask!(mut self.stop())
    }

    /// Aborts at once, with a reset.
    pub fn abort(&mut self) {
        ask!(mut self.abort())
    }

    /// Sets whether the application reads data as it arrives, which is the default. If it does not, the receive window
    /// fills.
    pub fn set_reading(&mut self, reading: bool, now: Instant) {
        ask!(mut self.set_reading(reading, now))
    }

    /// The application has read the first `total` bytes received, and reads at its own pace from now on: what was
    /// received beyond them fills the receive window. A UDP endpoint ignores it.
    pub fn set_bytes_read(&mut self, total: u64, now: Instant) {
        ask!(mut self.set_bytes_read(total, now))
    }

    /// Number of bytes that the application has read, of those [received](Self::bytes_received).
    pub fn bytes_read(&self) -> u64 {
        ask!(self.bytes_read())
    }

    /// The latest error that ICMP reported of the endpoint's packets and that did not end it, or the one that did; of
    /// MPTCP, that of its initial subflow.
    pub fn network_error(&self) -> Option<IcmpKind> {
        ask!(self.network_error())
    }

    /// Calls `visit` with each range of the stream that a TCP connection or subflow may send or repeat, in any order,
    /// whole segments at a time. With MPTCP they include data that another subflow has delivered: it is acknowledged
    /// at the data level, and repeated to complete the stream of its subflow (RFC 8684, section 3.3.6).
    pub fn visit_unacknowledged(&self, visit: impl FnMut(Range<u64>)) {
        ask!(self.visit_unacknowledged(visit))
    }

    /// Changes an option. Returns whether the protocol of the endpoint has it. Drain the endpoint afterwards.
    pub fn change(&mut self, change: Change, now: Instant) -> bool {
        ask!(mut self.change(change, now))
    }

    /// Requests [`Event::Received`] when `total` bytes have been received in order.
    pub fn set_receive_mark(&mut self, total: u64) {
        ask!(mut self.set_receive_mark(total))
    }

    /// Number of bytes written by the application and accepted.
    pub fn bytes_written(&self) -> u64 {
        ask!(self.bytes_written())
    }

    /// Number of bytes received in order.
    pub fn bytes_received(&self) -> u64 {
        ask!(self.bytes_received())
    }

    /// The receive window in bytes: what is left of the one advertised, or the free part of SCTP's receive buffer.
    pub fn receive_window(&self) -> Option<u64> {
        ask!(self.receive_window())
    }

    /// Number of bytes acknowledged by the peer.
    pub fn bytes_acknowledged(&self) -> u64 {
        ask!(self.bytes_acknowledged())
    }

    /// The accepted part of the latest packet, for the holder of its bytes (see [`edge`](crate::edge)). `None` if the
    /// packet had no new data or was not acceptable, for UDP, whose datagrams are accepted whole, and for SCTP, which
    /// has [`Association::taken_chunks`](sctp::Association::taken_chunks).
    pub fn taken(&self) -> Option<Taken> {
        ask!(self.taken())
    }

    /// Calls `visit` with each range of the stream that was accepted of `packet`, the latest one, whose payloads are
    /// described; and with the number of its chunk, of SCTP ([`TakenChunk`](sctp::TakenChunk)), of its stream, of QUIC, or
    /// 0. With several streams of QUIC ranges are places in the order in which all of their data was sent first.
    pub fn visit_taken(&self, packet: &Packet, visit: impl FnMut(u64, Range<u64>)) {
        ask!(self.visit_taken(packet, visit))
    }

    /// The chunks that the latest packet has made deliverable, as runs of consecutive numbers: the first and the last of
    /// each. Empty except for SCTP.
    pub fn delivered_chunks(&self) -> &[(u64, u64)] {
        ask!(self.delivered_chunks())
    }

    /// The TSN up to which the peer has acknowledged all chunks, so that they are not sent again; of SCTP.
    pub fn chunks_acknowledged(&self) -> Option<u32> {
        ask!(self.chunks_acknowledged())
    }

    /// Its addresses and ports; for MPTCP, those of the initial subflow.
    pub fn ends(&self) -> Ends {
        ask!(self.ends())
    }

    /// The TCP connection of subflow `subflow` (0 except for MPTCP).
    pub(crate) fn tcp(&self, subflow: usize) -> Option<&Connection> {
        ask!(self.tcp(subflow))
    }

    /// Whether subflow `subflow` (0 except for MPTCP) is over: its segments belong to no endpoint.
    pub(crate) fn is_over(&self, subflow: usize) -> bool {
        ask!(self.is_over(subflow))
    }

    /// Whether it is over and will neither send nor receive again.
    pub fn is_closed(&self) -> bool {
        self.ended().is_some()
    }

    /// How the endpoint ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        ask!(self.ended())
    }
}

/// For what one protocol only has.
impl Endpoint {
    /// The plain TCP endpoint, if it is one.
    pub fn as_tcp(&self) -> Option<&TcpEndpoint> {
        if let Self::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    /// The MPTCP connection, if it is one.
    pub fn as_mptcp(&self) -> Option<&mptcp::Connection> {
        if let Self::Mptcp(mptcp) = self { Some(mptcp) } else { None }
    }

    /// The same, for changes. Drain the endpoint afterwards.
    pub fn as_mptcp_mut(&mut self) -> Option<&mut mptcp::Connection> {
        if let Self::Mptcp(mptcp) = self { Some(mptcp) } else { None }
    }

    /// The SCTP association, if it is one.
    pub fn as_sctp(&self) -> Option<&sctp::Association> {
        if let Self::Sctp(sctp) = self { Some(sctp) } else { None }
    }

    /// The same, for changes. Drain the endpoint afterwards.
    pub fn as_sctp_mut(&mut self) -> Option<&mut sctp::Association> {
        if let Self::Sctp(sctp) = self { Some(sctp) } else { None }
    }

    /// The QUIC connection, if it is one.
    pub fn as_quic(&self) -> Option<&quic::Connection> {
        if let Self::Quic(quic) = self { Some(quic) } else { None }
    }

    /// The same, for changes. Drain the endpoint afterwards.
    pub fn as_quic_mut(&mut self) -> Option<&mut quic::Connection> {
        if let Self::Quic(quic) = self { Some(quic) } else { None }
    }
}

impl From<TcpEndpoint> for Endpoint {
    fn from(tcp: TcpEndpoint) -> Self {
        Self::Tcp(Box::new(tcp))
    }
}

impl From<mptcp::Connection> for Endpoint {
    fn from(mptcp: mptcp::Connection) -> Self {
        Self::Mptcp(Box::new(mptcp))
    }
}

impl From<sctp::Association> for Endpoint {
    fn from(sctp: sctp::Association) -> Self {
        Self::Sctp(Box::new(sctp))
    }
}

impl From<quic::Connection> for Endpoint {
    fn from(quic: quic::Connection) -> Self {
        Self::Quic(Box::new(quic))
    }
}

impl From<UdpEndpoint> for Endpoint {
    fn from(udp: UdpEndpoint) -> Self {
        Self::Udp(Box::new(udp))
    }
}

/// A packet to be filled in.
pub fn blank_packet() -> Packet {
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    Packet {
        ip: IpHeader { source: nowhere, destination: nowhere, hop_limit: 0, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
        body: Body::Tcp(TcpSegment::default()),
    }
}
