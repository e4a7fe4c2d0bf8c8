//! QUIC version 1 (RFC 9000, RFC 9002) over one path, as a sans-IO state machine.
//!
//! Cryptography is the null suite of [`subflow_wire::quic`]: messages of the handshake and packets have the lengths that
//! they have with TLS 1.3, and nothing is encrypted. Therefore this endpoint is for simulations, not for real networks.
//!
//! | concern | file |
//! |---|---|
//! | configuration | `config.rs` |
//! | the connection, its phases and packet number spaces | this one, `phase.rs`, `space.rs` |
//! | the handshake and transport parameters (sections 7, 17.2) | `handshake.rs`; its messages: `crypto_stream.rs` |
//! | connection identifiers (5.1) | `connection_ids.rs` |
//! | packets and frames that arrive (12) | `input.rs` |
//! | packets that leave (12, 13.2, 14) | `output.rs`; their frames: `frame_output.rs` |
//! | acknowledgments (13.2) | `received.rs` |
//! | packets in flight and loss detection (RFC 9002, section 6) | `sent.rs`, `ack_input.rs`, `probe.rs`; RTT: `rtt.rs` |
//! | congestion control (RFC 9002, section 7) | `recovery.rs` |
//! | streams and flow control (2 to 4) | `streams.rs`, `stream_input.rs`, `send_stream.rs`, `receive_stream.rs`, `window.rs` |
//! | idle timeout, closing and errors (10, 20.1) | `close.rs`, `error.rs` |
//! | what all endpoints can do | `socket.rs` |
//!
//! Windows count packets: an algorithm of [`subflow_policy::congestion`] sees a packet as TCP's segment, under the rules of
//! RFC 9002. Not supported: 0-RTT, Retry, migration, multipath, DATAGRAM, unidirectional streams, path MTU discovery
//! (the path carries [`Config::mtu`]), key updates, sending with ECN.

mod ack_input;
mod close;
pub mod config;
mod connection_ids;
mod crypto_stream;
mod error;
mod frame_output;
mod handshake;
mod input;
mod output;
mod phase;
mod probe;
mod receive_stream;
mod received;
mod recovery;
mod rtt;
mod send_stream;
mod sent;
mod socket;
mod space;
mod stream_input;
mod streams;
mod window;

use core::ops::Range;
use std::collections::VecDeque;
use std::sync::Arc;

use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::{ConnectionId, StreamId, TransportParameters};

pub use config::{CONNECTION_ID_LENGTH, Config, HandshakeLengths};
pub use error::TransportError;
pub(crate) use handshake::may_open;
pub use rtt::Rtt;

use crate::notes::{Kept, Note};
use crate::stream::Stream;
use crate::tcp::{Closed, Ends};
use crate::{Event, RandomSource};
use close::Idle;
use connection_ids::{ConnectionIds, random_id};
use phase::Phase;
use recovery::Recovery;
use sent::SentPacket;
use space::{Space, SpaceId};
use streams::Streams;

/// The stream that [`Endpoint::write`](crate::Endpoint::write) and its like are about: the client's first one.
pub const MAIN_STREAM: StreamId = StreamId(0);

/// A QUIC connection. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<Config>,
    is_server: bool,
    ends: Ends,
    phase: Phase,
    ids: ConnectionIds,
    /// What the peer has said about itself; defaults before.
    peer: TransportParameters,
    spaces: [Space; 3],
    rtt: Rtt,
    recovery: Recovery,
    amplification: Amplification,
    idle: Idle,
    streams: Streams,
    /// The application's side of [`MAIN_STREAM`].
    stream: Stream,
    /// Whether the client is to be told that the handshake is confirmed.
    owes_handshake_done: bool,
    /// Challenges of the peer that are to be answered.
    path_responses: VecDeque<[u8; 8]>,
    /// The data that the latest datagram has brought.
    taken: Vec<(StreamId, Range<u64>)>,
    counters: Counters,
    /// What loss recovery did, if that is noted.
    notes: Option<Box<Kept<Note, Duration>>>,
    /// Reused: packets that an acknowledgment has delivered, and those that it has proved lost.
    scratch: Vec<SentPacket>,
    lost_scratch: Vec<SentPacket>,
    random: RandomSource,
}

/// Counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// UDP datagrams sent.
    pub datagrams_sent: u64,
    /// UDP datagrams received.
    pub datagrams_received: u64,
    /// Packets considered lost.
    pub packets_lost: u64,
    /// Frames with data that was sent before.
    pub retransmissions: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Bytes of stream data that arrived first.
    pub bytes_received: u64,
}

/// Bytes of datagrams until the client's address is validated (RFC 9000, section 8.1).
#[derive(Clone, Copy, Debug)]
struct Amplification {
    received: u64,
    sent: u64,
    is_validated: bool,
}

/// How much more than it has received a server may send to an address that is not validated.
const AMPLIFICATION_FACTOR: u64 = 3;

impl Connection {
    /// Opens a connection.
    pub(crate) fn connect(config: Arc<Config>, ends: Ends, mut random: RandomSource, now: Instant) -> Self {
        let original = random_id(&mut random);
        let mut connection = Self::new(config, ends, original, original, random, now);
        connection.amplification.is_validated = true;
        connection.streams.open();
        connection.begin_handshake();
        connection
    }

    /// Answers the first packet of a client, which has sent it to `original` and calls itself `source`.
    pub(crate) fn accept(
        config: Arc<Config>,
        ends: Ends,
        (original, source): (ConnectionId, ConnectionId),
        random: RandomSource,
        now: Instant,
    ) -> Self {
        let connection = Self::new(config, ends, original, source, random, now);
        Self { is_server: true, streams: Streams::new(&connection.config, true), ..connection }
    }

    fn new(
        config: Arc<Config>,
        ends: Ends,
        original: ConnectionId,
        peer: ConnectionId,
        mut random: RandomSource,
        now: Instant,
    ) -> Self {
        let own = random_id(&mut random);
        let limit = config.transport_parameters().active_connection_id_limit;
        let mut spaces: [Space; 3] = Default::default();
        spaces[SpaceId::Initial as usize].open();
        Self {
            is_server: false,
            ends,
            phase: Phase::Handshaking,
            ids: ConnectionIds::new(original, own, peer, limit),
            peer: TransportParameters::default(),
            spaces,
            rtt: Rtt::new(config.initial_rtt),
            recovery: Recovery::new(&config, now),
            amplification: Amplification { received: 0, sent: 0, is_validated: false },
            idle: Idle::new(now),
            streams: Streams::new(&config, false),
            stream: Stream::new(config.send_buffer),
            owes_handshake_done: false,
            path_responses: VecDeque::new(),
            taken: Vec::new(),
            counters: Counters::default(),
            notes: None,
            scratch: Vec::new(),
            lost_scratch: Vec::new(),
            random,
            config,
        }
    }

    /// Its addresses and ports.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The round-trip time.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// How it ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        self.phase.ended()
    }

    /// Opens a further stream. Drain the connection after writing.
    pub fn open_stream(&mut self) -> StreamId {
        self.streams.open()
    }

    /// Writes `bytes` bytes on a stream that is open; without the bound of a send buffer.
    pub fn write_on(&mut self, stream: StreamId, bytes: u64) {
        if let Some(send) = self.streams.send_mut(stream) {
            send.write(bytes);
        }
    }

    /// Ends a stream after the data written so far.
    pub fn finish_stream(&mut self, stream: StreamId) {
        if let Some(send) = self.streams.send_mut(stream) {
            send.finish();
        }
    }

    /// Bytes of a stream that have arrived in order, and whether that is all of it; `None` if it is not open.
    pub fn received_on(&self, stream: StreamId) -> Option<(u64, bool)> {
        self.streams.receive(stream).map(|receive| (receive.received(), receive.is_complete()))
    }

    /// The data of all streams that the latest datagram has brought.
    pub fn taken_data(&self) -> &[(StreamId, Range<u64>)] {
        &self.taken
    }

    /// Reports that both ends have sent and received everything, and closes the connection then.
    fn report_progress(&mut self) {
        let Some(send) = self.streams.send(MAIN_STREAM) else { return };
        self.stream.on_acknowledged(send.acknowledged());
        if self.stream.finished && send.is_acknowledged() && self.phase.take_all_acknowledged() {
            self.stream.emit(Event::Acknowledged);
        }
        if self.streams.receive(MAIN_STREAM).is_some_and(|receive| receive.is_complete())
            && self.phase.take_peer_finished()
        {
            self.stream.emit(Event::PeerFinished);
        }
        if self.phase.is_confirmed() && self.streams.are_over() {
            self.close_gracefully();
        }
    }
}
