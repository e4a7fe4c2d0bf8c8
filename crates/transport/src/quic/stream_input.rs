//! What arrives for streams, and the windows of which the peer is told (RFC 9000, sections 3 and 4).

use subflow_wire::quic::{Direction, Frame, StreamFrame, StreamId};

use super::error::TransportError;
use super::receive_stream::Accepted;
use super::streams::{Stream, Streams};

impl Streams {
    /// Takes a frame with data.
    ///
    /// # Errors
    ///
    /// It is beyond a limit, or contradicts what was received before.
    pub(super) fn accept(&mut self, frame: &StreamFrame) -> Result<Accepted, TransportError> {
        let range = frame.offset..frame.offset + u64::from(frame.payload.length);
        let accepted = self.of_peer(frame.stream)?.receive.accept(range, frame.fin)?;
        self.window.count(accepted.growth)?;
        Ok(accepted)
    }

    /// The peer has ended a stream without its data.
    pub(super) fn on_reset(&mut self, id: StreamId, final_size: u64) -> Result<(), TransportError> {
        let growth = self.of_peer(id)?.receive.on_reset(final_size)?;
        self.window.count(growth)?;
        // What is never read must not fill the window.
        self.owes_news |= self.window.on_read(growth);
        Ok(())
    }

    /// The peer does not read a stream any more: its sending part is ended (section 3.5).
    pub(super) fn on_stop_sending(&mut self, id: StreamId, error_code: u64) -> Result<(), TransportError> {
        let stream = self.of_peer(id)?;
        if stream.send.reset(error_code) {
            stream.owes_reset = true;
            self.owes_news = true;
        }
        Ok(())
    }

    /// The peer allows `maximum` bytes on a stream.
    pub(super) fn allow_on(&mut self, id: StreamId, maximum: u64) -> Result<(), TransportError> {
        self.of_peer(id)?.send.allow(maximum);
        Ok(())
    }

    /// A stream about which the peer has sent something. It opens its own by that (section 3.2).
    fn of_peer(&mut self, id: StreamId) -> Result<&mut Stream, TransportError> {
        let is_own = id.is_by_server() == self.is_server;
        if id.direction() == Direction::Unidirectional {
            // This end takes none, and opens none.
            return Err(if is_own { TransportError::StreamState } else { TransportError::StreamLimit });
        }
        if !self.all.contains_key(&id) {
            if is_own {
                return Err(TransportError::StreamState);
            }
            if id.index() >= self.most_of_peer {
                return Err(TransportError::StreamLimit);
            }
            self.add(id);
        }
        self.all.get_mut(&id).ok_or(TransportError::StreamState)
    }

    /// The application has read the first `total` bytes of a stream.
    pub(super) fn set_read(&mut self, id: StreamId, total: u64) {
        let Some(stream) = self.all.get_mut(&id) else { return };
        let growth = stream.receive.set_read(total);
        stream.owes_maximum |= stream.receive.owes_window();
        self.owes_news |= stream.owes_maximum;
        self.owes_news |= self.window.on_read(growth);
    }

    /// A frame that told the peer something about streams is lost.
    pub(super) fn tell_again(&mut self, id: Option<StreamId>, is_reset: bool) {
        self.owes_news = true;
        match id.map(|id| self.all.get_mut(&id)) {
            None => self.window.tell_again(),
            Some(Some(stream)) if is_reset => stream.owes_reset = true,
            Some(Some(stream)) => stream.owes_maximum = true,
            Some(None) => {}
        }
    }

    /// The next frame that tells the peer something about streams.
    pub(super) fn take_news(&mut self) -> Option<Frame> {
        if !self.owes_news {
            return None;
        }
        if let Some(maximum) = self.window.take_maximum() {
            return Some(Frame::MaxData(maximum));
        }
        for (&stream, state) in &mut self.all {
            if core::mem::take(&mut state.owes_maximum) {
                return Some(Frame::MaxStreamData { stream, maximum: state.receive.raise_maximum() });
            }
            if core::mem::take(&mut state.owes_reset)
                && let Some((error_code, final_size)) = state.send.reset_with()
            {
                return Some(Frame::ResetStream { stream, error_code, final_size });
            }
        }
        self.owes_news = false;
        None
    }
}

