//! QUIC version 1 (RFC 9000, RFC 9002) over one path or several (draft-ietf-quic-multipath-21), as a sans-IO state machine.
//!
//! Cryptography is that of a [`Tls`](tls::Tls), which others implement, or for simulations the null suite of
//! [`subflow_wire::quic`]: messages of the handshake and packets have the lengths that they have with TLS 1.3, and nothing is
//! encrypted.
//!
//! | concern | file |
//! |---|---|
//! | configuration | `config.rs` |
//! | the connection, its phases and packet number spaces | this one, `phase.rs`, `space.rs`, `space_id.rs` |
//! | the handshake and transport parameters (sections 7, 17.2) | `handshake.rs`; with TLS: `tls_handshake.rs`; its messages: `crypto_stream.rs` |
//! | cryptography (RFC 9001) | what it is: `tls.rs`; keys: `protection.rs`; datagrams as bytes: `protected_datagram.rs` |
//! | connection identifiers (5.1) | `connection_ids.rs` |
//! | packets and frames that arrive (12) | `input.rs` |
//! | packets that leave (12, 13.2, 14) | `output.rs`; their frames: `frame_output.rs` |
//! | acknowledgments (13.2) | `received.rs` |
//! | packets in flight and loss detection (RFC 9002, section 6) | `sent.rs`, `ack_input.rs`, `probe.rs`; RTT: `rtt.rs` |
//! | congestion control (RFC 9002, section 7) | `recovery.rs`; ECN (13.4): `ecn.rs`; delivery rates: `crate::delivery_rate` |
//! | paths: their state, opening and end, frames | `path.rs`, `path_control.rs`, `path_frames.rs`; `multipath.rs` |
//! | the path of a packet, shared bottlenecks | `path_choice.rs`, `observation.rs` |
//! | streams and flow control (2 to 4) | `streams.rs`, `stream_input.rs`, `send_stream.rs`, `receive_stream.rs`, `window.rs` |
//! | streams beyond the first one, as a simulated application uses them; priorities (RFC 9218) | `further_streams.rs`; one order of all data: `placement.rs` |
//! | streams that an application opens, reads and ends one by one | `application.rs` |
//! | what was sent again on another path | `carriers.rs` |
//! | idle timeout, closing and errors (10, 20.1) | `close.rs`, `error.rs` |
//! | what all endpoints can do | `socket.rs` |
//!
//! Windows count packets: an algorithm of [`subflow_policy::congestion`] sees a packet as TCP's segment, under the rules of
//! RFC 9002. Not supported: 0-RTT, migration, DATAGRAM, unidirectional streams, path
//! MTU discovery (the path carries [`Config::mtu`]).

mod ack_input;
mod application;
mod carriers;
mod close;
pub mod config;
mod connection_ids;
mod crypto_stream;
mod ecn;
mod error;
mod frame_output;
mod further_streams;
mod handshake;
mod input;
mod multipath;
mod observation;
mod output;
mod path;
mod path_choice;
mod path_control;
mod path_frames;
mod phase;
mod placement;
mod probe;
mod protected_datagram;
mod protection;
mod receive_stream;
mod received;
mod recovery;
mod rtt;
mod send_stream;
mod sent;
mod socket;
mod space;
mod space_id;
mod stream_input;
mod streams;
pub mod tls;
mod tls_handshake;
mod window;

use std::net::IpAddr;
use std::sync::Arc;

use subflow_policy::congestion::{Controller, Rules};
use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, StreamId, TransportParameters};

pub use application::StreamEvent;
pub use carriers::Carriers;
pub use close::EndCause;
pub use config::{CONNECTION_ID_LENGTH, Config, HandshakeLengths, Multipath as MultipathConfig, ResetKey};
pub use error::TransportError;
pub use further_streams::{Priority, Taken};
pub(crate) use handshake::may_open;
pub use protected_datagram::Opened;
pub use protection::NoKey;
pub use rtt::Rtt;

