//! The streams of a connection, and what limits all of them together (RFC 9000, sections 2 to 4). Which of them sends next
//! depends on their priorities.

use std::collections::{BTreeMap, BTreeSet};

use subflow_wire::quic::{Direction, StreamId, TransportParameters};

use super::MAIN_STREAM;
use super::config::Config;
use super::further_streams::Priority;
use super::receive_stream::ReceiveStream;
use super::send_stream::{Piece, SendStream};
use super::window::Window;

/// A bidirectional stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) send: SendStream,
    pub(super) receive: ReceiveStream,
    priority: Priority,
    /// Whether it is among those with something to send.
    is_ready: bool,
    /// The peer is to be told of a larger window.
    pub(super) owes_maximum: bool,
    /// The peer is to be told that the stream is reset.
    pub(super) owes_reset: bool,
    /// The error with which the application has stopped to read it, and whether the peer is to be asked to stop.
    pub(super) stopped: Option<u64>,
    pub(super) owes_stop: bool,
}

impl Stream {
    /// Whether both parts are over.
    fn is_over(&self) -> bool {
        self.send.is_acknowledged() && self.receive.is_complete()
    }
}

/// The place of a stream in the order in which data is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Priority,
    id: StreamId,
}

/// All streams of a connection that are not over. The main stream stays, if there is one.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) is_server: bool,
    /// Whether [`MAIN_STREAM`] is kept when it is over.
    keeps_main: bool,
    pub(super) all: BTreeMap<StreamId, Stream>,
    /// Those with something to send as far as their own limits allow, in the order in which they send.
    ready: BTreeSet<Rank>,
    stream_window: u64,
    /// Bidirectional streams that the peer may have open at a time, and that it may open in all.
    most_at_once: u64,
    pub(super) most_of_peer: u64,
    /// Those that it has opened, and those of them that are over.
    pub(super) opened_by_peer: u64,
    over_of_peer: u64,
    /// The peer is to be told that it may open more.
    pub(super) owes_streams: bool,
    /// Bidirectional streams that this end may open, and those that it has opened.
    most_own: u64,
    pub(super) opened: u64,
    /// Bytes that the peer allows on each stream at first: on its own and on those of this end.
    maxima: [u64; 2],
    /// Of streams that take turns, the one whose turn it is.
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
            keeps_main: !config.application_streams,
            all: BTreeMap::new(),
            ready: BTreeSet::new(),
            stream_window: config.stream_window,
            most_at_once: config.streams,
            most_of_peer: config.streams,
            opened_by_peer: 0,
            over_of_peer: 0,
            owes_streams: false,
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
        let (maxima, is_server) = (self.maxima, self.is_server);
        for (id, stream) in &mut self.all {
            stream.send.allow(maxima[usize::from(id.is_by_server() == is_server)]);
        }
        self.sort_all();
    }

    /// Opens the next stream of this end: at once, also beyond the peer's limit, which is kept when data is sent.
    pub(super) fn open(&mut self, priority: Priority) -> StreamId {
        let id = StreamId::new(self.opened, self.is_server, Direction::Bidirectional);
        self.opened += 1;
        self.add(id, priority);
        id
    }

    /// Whether the peer's limit lets this end use one more.
    pub(super) fn may_open(&self) -> bool {
        self.opened < self.most_own
    }

    pub(super) fn add(&mut self, id: StreamId, priority: Priority) {
        let maximum = self.maxima[usize::from(id.is_by_server() == self.is_server)];
        let (send, receive) = (SendStream::new(maximum), ReceiveStream::new(self.stream_window));
        let [is_ready, owes_maximum, owes_reset, owes_stop] = [false; 4];
        let stream = Stream { send, receive, priority, is_ready, owes_maximum, owes_reset, stopped: None, owes_stop };
        self.all.insert(id, stream);
    }

    /// Changes the priority of a stream that is open.
    pub(super) fn set_priority(&mut self, id: StreamId, priority: Priority) {
        let Some(stream) = self.all.get_mut(&id) else { return };
        if core::mem::take(&mut stream.is_ready) {
            self.ready.remove(&Rank { priority: stream.priority, id });
        }
        stream.priority = priority;
        self.sort(id);
    }

    /// The sending part of a stream, if it is open.
    pub(super) fn send(&self, id: StreamId) -> Option<&SendStream> {
        self.all.get(&id).map(|stream| &stream.send)
    }

    /// The streams that are open.
    pub(super) fn open_streams(&self) -> Vec<StreamId> {
        self.all.keys().copied().collect()
    }

    /// Changes the sending part of a stream, if it is open.
    #[inline]
    pub(super) fn change_send<R>(&mut self, id: StreamId, change: impl FnOnce(&mut SendStream) -> R) -> Option<R> {
        let stream = self.all.get_mut(&id)?;
        let result = change(&mut stream.send);
        if stream.send.wants_to_send() != stream.is_ready {
            self.sort(id);
        }
        Some(result)
    }

    /// The receiving part of a stream, if it is open.
    pub(super) fn receive(&self, id: StreamId) -> Option<&ReceiveStream> {
        self.all.get(&id).map(|stream| &stream.receive)
    }

    /// Whether both parts of each stream are over.
    pub(super) fn are_over(&self) -> bool {
        self.all.values().all(Stream::is_over)
    }

    /// Forgets a stream if it is over and all of it was read: the peer may open another one in its stead (section 4.6).
    pub(super) fn retire(&mut self, id: StreamId) {
        let is_done = |stream: &Stream| stream.is_over() && stream.receive.is_read();
        if id == MAIN_STREAM && self.keeps_main || !self.all.get(&id).is_some_and(is_done) {
            return;
        }
        if let Some(Stream { priority, .. }) = self.all.remove(&id) {
            self.ready.remove(&Rank { priority, id });
        }
        if id.is_by_server() != self.is_server {
            self.over_of_peer += 1;
            // Not for each one: as of windows, the peer is told of an eighth.
            let growth = self.over_of_peer + self.most_at_once - self.most_of_peer;
            self.owes_streams |= growth >= (self.most_at_once / 8).max(1);
            self.owes_news |= self.owes_streams;
        }
    }

    /// The streams that the peer may open in all from now on, which it is told.
    pub(super) fn raise_streams(&mut self) -> u64 {
        self.owes_streams = false;
        self.most_of_peer = self.over_of_peer + self.most_at_once;
        self.most_of_peer
    }

    /// New bytes that the connection's flow control lets this end send.
    #[inline]
    pub(super) fn credit(&self) -> u64 {
        self.allowed.saturating_sub(self.sent)
    }

    /// New bytes that were sent on all streams together.
    #[inline]
    pub(super) fn sent_in_all(&self) -> u64 {
        self.sent
    }

    /// Bytes to send on all streams: again, and for the first time, as far as the peer allows.
    pub(super) fn pending_bytes(&self) -> (u64, u64) {
        let credit = self.credit();
        let usable = self.ready.iter().filter_map(|rank| self.all.get(&rank.id));
        let of_streams = usable.map(|stream| stream.send.pending_bytes(credit));
        let (again, new) = of_streams.fold((0, 0), |(again, new), of| (again + of.0, new + of.1));
        (again, new.min(credit))
    }

    /// The peer allows `maximum` bytes on all streams together.
    pub(super) fn allow(&mut self, maximum: u64) {
        self.allowed = self.allowed.max(maximum);
    }

    /// The peer allows this end `maximum` streams.
    pub(super) fn allow_streams(&mut self, maximum: u64) {
        if maximum > self.most_own {
            self.most_own = maximum;
            self.sort_all();
        }
    }

    /// Whether the peer's limit lets stream `id` send.
    #[inline]
    fn may_use(&self, id: StreamId) -> bool {
        id.is_by_server() != self.is_server || id.index() < self.most_own
    }

    /// Enters a stream among those with something to send, or takes it out.
    fn sort(&mut self, id: StreamId) {
        let may_use = self.may_use(id);
        let Some(stream) = self.all.get_mut(&id) else { return };
        let is_ready = may_use && stream.send.wants_to_send();
        let rank = Rank { priority: stream.priority, id };
        match (core::mem::replace(&mut stream.is_ready, is_ready), is_ready) {
            (false, true) => _ = self.ready.insert(rank),
            (true, false) => _ = self.ready.remove(&rank),
            (true, true) | (false, false) => {}
        }
    }

    fn sort_all(&mut self) {
        let ids: Vec<StreamId> = self.all.keys().copied().collect();
        ids.into_iter().for_each(|id| self.sort(id));
    }

    /// Whether any stream has data to send.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        let credit = self.credit();
        match credit {
            0 => self.ready.iter().any(|rank| self.has_pending_on(rank.id, credit)),
            // Those that are ready have something, whatever the credit.
            _ => !self.ready.is_empty(),
        }
    }

    fn has_pending_on(&self, id: StreamId, credit: u64) -> bool {
        self.all.get(&id).is_some_and(|stream| stream.send.has_pending(credit))
    }

    /// The next stream with data to send, and where its frame begins: the most urgent one.
    pub(super) fn next_sender(&mut self) -> Option<(StreamId, u64)> {
        loop {
            let id = self.first_ready()?;
            let credit = self.credit();
            let offset = self.change_send(id, |send| send.next_offset())?;
            // Otherwise what was lost has been acknowledged after all, and another stream is the first.
            if self.has_pending_on(id, credit) {
                return Some((id, offset));
            }
        }
    }

    fn first_ready(&self) -> Option<StreamId> {
        let credit = self.credit();
        let can_send = |rank: &&Rank| credit > 0 || self.has_pending_on(rank.id, credit);
        let first = self.ready.iter().find(can_send)?;
        let Priority { urgency, incremental: true } = first.priority else { return Some(first.id) };
        let rank = |urgency, id| Rank { priority: Priority { urgency, incremental: true }, id };
        let mut from_turn = self.ready.range(rank(urgency, self.turn)..=rank(urgency, StreamId(u64::MAX)));
        Some(from_turn.find(can_send).map_or(first.id, |rank| rank.id))
    }

    /// Takes what the next frame of a stream carries, at most `room` bytes.
    pub(super) fn take(&mut self, id: StreamId, room: u64) -> Option<Piece> {
        let (credit, sent) = (self.credit(), self.sent);
        let piece = self.change_send(id, |send| send.take(room, credit, sent))??;
        if !piece.is_retransmission {
            self.sent += piece.range.end - piece.range.start;
        }
        self.turn = StreamId(id.0 + 1);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of a client with these priorities, 200 bytes on each, and frames of 100 bytes.
    fn sent(priorities: &[(u8, bool)], credit: u64) -> Vec<(u64, core::ops::Range<u64>)> {
        let mut streams = Streams::new(&Config::default(), false);
        let peer = TransportParameters {
            initial_max_data: credit,
            initial_max_stream_data_bidi_remote: 1000,
            initial_max_streams_bidi: 10,
            ..TransportParameters::default()
        };
        streams.learn_limits(&peer);
        for &(urgency, incremental) in priorities {
            let id = streams.open(Priority { urgency, incremental });
            streams.change_send(id, |send| send.write(200));
        }
        let mut taken = Vec::new();
        while let Some((id, _)) = streams.next_sender() {
            let piece = streams.take(id, 100).expect("it has data");
            taken.push((id.index(), piece.range));
        }
        taken
    }

    #[test]
    fn streams_with_data_take_turns() {
        assert_eq!(sent(&[(3, true), (3, true)], 250), [(0, 0..100), (1, 0..100), (0, 100..150)]);
    }

    #[test]
    fn more_urgent_streams_go_first_and_those_without_turns_one_after_the_other() {
        let order: Vec<u64> =
            sent(&[(4, true), (3, false), (3, false), (3, true)], 1000).iter().map(|it| it.0).collect();
        assert_eq!(order, [1, 1, 2, 2, 3, 3, 0, 0]);
    }

    #[test]
    fn a_stream_beyond_the_limit_waits_until_others_are_over() {
        let mut streams = Streams::new(&Config::default(), false);
        let peer = TransportParameters {
            initial_max_data: 1000,
            initial_max_stream_data_bidi_remote: 1000,
            initial_max_streams_bidi: 1,
            ..TransportParameters::default()
        };
        streams.learn_limits(&peer);
        let ids = [0, 1].map(|_| streams.open(Priority::default()));
        ids.iter().for_each(|&id| _ = streams.change_send(id, |send| send.write(10)));
        assert!(streams.take(ids[0], 100).is_some() && !streams.has_pending());
        streams.allow_streams(2);
        assert_eq!(streams.next_sender(), Some((ids[1], 0)));
    }
}
