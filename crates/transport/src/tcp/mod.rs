//! One TCP connection, or one MPTCP subflow, as a sans-IO state machine (RFC 9293).
//!
//! # Usage
//!
//! [`Connection`] contains neither a clock nor its congestion window. Its owner (a plain TCP endpoint, or an MPTCP
//! connection with its subflows) passes in the time and the [`Controller`] in
//! which [`Connection::path`] is the index of its path. The owner repeats three steps:
//!
//! 1. change the state: [`on_segment`](Connection::on_segment), [`on_timeout`](Connection::on_timeout),
//!    [`push_data`](Connection::push_data), [`finish`](Connection::finish), [`abort`](Connection::abort);
//! 2. drain the output: call [`poll_transmit`](Connection::poll_transmit) until it returns `None`, and take received
//!    data from [`take_received`](Connection::take_received);
//! 3. wait until [`timeout`](Connection::timeout).
//!
//! No payload bytes are stored. Data is represented by ranges of stream offsets, which on an MPTCP subflow are
//! data-level offsets.
//!
//! # Files
//!
//! A connection consists of parts whose fields are private to their file: an invariant can be broken there only.
//!
//! | part | invariant | file |
//! |---|---|---|
//! | `Lifecycle` | the states of RFC 9293 and their transitions; a state alone has what exists in it only | `state.rs` |
//! | `SendSide` | SND.UNA ≤ SND.NXT; a segment is new once, and lies in the window | `send_side.rs`, `send_queue.rs` |
//! | `SegmentSize` | the MSS is what path, peer and options leave | `segment_size.rs` |
//! | `SentQueue` | the counts are those of the marks; the order of transmissions | `sent_queue.rs` |
//! | `RetransmissionTimeout` | the RTO is that of the latest sample and backoff | `rto.rs`, `rtt.rs` |
//! | `TransmissionTimer` | one purpose at a time | `timers.rs`, which also says what is due next |
//! | `Undo` | an undo needs an episode with evidence | `undo.rs` |
//! | `ReceiveSide` | data is delivered once, in order, within the window | `receive_side.rs`, `receive_window.rs`, `reassembly.rs` |
//! | `Acknowledge` | an acknowledgment that was sent owes nothing | `acknowledge.rs` |
//!
//! | what happens | file |
//! |---|---|
//! | SYN, SYN/ACK, third ACK | `handshake.rs` |
//! | closing; SYN for a connection in TIME-WAIT | `close.rs` |
//! | acceptability of arriving segments | `acceptability.rs`; PAWS in `timestamps.rs` |
//! | processing of acceptable segments | `input.rs`; data and FIN in `data_input.rs` |
//! | acknowledgments | `ack_input.rs`; SACK in `sack_input.rs`; peers without SACK in `duplicate_acks.rs` |
//! | loss detection | `loss_detection.rs` (RACK, RFC 6675) |
//! | recovery states, F-RTO | `recovery.rs` |
//! | timeouts and probes | `timeout.rs`, `loss_probe.rs` |
//! | sending | `output.rs`, `segment.rs` |
//! | delivery-rate samples, for algorithms that take them | `delivery_rate.rs` |
//! | use of the congestion window | `window_use.rs` |
//! | what loss recovery did, for whoever explains a run | `notes.rs` |
//! | explicit congestion notification | `ecn.rs` |
//! | ICMP errors, path MTU | `icmp.rs`; without ICMP: `timeout.rs`, `mtu_search.rs` |

mod acceptability;
mod ack_input;
mod acknowledge;
mod close;
pub mod config;
mod data_input;
mod delivery_rate;
mod duplicate_acks;
mod ecn;
mod endpoint;
mod handshake;
mod icmp;
mod input;
mod loss_detection;
mod loss_probe;
mod mtu_search;
mod notes;
mod output;
mod reassembly;
mod receive_side;
mod receive_window;
mod recovery;
mod recovery_states;
mod rto;
mod rtt;
mod sack_input;
mod segment;
mod segment_size;
mod send_queue;
mod send_side;
mod sent_queue;
#[cfg(test)]
mod sent_queue_steps;
mod sent_segments;
mod settled;
mod small_queue;
mod socket;
mod state;
mod timeout;
pub(crate) mod timers;
mod timestamps;
mod undo;
mod window_use;