use crate::notes::SctpNotes;
use crate::stream::Stream;
use crate::tcp::{Closed, Ends};
use crate::{Event, RandomSource};
use application::Application;
use close::Idle;
use connection_ids::{ConnectionIds, random_id};
use further_streams::Further;
use multipath::Multipath;
use path::Path;
use phase::Phase;
use protection::Protection;
use sent::SentPacket;
use space::Space;
use space_id::SpaceId;
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
    /// What the peer has said about itself; defaults before.
    peer: TransportParameters,
    handshake_spaces: [Space; 2],
    /// By place: a path that is over leaves its place to another. The initial path is the first one, and the only one
    /// without multipath.
    paths: Vec<Path>,
    /// Congestion control of all paths.
    congestion: Controller,
    /// What several paths need; `None` if this end or the peer has none.
    multipath: Option<Box<Multipath>>,
    /// What protects packets; `None` with the null suite.
    protection: Option<Box<Protection>>,
    idle: Idle,
    streams: Streams,
    /// The application's side of [`MAIN_STREAM`].
    stream: Stream,
    /// Whether timers of loss detection, or the idle timeout, have become earlier: they may have expired meanwhile.
    timers_moved: bool,
    /// What was written on [`MAIN_STREAM`] before the client has opened it, and whether that is all.
    unopened: (u64, bool),
    /// Whether the client is to be told that the handshake is confirmed.
    owes_handshake_done: bool,
    /// What the application has done on streams beyond the main one.
    further: Further,
    /// What is reported of streams to an application that uses each by itself.
    application: Option<Box<Application>>,
    /// The destination of a client's very first packet, which this server has answered with Retry.
    before_retry: Option<ConnectionId>,
    /// Why it ends, where that is more than the phase tells.
    end_cause: Option<Box<EndCause>>,
    /// The data that the latest datagram has brought.
    taken: Vec<Taken>,
    /// What loss recovery did, if that is noted.
    notes: Option<Box<SctpNotes>>,
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
    /// Packets with data that was sent before.
    pub retransmissions: u64,
    /// Those of them with data that another path carried last.
    pub copies: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Bytes of stream data that arrived first.
    pub bytes_received: u64,
}

impl Counters {
    fn add(&mut self, other: &Self) {
        self.datagrams_sent += other.datagrams_sent;
        self.datagrams_received += other.datagrams_received;
        self.packets_lost += other.packets_lost;
        self.retransmissions += other.retransmissions;
        self.copies += other.copies;
        self.timeouts += other.timeouts;
        self.bytes_received += other.bytes_received;
    }
}

impl Connection {
    /// Opens a connection. The host has `addresses`.
    pub(crate) fn connect(
        config: Arc<Config>,
        ends: Ends,
        addresses: &[IpAddr],
        mut random: RandomSource,
        now: Instant,
    ) -> Self {
        let original = random_id(&mut random);
        let mut connection = Self::new(config, (ends, addresses), [original; 2], random, now);
        connection.paths[0].amplification.is_validated = true;
        if connection.application.is_none() {
            connection.streams.open(Priority::TURNS);
        }
        connection.begin_handshake();
        connection
    }

    /// Answers the first packet of a client, which has sent it to `destination` and calls itself `source`. If that is where a
    /// Retry packet has sent the client, `first` is the destination of its very first packet, and its address is known to be
    /// its own. The host has the addresses beside the ends.
    pub(crate) fn accept(
        config: Arc<Config>,
        ends: (Ends, &[IpAddr]),
        (destination, source, first): (ConnectionId, ConnectionId, Option<ConnectionId>),
        random: RandomSource,
        now: Instant,
    ) -> Self {
        let connection = Self::new(config, ends, [destination, source], random, now);
        let streams = Streams::new(&connection.config, true);
        let mut connection = Self { is_server: true, streams, before_retry: first, ..connection };
        connection.paths[0].amplification.is_validated = first.is_some();
        connection.begin_handshake();
        connection
    }

