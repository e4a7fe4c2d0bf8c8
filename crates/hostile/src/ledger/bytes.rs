//! Byte streams: what each byte is, where it was taken, whether what is reported is what was written.

use core::ops::Range;
use std::collections::BTreeMap;

use subflow_transport::Endpoint;
use subflow_transport::quic::{self, MAIN_STREAM};
use subflow_wire::quic::Frame;
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

    /// Keeps what a QUIC connection took of the first stream's frames in the last datagram, whose data is `bytes`.
    pub(super) fn take_frames(&mut self, connection: &quic::Connection, datagram: &QuicDatagram, bytes: &[u8]) {
        let mut frames = Vec::new();
        let mut at = 0;
        for frame in datagram.packets.iter().flat_map(|packet| &packet.frames) {
            let Some(payload) = frame.payload() else { continue };
            let data = &bytes[at..at + payload.length as usize];
            at += data.len();
            if let Frame::Stream(stream) = frame
                && stream.stream == MAIN_STREAM
            {
                frames.push((stream.offset..stream.offset + data.len() as u64, data));
            }
        }
        for taken in connection.taken_data().iter().filter(|taken| taken.stream == MAIN_STREAM) {
            let taken = &taken.range;
            let holds = |(range, _): &&(Range<u64>, &[u8])| range.start <= taken.start && taken.end <= range.end;
            let (range, data) = frames.iter().find(holds).expect("what was taken is in a frame");
            let from = (taken.start - range.start) as usize;
            self.keep(taken.start, &data[from..from + (taken.end - taken.start) as usize]);
        }
    }

    fn keep(&mut self, start: u64, bytes: &[u8]) {
        for (offset, &byte) in (start..).zip(bytes) {
            let page = self.pages.entry(offset / PAGE).or_insert_with(|| Box::new([MISSING; PAGE as usize]));
            page[(offset % PAGE) as usize] = byte.into();
        }
    }

    /// Compares everything that `endpoint` reports as received in order with what `sender` writes; without a sender
    /// only that it arrived at all is checked.
    pub(super) fn check(&mut self, sender: Option<Sender>, endpoint: &Endpoint) {
        let received = endpoint.bytes_received();
        assert!(received >= self.checked, "bytes received were taken back: {received} after {}", self.checked);
        for offset in self.checked..received {
            let page = self.pages.get(&(offset / PAGE));
            let byte = page.map_or(MISSING, |page| page[(offset % PAGE) as usize]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_sides_of_a_connection_write_different_bytes() {
        let bytes = |sender| (0..100).map(|offset| pattern(sender, offset)).collect::<Vec<_>>();
        assert_ne!(bytes((0, 0)), bytes((0, 1)));
        assert_ne!(bytes((0, 0)), bytes((1, 0)));
    }
}