use std::sync::Arc;

use subflow_policy::congestion::{Controller, Outstanding, Pacer, PathModel};
use subflow_wire::icmp::IcmpKind;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{IpHeader, TcpSegment};

pub use acceptability::{Answer, Offsets, Verdict};
pub use config::Config;
pub use endpoint::{TcpEndpoint, TcpOptions};
pub(crate) use receive_window::PACKET_OVERHEAD;
pub use receive_window::ReceiveWindow;
pub use rtt::RttEstimator;
pub(crate) use socket::segment_of;
pub use state::{Closed, State};

use crate::edge::Taken;
pub use crate::ends::Ends;
use acknowledge::Acknowledge;
use delivery_rate::DeliveryRate;
use ecn::Ecn;
use loss_detection::{Rack, Reordering};
use receive_side::ReceiveSide;
use recovery::Recovery;
use rto::RetransmissionTimeout;
use sack_input::ReportedSacks;
use segment_size::SegmentSize;
use send_side::SendSide;
use sent_queue::SentQueue;
use small_queue::SmallQueue;
use state::Lifecycle;
use timers::TransmissionTimer;
use undo::Undo;
use window_use::WindowUse;

/// Counters of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, of any kind.
    pub segments_sent: u64,
    /// Segments that carried data for the first time.
    pub data_segments_sent: u64,
    /// Segments retransmitted, SYNs and probes included (Linux: `TcpRetransSegs`).
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Duplicate acknowledgments received: no data, no window update, no new acknowledgment (RFC 5681, section 2).
    pub duplicate_acks: u64,
    /// Times fast recovery was entered.
    pub recoveries: u64,
    /// Window reductions undone.
    pub undos: u64,
    /// Tail loss probes sent.
    pub loss_probes: u64,
    /// Acceptable segments that arrived with the ECN codepoint CE.
    pub ce_received: u64,
    /// Payload bytes accepted in order.
    pub bytes_received: u64,
    /// Payload bytes acknowledged by the peer.
    pub bytes_acknowledged: u64,
}

/// Options that both ends agreed on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Negotiated {
    timestamps: bool,
    sack: bool,
    scaling: bool,
}

/// A TCP connection or MPTCP subflow. The [module documentation](self) describes its use.
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<Config>,
    ends: Ends,
    /// The network header of the segment that was built last; each segment has its own ECN codepoint.
    ip: IpHeader,
    path: usize,
    lifecycle: Lifecycle,
    negotiated: Negotiated,
    size: SegmentSize,
    send: SendSide,
    window_use: WindowUse,
    sent: SentQueue,
    reported_sacks: ReportedSacks,
    rack: Rack,
    reordering: Reordering,
    recovery: Recovery,
    undo: Undo,
    rto: RetransmissionTimeout,
    timer: TransmissionTimer,
    /// When the next data may leave. It is off unless the configuration or congestion control demands pacing.
    pacer: Pacer,
    /// What is in the queue of the own host, if that is limited.
    small_queue: Option<Box<SmallQueue>>,
    /// Samples of the delivery rate, if congestion control takes them.
    delivery_rate: Option<Box<DeliveryRate>>,
    receive: ReceiveSide,
    acknowledge: Acknowledge,
    ecn: Ecn,
    /// Small segments that were sent to find out whether large ones are lost for their size.
    trial: Option<timeout::Trial>,
    /// The search for a larger path MTU, after it was lowered without a report.
    mtu_search: Option<Box<mtu_search::MtuSearch>>,
    /// The latest error that ICMP reported.
    network_error: Option<IcmpKind>,
    counters: Counters,
    /// What loss recovery did, if that is noted.
    pub(crate) notes: Option<Box<crate::notes::TcpNotes>>,
}

