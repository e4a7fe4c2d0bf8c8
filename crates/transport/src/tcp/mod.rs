//! One TCP connection, or one MPTCP subflow, as a sans-IO state machine (RFC 9293).
//!
//! # How to drive it
//!
//! [`Connection`] owns neither a clock nor its congestion window. Whoever holds it (a plain TCP endpoint, or an MPTCP
//! connection with its subflows) passes the time and the [`Controller`](subflow_policy::congestion::Controller) whose path [`Connection::path`] is this one:
//!
//! 1. mutate it: [`on_segment`](Connection::on_segment), [`on_timeout`](Connection::on_timeout),
//!    [`push_data`](Connection::push_data), [`finish`](Connection::finish), [`abort`](Connection::abort);
//! 2. drain it: [`poll_transmit`](Connection::poll_transmit) until it returns `None`, and take what arrived from
//!    [`take_received`](Connection::take_received);
//! 3. sleep until [`timeout`](Connection::timeout).
//!
//! Bytes are never moved: data is ranges of stream offsets, which on an MPTCP subflow are offsets at the data level.
//!
//! # Where to look
//!
//! | concern | file |
//! |---|---|
//! | SYN, SYN/ACK, third ACK | `handshake.rs` |
//! | a SYN for ends in TIME-WAIT | `time_wait.rs` |
//! | arriving segments: whether they count | `acceptability.rs`, PAWS in `timestamps.rs` |
//! | what they do | `input.rs`; data and FIN in `data_input.rs`, acknowledgments in `ack_input.rs`, |
//! | | SACK in `sack_input.rs`, `duplicate_acks.rs` without |
//! | loss detection | `loss_detection.rs` (RACK, RFC 6675) |
//! | recovery states, PRR, undo, F-RTO | `recovery.rs`, `reduction.rs`, `undo.rs` |
//! | timers, timeouts and probes | `timers.rs`, `timeout.rs`, `loss_probe.rs` |
//! | what may be sent, and segments | `send_queue.rs`, `output.rs`, `segment.rs` |
//! | what was sent | `sent_queue.rs`, `sent_segment.rs`, `transmission_order.rs` |
//! | a congestion window that is not used | `window_use.rs` |
//! | acknowledging, receive window | `acknowledge.rs`, `receive_window.rs`, `reassembly.rs` |

mod acceptability;
mod ack_input;
mod acknowledge;
pub mod config;
mod data_input;
mod duplicate_acks;
mod endpoint;
mod handshake;
mod input;
mod loss_detection;
mod loss_probe;
mod output;
mod reassembly;
mod receive_window;
mod recovery;
mod reduction;
mod rtt;
mod sack_input;
mod segment;
mod send_queue;
mod sent_queue;
mod sent_segment;
mod sequence;
mod state;
mod time_wait;
mod timeout;
pub(crate) mod timers;
mod timestamps;
mod transmission_order;
mod undo;
mod window_use;

use std::net::SocketAddr;
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::{Ecn, IpHeader};

pub use acceptability::{Answer, Offsets, Verdict};
pub use config::Config;
pub use endpoint::{TcpEndpoint, TcpOptions};
pub(crate) use receive_window::PACKET_OVERHEAD;
pub use receive_window::ReceiveWindow;
pub use rtt::RttEstimator;
pub use state::{Closed, State};

use crate::edge::Taken;
use acknowledge::Acknowledge;
use reassembly::Reassembly;
use recovery::Recovery;
use send_queue::SendQueue;
use sent_queue::SentQueue;
use timers::TransmissionTimer;
use timestamps::PeerTimestamps;
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
    /// Duplicate acknowledgments received: without data, window update or forward progress (RFC 5681, section 2).
    pub duplicate_acks: u64,
    /// Times fast recovery was entered.
    pub recoveries: u64,
    /// Window reductions taken back.
    pub undos: u64,
    /// Tail loss probes sent.
    pub loss_probes: u64,
    /// Payload bytes accepted in order.
    pub bytes_received: u64,
    /// Payload bytes acknowledged by the peer.
    pub bytes_acknowledged: u64,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ends {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
}

/// Hop limit of new packets (Linux: `ip_default_ttl`).
const HOP_LIMIT: u8 = 64;

impl Ends {
    /// The network header of packets from the local end to the remote one.
    pub fn ip_header(&self) -> IpHeader {
        IpHeader { source: self.local.ip(), destination: self.remote.ip(), hop_limit: HOP_LIMIT, ecn: Ecn::NotEct }
    }
}

/// What the peer's window allows and how far this side has got. All offsets count from the SYN at 0.
#[derive(Clone, Debug)]
pub(crate) struct SendSide {
    /// Initial sequence number.
    initial: u32,
    una: u64,
    nxt: u64,
    /// Offset after the last byte the peer admits.
    window_end: u64,
    /// Largest window the peer ever offered, in bytes.
    max_window: u64,
    /// Segment that last updated the window (RFC 9293: SND.WL1).
    window_from: u64,
    /// Shift of the peer's window field.
    scale: u8,
    /// Payload bytes of a full-sized segment.
    mss: u32,
    last_sent_at: Instant,
    /// End of the last segment below full size (Minshall's variant of Nagle's algorithm).
    small_until: u64,
    /// Largest segment payload the peer accepts, before options.
    peer_mss: u32,
}

