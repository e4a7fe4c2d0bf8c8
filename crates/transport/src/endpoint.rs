//! A socket of any protocol.

use core::ops::Range;
use std::net::{IpAddr, Ipv4Addr};

use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpKind;
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Ecn, IpHeader, Packet, TcpSegment};

use crate::edge::Taken;
use crate::tcp::{Closed, Connection, Ends, State, TcpEndpoint};
use crate::udp::UdpEndpoint;
use crate::{Change, Event, mptcp, sctp};

/// A sans-IO endpoint: TCP, MPTCP, SCTP or UDP.
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
    /// UDP.
    Udp(Box<UdpEndpoint>),
}

impl Endpoint {
    /// Processes an arriving packet for subflow `subflow` (0 except for MPTCP).
    pub fn handle_packet(&mut self, now: Instant, subflow: usize, packet: &Packet) {
        match (self, &packet.body) {
            (Self::Tcp(tcp), Body::Tcp(segment)) => tcp.handle_segment(now, &packet.ip, segment),
            (Self::Mptcp(mptcp), Body::Tcp(segment)) => mptcp.handle_segment(now, subflow, &packet.ip, segment),
            (Self::Sctp(sctp), Body::Sctp(body)) => sctp.handle_packet(now, &packet.ip, body),
            (Self::Udp(udp), Body::Udp(datagram)) => udp.handle_datagram(datagram),
            _ => {}
        }
    }

