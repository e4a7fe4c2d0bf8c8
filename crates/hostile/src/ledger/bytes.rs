//! Byte streams: what each byte is, where it was taken, whether what is reported is what was written.

use core::ops::Range;
use std::collections::BTreeMap;

use subflow_transport::Endpoint;
use subflow_transport::quic::{self, MAIN_STREAM, Taken};
use subflow_wire::quic::{Frame, StreamId};
use subflow_wire::{Payload, QuicDatagram};

/// A sender: its connection and which side of it.
pub(super) type Sender = (usize, usize);

/// The byte at `offset` of what a sender writes.
pub(super) fn pattern((connection, side): Sender, offset: u64) -> u8 {
    let which = (connection as u64) << 1 | side as u64;
    ((offset ^ which << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// The bytes that a payload of a sender represents.
pub(super) fn of(connection: usize, side: usize, payload: &Payload) -> impl Iterator<Item = u8> + use<> {
    let start = payload.stream_offset;
    (start..start + u64::from(payload.length)).map(move |offset| pattern((connection, side), offset))
}

const PAGE: u64 = 1024;
/// Represents a byte that was not accepted.
const MISSING: u16 = 256;

/// What one end of a stream has taken and not reported yet: pages by number, so that far and thin data costs little.
#[derive(Debug, Default)]
pub(super) struct Received {
    pages: BTreeMap<u64, Box<[u16; PAGE as usize]>>,
    checked: u64,
}

impl Received {
    /// Keeps what `endpoint` took of the payload of the last packet.
    pub(super) fn take(&mut self, endpoint: &Endpoint, payload: &[u8]) {
        let Some(taken) = endpoint.taken() else { return };
        let bytes = &payload[taken.payload_offset as usize..];
        let length = taken.stream.end - taken.stream.start;
        assert!(bytes.len() as u64 >= length, "{length} bytes were taken of {} that there are", bytes.len());
        self.keep(taken.stream.start, &bytes[..length as usize]);
    }

    fn keep(&mut self, start: u64, bytes: &[u8]) {
        for (offset, &byte) in (start..).zip(bytes) {
            let page = self.pages.entry(offset / PAGE).or_insert_with(|| Box::new([MISSING; PAGE as usize]));
            page[(offset % PAGE) as usize] = byte.into();
        }
    }

    fn byte(&self, offset: u64) -> u16 {
        self.pages.get(&(offset / PAGE)).map_or(MISSING, |page| page[(offset % PAGE) as usize])
    }

    /// Where the first byte is missing of those that were taken.
    fn in_order(&self) -> u64 {
        (self.checked..).find(|&offset| self.byte(offset) == MISSING).expect("a stream ends")
    }

    /// Compares everything that an endpoint reports as `received` in order with what `sender` writes; without a sender
    /// only that it arrived at all is checked.
    pub(super) fn check(&mut self, sender: Option<Sender>, received: u64) {
        assert!(received >= self.checked, "bytes received were taken back: {received} after {}", self.checked);
        for offset in self.checked..received {
            let byte = self.byte(offset);
            assert_ne!(byte, MISSING, "byte {offset} was reported and never taken");
            if let Some(sender) = sender {
                assert_eq!(byte, u16::from(pattern(sender, offset)), "byte {offset} is not what was written");
            }
        }
        self.checked = received;
        while self.pages.first_key_value().is_some_and(|(&page, _)| page < received / PAGE) {
            self.pages.pop_first();
        }
    }
}

/// What one end of a QUIC connection has taken: the streams are independent of each other, also those that only forged
/// packets have opened.
#[derive(Debug, Default)]
pub(super) struct Streams(BTreeMap<StreamId, Received>);

impl Streams {
    /// Keeps what a connection took of the frames in the last datagram, whose data is `bytes`.
    pub(super) fn take(&mut self, connection: &quic::Connection, datagram: &QuicDatagram, bytes: &[u8]) {
        let mut frames = Vec::new();
        let mut at = 0;
        for frame in datagram.packets.iter().flat_map(|packet| &packet.frames) {
            let Some(payload) = frame.payload() else { continue };
            let data = &bytes[at..at + payload.length as usize];
            at += data.len();
            if let Frame::Stream(stream) = frame {
                frames.push((stream.stream, stream.offset..stream.offset + data.len() as u64, data));
            }
        }
        for Taken { stream, range: taken, .. } in connection.taken_data() {
            let holds = |(of, range, _): &&(StreamId, Range<u64>, &[u8])| {
                of == stream && range.start <= taken.start && taken.end <= range.end
            };
            let (_, range, data) = frames.iter().find(holds).expect("what was taken is in a frame");
            let from = (taken.start - range.start) as usize;
            let received = self.0.entry(*stream).or_default();
            received.keep(taken.start, &data[from..from + (taken.end - taken.start) as usize]);
        }
    }

    /// Compares what the application has written with what was taken in order, and the sum of all streams with the bytes
    /// that the connection reports. Only the main stream is written by the application.
    pub(super) fn check(&mut self, sender: Option<Sender>, reported: u64) {
        for (&id, received) in &mut self.0 {
            let in_order = received.in_order();
            received.check(sender.filter(|_| id == MAIN_STREAM), in_order);
        }
        let taken: u64 = self.0.values().map(|received| received.checked).sum();
        assert_eq!(reported, taken, "what is reported of all streams is not what was taken of each in order");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_sides_of_a_connection_write_different_bytes() {
        let bytes = |sender| (0..100).map(|offset| pattern(sender, offset)).collect::<Vec<_>>();
        assert_ne!(bytes((0, 0)), bytes((0, 1)));
        assert_ne!(bytes((0, 0)), bytes((1, 0)));
    }

    #[test]
    fn what_arrives_on_a_stream_does_not_count_for_another() {
        let mut streams = Streams::default();
        let forged = StreamId(4);
        streams.0.entry(forged).or_default().keep(0, &[7; 10]);
        streams.check(Some((0, 0)), 10);
        let beyond_a_hole: Vec<u8> = (5..8).map(|offset| pattern((0, 0), offset)).collect();
        streams.0.entry(MAIN_STREAM).or_default().keep(5, &beyond_a_hole);
        streams.check(Some((0, 0)), 10);
        let main: Vec<u8> = (0..5).map(|offset| pattern((0, 0), offset)).collect();
        streams.0.entry(MAIN_STREAM).or_default().keep(0, &main);
        streams.check(Some((0, 0)), 18);
    }
}