/// What arrived and what has been acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveSide {
    initial: u32,
    nxt: u64,
    /// `nxt` when the last acknowledgment left.
    acknowledged: u64,
    window: ReceiveWindow,
    reassembly: Reassembly,
    /// Offset of the peer's FIN, once known.
    fin: Option<u64>,
    timestamps: PeerTimestamps,
    /// Duplicate range to report (RFC 2883).
    duplicate: Option<core::ops::Range<u64>>,
    /// In-order data not yet taken by the owner: ranges of the application stream.
    ready: Vec<core::ops::Range<u64>>,
    /// What of the latest segment's payload was taken in.
    taken: Option<Taken>,
    /// Bytes in order that the application has not read; they shrink the window.
    unread: u64,
    /// An MPTCP connection advertises its own window on every subflow.
    shared_window: Option<u64>,
}

/// What was negotiated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Negotiated {
    timestamps: bool,
    sack: bool,
    scaling: bool,
}

/// A TCP connection or MPTCP subflow. See the [module documentation](self) for how to drive it.
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<Config>,
    ends: Ends,
    /// The network header of every packet of it.
    ip: IpHeader,
    path: usize,
    state: State,
    negotiated: Negotiated,
    send: SendSide,
    queue: SendQueue,
    window_use: WindowUse,
    sent: SentQueue,
    recovery: Recovery,
    rtt: RttEstimator,
    receive: ReceiveSide,
    acknowledge: Acknowledge,
    handshake: handshake::Handshake,
    timer: Option<TransmissionTimer>,
    /// Doublings of the timeout in force.
    backoff: u32,
    retries: u32,
    close_timer: Option<Instant>,
    /// When an unacceptable segment without data was last answered.
    challenged_at: Option<Instant>,
    /// Option bytes that MPTCP adds to a data segment.
    extra_options: u32,
    counters: Counters,
}

impl Connection {
    /// The connection's two ends.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// The network header of its packets.
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
        self.state
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Payload bytes of a full-sized segment.
    pub fn mss(&self) -> u32 {
        self.send.mss
    }

    /// Packets in flight: sent, not acknowledged, not believed lost.
    pub fn in_flight(&self) -> u32 {
        self.sent.in_flight()
    }

    /// Packets sent and not yet cumulatively acknowledged, and those that what is queued makes.
    pub fn buffered_packets(&self) -> u64 {
        u64::from(self.sent.packets_out()) + self.queue.packets(u64::from(self.send.mss.max(1)))
    }

    /// Bytes sent and not yet acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        self.send.nxt - self.send.una
    }

    /// The window of the peer's `segment`, in bytes.
    pub fn peer_window(&self, segment: &subflow_wire::TcpSegment) -> u64 {
        let scale = if segment.flags.contains(subflow_wire::tcp::TcpFlags::SYN) { 0 } else { self.send.scale };
        u64::from(segment.window) << scale
    }

    /// Whether nothing waits for retransmission: new data would only queue up behind it.
    pub fn has_no_losses(&self) -> bool {
        self.sent.lost_out <= self.sent.retrans_out
    }

    /// Linux's pacing rate in bytes per second: the window in a round trip, twice in slow start, 1.2 times after. Zero
    /// without an RTT sample.
    pub fn pacing_rate(&self, path: &subflow_policy::congestion::Path) -> u64 {
        let Some(srtt) = self.rtt.srtt() else { return 0 };
        let percent = if path.cwnd < path.ssthresh / 2 { 200 } else { 120 };
        let window = u64::from(path.cwnd.max(self.sent.packets_out())) * u64::from(self.send.mss);
        window * percent * 10_000_000 / srtt.as_nanos().max(1)
    }

    /// Offset, in bytes of this connection's own stream, at which data pushed now would start. MPTCP's relative
    /// subflow sequence number of that data is this plus one.
    pub fn push_offset(&self) -> u64 {
        self.send.nxt.max(1) - 1 + self.queue.bytes()
    }

    /// Whether the retransmission timer has expired without an answer since, and nothing is allowed out.
    pub fn timed_out(&self) -> bool {
        self.retries > 0
    }

    /// Timeouts in a row.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// In-order data that arrived since the last call, as ranges of the application stream. The caller clears `into`.
    pub fn take_received(&mut self, into: &mut Vec<core::ops::Range<u64>>) {
        into.append(&mut self.receive.ready);
    }

    /// What of the latest segment's payload was taken in, in order or not.
    pub fn taken(&self) -> Option<Taken> {
        self.receive.taken.clone()
    }

    /// Whether in-order data waits to be taken.
    pub fn has_received(&self) -> bool {
        !self.receive.ready.is_empty()
    }

    /// Whether the peer's FIN has been reached in order.
    pub fn peer_finished(&self) -> bool {
        self.receive.fin.is_some_and(|fin| self.receive.nxt > fin)
    }

    /// In how many pieces data waits behind a hole. At most one for every 960 bytes of the largest receive buffer, or
    /// 64: the memory that a peer can make this side spend on them is bounded so, whatever it sends.
    pub fn out_of_order_pieces(&self) -> usize {
        self.receive.reassembly.pieces()
    }
}