impl Connection {
    /// The connection's two ends.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// The network header of the segment that [`poll_transmit`](Self::poll_transmit) has returned last.
    #[inline]
    pub fn ip_header(&self) -> IpHeader {
        self.ip
    }

    /// Index of this connection's path in its controller.
    pub fn path(&self) -> usize {
        self.path
    }

    /// The state of RFC 9293, section 3.3.2.
    pub fn state(&self) -> State {
        self.lifecycle.state()
    }

    /// Counters since the connection was created.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The round-trip time estimator.
    pub fn rtt(&self) -> &RttEstimator {
        self.rto.rtt()
    }

    /// Payload bytes of a full-sized segment.
    pub fn mss(&self) -> u32 {
        self.size.mss()
    }

    /// Segments in flight: sent, not acknowledged and not considered lost.
    pub fn in_flight(&self) -> u32 {
        self.sent.in_flight()
    }

    /// The window of the peer's `segment`, in bytes.
    pub fn peer_window(&self, segment: &TcpSegment) -> u64 {
        if segment.flags.contains(TcpFlags::SYN) { segment.window.into() } else { self.send.window(segment.window) }
    }

    /// Whether no lost segment waits for retransmission; new data is sent only after those.
    pub fn has_no_losses(&self) -> bool {
        self.sent.lost_out() <= self.sent.retrans_out()
    }

    /// The pacing rate in bytes per second (Linux: `sk_pacing_rate`). Zero without an RTT sample.
    pub fn pacing_rate(&self, cc: &Controller) -> u64 {
        cc.pacing_rate(self.path, self.outstanding()).unwrap_or(0)
    }

    /// The pacing rate, if the connection is paced.
    pub(crate) fn actual_pacing_rate(&self, cc: &Controller) -> Option<u64> {
        if self.pacer.is_on() { cc.pacing_rate(self.path, self.outstanding()) } else { None }
    }

    /// What congestion control estimates of the path, if it has a model of it.
    pub(crate) fn model(&self, cc: &Controller) -> Option<PathModel> {
        cc.model(self.path, self.size.mss_without_reserve())
    }

    fn outstanding(&self) -> Outstanding {
        Outstanding { amount: self.sent.packets_out(), unit_bytes: self.size.mss_without_reserve() }
    }

    /// Whether the retransmission timer has expired since the last acknowledgment of new data.
    pub fn timed_out(&self) -> bool {
        self.rto.retries() > 0
    }

    /// Consecutive timeouts.
    pub fn retries(&self) -> u32 {
        self.rto.retries()
    }

    /// Appends the in-order data received since the last call to `into`, as ranges of the application stream.
    pub fn take_received(&mut self, into: &mut Vec<core::ops::Range<u64>>) {
        into.extend(self.receive.take_ready());
    }

    /// As [`take_received`](Self::take_received), for owners that only need the number of bytes.
    #[inline]
    pub(crate) fn take_received_bytes(&mut self) -> u64 {
        self.receive.take_ready().map(|range| range.end - range.start).sum()
    }

    /// The part of the latest segment's payload that was accepted, in order or not.
    pub fn taken(&self) -> Option<Taken> {
        self.receive.taken()
    }

    /// Whether [`take_received`](Self::take_received) would return data.
    pub fn has_received(&self) -> bool {
        self.receive.has_ready()
    }

    /// Whether all data up to the peer's FIN, and the FIN, have arrived.
    pub fn peer_finished(&self) -> bool {
        self.receive.is_finished()
    }

    /// The number of separate intervals of out-of-order data held. It is bounded by the largest size of the receive
    /// buffer divided by 896 bytes, or 64 if that is more; this bounds the memory that a peer can occupy.
    pub fn out_of_order_pieces(&self) -> usize {
        self.receive.pieces()
    }
}
