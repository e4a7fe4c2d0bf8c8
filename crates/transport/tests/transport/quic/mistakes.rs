//! Mistakes of a peer close the connection with the error that RFC 9000 names; other wrong packets change nothing.

use std::cell::Cell;
use std::rc::Rc;

use subflow_quantity::Duration;
use subflow_transport::quic::TransportError;
use subflow_transport::tcp::Closed;
use subflow_wire::Payload;
use subflow_wire::quic::{
    AckFrame, CloseCause, ConnectionId, Direction, Frame, NewConnectionIdFrame, PacketHeader, StreamFrame, StreamId,
};

use super::configs;
use super::wire::{CLIENT, Leaving, SERVER, Wire, ms};

/// The error with which the server closes the connection when a datagram of the client also has `frame`.
fn error_after(frame: Frame) -> Option<u64> {
    let mut frame = Some(frame);
    let link = move |leaving: &mut Leaving<'_>| {
        let packet = leaving.datagram.packets.last_mut().expect("there is a packet");
        if leaving.from == CLIENT && matches!(packet.header, PacketHeader::OneRtt { .. }) && leaving.number > 6 {
            packet.frames.splice(0..0, frame.take());
        }
        vec![ms(20)]
    };
    let mut wire = Wire::new(configs(), 1, link);
    for _ in 0..20 {
        wire.run(ms(100));
        if !wire.endpoint(CLIENT).is_closed() {
            wire.with(CLIENT, |endpoint| endpoint.write(10));
        }
    }
    wire.run(Duration::from_secs(3));
    let closes = wire.frames_of(SERVER).filter_map(|frame| match frame {
        Frame::ConnectionClose(close) => Some(close.cause),
        _ => None,
    });
    let codes = closes.map(|cause| match cause {
        CloseCause::Transport { error_code, .. } => error_code,
        CloseCause::Application { .. } => panic!("the application did not close it"),
    });
    let code = codes.last();
    let expected = if code.is_some() { [Some(Closed::Reset), Some(Closed::Aborted)] } else { [None, None] };
    assert_eq!([CLIENT, SERVER].map(|side| wire.endpoint(side).ended()), expected);
    code
}

fn stream(index: u64, offset: u64, by_server: bool, direction: Direction) -> Frame {
    let payload = Payload { length: 0, ..Payload::default() };
    let stream = StreamId::new(index, by_server, direction);
    Frame::Stream(StreamFrame { stream, offset, fin: false, has_length: true, payload })
}

#[test]
fn each_mistake_has_its_error() {
    use Direction::{Bidirectional, Unidirectional};
    let new_id = |sequence| {
        Frame::NewConnectionId(Box::new(NewConnectionIdFrame {
            path: None,
            sequence,
            retire_prior_to: 0,
            connection_id: ConnectionId::new(&[9; 8]).expect("short enough"),
            stateless_reset_token: [0; 16],
        }))
    };
    let ack = AckFrame { largest: 100_000, ..AckFrame::default() };
    for (frame, error) in [
        (stream(0, 1 << 40, false, Bidirectional), TransportError::FlowControl),
        (stream(100, 0, false, Bidirectional), TransportError::StreamLimit),
        (stream(0, 0, false, Unidirectional), TransportError::StreamLimit),
        (stream(0, 0, true, Bidirectional), TransportError::StreamState),
        (Frame::ResetStream { stream: StreamId(0), error_code: 0, final_size: 1 }, TransportError::FinalSize),
        (Frame::Invalid([0x21].into()), TransportError::FrameEncoding),
        (Frame::Ack(ack), TransportError::ProtocolViolation),
        (Frame::HandshakeDone, TransportError::ProtocolViolation),
        (Frame::PathResponse([0; 8]), TransportError::ProtocolViolation),
        (Frame::RetireConnectionId { path: None, sequence: 99 }, TransportError::ProtocolViolation),
        (Frame::MaxPathId(3), TransportError::ProtocolViolation),
        (new_id(1), TransportError::ProtocolViolation),
        (new_id(50), TransportError::ConnectionIdLimit),
    ] {
        assert_eq!(error_after(frame.clone()), Some(error.code()), "{frame:?}");
    }
}

#[test]
fn frames_without_effect_change_nothing() {
    for frame in [Frame::DataBlocked(5), Frame::Ping, Frame::MaxData(1), Frame::Padding(3)] {
        assert_eq!(error_after(frame.clone()), None, "{frame:?}");
    }
}

#[test]
fn a_challenge_is_answered_with_its_bytes() {
    let mut asked = false;
    let link = move |leaving: &mut Leaving<'_>| {
        let packet = leaving.datagram.packets.last_mut().expect("there is a packet");
        if leaving.from == CLIENT && matches!(packet.header, PacketHeader::OneRtt { .. }) && !asked {
            asked = true;
            packet.frames.insert(0, Frame::PathChallenge([7; 8]));
        }
        vec![ms(20)]
    };
    let mut wire = Wire::new(configs(), 2, link);
    wire.run(ms(500));
    assert!(wire.frames_of(SERVER).any(|frame| *frame == Frame::PathResponse([7; 8])));
}

#[test]
fn packets_to_another_connection_identifier_are_ignored() {
    let begun = Rc::new(Cell::new(false));
    let is_on = begun.clone();
    let link = move |leaving: &mut Leaving<'_>| {
        if leaving.from == SERVER && is_on.get() {
            for packet in &mut leaving.datagram.packets {
                if let PacketHeader::OneRtt { destination, .. } = &mut packet.header {
                    *destination = ConnectionId::new(&[1; 8]).expect("short enough");
                }
            }
        }
        vec![ms(20)]
    };
    let mut wire = Wire::new(configs(), 3, link);
    wire.run(ms(300));
    begun.set(true);
    wire.with(CLIENT, |endpoint| endpoint.write(1000));
    wire.run(Duration::from_secs(2));
    assert_eq!(wire.endpoint(SERVER).bytes_received(), 1000);
    assert_eq!(wire.endpoint(CLIENT).bytes_acknowledged(), 0);
}
