//! The streams of a connection, and what limits all of them together (RFC 9000, sections 2 to 4).

use std::collections::BTreeMap;

use subflow_wire::quic::{Direction, StreamId, TransportParameters};

use super::config::Config;
use super::receive_stream::ReceiveStream;
use super::send_stream::{Piece, SendStream};
use super::window::Window;

/// A bidirectional stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) send: SendStream,
    pub(super) receive: ReceiveStream,
    /// The peer is to be told of a larger window.
    pub(super) owes_maximum: bool,
    /// The peer is to be told that the stream is reset.
    pub(super) owes_reset: bool,
}

/// All streams of a connection.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) is_server: bool,
    pub(super) all: BTreeMap<StreamId, Stream>,
    stream_window: u64,
    /// Bidirectional streams that the peer may open.
    pub(super) most_of_peer: u64,
    /// Bidirectional streams that this end may open.
    most_own: u64,
    opened: u64,
    /// Bytes that the peer allows on each stream at first: on its own and on those of this end.
    maxima: [u64; 2],
    /// The stream whose turn it is.
    turn: StreamId,
    /// The connection's window as a receiver.
    pub(super) window: Window,
    /// Whether the peer is to be told something about streams.
    pub(super) owes_news: bool,
    /// What the peer allows in all, and what was sent of it.
    allowed: u64,
    sent: u64,
}

impl Streams {
    pub(super) fn new(config: &Config, is_server: bool) -> Self {
        Self {
            is_server,
            all: BTreeMap::new(),
            stream_window: config.stream_window,
            most_of_peer: config.streams,
            most_own: 0,
            opened: 0,
            maxima: [0; 2],
            turn: StreamId(0),
            window: Window::new(config.connection_window),
            owes_news: false,
            allowed: 0,
            sent: 0,
        }
    }

    /// The limits of the peer are known.
    pub(super) fn learn_limits(&mut self, peer: &TransportParameters) {
        self.allowed = peer.initial_max_data;
        self.most_own = peer.initial_max_streams_bidi;
        self.maxima = [peer.initial_max_stream_data_bidi_local, peer.initial_max_stream_data_bidi_remote];
        let maxima = self.maxima;
        let is_server = self.is_server;
        self.all
            .iter_mut()
            .for_each(|(id, stream)| stream.send.allow(maxima[usize::from(id.is_by_server() == is_server)]));
    }

    /// Opens the next stream of this end: at once, also beyond the peer's limit, which is kept when data is sent.
    pub(super) fn open(&mut self) -> StreamId {
        let id = StreamId::new(self.opened, self.is_server, Direction::Bidirectional);
        self.opened += 1;
        self.add(id);
        id
    }

    pub(super) fn add(&mut self, id: StreamId) {
        let maximum = self.maxima[usize::from(id.is_by_server() == self.is_server)];
        let (send, receive) = (SendStream::new(maximum), ReceiveStream::new(self.stream_window));
        self.all.insert(id, Stream { send, receive, owes_maximum: false, owes_reset: false });
    }

    /// The sending part of a stream, if it is open.
    pub(super) fn send(&self, id: StreamId) -> Option<&SendStream> {
        self.all.get(&id).map(|stream| &stream.send)
    }

    pub(super) fn send_mut(&mut self, id: StreamId) -> Option<&mut SendStream> {
        self.all.get_mut(&id).map(|stream| &mut stream.send)
    }

    /// The receiving part of a stream, if it is open.
    pub(super) fn receive(&self, id: StreamId) -> Option<&ReceiveStream> {
        self.all.get(&id).map(|stream| &stream.receive)
    }

    /// Whether both parts of each stream are over.
    pub(super) fn are_over(&self) -> bool {
        self.all.values().all(|stream| stream.send.is_acknowledged() && stream.receive.is_complete())
    }

    /// New bytes that the connection's flow control lets this end send.
    #[inline]
    pub(super) fn credit(&self) -> u64 {
        self.allowed.saturating_sub(self.sent)
    }

    /// New bytes that were sent on all streams together.
    pub(super) fn sent_in_all(&self) -> u64 {
        self.sent
    }

    /// Bytes to send on all streams: again, and for the first time, as far as the peer allows.
    pub(super) fn pending_bytes(&self) -> (u64, u64) {
        let credit = self.credit();
        let usable = self.all.iter().filter(|&(&id, _)| self.may_use(id));
        let of_streams = usable.map(|(_, stream)| stream.send.pending_bytes(credit));
        let (again, new) = of_streams.fold((0, 0), |(again, new), of| (again + of.0, new + of.1));
        (again, new.min(credit))
    }

    /// The peer allows `maximum` bytes on all streams together.
    pub(super) fn allow(&mut self, maximum: u64) {
        self.allowed = self.allowed.max(maximum);
    }

    /// The peer allows this end `maximum` streams.
    pub(super) fn allow_streams(&mut self, maximum: u64) {
        self.most_own = self.most_own.max(maximum);
    }

    /// Whether the peer's limit lets stream `id` send.
    #[inline]
    fn may_use(&self, id: StreamId) -> bool {
        id.is_by_server() != self.is_server || id.index() < self.most_own
    }

    /// Whether any stream has data to send.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        let credit = self.credit();
        self.all.iter().any(|(&id, stream)| stream.send.has_pending(credit) && self.may_use(id))
    }

    /// The next stream with data to send, and where its frame begins. They take turns, packet by packet.
    pub(super) fn next_sender(&mut self) -> Option<(StreamId, u64)> {
        let credit = self.credit();
        let from_turn = self.all.range(self.turn..).chain(self.all.range(..self.turn));
        let ready =
            |(&id, stream): (&StreamId, &Stream)| (stream.send.has_pending(credit) && self.may_use(id)).then_some(id);
        let id = from_turn.filter_map(ready).next()?;
        let offset = self.all.get_mut(&id)?.send.next_offset();
        Some((id, offset))
    }

    /// Takes what the next frame of a stream carries, at most `room` bytes.
    pub(super) fn take(&mut self, id: StreamId, room: u64) -> Option<Piece> {
        let credit = self.credit();
        let piece = self.all.get_mut(&id)?.send.take(room, credit)?;
        if !piece.is_retransmission {
            self.sent += piece.range.end - piece.range.start;
        }
        self.turn = StreamId(id.0 + 1);
        Some(piece)
    }
}
