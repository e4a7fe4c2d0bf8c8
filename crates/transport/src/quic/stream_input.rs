//! What arrives for streams, and the windows of which the peer is told (RFC 9000, sections 3 and 4).

use subflow_wire::quic::{Direction, Frame, StreamFrame, StreamId};

use super::error::TransportError;
use super::further_streams::Priority;
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
        let Some(stream) = self.of_peer(frame.stream)? else { return Ok(Accepted::default()) };
        let accepted = stream.receive.accept(range, frame.fin)?;
        self.window.count(accepted.growth)?;
        Ok(accepted)
    }

    /// The peer has ended a stream without its data.
    pub(super) fn on_reset(&mut self, id: StreamId, final_size: u64) -> Result<(), TransportError> {
        let Some(stream) = self.of_peer(id)? else { return Ok(()) };
        let (growth, unread) = stream.receive.on_reset(final_size)?;
        self.window.count(growth)?;
        // What is never read must not fill the window.
        self.owes_news |= self.window.on_read(unread);
        self.retire(id);
        Ok(())
    }

    /// The peer does not read a stream any more: its sending part is ended (section 3.5). Returns whether there was
    /// anything to end.
    pub(super) fn on_stop_sending(&mut self, id: StreamId, error_code: u64) -> Result<bool, TransportError> {
        self.of_peer(id)?;
        Ok(self.reset(id, error_code))
    }

    /// Ends the sending part of a stream with an error. Returns whether there was anything to end.
    pub(super) fn reset(&mut self, id: StreamId, error_code: u64) -> bool {
        let is_reset = self.change_send(id, |send| send.reset(error_code)) == Some(true);
        if let Some(stream) = self.all.get_mut(&id).filter(|_| is_reset) {
            stream.owes_reset = true;
            self.owes_news = true;
        }
        is_reset
    }

    /// The application does not read a stream any more: the peer is asked not to send more of it (section 3.5), and what
    /// arrives does not fill the windows.
    pub(super) fn stop_reading(&mut self, id: StreamId, error_code: u64) {
        let Some(stream) = self.all.get_mut(&id).filter(|stream| stream.stopped.is_none()) else { return };
        stream.stopped = Some(error_code);
        stream.owes_stop = !stream.receive.is_complete();
        self.owes_news |= stream.owes_stop;
        self.set_read(id, u64::MAX);
    }

    /// The peer would send more on a stream than it may.
    pub(super) fn on_blocked(&mut self, id: StreamId) -> Result<(), TransportError> {
        self.of_peer(id).map(drop)
    }

    /// The peer allows `maximum` bytes on a stream.
    pub(super) fn allow_on(&mut self, id: StreamId, maximum: u64) -> Result<(), TransportError> {
        self.of_peer(id)?;
        self.change_send(id, |send| send.allow(maximum));
        Ok(())
    }

    /// A stream about which the peer has sent something; `None` if it is over. The peer opens its own by that, with all
    /// before it (section 3.2).
    fn of_peer(&mut self, id: StreamId) -> Result<Option<&mut Stream>, TransportError> {
        let is_own = id.is_by_server() == self.is_server;
        if id.direction() == Direction::Unidirectional {
            // This end takes none, and opens none.
            return Err(if is_own { TransportError::StreamState } else { TransportError::StreamLimit });
        }
        if is_own && id.index() >= self.opened {
            return Err(TransportError::StreamState);
        }
        if !is_own && id.index() >= self.most_of_peer {
            return Err(TransportError::StreamLimit);
        }
        while !is_own && self.opened_by_peer <= id.index() {
            let next = StreamId::new(self.opened_by_peer, id.is_by_server(), Direction::Bidirectional);
            self.opened_by_peer += 1;
            self.add(next, Priority::TURNS);
        }
        Ok(self.all.get_mut(&id))
    }

    /// Whether the application does not read a stream any more.
    pub(super) fn is_stopped(&self, id: StreamId) -> bool {
        self.all.get(&id).is_some_and(|stream| stream.stopped.is_some())
    }

    /// What asked the peer not to send more of a stream is lost.
    pub(super) fn ask_to_stop_again(&mut self, id: StreamId) {
        if let Some(stream) = self.all.get_mut(&id).filter(|stream| !stream.receive.is_complete()) {
            stream.owes_stop = true;
            self.owes_news = true;
        }
    }

    /// The application has read the first `total` bytes of a stream.
    pub(super) fn set_read(&mut self, id: StreamId, total: u64) {
        let Some(stream) = self.all.get_mut(&id) else { return };
        let growth = stream.receive.set_read(total);
        // Of a stream that nobody reads the peer is to send no more.
        stream.owes_maximum |= stream.stopped.is_none() && stream.receive.owes_window();
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
        if self.owes_streams {
            return Some(Frame::MaxStreams { direction: Direction::Bidirectional, maximum: self.raise_streams() });
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
            if core::mem::take(&mut state.owes_stop)
                && let Some(error_code) = state.stopped
            {
                return Some(Frame::StopSending { stream, error_code });
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
        assert_eq!(streams.on_stop_sending(StreamId(0), 5), Ok(true));
        let reset = Frame::ResetStream { stream: StreamId(0), error_code: 5, final_size: 0 };
        assert_eq!((streams.take_news(), streams.take_news()), (Some(reset), None));
    }

    #[test]
    fn what_is_not_read_any_more_fills_no_window_and_the_peer_is_asked_to_stop() {
        let (mut streams, _) = server(&[(1, 0, 300), (2, 0, 400)]);
        let [first, second] = [1, 2].map(|index| StreamId::new(index, false, Direction::Bidirectional));
        streams.stop_reading(first, 9);
        assert_eq!(streams.take_news(), Some(Frame::MaxData(1300)));
        let stop = Some(Frame::StopSending { stream: first, error_code: 9 });
        assert_eq!((streams.take_news(), streams.take_news()), (stop.clone(), None));
        streams.ask_to_stop_again(first);
        assert_eq!((streams.take_news(), streams.take_news()), (stop, None));
        // A reset gives back what had arrived and was not read as well.
        assert_eq!(streams.on_reset(second, 500), Ok(()));
        assert_eq!(streams.take_news(), Some(Frame::MaxData(1800)));
    }

    #[test]
    fn a_stream_that_is_over_makes_room_for_another() {
        let config = Config { streams: 2, ..Config::default() };
        let mut streams = Streams::new(&config, true);
        streams.learn_limits(&TransportParameters::default());
        let id = |index| StreamId::new(index, false, Direction::Bidirectional);
        let end = |index| StreamFrame { stream: id(index), fin: true, ..StreamFrame::default() };
        // The second stream opens the main one as well, which stays.
        assert!(streams.accept(&end(1)).is_ok() && streams.opened_by_peer == 2);
        assert_eq!(streams.accept(&end(2)), Err(TransportError::StreamLimit));
        streams.change_send(id(1), |send| send.on_acknowledged(0..0, true));
        streams.retire(id(1));
        assert_eq!(streams.take_news(), Some(Frame::MaxStreams { direction: Direction::Bidirectional, maximum: 3 }));
        assert!(streams.accept(&end(1)).is_ok(), "a repetition is ignored");
        assert!(streams.receive(id(1)).is_none() && streams.accept(&end(2)).is_ok());
    }
}