#[cfg(test)]
mod tests {
    use subflow_wire::Payload;
    use subflow_wire::quic::TransportParameters;

    use super::super::config::Config;
    use super::*;

    /// The streams of a server whose client has sent `length` bytes on stream `index`.
    fn server(frames: &[(u64, u64, u32)]) -> (Streams, Result<(), TransportError>) {
        let config = Config { connection_window: 1000, stream_window: 600, streams: 3, ..Config::default() };
        let mut streams = Streams::new(&config, true);
        let result = frames.iter().try_for_each(|&(index, offset, length)| {
            let stream = StreamId::new(index, false, Direction::Bidirectional);
            let payload = Payload { length, ..Payload::default() };
            streams.accept(&StreamFrame { stream, offset, payload, ..StreamFrame::default() }).map(drop)
        });
        (streams, result)
    }

    #[test]
    fn each_limit_is_kept() {
        assert_eq!(server(&[(0, 0, 600), (1, 0, 400)]).1, Ok(()));
        assert_eq!(server(&[(0, 0, 601)]).1, Err(TransportError::FlowControl), "of the stream");
        assert_eq!(server(&[(0, 0, 600), (1, 300, 101)]).1, Err(TransportError::FlowControl), "of the connection");
        assert_eq!(server(&[(3, 0, 1)]).1, Err(TransportError::StreamLimit));
        let (mut streams, _) = server(&[]);
        let own = StreamId::new(0, true, Direction::Bidirectional);
        assert_eq!(streams.on_stop_sending(own, 1), Err(TransportError::StreamState), "it was never opened");
        let one_way = StreamId::new(0, false, Direction::Unidirectional);
        assert_eq!(streams.on_reset(one_way, 0), Err(TransportError::StreamLimit));
    }

    #[test]
    fn windows_are_raised_as_data_is_read_and_again_if_that_was_lost() {
        let (mut streams, _) = server(&[(0, 0, 600)]);
        let stream = StreamId(0);
        assert_eq!(streams.take_news(), None);
        streams.set_read(stream, 600);
        assert_eq!(streams.take_news(), Some(Frame::MaxData(1600)));
        assert_eq!(streams.take_news(), Some(Frame::MaxStreamData { stream, maximum: 1200 }));
        assert_eq!(streams.take_news(), None);
        streams.tell_again(Some(stream), false);
        assert_eq!(streams.take_news(), Some(Frame::MaxStreamData { stream, maximum: 1200 }));
    }

    #[test]
    fn a_peer_that_stops_reading_gets_a_reset() {
        let (mut streams, _) = server(&[(0, 0, 1)]);
        streams.learn_limits(&TransportParameters { initial_max_data: 100, ..TransportParameters::default() });
        assert_eq!(streams.on_stop_sending(StreamId(0), 5), Ok(()));
        let reset = Frame::ResetStream { stream: StreamId(0), error_code: 5, final_size: 0 };
        assert_eq!((streams.take_news(), streams.take_news()), (Some(reset), None));
    }

    #[test]
    fn streams_with_data_take_turns() {
        let mut streams = Streams::new(&Config::default(), false);
        let ids = [streams.open(), streams.open()];
        let peer = TransportParameters {
            initial_max_data: 250,
            initial_max_stream_data_bidi_remote: 1000,
            initial_max_streams_bidi: 2,
            ..TransportParameters::default()
        };
        streams.learn_limits(&peer);
        ids.iter().for_each(|&id| streams.send_mut(id).expect("it is open").write(200));
        let mut taken = Vec::new();
        while let Some((id, _)) = streams.next_sender() {
            let piece = streams.take(id, 100).expect("it has data");
            taken.push((id, piece.range));
        }
        let [one, two] = ids;
        assert_eq!(taken, [(one, 0..100), (two, 0..100), (one, 100..150)]);
    }
}