    /// Processes the expiry of the timer set to [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Tcp(tcp) => tcp.handle_timeout(now),
            Self::Mptcp(mptcp) => mptcp.handle_timeout(now),
            Self::Sctp(sctp) => sctp.handle_timeout(now),
            Self::Udp(_) => {}
        }
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let mut packet = blank_packet();
        self.poll_transmit_into(now, &mut packet).then_some(packet)
    }

    /// Writes the next packet to send to `packet`, whose content is replaced, and returns whether there was one.
    pub fn poll_transmit_into(&mut self, now: Instant, packet: &mut Packet) -> bool {
        match self {
            Self::Tcp(tcp) => {
                let sent = tcp.connection.poll_transmit(now, segment_of(packet), &mut tcp.congestion).is_some();
                if sent {
                    packet.ip = tcp.connection.ip_header();
                } else {
                    tcp.report_progress();
                }
                sent
            }
            Self::Mptcp(mptcp) => match mptcp.poll_transmit(now, segment_of(packet)) {
                Some(subflow) => {
                    packet.ip = mptcp.subflows()[subflow].connection().ip_header();
                    true
                }
                None => false,
            },
            Self::Sctp(sctp) => sctp.poll_transmit(now, packet),
            Self::Udp(udp) => match udp.poll_transmit() {
                Some(datagram) => {
                    *packet = Packet { ip: udp.ends().ip_header(), body: Body::Udp(datagram) };
                    true
                }
                None => false,
            },
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Tcp(tcp) => tcp.connection.timeout(),
            Self::Mptcp(mptcp) => mptcp.timeout(),
            Self::Sctp(sctp) => sctp.timeout(),
            Self::Udp(_) => None,
        }
    }

    /// The next event since the last call.
    pub fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Tcp(tcp) => tcp.stream.poll_event(),
            Self::Mptcp(mptcp) => mptcp.stream.poll_event(),
            Self::Sctp(sctp) => sctp.stream.poll_event(),
            Self::Udp(_) => None,
        }
    }

    /// Writes `bytes` bytes and returns how many were accepted (all, if no send buffer is set). If not all were
    /// accepted, [`Event::Writable`] follows when there is room again. On UDP the call sends one datagram of this size.
    pub fn write(&mut self, bytes: u64) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.write(bytes),
            Self::Mptcp(mptcp) => mptcp.write(bytes),
            Self::Sctp(sctp) => sctp.write(bytes),
            Self::Udp(udp) => {
                udp.send(u32::try_from(bytes).unwrap_or(u32::MAX));
                bytes
            }
        }
    }

    /// Ends the stream after the data written so far.
    pub fn finish(&mut self) {
        match self {
            Self::Tcp(tcp) => tcp.finish(),
            Self::Mptcp(mptcp) => mptcp.finish(),
            Self::Sctp(sctp) => sctp.finish(),
            Self::Udp(_) => {}
        }
    }

    /// Discards data that was written and not sent, and ends the stream.
    pub fn stop(&mut self) {
        match self {
            Self::Tcp(tcp) => tcp.stop(),
            Self::Mptcp(mptcp) => mptcp.stop(),
            Self::Sctp(sctp) => sctp.stop(),
            Self::Udp(_) => {}
        }
    }

    /// Aborts at once, with a reset.
    pub fn abort(&mut self) {
        match self {
            Self::Tcp(tcp) => {
                tcp.connection.abort();
                tcp.report_progress();
            }
            Self::Mptcp(mptcp) => mptcp.abort(),
            Self::Sctp(sctp) => sctp.abort(),
            Self::Udp(_) => {}
        }
    }

    /// Sets whether the application reads data as it arrives, which is the default. If it does not, the receive window
    /// fills.
    pub fn set_reading(&mut self, reading: bool, now: Instant) {
        match self {
            Self::Tcp(tcp) => tcp.set_reading(reading, now),
            Self::Mptcp(mptcp) => mptcp.set_reading(reading, now),
            Self::Sctp(sctp) => sctp.set_reading(reading),
            Self::Udp(_) => {}
        }
    }

    /// The application has read the first `total` bytes received, and reads at its own pace from now on: what was
    /// received beyond them fills the receive window. A UDP endpoint ignores it.
    pub fn set_bytes_read(&mut self, total: u64, now: Instant) {
        match self {
            Self::Tcp(tcp) => tcp.set_bytes_read(total, now),
            Self::Mptcp(mptcp) => mptcp.set_bytes_read(total, now),
            Self::Sctp(sctp) => sctp.set_bytes_read(total),
            Self::Udp(_) => {}
        }
    }

    /// Number of bytes that the application has read, of those [received](Self::bytes_received).
    pub fn bytes_read(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.stream.bytes_read(),
            Self::Mptcp(mptcp) => mptcp.stream.bytes_read(),
            Self::Sctp(sctp) => sctp.stream.bytes_read(),
            Self::Udp(udp) => udp.counters().bytes_received,
        }
    }

    /// The latest error that ICMP reported of the endpoint's packets and that did not end it, or the one that did; of
    /// MPTCP, that of its initial subflow.
    pub fn network_error(&self) -> Option<IcmpKind> {
        match self {
            Self::Tcp(tcp) => tcp.connection.network_error(),
            Self::Mptcp(mptcp) => mptcp.subflows()[0].connection().network_error(),
            Self::Sctp(sctp) => sctp.network_error(),
            Self::Udp(_) => None,
        }
    }

    /// Calls `visit` with each range of the stream that a TCP connection or subflow may send or repeat, in any order,
    /// whole segments at a time. With MPTCP they include data that another subflow has delivered: it is acknowledged
    /// at the data level, and repeated to complete the stream of its subflow (RFC 8684, section 3.3.6).
    pub fn visit_unacknowledged(&self, mut visit: impl FnMut(Range<u64>)) {
        match self {
            Self::Tcp(tcp) => tcp.connection.unacknowledged_data().for_each(visit),
            Self::Mptcp(mptcp) => {
                let open = mptcp.subflows().iter().filter(|subflow| !subflow.is_closed());
                open.for_each(|subflow| subflow.connection().unacknowledged_data().for_each(&mut visit));
            }
            Self::Sctp(_) | Self::Udp(_) => {}
        }
    }

    /// Changes an option. Returns whether the protocol of the endpoint has it. Drain the endpoint afterwards.
    pub fn change(&mut self, change: Change, now: Instant) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.connection.change(change),
            Self::Mptcp(mptcp) => mptcp.change(change),
            Self::Sctp(sctp) => sctp.change(change, now),
            Self::Udp(_) => false,
        }
    }

    /// Requests [`Event::Received`] when `total` bytes have been received in order.
    pub fn set_receive_mark(&mut self, total: u64) {
        match self {
            Self::Tcp(tcp) => tcp.stream.set_mark(total),
            Self::Mptcp(mptcp) => mptcp.stream.set_mark(total),
            Self::Sctp(sctp) => sctp.stream.set_mark(total),
            Self::Udp(_) => {}
        }
    }

    /// Number of bytes written by the application and accepted.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.stream.written,
            Self::Mptcp(mptcp) => mptcp.stream.written,
            Self::Sctp(sctp) => sctp.stream.written,
            Self::Udp(udp) => udp.counters().bytes_sent,
        }
    }

    /// Number of bytes received in order.
    pub fn bytes_received(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.stream.received,
            Self::Mptcp(mptcp) => mptcp.stream.received,
            Self::Sctp(sctp) => sctp.stream.received,
            Self::Udp(udp) => udp.counters().bytes_received,
        }
    }

    /// The receive window in bytes: what is left of the one advertised, or the free part of SCTP's receive buffer.
    pub fn receive_window(&self) -> Option<u64> {
        match self {
            Self::Tcp(tcp) => Some(tcp.connection.receive_window()),
            Self::Mptcp(mptcp) => Some(mptcp.receive_window()),
            Self::Sctp(sctp) => Some(sctp.receive_window()),
            Self::Udp(_) => None,
        }
    }

    /// Number of bytes acknowledged by the peer.
    pub fn bytes_acknowledged(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.connection.counters().bytes_acknowledged,
            Self::Mptcp(mptcp) => mptcp.bytes_acknowledged(),
            Self::Sctp(sctp) => sctp.bytes_acknowledged(),
            Self::Udp(_) => 0,
        }
    }

    /// The accepted part of the latest packet, for the holder of its bytes (see [`edge`](crate::edge)). `None` if the
    /// packet had no new data or was not acceptable, for UDP, whose datagrams are accepted whole, and for SCTP, which
    /// has [`Association::taken_chunks`](sctp::Association::taken_chunks).
    pub fn taken(&self) -> Option<Taken> {
        match self {
            Self::Tcp(tcp) => tcp.connection.taken(),
            Self::Mptcp(mptcp) => mptcp.taken(),
            Self::Sctp(_) | Self::Udp(_) => None,
        }
    }

    /// Calls `visit` with each range of the stream that was accepted of `packet`, the latest one, whose payloads are
    /// described; and with the number of its chunk, of SCTP ([`TakenChunk`](sctp::TakenChunk)), or 0.
    pub fn visit_taken(&self, packet: &Packet, mut visit: impl FnMut(u64, Range<u64>)) {
        match (self, &packet.body) {
            (Self::Sctp(sctp), Body::Sctp(body)) => {
                for taken in sctp.taken_chunks() {
                    if let Some(Chunk::Data(data)) = body.chunks.get(taken.index) {
                        let start = data.payload.stream_offset;
                        visit(taken.tsn, start..start + u64::from(data.payload.length));
                    }
                }
            }
            _ => self.taken().into_iter().for_each(|taken| visit(0, taken.stream)),
        }
    }

    /// The chunks that the latest packet has made deliverable, as runs of consecutive numbers: the first and the last of
    /// each. Empty except for SCTP.
    pub fn delivered_chunks(&self) -> &[(u64, u64)] {
        match self {
            Self::Sctp(sctp) => sctp.delivered_chunks(),
            Self::Tcp(_) | Self::Mptcp(_) | Self::Udp(_) => &[],
        }
    }

    /// The TSN up to which the peer has acknowledged all chunks, so that they are not sent again; of SCTP.
    pub fn chunks_acknowledged(&self) -> Option<u32> {
        match self {
            Self::Sctp(sctp) => Some(sctp.cumulative_tsn_acknowledged()),
            Self::Tcp(_) | Self::Mptcp(_) | Self::Udp(_) => None,
        }
    }

    /// Its addresses and ports; for MPTCP, those of the initial subflow.
    pub fn ends(&self) -> Ends {
        match self {
            Self::Tcp(tcp) => tcp.connection.ends(),
            Self::Mptcp(mptcp) => mptcp.subflows()[0].connection().ends(),
            Self::Sctp(sctp) => sctp.ends(),
            Self::Udp(udp) => udp.ends(),
        }
    }

    /// The TCP connection of subflow `subflow` (0 except for MPTCP).
    pub(crate) fn tcp(&self, subflow: usize) -> Option<&Connection> {
        match self {
            Self::Tcp(tcp) => Some(&tcp.connection),
            Self::Mptcp(mptcp) => mptcp.subflows().get(subflow).map(|subflow| subflow.connection()),
            Self::Sctp(_) | Self::Udp(_) => None,
        }
    }

    /// Whether subflow `subflow` (0 except for MPTCP) is over: its segments belong to no endpoint.
    pub(crate) fn is_over(&self, subflow: usize) -> bool {
        match self {
            Self::Mptcp(mptcp) => mptcp.subflows()[subflow].is_closed(),
            _ => self.is_closed(),
        }
    }

    /// Whether it is over and will neither send nor receive again.
    pub fn is_closed(&self) -> bool {
        self.ended().is_some()
    }

    /// How the endpoint ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        match self {
            Self::Tcp(tcp) => match tcp.connection.state() {
                State::Closed(how) => Some(how),
                _ => None,
            },
            Self::Mptcp(mptcp) => mptcp.ended(),
            Self::Sctp(sctp) => sctp.ended(),
            Self::Udp(_) => None,
        }
    }
}

/// A packet to be filled in.
pub fn blank_packet() -> Packet {
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    Packet {
        ip: IpHeader { source: nowhere, destination: nowhere, hop_limit: 0, ecn: Ecn::NotEct },
        body: Body::Tcp(TcpSegment::default()),
    }
}

/// The TCP segment of a packet. Other content is replaced by a blank segment.
fn segment_of(packet: &mut Packet) -> &mut TcpSegment {
    if !matches!(packet.body, Body::Tcp(_)) {
        packet.body = Body::Tcp(TcpSegment::default());
    }
    match &mut packet.body {
        Body::Tcp(segment) => segment,
        Body::Udp(_) | Body::Sctp(_) => unreachable!("replaced above"),
    }
}
