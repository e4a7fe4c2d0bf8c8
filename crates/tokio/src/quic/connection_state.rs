//! One connection between its application and the stack.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::task::Waker;

use subflow_quantity::Instant;
use subflow_transport::EndpointId;
use subflow_transport::quic::{Connection, Opened, StreamEvent};
use subflow_transport::tcp::Ends;
use subflow_wire::quic::{Frame, QuicDatagram, StreamFrame, StreamId};

use super::error::ConnectionError;
use super::figures::BytesByPath;
use super::stream_state::{RECEIVING, StreamState};

/// The error with which streams are reset that nobody has taken.
const NOBODY: u64 = 0;
/// Pairs of addresses whose bytes are counted.
const MOST_COUNTED: usize = 512;

#[derive(Debug)]
pub(super) struct ConnectionState {
    /// `None` once it is over for the stack.
    pub(super) endpoint: Option<EndpointId>,
    pub(super) ends: Ends,
    pub(super) streams: BTreeMap<StreamId, StreamState>,
    /// Streams of the peer that nobody has accepted.
    pub(super) incoming: VecDeque<StreamId>,
    /// Whether someone waits until the peer takes one more stream.
    pub(super) lacks_stream: bool,
    pub(super) is_established: bool,
    /// Why it is over for its application.
    pub(super) ended: Option<ConnectionError>,
    /// Whether it waits to be accepted once it is established.
    pub(super) is_accepted: bool,
    /// Nobody holds it any more: it is closed when everything written is acknowledged, or at this time.
    pub(super) abandoned: Option<Instant>,
    pub(super) timer: Option<Instant>,
    pub(super) bytes: BytesByPath,
    /// Wait for anything that is not about one stream.
    pub(super) wakers: Vec<Waker>,
}

impl ConnectionState {
    pub(super) fn new(endpoint: EndpointId, ends: Ends) -> Self {
        Self {
            endpoint: Some(endpoint),
            ends,
            streams: BTreeMap::new(),
            incoming: VecDeque::new(),
            lacks_stream: false,
            is_established: false,
            ended: None,
            is_accepted: false,
            abandoned: None,
            timer: None,
            bytes: BytesByPath::new(),
            wakers: Vec::new(),
        }
    }

    pub(super) fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// The application learns that it is over.
    pub(super) fn end(&mut self, error: ConnectionError) {
        if self.ended.is_none() {
            self.ended = Some(error);
            self.streams.values_mut().for_each(StreamState::wake);
            self.wake();
        }
    }

    pub(super) fn take_stream_events(&mut self, connection: &mut Connection) {
        while let Some(event) = connection.poll_stream_event() {
            self.on_stream_event(event);
        }
    }

    fn on_stream_event(&mut self, event: StreamEvent) {
        let stream = match event {
            StreamEvent::Opened(stream) => {
                self.streams.insert(stream, StreamState::new());
                self.incoming.push_back(stream);
                return self.wake();
            }
            StreamEvent::Received { stream, .. }
            | StreamEvent::Reset { stream, .. }
            | StreamEvent::Acknowledged { stream, .. }
            | StreamEvent::Stopped { stream, .. } => stream,
        };
        let Some(state) = self.streams.get_mut(&stream) else { return };
        match event {
            StreamEvent::Opened(_) => {}
            StreamEvent::Received { total, is_complete, .. } => state.on_received(total, is_complete),
            StreamEvent::Reset { error_code, .. } => state.on_reset(error_code),
            StreamEvent::Acknowledged { total, is_complete, .. } => state.on_acknowledged(total, is_complete),
            StreamEvent::Stopped { error_code, .. } => state.on_stopped(error_code),
        }
        self.forget_if_over(stream);
    }

    pub(super) fn forget_if_over(&mut self, stream: StreamId) {
        if self.streams.get(&stream).is_some_and(StreamState::is_over) {
            self.streams.remove(&stream);
        }
    }

    /// Keeps the data that a datagram has brought and that the stack has taken.
    pub(super) fn keep(&mut self, connection: &Connection, opened: &Opened, bytes: &[u8]) {
        for taken in connection.taken_data() {
            let Some(state) = self.streams.get_mut(&taken.stream).filter(|state| state.keeps_data()) else { continue };
            let holds = |(frame, place): &(&StreamFrame, std::ops::Range<usize>)| {
                let range = frame.offset..frame.offset + place.len() as u64;
                frame.stream == taken.stream && range.start <= taken.range.start && taken.range.end <= range.end
            };
            let Some((frame, place)) = stream_frames(opened).find(holds) else { continue };
            let start = place.start + (taken.range.start - frame.offset) as usize;
            let length = (taken.range.end - taken.range.start) as usize;
            state.receive.write(taken.range.start, &bytes[start..start + length]);
        }
    }

    /// Writes the data of a datagram that leaves to `into`.
    pub(super) fn data_of(&self, datagram: &QuicDatagram, into: &mut Vec<u8>) {
        into.clear();
        for frame in datagram.packets.iter().flat_map(|packet| &packet.frames) {
            let Frame::Stream(frame) = frame else { continue };
            let start = into.len();
            into.resize(start + frame.payload.length as usize, 0);
            if let Some(state) = self.streams.get(&frame.stream) {
                state.send.read(frame.offset, &mut into[start..]);
            }
        }
    }

    /// Counts the bytes of a datagram.
    pub(super) fn count(&mut self, local: SocketAddr, remote: SocketAddr, sent: usize, received: usize) {
        // Whoever knows an identifier of a path may send from any address.
        if self.bytes.len() >= MOST_COUNTED && !self.bytes.contains_key(&(local, remote)) {
            return;
        }
        let bytes = self.bytes.entry((local, remote)).or_default();
        bytes.sent += sent as u64;
        bytes.received += received as u64;
    }

    /// Nobody will take the streams that were not accepted.
    pub(super) fn refuse_incoming(&mut self, connection: &mut Connection) {
        for stream in self.incoming.drain(..) {
            connection.reset_stream(stream, NOBODY);
            connection.stop_reading(stream, NOBODY);
            self.streams.remove(&stream);
        }
    }

    /// Nobody holds the receiving part of a stream any more.
    pub(super) fn stop_reading(&mut self, connection: Option<&mut Connection>, stream: StreamId, error_code: u64) {
        let Some(state) = self.streams.get_mut(&stream) else { return };
        state.is_held[RECEIVING] = false;
        state.receive.clear();
        if let Some(connection) = connection {
            connection.stop_reading(stream, error_code);
        }
    }

    /// Whether the peer has acknowledged everything that was written.
    pub(super) fn is_all_sent(&self) -> bool {
        self.streams.values().all(|state| state.is_sent || !state.is_finished && state.written == 0)
    }
}

/// The STREAM frames of a datagram, with the places of their data.
fn stream_frames(opened: &Opened) -> impl Iterator<Item = (&StreamFrame, std::ops::Range<usize>)> {
    let frames = opened.datagram.packets.iter().flat_map(|packet| &packet.frames);
    let with_data = frames.filter(|frame| frame.payload().is_some()).zip(&opened.data);
    with_data.filter_map(|(frame, place)| match frame {
        Frame::Stream(stream) => Some((stream, place.clone())),
        _ => None,
    })
}