    fn new(
        config: Arc<Config>,
        (ends, addresses): (Ends, &[IpAddr]),
        [original, peer]: [ConnectionId; 2],
        mut random: RandomSource,
        now: Instant,
    ) -> Self {
        let own = random_id(&mut random);
        let limit = config.transport_parameters().active_connection_id_limit;
        let mut congestion = Controller::new(config.congestion.clone(), Rules::Rfc9002);
        let ids = ConnectionIds::new(original, own, peer, limit);
        let initial = Path::new((0, 0), ends, ids, &mut congestion, &config, now);
        let mut handshake_spaces: [Space; 2] = Default::default();
        handshake_spaces[SpaceId::Initial.index()].open();
        let multipath = config.multipath.as_ref().map(|multipath| {
            let mut multipath = Multipath::new(multipath, ends.local.ip(), addresses);
            multipath.reset_key = config.reset_key_in_use().cloned();
            Box::new(multipath)
        });
        Self {
            is_server: false,
            ends,
            phase: Phase::Handshaking,
            peer: TransportParameters::default(),
            handshake_spaces,
            paths: vec![initial],
            congestion,
            multipath,
            protection: None,
            idle: Idle::new(now),
            streams: Streams::new(&config, false),
            stream: Stream::new(config.send_buffer),
            timers_moved: false,
            unopened: (0, false),
            owes_handshake_done: false,
            further: Further::default(),
            application: config.application_streams.then(Box::default),
            before_retry: None,
            end_cause: None,
            taken: Vec::new(),
            notes: None,
            scratch: Vec::new(),
            lost_scratch: Vec::new(),
            random,
            config,
        }
    }

    #[inline]
    fn space(&self, id: SpaceId) -> &Space {
        match id {
            SpaceId::Data(place) => &self.paths[usize::from(place)].space,
            SpaceId::Initial | SpaceId::Handshake => &self.handshake_spaces[id.index()],
        }
    }

    #[inline]
    fn space_mut(&mut self, id: SpaceId) -> &mut Space {
        match id {
            SpaceId::Data(place) => &mut self.paths[usize::from(place)].space,
            SpaceId::Initial | SpaceId::Handshake => &mut self.handshake_spaces[id.index()],
        }
    }

    /// The connection identifiers of the initial path, as long as the handshake goes on.
    fn ids(&self) -> &ConnectionIds {
        &self.paths[0].ids
    }

    /// Its addresses and ports; those of the initial path.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Counters since the start, of all paths together.
    pub fn counters(&self) -> Counters {
        let mut sum = self.multipath.as_ref().map_or_else(Counters::default, |multipath| multipath.former_counters);
        self.paths.iter().for_each(|path| sum.add(&path.counters));
        sum
    }

    /// The round-trip time of the initial path.
    pub fn rtt(&self) -> &Rtt {
        &self.paths[0].rtt
    }

    /// How it ended, once it is over.
    pub fn ended(&self) -> Option<Closed> {
        self.phase.ended()
    }

    /// Reports that both ends have sent and received everything, and closes the connection then.
    fn report_progress(&mut self) {
        if self.application.is_some() {
            return;
        }
        if self.unopened != (0, false) && self.streams.send(MAIN_STREAM).is_some() {
            let (bytes, is_all) = core::mem::take(&mut self.unopened);
            self.write_on(MAIN_STREAM, bytes);
            if is_all {
                self.finish_stream(MAIN_STREAM);
            }
        }
        let has_all = self.streams.receive(MAIN_STREAM).is_some_and(|receive| receive.is_complete());
        if !has_all && !self.stream.finished {
            return;
        }
        let Some(send) = self.streams.send(MAIN_STREAM) else { return };
        self.stream.on_acknowledged(send.acknowledged());
        if self.stream.finished && send.is_acknowledged() && self.phase.take_all_acknowledged() {
            self.stream.emit(Event::Acknowledged);
        }
        if has_all && self.phase.take_peer_finished() {
            self.stream.emit(Event::PeerFinished);
        }
        if self.phase.is_confirmed() && self.streams.are_over() {
            self.close_gracefully();
        }
    }
}
